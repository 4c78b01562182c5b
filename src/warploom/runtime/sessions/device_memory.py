"""Device memory that several launches share."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.arena import GAP, Arena, Segment
from warploom.emulator.heap import HEAP_BYTES, Heap

ALIGNMENT = 512
"""Alignment of allocations. Units: bytes."""
PAGE_BYTES = 4096
"""Alignment of allocations that a program can map."""


class DeviceMemory:
    """Device memory with allocations, over the bytes of an array.

    The first byte has the address GLOBAL_BASE. A gap of addresses without memory follows each allocation, so that an
    access beyond the end of an allocation is an error. New allocations are zero.
    """

    def __init__(self, memory: NDArray[np.uint8], clear: Callable[[int, int], None]) -> None:
        """`clear` sets bytes to zero. Its arguments are the index of the first byte and the number of bytes."""
        self.bytes = memory
        self.on_free: Callable[[int, int], None] | None = None  # gets the address and the size of freed memory
        self._clear = clear
        self.free_bytes = len(memory)
        self._segments: list[Segment] = []
        self._starts: list[int] = []
        self._hidden: set[Segment] = set()
        self._next = GLOBAL_BASE + GAP
        self._arena: Arena | None = None
        self._heap: Heap | None = None
        self._heap_bytes = HEAP_BYTES

    @property
    def end(self) -> int:
        """Address after the last byte for allocations. The heap of device functions follows."""
        return GLOBAL_BASE + len(self.bytes) - self._heap_bytes - GAP

    def resize_heap(self, size: int) -> None:
        """Set the size of the heap. Units: bytes.

        Errors: UsageError launch.memory if a launch has used the heap, or if allocations leave too little memory.
        """
        size = -(-size // GAP) * GAP
        if self._heap is not None and size != self._heap_bytes:
            text = "a kernel has used the heap; expected its size before the first launch of such a kernel"
            raise UsageError(text, code="launch.memory")
        if self._used() + size + GAP > len(self.bytes):
            most = len(self.bytes) - self._used() - GAP
            raise UsageError(f"the heap has {size} bytes; expected at most {most}", code="launch.memory")
        self._heap_bytes = size

    def allocate(
        self, name: str, size: int, *, alignment: int = ALIGNMENT, writable: bool = True, kind: str = "global"
    ) -> Segment:
        """Allocate `size` bytes. `Segment` describes the other arguments.

        Addresses of freed allocations are reused as late as possible.

        Errors: UsageError launch.memory if no sufficient range is free.
        """
        start = self._find(self._next, size, alignment)
        if start is None:
            start = self._find(GLOBAL_BASE + GAP, size, alignment)
        if start is None:
            raise UsageError(
                f"{name} needs {size} bytes; no free range of the device memory has so many", code="launch.memory"
            )
        segment = Segment(name, start, size, writable, kind)
        position = bisect_right(self._starts, start)
        self._starts.insert(position, start)
        self._segments.insert(position, segment)
        self._next = start + size + GAP
        self.free_bytes -= size
        self._arena = None
        return segment

    def _find(self, first: int, size: int, alignment: int) -> int | None:
        """Return the first address from `first` on at which `size` bytes and a gap are free, or None."""
        position = bisect_right(self._starts, first)
        start = first
        if position and (before := self._segments[position - 1]).start + before.size + GAP > first:
            start = before.start + before.size + GAP
        while True:
            start = -(-start // alignment) * alignment
            limit = self._starts[position] if position < len(self._starts) else self.end
            if start + size + GAP <= limit:
                return start
            if position == len(self._starts):
                return None
            before = self._segments[position]
            start, position = before.start + before.size + GAP, position + 1

    def hide(self, segment: Segment) -> None:
        """Remove the memory of an allocation, and keep its addresses. Accesses are errors until `show`."""
        self._hidden.add(segment)
        self._clear(segment.start - GLOBAL_BASE, segment.size)
        self._arena = None

    def show(self, segment: Segment) -> None:
        """Give a hidden allocation its memory again. It is zero."""
        self._hidden.discard(segment)
        self._arena = None

    def free(self, segment: Segment) -> None:
        """Free an allocation, and set its bytes to zero."""
        self._hidden.discard(segment)
        position = bisect_right(self._starts, segment.start) - 1
        del self._starts[position], self._segments[position]
        self._clear(segment.start - GLOBAL_BASE, segment.size)
        if self.on_free is not None:
            self.on_free(segment.start, segment.size)
        self.free_bytes += segment.size
        self._arena = None

    def clear(self) -> None:
        """Free all allocations and the heap, and set the bytes of the allocations to zero."""
        for segment in [*self._segments]:
            self.free(segment)
        self._heap, self._heap_bytes = None, HEAP_BYTES

    def find(self, address: int, *, hidden: bool = False) -> Segment | None:
        """Return the allocation that contains an address, or None.

        Hidden allocations count only with `hidden`.
        """
        position = bisect_right(self._starts, address) - 1
        if position < 0:
            return None
        segment = self._segments[position]
        if address >= segment.start + max(segment.size, 1) or (segment in self._hidden and not hidden):
            return None
        return segment

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return a view of `size` bytes at an address."""
        first = address - GLOBAL_BASE
        return self.bytes[first : first + size]

    def arena(self, *, uses_heap: bool) -> Arena:
        """Return the memory of a launch, with all allocations.

        The first launch with `uses_heap` creates the heap, which all later launches share.
        """
        if uses_heap and self._heap is None:
            self._arena = None
        if self._arena is None and (uses_heap or self._heap is not None):
            self._arena = Arena.over(self.bytes, self._shown(), self.end, self._heap, self._heap_bytes)
            self._heap = self._arena.heap
        elif self._arena is None:
            # The emulator views the bytes as wider elements, so their number is a multiple of every element's size.
            self._arena = Arena.over(self.bytes[: -(-self._used() // GAP) * GAP], self._shown())
        return self._arena

    def _used(self) -> int:
        """Return the number of bytes up to the last allocation and the gap after it."""
        last = self._segments[-1] if self._segments else None
        return GAP if last is None else last.start + last.size + GAP - GLOBAL_BASE

    def _shown(self) -> list[Segment]:
        return [each for each in self._segments if each not in self._hidden]
