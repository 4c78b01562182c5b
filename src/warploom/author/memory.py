"""Shared memory of a kernel: a plain allocator over its dynamic shared memory."""

from __future__ import annotations

from warploom.author.building import current, misuse
from warploom.author.instructions import named
from warploom.author.values import DYNAMIC, Location, Register
from warploom.isa.model.capacity import SHARED_KIB
from warploom.ptx import Symbol


class Shared:
    """Bytes of the CTA's shared memory, `offset` bytes into the dynamic shared memory."""

    def __init__(self, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size

    def at(self, offset: int = 0) -> Location:
        """A place in it, `offset` bytes on. Errors: AuthorError author.shared."""
        if not 0 <= offset < max(self.size, 1):
            raise misuse(
                f"byte {offset} of {self.size} bytes of shared memory; expected 0 to {max(self.size, 1) - 1}",
                "author.shared",
            )
        return Location(DYNAMIC, self.offset + offset, "shared::cta")

    def address(self, offset: int = 0) -> Register:
        """Its address in a register of 32 bits."""
        return named("mov")(Symbol(DYNAMIC, self.offset + offset), type="u32")


def shared(size: int, *, align: int = 16) -> Shared:
    """Reserve bytes of dynamic shared memory. Units: bytes. Errors: AuthorError author.shared."""
    if size < 0 or align < 1 or align & (align - 1):
        raise misuse(
            f"{size} bytes aligned by {align}; expected some bytes and a power of two", "author.shared"
        )
    building = current()
    start = -(-building.shared_bytes // align) * align
    limit = 1024 * SHARED_KIB.get(building.target.number, max(SHARED_KIB.values()))
    if start + size > limit:
        raise misuse(
            f"this brings the shared memory of a CTA to {start + size} bytes; "
            f"expected at most {limit} on {building.target.name}",
            "author.shared",
        )
    building.shared_bytes = start + size
    building.shared_align = max(building.shared_align, align)
    return Shared(start, size)
