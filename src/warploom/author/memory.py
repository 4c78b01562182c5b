"""Shared memory of a kernel: a plain allocator over its dynamic shared memory."""

from __future__ import annotations

from warploom.author.building import current
from warploom.author.instructions import named
from warploom.author.values import Location, Register
from warploom.diag import UsageError
from warploom.ptx import Symbol

DYNAMIC = "shared_memory"


class Shared:
    """Bytes of the CTA's shared memory. `base` is a register with their address once `address` asked for it."""

    def __init__(self, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size

    def at(self, offset: int = 0) -> Location:
        """A place in it, `offset` bytes on."""
        if not 0 <= offset < max(self.size, 1):
            raise UsageError(f"byte {offset} of {self.size} bytes of shared memory", code="author.shared")
        return Location(DYNAMIC, self.offset + offset, "shared::cta")

    def address(self, offset: int = 0) -> Register:
        """Its address in a register of 32 bits."""
        return named("mov")(Symbol(DYNAMIC, self.offset + offset), type="u32")


def shared(size: int, *, align: int = 16) -> Shared:
    """Reserve bytes of dynamic shared memory. Units: bytes."""
    if size < 0 or align < 1 or align & (align - 1):
        raise UsageError(
            f"{size} bytes aligned by {align}; expected some bytes and a power of two", code="author.shared"
        )
    building = current()
    start = -(-building.shared_bytes // align) * align
    building.shared_bytes = start + size
    building.shared_align = max(building.shared_align, align)
    return Shared(start, size)
