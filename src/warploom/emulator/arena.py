"""Memory of a launch for global data, constants and kernel parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator import access
from warploom.emulator.address_space import GLOBAL_BASE, LOWEST_WINDOW
from warploom.emulator.faults import Fault
from warploom.emulator.heap import HEAP_BYTES, Heap

GAP = 4096
ALIGNMENT = 1024
_HOST_REACH = 1 << 40  # bytes; larger than the heap, and than the range of a process's mappings


class Segment(NamedTuple):
    """Range of the arena for one buffer, one module variable or the kernel's parameters.

    `start` is a virtual address. `kind` is the state space: "global", "const" or "param". Units: `size` in bytes.
    """

    name: str
    start: int
    size: int
    writable: bool = True
    kind: str = "global"


class Arena:
    """Global, constant and parameter memory in one array.

    Call `reserve` for each segment, and then `seal` once. `heap` is set if the kernel allocates memory. Each block of
    the heap is one more range of `starts`, `ends` and `state` after those of the segments.
    """

    STATE = ("bytes", "starts", "ends", "state")

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.heap: Heap | None = None
        self._end = GLOBAL_BASE + GAP
        self._heap_start = 0  # 0 without a heap
        self._heap_bytes = HEAP_BYTES
        self.bytes: NDArray[np.uint8]
        self.starts: NDArray[np.int64]
        self.ends: NDArray[np.int64]
        self.state: NDArray[np.uint8]

    def reserve(self, name: str, size: int, writable: bool = True, kind: str = "global") -> Segment:
        """Add a zero-filled segment of `size` bytes. `Segment` describes the other arguments."""
        segment = Segment(name, self._end, size, writable, kind)
        self.segments.append(segment)
        self._end += -(-size // ALIGNMENT) * ALIGNMENT + GAP  # a gap of unmapped addresses
        return segment

    def reserve_heap(self) -> None:
        """Reserve memory for the heap of `malloc`."""
        self._heap_start = self._end
        self._end += self._heap_bytes + GAP

    def seal(self) -> None:
        """Allocate the reserved memory.

        Errors: UsageError launch.memory if the host has too little memory.
        """
        size = self._end - GLOBAL_BASE
        try:
            self.bytes = np.zeros(size, np.uint8)
        except MemoryError:
            largest = max(self.segments, key=lambda segment: segment.size)
            raise UsageError(
                f"the kernel's buffers and variables take {size} bytes, more than there is memory for; the largest is "
                f"{largest.name} with {largest.size} bytes",
                code="launch.memory",
            ) from None
        self._index()

    @classmethod
    def over(
        cls, memory: NDArray[np.uint8], segments: Sequence[Segment], heap_start: int = 0, heap: Heap | None = None,
        heap_bytes: int = HEAP_BYTES,
    ) -> Arena:  # fmt: skip
        """Return an arena that uses existing memory, whose first byte has the address GLOBAL_BASE.

        `segments` are in the order of their addresses. `heap_start` is the address of the heap after them, or 0
        without a heap, and `heap_bytes` is the size of the heap. `heap` is the heap of an earlier arena with the same
        memory, or None.
        """
        arena = cls()
        arena.segments, arena.bytes, arena._heap_start = [*segments], memory, heap_start
        arena._heap_bytes = heap_bytes
        arena._index()
        if heap is not None:
            heap.attach(arena, len(arena.segments))
            arena.heap = heap
        return arena

    def _index(self) -> None:
        """Create the tables of the segments."""
        starts = [segment.start for segment in self.segments]
        ends = [segment.start + segment.size for segment in self.segments]
        states = [access.CLEAN if segment.writable else access.LOCKED for segment in self.segments]
        if self._heap_start:
            self.heap = Heap(self, len(self.segments), self._heap_start, self._heap_bytes)
        blocks = 0 if self.heap is None else self.heap.most_blocks
        unused = np.full(blocks, 0 if self.heap is None else self.heap.end, np.int64)
        self.starts, self.ends = (np.concatenate([np.array(each, np.int64), unused]) for each in (starts, ends))
        self.state = np.concatenate([np.array(states, np.uint8), np.full(blocks, access.CLEAN, np.uint8)])

    def fork(self) -> Arena:
        """Return an independent copy of a sealed arena."""
        other = Arena.__new__(Arena)
        other.__dict__.update(self.__dict__)
        other.bytes, other.state = self.bytes.copy(), self.state.copy()
        if self.heap is not None:
            other.starts, other.ends = self.starts.copy(), self.ends.copy()
            other.heap = self.heap.fork(other)
        return other

    def view(self, segment: Segment) -> NDArray[np.uint8]:
        """Return a view of the bytes of a segment."""
        first = segment.start - GLOBAL_BASE
        return self.bytes[first : first + segment.size]

    def write(self, address: int, data: bytes) -> None:
        """Write bytes at an address, without a check of its segment."""
        first = address - GLOBAL_BASE
        self.bytes[first : first + len(data)] = np.frombuffer(data, np.uint8)

    def written(self, segment: Segment) -> bool:
        """Return True if the kernel has written to a segment."""
        return bool(self.state[self.segments.index(segment)] == access.DIRTY)

    def locate(self, addresses: NDArray[Any]) -> NDArray[np.intp]:
        """Return the index of the last segment that starts at or below each address, or -1."""
        return np.searchsorted(self.starts, addresses.astype(np.int64), side="right") - 1

    def in_segments(self, kind: str, addresses: NDArray[Any]) -> NDArray[np.bool_]:
        """Return a mask of the addresses inside segments of state space `kind`, such as "global"."""
        position = self.locate(addresses)
        inside = (position >= 0) & (addresses.astype(np.int64) < self.ends[np.maximum(position, 0)])
        kinds = np.full(len(self.starts), kind == "global")  # as the heap
        kinds[: len(self.segments)] = [segment.kind == kind for segment in self.segments]
        return inside & kinds[np.maximum(position, 0)]

    def segment_at(self, number: int) -> Segment:
        """Return the range with an index in `starts`: a segment, or a block of the heap."""
        if number < len(self.segments):
            return self.segments[number]
        start = int(self.starts[number])
        return Segment(f"the allocation of malloc at {start:#x}", start, int(self.ends[number]) - start)

    def nearest(self, address: int) -> str:
        """Return a phrase with the distance of an address from the nearest segment."""
        if not self.segments:
            return "there is no global buffer"
        inside = [s for s in self.segments if s.start <= address < s.start + s.size]
        if inside:
            over = inside[0]
            return f"the access begins {address - over.start} bytes into {over.name} of {over.size} bytes"
        buffers = [each for each in self.segments if each.kind == "global"] or self.segments
        near = min(buffers, key=lambda s: min(abs(address - s.start), abs(address - s.start - s.size)))
        end = near.start + near.size
        where = f"the nearest buffer, {near.name} of {near.size} bytes,"
        if address >= end:
            return f"{where} ends {f'{address - end} bytes' if address > end else 'just'} before the access"
        if address < LOWEST_WINDOW:
            return f"{where} begins at {near.start:#x}"
        return f"{where} begins {near.start - address} bytes after the access"

    def describe(self, address: int) -> str:
        """Return a phrase such as "offset 8 of argument 0 (flags)" for an address in a segment."""
        segment = self.segment_at(int(self.locate(np.array([address]))[0]))
        return f"offset {address - segment.start} of {segment.name}"

    def hint(self, address: int) -> str:
        """Return a hint if an address outside of all segments is probably a host pointer, otherwise ""."""
        nearest = min((abs(address - segment.start) for segment in self.segments), default=_HOST_REACH)
        # Addresses in the heap and in the mappings of this process.
        host = int(np.zeros(1).__array_interface__["data"][0]), id(self.segments)
        if min(abs(address - each) for each in host) >= min(nearest, _HOST_REACH):
            return ""
        return (
            "the address seems to be a host pointer; pass the array itself, or a list of arrays for a table of device "
            "pointers"
        )

    def mark_written(self, address: int) -> None:
        """Record that the segment of an address has been written.

        Errors: Fault emulator.read-only if the segment is not writable.
        """
        position = int(self.starts.searchsorted(address, side="right")) - 1
        if self.state[position] == access.LOCKED:
            message = f"a store at global address {address:#x} writes read-only memory: {self.nearest(address)}"
            raise Fault("emulator.read-only", message)
        self.state[position] = access.DIRTY

    def find(self, address: int, size: int, what: str) -> int:
        """Return the index in `bytes` for an access of `size` bytes at an address.

        `what` names the access in the message.

        Errors: Fault emulator.out-of-bounds unless one segment contains the whole access.
        """
        position = int(self.starts.searchsorted(address, side="right")) - 1
        if position < 0 or address + size > self.ends[position]:
            raise self.unmapped(f"{what} of {size} bytes at global address {address:#x}", address)
        return address - GLOBAL_BASE

    def unmapped(self, what: str, address: int, lane: int = -1) -> Fault:
        """Return the fault of an access to memory that does not exist or was freed. `what` names the access."""
        if self.heap is not None and self.heap.contains(address):
            return self.heap.fault(what, address, lane)
        message = f"{what} is out of bounds: {self.nearest(address)}"
        return Fault("emulator.out-of-bounds", message, lane, self.hint(address))
