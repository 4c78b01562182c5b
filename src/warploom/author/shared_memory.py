"""Allocation of the dynamic shared memory of a kernel."""

from __future__ import annotations

from warploom.author import ptx
from warploom.author.builder import current
from warploom.author.errors import author_error
from warploom.author.values import DYNAMIC, Location, Register
from warploom.isa.model.capacity import SHARED_KIB
from warploom.ptx import Symbol


class Shared:
    """Range of the dynamic shared memory. Units: `offset` and `size` are bytes."""

    def __init__(self, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size

    def at(self, offset: int = 0) -> Location:
        """Return the location at a byte of the range. Errors: AuthorError author.shared."""
        last = max(self.size, 1) - 1
        if not 0 <= offset <= last:
            message = f"byte {offset} of {self.size} bytes of shared memory; expected 0 to {last}"
            raise author_error(message, "author.shared")
        return Location(DYNAMIC, self.offset + offset, "shared::cta")

    def address(self, offset: int = 0) -> Register:
        """Emit a move of the address of a byte of the range to a 32-bit register, and return the register."""
        return ptx.mov(Symbol(DYNAMIC, self.offset + offset), type="u32")


def shared(size: int, *, align: int = 16) -> Shared:
    """Allocate dynamic shared memory. Units: bytes. Errors: AuthorError author.shared."""
    if size < 0 or align < 1 or align & (align - 1):
        message = f"{size} bytes aligned to {align}; expected a size of at least 0 and a power of two"
        raise author_error(message, "author.shared")
    builder = current()
    start = -(-builder.shared_bytes // align) * align
    limit = 1024 * SHARED_KIB.get(builder.target.number, max(SHARED_KIB.values()))
    if start + size > limit:
        raise author_error(
            f"the shared memory of a CTA grows to {start + size} bytes; "
            f"expected at most {limit} on {builder.target.name}",
            "author.shared",
        )
    builder.shared_bytes = start + size
    builder.shared_align = max(builder.shared_align, align)
    return Shared(start, size)
