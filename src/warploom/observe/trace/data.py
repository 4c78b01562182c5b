"""Data model of a trace."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import SourceLine

Array = NDArray[Any]


class Kind(IntEnum):
    """Kind of a trace event."""

    RUN = 0  # execution from one wait to the next
    WAIT_WARP = 1  # for the other lanes of its warp, or warps of its warpgroup
    WAIT_BARRIER = 2  # of the CTA
    WAIT_CLUSTER = 3  # for the barrier of the cluster
    WAIT_MBARRIER = 4
    WAIT_REGISTERS = 5
    WAIT_COPIES = 6  # for groups of thread copies
    WAIT_BULK = 7  # for bulk groups
    WAIT_MULTIPLICATIONS = 8  # for groups of warpgroup multiplications
    ARRIVE_BARRIER = 9  # without waiting
    ARRIVE_CLUSTER = 10
    ARRIVE_MBARRIER = 11
    ISSUE = 12  # of a copy or a multiplication
    COPY = 13  # in flight: from its issue to its effect
    MULTIPLICATION = 14  # of a warpgroup, in flight; or of warps, at one instruction
    PHASE = 15  # of an mbarrier
    COMMIT = 16  # of operations on tensor memory: from the instruction to the arrival at the mbarrier
    COLUMNS = 17  # of tensor memory: from their allocation to their release
    WAIT_TENSOR = 18  # for loads or stores of tensor memory


WAITS = frozenset(kind for kind in Kind if kind.name.startswith("WAIT"))

EVENT = np.dtype(
    [
        ("kind", "u1"), ("cta", "i4"), ("warp", "i4"), ("split", "i4"), ("begin", "i8"), ("end", "i8"), ("step", "i4"),
        ("last", "i4"), ("number", "i8"), ("phase", "i4"), ("amount", "i8"), ("count", "i4"),
    ]
)  # fmt: skip
"""Columns of a trace event.

- cta: position in `Trace.ctas`. A copy has the CTA that issued it, a phase the CTA that owns the mbarrier.
- warp: number in the CTA; -1 for a phase.
- split: 0, or above 0 for lanes that have diverged from those of split 0.
- begin, end: half-open range in steps of the emulator.
- step, last: program counters, indices of `Trace.opcodes`, `Trace.lines` and `Trace.source_lines`. A run has its least
  and greatest program counter; for other events both are the same.
- number: for a wait or an arrival, the barrier, or the shared address of the mbarrier with the rank of its CTA in bits
  24 and above, or the groups that may be pending, or the registers requested; for a phase and a copy, the address of
  the mbarrier, -1 if there is none; for columns, the first column.
- phase: phase of the mbarrier, counted from 0 at the initialisation; -1 is the phase before the first, or unknown.
- amount: bytes of a copy, or the bytes that an arrival or a phase expects.
- count: number of copies, multiplications, arrivals or columns that the event stands for.
"""

USE = np.dtype([("event", "i8"), ("cta", "i4"), ("kind", "U6"), ("what", "U24"), ("first", "i4"), ("end", "i4")])
"""Columns of a use of tensor memory.

- event: position in `TraceData.events` of the operation that uses the columns.
- cta: position in `Trace.ctas` of the CTA whose tensor memory is used. An operation of a pair has uses in both CTAs.
- kind: "read", "write" or "update"; "commit" for columns that an operation before the commit writes.
- what: operand of the operation, such as "D" or "the scale factors of A"; empty for a transfer of registers.
- first, end: half-open range of columns.
"""


@dataclass(frozen=True, slots=True)
class Cta:
    """CTA of a trace. `number` is its position in the grid, counted with x fastest."""

    number: int
    coordinates: tuple[int, int, int]
    cluster: int
    rank: int


@dataclass(frozen=True, slots=True, eq=False)
class TraceData:
    """Events of some CTAs of a run.

    `events` is a structured array of dtype `EVENT`. `arrows` has pairs of positions in `events`. An arrow leads from a
    cause to its effect, such as from an arrival to a wait. `uses` has the columns of tensor memory that events use, as
    a structured array of dtype `USE`, in the order of the events. `total` counts all events, even those beyond the
    recorder's limit. Times are steps of the emulator. A step is one instruction of all warps that have reached it, or
    an asynchronous operation that takes effect between instructions.
    """

    kernel: str
    schedule: str
    cluster_size: int
    warps: int  # of a CTA
    ctas: tuple[Cta, ...]
    opcodes: tuple[str, ...]
    lines: tuple[int, ...]  # of the PTX
    source_lines: tuple[SourceLine | None, ...]  # of the Python or CUDA C++ code, if the PTX states them
    events: Array
    arrows: NDArray[np.int64]
    uses: Array
    total: int

    def __len__(self) -> int:
        """Return the number of recorded events."""
        return len(self.events)

    def __str__(self) -> str:
        where = f"{len(self.ctas)} CTA{'s' if len(self.ctas) > 1 else ''}"
        if self.total > len(self):
            return f"the first {len(self):,} events of {self.total:,} in {where}"
        return f"{self.total:,} events in {where}"

    def of(self, kind: Kind) -> Array:
        """Return the events of a kind, with the columns of `EVENT`."""
        return self.events[self.events["kind"] == kind]
