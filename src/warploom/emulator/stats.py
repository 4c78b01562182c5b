"""Progress and statistics of a run on the emulator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import astuple, field

from warploom.emulator.times import Times
from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run. Units: `seconds` since the start; `instructions` counts warp instructions."""

    ctas_done: int
    ctas_total: int
    macs: int
    instructions: int
    seconds: float

    @staticmethod
    def total(parts: Sequence[Progress]) -> Progress:
        """Return the progress of parts of a run that take place at the same time."""
        done, whole, macs, instructions, seconds = zip(*map(astuple, parts), strict=True)
        return Progress(sum(done), sum(whole), sum(macs), sum(instructions), max(seconds))


Report = Callable[[Progress], None]
"""Function that is called with the progress of a run at intervals."""


@dataclass(slots=True)
class Stats:
    """Statistics of a run. `instructions` counts warp instructions by instruction family.

    `times` has the times of the parts of the launch.
    """

    instructions: dict[str, int] = field(default_factory=dict[str, int])
    macs: int = 0
    seconds: float = 0.0
    ctas: int = 0
    batches: int = 0  # executed batches of warps
    spent: int = 0  # used part of the step budget
    times: Times = field(default_factory=Times, compare=False, repr=False)

    @staticmethod
    def total(parts: Sequence[Stats]) -> Stats:
        """Return the statistics of parts of a run that take place at the same time."""
        counts = Counter[str]()
        for each in parts:
            counts.update(each.instructions)
        names = ("macs", "ctas", "batches", "spent")
        macs, ctas, batches, spent = (sum(getattr(each, name) for each in parts) for name in names)
        seconds = max((each.seconds for each in parts), default=0.0)
        times = Times.total(each.times for each in parts)
        return Stats(dict(counts.most_common()), macs, seconds, ctas, batches, spent, times)
