"""State that the parts of the recorder share: the table of events, the recorded CTAs, and the clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Launch, Resident
from warploom.observe.trace.table import Table

Array = NDArray[Any]


@dataclass(slots=True)
class Recording:
    """Table of events, recorded CTAs, and the clock of a trace.

    `cta_of_cta` and `cta_of_warp` have the position in `Trace.ctas` of each resident CTA and warp, -1 for CTAs that are
    not recorded. `recorded` marks the recorded warps. The clock counts the steps in which recorded CTAs take part:
    instructions, and asynchronous operations that take effect between basic blocks. `base` is the step at which the
    executing block began, or, between blocks, the next step. `pc` is the executing instruction, and `first` the first
    instruction of its block.
    """

    launch: Launch
    table: Table
    resident: Resident | None = None
    cta_of_cta: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    cta_of_warp: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    recorded: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    any_recorded: bool = False
    base: int = 0
    pc: int = 0
    first: int = 0
    in_block: bool = False

    def start(self, event: Resident, cta_of_cta: Array) -> None:
        """Start a wave of CTAs."""
        self.resident = event
        self.cta_of_cta = cta_of_cta
        self.cta_of_warp = cta_of_cta[self.launch.topology.cta_of]
        self.recorded = self.cta_of_warp >= 0
        self.any_recorded = bool(self.recorded.any())

    @property
    def present(self) -> Resident:
        """Resident CTAs of this wave."""
        assert self.resident is not None
        return self.resident

    def now(self) -> int:
        """Return the step that is executing, or between blocks the last step."""
        return self.base + self.pc - self.first if self.in_block else max(self.base - 1, 0)

    def tick(self) -> None:
        """Advance the clock for an asynchronous operation that takes effect between blocks."""
        if not self.in_block:
            self.base += 1
