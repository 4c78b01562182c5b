"""Execution of launches that may overlap with the next launch on their stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from warploom.emulator.grid_dependencies import Overlap, Pause, Steps, finish
from warploom.emulator.schedule import Schedule


@dataclass(eq=False)
class _Delayed:
    """Launch that has been prepared and has not ended."""

    steps: Steps[None]
    overlap: Overlap


class LaunchQueue:
    """Launches on one stream, each of which may overlap with the one before.

    Under the schedule "eager", a launch runs to its end at once. Under the other schedules, a launch that triggers
    dependent grids is delayed until the next operation is known. If that is a programmatic launch on the same stream,
    the two overlap. Under "lazy", a dependent grid starts as early as possible, and runs until it needs the end of the
    earlier grid. Under "random", the seed decides which grid runs, and for how long.
    """

    def __init__(self) -> None:
        self._delayed: list[_Delayed] = []
        self._stream: object = None
        self._schedule = Schedule("eager")

    def run(
        self, start: Callable[[Overlap | None], Steps[None]], stream: object, schedule: Schedule, *,
        programmatic: bool, triggers: bool,
    ) -> None:  # fmt: skip
        """Run a launch, or delay it. `start` returns its execution.

        `programmatic` lets the launch start before the previous launch on the stream has ended. `triggers` is True if
        it may let the next launch start before its end.

        Errors: those of the launch and of delayed launches.
        """
        follows = programmatic and bool(self._delayed) and stream is self._stream
        if not follows:
            self.finish()
        is_delayed = triggers and schedule.kind != "eager"
        if not (follows or is_delayed):
            finish(start(None))
            return
        launch = _Delayed((steps := start(overlap := Overlap(is_free=not follows))), overlap)
        next(steps)
        if follows:
            self._delayed[-1].overlap.has_dependent = True
        self._delayed.append(launch)
        self._stream, self._schedule = stream, schedule
        if not is_delayed:
            self.finish()

    def finish(self) -> None:
        """Run the delayed launches to their ends. Errors: those of the launches."""
        launches, self._delayed, self._stream = self._delayed, [], None
        try:
            self._overlap(launches)
        finally:
            for each in launches:  # those that an error of another launch ends
                each.steps.close()

    def _overlap(self, launches: list[_Delayed]) -> None:
        random = Random(self._schedule.seed)
        running, started, blocked = [*range(len(launches))], min(1, len(launches)), set[int]()
        while running:
            # The first running launch is never blocked: its prerequisites have ended.
            able = [k for k in running if k < started and k not in blocked]
            k = random.choice(able) if self._schedule.kind == "random" else able[-1]
            try:
                pause = next(launches[k].steps)
            except StopIteration:
                running.remove(k)
                pause = Pause.TRIGGERED
                if k + 1 < len(launches):
                    launches[k + 1].overlap.is_free = True
                    blocked.discard(k + 1)
            if pause is Pause.TRIGGERED:
                started = max(started, k + 2)
            elif pause is Pause.BLOCKED:
                blocked.add(k)
