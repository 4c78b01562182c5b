"""Heap of the device functions `malloc` and `free`."""

import bisect
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.faults import Fault

HEAP_BYTES = 8 << 20  # default of cudaLimitMallocHeapSize
ALIGNMENT = 16
GUARD = 16  # bytes after each allocation that no access may reach
LEAST = ALIGNMENT + GUARD  # bytes of the smallest block


class Segments(Protocol):
    """Ranges of global memory that accesses may reach, in ascending order. A freed range is empty."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class Heap:
    """Heap in the global memory of a launch.

    Each block of the heap has one entry of `segments`, from number `first` on. Entries that no block needs are empty
    and lie at the end of the heap. Freed blocks are used again only when the rest of the heap is too small, so that
    most uses of freed memory are found.
    """

    STATE = ("_used_end", "_starts", "_sizes", "_live", "changes")

    def __init__(self, segments: Segments, first: int, start: int, size: int = HEAP_BYTES) -> None:
        self._segments = segments
        self._first = first
        self.start, self.end = start, start + size
        self._used_end = start  # end of the last block
        # Blocks in ascending order of their addresses. A block contains an allocation and a guard after it.
        self._starts: list[int] = []
        self._sizes: list[int] = []  # requested sizes
        self._live: list[bool] = []
        self.changes = 0  # allocations and frees so far

    @property
    def most_blocks(self) -> int:
        """Maximum number of blocks. The heap needs as many entries of `Segments`."""
        return (self.end - self.start) // LEAST

    def fork(self, segments: Segments) -> "Heap":
        """Return an independent copy for a copy of the segments."""
        other = Heap(segments, self._first, self.start, self.end - self.start)
        other._used_end, other.changes = self._used_end, self.changes
        other._starts, other._sizes, other._live = self._starts.copy(), self._sizes.copy(), self._live.copy()
        return other

    def attach(self, segments: Segments, first: int) -> None:
        """Move the heap to the entries of `segments` that start at index `first`."""
        self._segments, self._first = segments, first
        for number in range(len(self._starts)):
            self._write(number)

    def allocate(self, size: int, align: int = ALIGNMENT) -> int:
        """Return the address of `size` new bytes, or 0 if the heap has too little free memory.

        The address is a multiple of `align`, a power of two.
        """
        self.changes += 1
        align = max(align, ALIGNMENT)
        needed = max(LEAST, -(-size // ALIGNMENT) * ALIGNMENT + GUARD)
        address = -(-self._used_end // align) * align
        if address + needed > self.end:
            return 0 if all(self._live) else self._reuse(size, needed, align)
        self._used_end = address + needed
        self._starts.append(address)
        self._sizes.append(size)
        self._live.append(True)
        self._write(len(self._starts) - 1)
        return address

    def _write(self, number: int) -> None:
        start = self._starts[number]
        at = self._first + number
        self._segments.starts[at] = start
        self._segments.ends[at] = start + self._sizes[number] if self._live[number] else start

    def _reuse(self, size: int, needed: int, align: int) -> int:
        """Join adjacent free blocks, and allocate in the first one with enough space."""
        blocks = self._joined()
        for k, (start, end, _, live) in enumerate(blocks):
            address = -(-start // align) * align
            if not live and end - address >= needed:
                rest = address + needed
                blocks[k : k + 1] = [(address, rest, size, True)]
                # A smaller rest stays a part of the guard.
                if end - rest >= LEAST:
                    blocks.insert(k + 1, (rest, end, end - rest, False))
                break
        else:
            address = 0
        if not blocks[-1][3]:
            blocks.pop()
        used = slice(self._first, self._first + max(len(self._starts), len(blocks)))
        self._segments.starts[used] = self._segments.ends[used] = self.end
        self._used_end = blocks[-1][1] if blocks else self.start
        self._starts, self._sizes = [block[0] for block in blocks], [block[2] for block in blocks]
        self._live = [block[3] for block in blocks]
        for number in range(len(blocks)):
            self._write(number)
        return address

    def _joined(self) -> list[tuple[int, int, int, bool]]:
        """Return start, end, size and liveness of all blocks of the heap, with adjacent free blocks joined."""
        ends = [*self._starts[1:], self._used_end]
        blocks = [(self.start, self.start, 0, False)]
        for block in zip(self._starts, ends, self._sizes, self._live, strict=True):
            start, end, _, live = block
            if live:
                blocks.append(block)
            elif blocks[-1][3]:
                blocks.append((start, end, end - start, False))
            else:
                blocks[-1] = (blocks[-1][0], end, end - blocks[-1][0], False)
        start = self._used_end if blocks[-1][3] else blocks.pop()[0]
        return [*(block for block in blocks if block[1] > block[0]), (start, self.end, self.end - start, False)]

    def free(self, address: int, lane: int = -1) -> None:
        """Free an allocation for a lane.

        Errors: Fault emulator.free unless `address` is the start of a live allocation.
        """
        number = bisect.bisect_right(self._starts, address) - 1
        if number < 0 or self._starts[number] != address or not self._live[number]:
            freed = number >= 0 and self._starts[number] == address
            reason = "was freed before" if freed else f"is not the start of an allocation: {self._place(address)}"
            raise Fault("emulator.free", f"free of the address {address:#x}, which {reason}", lane)
        self.changes += 1
        self._live[number] = False
        self._write(number)

    def contains(self, address: int) -> bool:
        """Return True if an address is in the heap or directly before it."""
        return self.start - GUARD <= address < self.end

    def fault(self, what: str, address: int, lane: int) -> Fault:
        """Return the fault of an access to memory of the heap that is not allocated. `what` names the access."""
        number = bisect.bisect_right(self._starts, address) - 1
        is_freed = number >= 0 and not self._live[number] and address < self._starts[number] + self._sizes[number]
        code = "emulator.use-after-free" if is_freed else "emulator.out-of-bounds"
        verb = "uses freed memory" if is_freed else "is out of bounds"
        return Fault(code, f"{what} {verb}: {self._place(address)}", lane)

    def _place(self, address: int) -> str:
        """Return a phrase with the position of an address in relation to the allocations."""
        if not self.contains(address):
            return f"the heap is at {self.start:#x} to {self.end:#x}"
        number = bisect.bisect_right(self._starts, address) - 1
        if number < 0:
            first = f", which begins at {self._starts[0]:#x}" if self._starts else ""
            return f"the address is before the first allocation{first}"
        start, size = self._starts[number], self._sizes[number]
        what = f"the {'' if self._live[number] else 'freed '}allocation of {size} bytes at {start:#x}"
        if address < start + size:
            return f"the address is {address - start} bytes into {what}"
        over = address - start - size
        return f"{what} ends {f'{over} bytes' if over else 'just'} before the address"
