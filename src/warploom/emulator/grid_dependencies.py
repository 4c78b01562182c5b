"""Dependencies between grids that overlap: triggers of dependents, and waits for prerequisites."""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from warploom.emulator.events import GridControl
from warploom.emulator.warp_splits import Event, Status
from warploom.isa.model import effects
from warploom.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.observers import Dispatcher
    from warploom.emulator.program import Program
    from warploom.emulator.state import State

Result = TypeVar("Result")

SLICE = 1 << 15  # batches that a grid runs before its prerequisites continue, because it may poll their results
_RANDOM_PAUSE = 1 / 8  # probability, under a random schedule, that an overlapping grid pauses before a batch


class Pause(Enum):
    """Reason why a launch pauses.

    - READY: the launch has been checked and has not started.
    - TRIGGERED: every CTA has triggered the dependent grid, or has ended.
    - BLOCKED: the launch waits for the end of its prerequisites.
    - TURN: the schedule lets another launch continue.
    - STOPPED: a debugger has stopped the launch (see `stops.Stops`).
    """

    READY = "ready"
    TRIGGERED = "triggered"
    BLOCKED = "blocked"
    TURN = "turn"
    STOPPED = "stopped"


Steps = Generator[Pause, None, Result]
"""Execution of a launch as a generator, which yields the reason of each pause and returns a result."""


def finish(steps: Steps[Result]) -> Result:
    """Run an execution without stops to its end, and return its result."""
    while True:
        try:
            pause = next(steps)
            assert pause is not Pause.STOPPED
        except StopIteration as end:
            return end.value


@dataclass(slots=True, eq=False)
class Overlap:
    """State of a launch that may overlap with other launches, which the queue of launches updates.

    `is_free` is True once the prerequisites of the grid have ended. `has_dependent` is True if another launch may start
    when all CTAs have triggered it.
    """

    is_free: bool = True
    has_dependent: bool = False


class GridDependencies:
    """Triggers and waits of the resident CTAs.

    `is_last` is True in the last wave of the grid. `has_triggered` is True after the pause for the dependent grid.
    """

    STATE = ("_triggered", "has_triggered", "is_last", "_end_of_slice")

    def __init__(self, state: State, events: Dispatcher) -> None:
        self.state = state
        self._on_control = events.handler(GridControl)
        self._triggered = np.zeros(state.topology.ctas, np.bool_)
        self.begin(None)

    def begin(self, overlap: Overlap | None) -> None:
        """Prepare for a launch. `overlap` is None if the launch does not overlap with others."""
        self.overlap = overlap
        self.has_triggered = False
        self.is_last = False
        self._is_random = False
        self._end_of_slice = 0

    def start(self, is_last: bool, is_random: bool) -> None:
        """Forget the triggers before a new wave. `is_last` is True for the last wave."""
        self._triggered.fill(False)
        self.is_last, self._is_random = is_last, is_random

    def control(self, batch: Batch, kind: str) -> None:
        """Trigger the dependent grid with the CTAs of a batch, or wait for the prerequisites of this grid.

        `kind` is "trigger" or "wait", as in `effects.GridDependency`.
        """
        state = self.state
        if self._on_control is not None:
            self._on_control(GridControl(state.pc, batch, kind))
        if self.overlap is None:
            return
        if kind == "trigger":
            self._triggered[batch.location.cta] = True
        elif not self.overlap.is_free:
            rows = batch.suspend(np.ones(batch.count, np.bool_), state.pc, Status.WAITING)
            state.splits.awaited[rows] = Event.GRID

    @property
    def awaits_trigger(self) -> bool:
        """True if the end of a CTA may let the dependent grid start."""
        return self.overlap is not None and self.overlap.has_dependent and self.is_last and not self.has_triggered

    @property
    def is_triggered(self) -> bool:
        """True if the dependent grid may start now, and the launch has not paused for it."""
        return self.awaits_trigger and bool((self._triggered | (self.state.live_warps == 0)).all())

    @property
    def is_blocked(self) -> bool:
        """True if the prerequisites of this grid have not ended."""
        return self.overlap is not None and not self.overlap.is_free

    def resume(self, steps: int) -> None:
        """Continue after a pause, when `steps` batches of the wave have run."""
        self._end_of_slice = steps + SLICE
        if not self.is_blocked:
            splits = self.state.splits
            splits.resume(splits.waiting_for(Event.GRID, np.zeros(1, np.int64)))

    def must_pause(self, steps: int) -> bool:
        """Return True if `pause` will certainly return a reason."""
        return self.is_triggered or (self.is_blocked and steps >= self._end_of_slice)

    def pause(self, steps: int) -> Pause | None:
        """Return the reason for a pause after `steps` batches of the wave, or None."""
        if self.overlap is None:
            return None
        if self.is_triggered:
            self.has_triggered = True
            return Pause.TRIGGERED
        if self.must_pause(steps):
            return Pause.BLOCKED
        overlaps = self.has_triggered or self.is_blocked
        return Pause.TURN if self._is_random and overlaps and self.state.random.random() < _RANDOM_PAUSE else None


def triggers(program: Program) -> bool:
    """Return True if a program has an instruction that lets a dependent grid start."""
    return any(
        effects.word(effect.kind, step.binding.slots) == "trigger"
        for step in program.steps
        for effect in step.binding.form.effects_of(effects.GridDependency)
    )
