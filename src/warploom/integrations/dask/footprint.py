"""Footprints of parts of a grid, which state the bytes of global memory that some of its waves access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.events import Access, CopyAccess, Launch, Observer
from warploom.emulator.execute import inter_cta_communication
from warploom.integrations.dask import _byte_flags
from warploom.integrations.dask._byte_flags import COMBINED, READ, WRITTEN
from warploom.isa.instructions.reductions import CommutativeReduction, commutative_reduction

Array = NDArray[Any]


class InterCtaCommunication(Exception):
    """Dependence of a CTA on the timing of another CTA. One worker must run both CTAs.

    `reason` names the instruction. It is the rest of a sentence after "because".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class ByteRanges:
    """Byte ranges of global memory, disjoint and in ascending order.

    Shapes: `starts` and `ends` are (ranges,).
    Units: bytes from the beginning of the arena's memory.
    """

    starts: Array
    ends: Array

    def __len__(self) -> int:
        return len(self.starts)

    def gather(self, contents: Array) -> Array:
        """Return the bytes of all ranges of the memory `contents`, without gaps."""
        packed = np.empty(int((self.ends - self.starts).sum()), np.uint8)
        _byte_flags.gather_ranges(contents, self.starts, self.ends, packed)
        return packed

    def scatter(self, contents: Array, packed: Array) -> None:
        """Write the bytes that `gather` returned to the ranges of the memory `contents`."""
        _byte_flags.scatter_ranges(contents, self.starts, self.ends, packed)


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """Bytes of global memory that a part of a grid accessed, with their values after the run.

    `reads` and `writes` are the ranges of ordinary accesses, and `written` are the bytes in `writes`. `combined` maps
    each commutative reduction to the ranges that only this reduction accessed, and to the bytes in them.
    """

    reads: ByteRanges
    writes: ByteRanges
    written: Array
    combined: dict[CommutativeReduction, tuple[ByteRanges, Array]]


class FootprintRecorder(Observer):
    """Observer that records the footprint of a run. Errors: InterCtaCommunication, which ends the run."""

    launch: Launch

    def attach(self, launch: Launch) -> None:
        """Allocate flags for the global memory of a launch, and select the events to observe."""
        self.launch = launch
        pages = -(-len(launch.arena.bytes) >> _byte_flags.PAGE_BITS)
        self._pages = np.zeros(pages, np.uint8)
        self._flags = np.zeros(pages << _byte_flags.PAGE_BITS, np.uint8)
        self._numbers: dict[CommutativeReduction, int] = {}
        self._observes_others = inter_cta_communication(launch.program)
        self.handlers = {Access: self._access, CopyAccess: self._copy_access}

    def _access(self, event: Access) -> None:
        if event.space != "global":
            return
        if not event.location.asynchronous and self._observes_others[event.pc]:
            instruction = self._instruction(event.pc)
            raise InterCtaCommunication(f"{instruction} returns what other CTAs may have left in global memory")
        if event.kind == "update":
            flag = self._reduction_flag(event.operation, event.type, self._instruction(event.pc))
        else:
            flag = READ if event.kind == "read" else WRITTEN
        lanes = uniform(event.lanes)
        _byte_flags.mark_lanes(self._flags, self._pages, event.index, lanes, event.size, flag)

    def _copy_access(self, event: CopyAccess) -> None:
        if event.kind == "update":
            name = f"a bulk reduction by {event.operation} of {event.type}"
            flag = self._reduction_flag(event.operation, event.type, name)
        else:
            flag = READ if event.kind == "read" else WRITTEN
        _byte_flags.mark_ranges(self._flags, self._pages, event.starts, event.sizes, flag)

    def _reduction_flag(self, operation: str, type: str, instruction: str) -> int:
        reduction = commutative_reduction(operation, type)
        if reduction is None:
            raise InterCtaCommunication(f"the result of {instruction} depends on the order of the CTAs")
        return self._numbers.setdefault(reduction, len(self._numbers) + 1) * COMBINED

    def _instruction(self, pc: int) -> str:
        program = self.launch.program
        line = program.line_of(pc)
        opcode = program.steps[pc].instruction.opcode
        return f"{opcode} in line {line}" if line else opcode

    def footprint(self) -> Footprint:
        """Return the footprint of all accesses since the start of the run. Errors: InterCtaCommunication."""
        contents = self.launch.arena.bytes
        starts, ends, flags = _byte_flags.marked_ranges(self._flags, self._pages)
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
    """Return the ranges for which `chosen` is True. Adjacent ranges are joined."""
    starts, ends = starts[chosen], ends[chosen]
    has_gap = starts[1:] != ends[:-1]
    edge = np.ones(min(len(starts), 1), np.bool_)
    return ByteRanges(starts[np.concatenate([edge, has_gap])], ends[np.concatenate([has_gap, edge])])
