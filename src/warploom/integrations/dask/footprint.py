# pyright: reportUnknownMemberType=false
"""Footprints: the bytes of global memory that some waves of a grid access.

Each byte has a flag: 0 without accesses, READ, WRITTEN or BOTH. If all accesses are one kind of reduction, the flag is
COMBINED times the number of that reduction. A reduction and any other access give BOTH.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.events import Access, CopyAccess, Launch
from warploom.emulator.observers import Observer
from warploom.emulator.waves import inter_cta_communication
from warploom.isa.instructions.reductions import CommutativeReduction, commutative_reduction
from warploom.numerics._compile import njit

READ, WRITTEN = 1, 2
BOTH = READ | WRITTEN
COMBINED = 4
PAGE_BITS = 12
_GROUP = 32  # words that are compared together
_EACH_BYTE = np.uint64(0x0101010101010101)

Array = NDArray[Any]


@njit
def _mark(flags: Array, pages: Array, first: int, size: int, flag: int) -> None:
    for page in range(first >> PAGE_BITS, (first + size - 1 >> PAGE_BITS) + 1):
        pages[page] = 1
    for at in range(first, first + size):
        old = flags[at]
        if old == flag:
            continue
        if flag >= COMBINED:
            flags[at] = flag if old == 0 else BOTH
        else:
            flags[at] = BOTH if old >= COMBINED else old | flag


@njit
def mark_lanes(flags: Array, pages: Array, index: Array, lanes: Array, size: int, flag: int) -> None:
    """Set the flags of the bytes that each active lane accesses.

    Lane (w, l) accesses `size` bytes from offset index[w, l] on, if lanes[w, l] is True. `pages[p]` becomes 1 if page p
    of 4096 bytes is accessed.

    Shapes: index and lanes (warps, 32).
    """
    # A function shared with `mark_ranges` would cost time: Numba counts references at each call.
    words = flags.view(np.uint32)
    pattern = np.uint32(flag * 0x01010101)
    for warp in range(index.shape[0]):
        for lane in range(index.shape[1]):
            if not lanes[warp, lane]:
                continue
            first = index[warp, lane]
            if size & 3:
                _mark(flags, pages, first, size, flag)
                continue
            for at in range(first, first + size, 4):
                old = words[at >> 2]
                if old != pattern:
                    if old == 0:
                        words[at >> 2] = pattern
                        pages[at >> PAGE_BITS] = 1
                    else:
                        _mark(flags, pages, at, 4, flag)


@njit
def mark_ranges(flags: Array, pages: Array, starts: Array, sizes: Array, flag: int) -> None:
    """Set the flags of byte ranges. `pages[p]` becomes 1 if page p of 4096 bytes is accessed.

    Shapes: starts and sizes (ranges,).
    """
    words = flags.view(np.uint64)
    pattern = np.uint64(flag) * _EACH_BYTE
    for number in range(len(starts)):
        at, end = starts[number], starts[number] + sizes[number]
        while at < end:
            if at & 7 == 0 and at + 8 <= end:
                old = words[at >> 3]
                if old != pattern:
                    if old == 0:
                        words[at >> 3] = pattern
                        pages[at >> PAGE_BITS] = 1
                    else:
                        _mark(flags, pages, at, 8, flag)
                at += 8
            else:
                _mark(flags, pages, at, 1, flag)
                at += 1


def marked_ranges(flags: Array, pages: Array) -> tuple[Array, Array, Array]:
    """Return the starts, ends and flags of the maximal byte ranges with equal flags other than 0.

    Only pages with the entry 1 in `pages` are searched.

    Shapes: flags (bytes,), pages (pages,), each result (ranges,) in ascending order.
    """
    size = 1024
    while True:
        starts, ends, kinds = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.uint8)
        count = _find_ranges(flags, pages, starts, ends, kinds)
        if count <= size:
            return starts[:count], ends[:count], kinds[:count]
        size = count


@njit
def _find_ranges(flags: Array, pages: Array, starts: Array, ends: Array, kinds: Array) -> int:
    """Write the ranges of `marked_ranges` to the last three arrays. Return the number of ranges."""
    words = flags.view(np.uint64)
    count = 0
    current = 0  # the flag of the open range
    for page in range(len(pages)):
        first = page << PAGE_BITS - 3
        if pages[page] == 0:
            if current and count <= len(ends):
                ends[count - 1] = page << PAGE_BITS
            current = 0
            continue
        for group in range(first, first + (1 << PAGE_BITS - 3), _GROUP):
            difference, pattern = np.uint64(0), np.uint64(current) * _EACH_BYTE
            for word in range(group, group + _GROUP):
                difference |= words[word] ^ pattern
            if difference == 0:
                continue
            for at in range(group << 3, group + _GROUP << 3):
                flag = flags[at]
                if flag == current:
                    continue
                if current and count <= len(ends):
                    ends[count - 1] = at
                if flag:
                    # Ranges that do not fit are only counted.
                    if count < len(starts):
                        starts[count], kinds[count] = at, flag
                    count += 1
                current = flag
    if current and count <= len(ends):
        ends[count - 1] = len(flags)
    return count


@njit
def gather_ranges(contents: Array, starts: Array, ends: Array, out: Array) -> None:
    """Copy byte ranges of `contents` to `out`, without gaps.

    Shapes: starts and ends (ranges,), out (bytes,).
    """
    to = 0
    for number in range(len(starts)):
        size = ends[number] - starts[number]
        out[to : to + size] = contents[starts[number] : ends[number]]
        to += size


@njit
def scatter_ranges(contents: Array, starts: Array, ends: Array, data: Array) -> None:
    """Copy the bytes `data` to byte ranges of `contents`. This reverses `gather_ranges`."""
    at = 0
    for number in range(len(starts)):
        size = ends[number] - starts[number]
        contents[starts[number] : ends[number]] = data[at : at + size]
        at += size


class InterCtaCommunication(Exception):
    """Error for a CTA that depends on the timing of another CTA, so that one worker must run both.

    The message continues a sentence after "because".
    """


@dataclass(frozen=True, slots=True, eq=False)
class ByteRanges:
    """Byte ranges of global memory, disjoint and in ascending order.

    Shapes: starts and ends (ranges,). Units: byte offsets in `Arena.bytes`.
    """

    starts: Array
    ends: Array

    def __len__(self) -> int:
        return len(self.starts)

    def gather(self, contents: Array) -> Array:
        """Return the bytes of all ranges of `contents`, without gaps."""
        packed = np.empty(int((self.ends - self.starts).sum()), np.uint8)
        gather_ranges(contents, self.starts, self.ends, packed)
        return packed

    def scatter(self, contents: Array, packed: Array) -> None:
        """Copy the bytes of `packed` into the ranges of `contents`. `packed` is a result of `gather`."""
        scatter_ranges(contents, self.starts, self.ends, packed)


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """Bytes of global memory that some waves of a grid accessed, and their values afterwards.

    `written` contains the bytes in the ranges `writes`. `combined` maps each commutative reduction to the ranges that
    only this reduction accessed, and to the bytes in these ranges.
    """

    reads: ByteRanges
    writes: ByteRanges
    written: Array
    combined: dict[CommutativeReduction, tuple[ByteRanges, Array]]


class FootprintRecorder(Observer):
    """Observer that records the footprint of a run.

    Errors: InterCtaCommunication, which ends the run.
    """

    launch: Launch

    def attach(self, launch: Launch) -> None:
        """Prepare for a launch, and select the events to observe."""
        self.launch = launch
        pages = -(-len(launch.arena.bytes) >> PAGE_BITS)
        self._pages = np.zeros(pages, np.uint8)
        self._flags = np.zeros(pages << PAGE_BITS, np.uint8)
        self._numbers: dict[CommutativeReduction, int] = {}
        self._observes_others = inter_cta_communication(launch.program)
        self.handlers = {Access: self._access, CopyAccess: self._copy_access}

    def _access(self, event: Access) -> None:
        if event.space != "global":
            return
        if not event.location.asynchronous and self._observes_others[event.pc]:
            instruction = self._instruction(event.pc)
            raise InterCtaCommunication(f"{instruction} may return values that other CTAs wrote to global memory")
        lanes = uniform(event.lanes)
        mark_lanes(self._flags, self._pages, event.index, lanes, event.size, self._flag(event))

    def _copy_access(self, event: CopyAccess) -> None:
        mark_ranges(self._flags, self._pages, event.starts, event.sizes, self._flag(event))

    def _flag(self, event: Access | CopyAccess) -> int:
        if event.kind != "update":
            return READ if event.kind == "read" else WRITTEN
        reduction = commutative_reduction(event.operation, event.type)
        if reduction is None:
            name = f"a bulk reduction by {event.operation} of {event.type}"
            instruction = self._instruction(event.pc) if isinstance(event, Access) else name
            raise InterCtaCommunication(f"the result of {instruction} depends on the order of the CTAs")
        return self._numbers.setdefault(reduction, len(self._numbers) + 1) * COMBINED

    def _instruction(self, pc: int) -> str:
        program = self.launch.program
        opcode = program.steps[pc].instruction.opcode
        return f"{opcode} in {program.place_of(pc)}" if program.line_of(pc) else opcode

    def footprint(self) -> Footprint:
        """Return the footprint of all accesses since the start of the run.

        Errors: InterCtaCommunication.
        """
        contents = self.launch.arena.bytes
        starts, ends, flags = marked_ranges(self._flags, self._pages)
        is_plain = flags < COMBINED
        reads, writes = (_joined(starts, ends, is_plain & (flags & flag > 0)) for flag in (READ, WRITTEN))
        combined: dict[CommutativeReduction, tuple[ByteRanges, Array]] = {}
        for reduction, number in self._numbers.items():
            ranges = _joined(starts, ends, flags == number * COMBINED)
            if ((ranges.starts | ranges.ends) % reduction.dtype.itemsize).any():
                raise InterCtaCommunication("other instructions access parts of elements that atomics change")
            if len(ranges):
                combined[reduction] = ranges, ranges.gather(contents)
        return Footprint(reads, writes, writes.gather(contents), combined)


def _joined(starts: Array, ends: Array, chosen: Array) -> ByteRanges:
    starts, ends = starts[chosen], ends[chosen]
    has_gap = starts[1:] != ends[:-1]
    edge = np.ones(min(len(starts), 1), np.bool_)
    return ByteRanges(starts[np.concatenate([edge, has_gap])], ends[np.concatenate([has_gap, edge])])
