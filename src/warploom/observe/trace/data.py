"""What a trace holds: a table of events, and arrows between them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Kind(IntEnum):
    """What an event is. Runs, waits, arrivals and issues are a warp's; the others are not."""

    RUN = 0  # a warp goes on, from one wait to the next
    WAIT_WARP = 1  # for the other lanes of its warp, or warps of its warpgroup
    WAIT_BARRIER = 2  # of the CTA
    WAIT_CLUSTER = 3  # for the barrier of the cluster
    WAIT_MBARRIER = 4
    WAIT_REGISTERS = 5
    WAIT_COPIES = 6  # for groups of copies of single threads
    WAIT_BULK = 7  # for bulk groups
    WAIT_PRODUCTS = 8  # for groups of multiplications of warpgroups
    ARRIVE_BARRIER = 9  # without waiting
    ARRIVE_CLUSTER = 10
    ARRIVE_MBARRIER = 11
    ISSUE = 12  # of a copy or a multiplication
    COPY = 13  # in flight
    PRODUCT = 14  # a multiplication of a warpgroup in flight, or those of warps
    PHASE = 15  # of an mbarrier


WAITS = frozenset(kind for kind in Kind if kind.name.startswith("WAIT"))

EVENT = np.dtype(
    [
        ("kind", "u1"),
        ("cta", "i4"),
        ("warp", "i4"),
        ("strand", "i4"),
        ("begin", "i8"),
        ("end", "i8"),
        ("step", "i4"),
        ("last", "i4"),
        ("number", "i8"),
        ("phase", "i4"),
        ("amount", "i8"),
        ("count", "i4"),
    ]
)
"""The columns of an event.

- cta: position in `Trace.ctas`. Of a copy the CTA that issued it, of a phase the one that owns the mbarrier.
- warp: within its CTA; -1 of a phase.
- strand: 0, or above 0 for lanes that have parted from those of strand 0.
- begin, end: half-open, in steps of the emulator.
- step, last: program counters, which `Trace.opcodes` and `Trace.lines` are indexed by; of a run its least and
  greatest, of anything else twice the same.
- number: of a wait or an arrival the barrier, the shared address of the mbarrier with its CTA's rank in bits 24
  and up, the groups that may be pending, or the registers asked for; of a phase and a copy that mbarrier's
  address, -1 where there is none.
- phase: of mbarriers, counted from 0 and from the initialisation; -1 the one before, or not known.
- amount: bytes of a copy; bytes that an arrival or a phase expects.
- count: copies, multiplications or arrivals.
"""


@dataclass(frozen=True, slots=True)
class Cta:
    """A CTA of a trace: its number in the grid, x running fastest, its coordinates, its cluster and rank there."""

    number: int
    coordinates: tuple[int, int, int]
    cluster: int
    rank: int


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What happened when in some CTAs of a run.

    `events` is a structured array with the columns of `EVENT`; `arrows` are pairs of its rows: from an arrival
    or a copy to the wait that it lets go on, from an issue to what was issued, from a copy or a multiplication
    to the wait that covers it. The events are the first of `total`, when there were more than the limit.

    Units: steps of the emulator, which executes one instruction at a time, for all warps that stand at it; what
        an asynchronous engine does between instructions is a step as well.
    """

    kernel: str
    schedule: str
    cluster_size: int
    warps: int  # of a CTA
    ctas: tuple[Cta, ...]
    opcodes: tuple[str, ...]
    lines: tuple[int, ...]
    events: Array
    arrows: NDArray[np.int64]
    total: int

    def __len__(self) -> int:
        """Events that are here."""
        return len(self.events)

    def __str__(self) -> str:
        where = f"{len(self.ctas)} CTA{'s' if len(self.ctas) > 1 else ''}"
        if self.total > len(self):
            return f"the first {len(self):,} events of {self.total:,} in {where}"
        return f"{self.total:,} events in {where}"

    def of(self, kind: Kind) -> Array:
        """The events of a kind."""
        return self.events[self.events["kind"] == kind]

    def save(self, path: str | Path) -> None:
        """Write the trace as Perfetto (https://ui.perfetto.dev) and chrome://tracing read it.

        The file is there whole or not at all. Errors: UsageError launch.trace.
        """
        from warploom.observe.trace.chrome import save

        save(self, Path(path))
