"""What a launch takes on many workers, from a few costs that can be measured on any two.

Four things bound it, and the largest of them is what it takes:

- the workers' own time: the waves of a launch are cut into tasks, and the worker that has most of them is waited for;
- the scheduler, which one after the other handles all tasks;
- the caller's link, through which all results come back, one after the other;
- what goes before: the memory that the launch starts from reaches all workers in a tree, each handing it on to two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from warploom.integrations.dask.grid import TASKS_PER_WORKER


@dataclass(frozen=True)
class Costs:
    """Measured. Units: seconds for a task beside its waves on a worker, seconds of the scheduler for each task, bytes a
    second to a worker and back to the caller.
    """

    task: float
    handled: float
    there: float
    back: float


@dataclass(frozen=True)
class Work:
    """A launch. Units: seconds of a wave on one worker, bytes that it starts from and that it leaves."""

    name: str
    waves: int
    wave: float
    image: int
    result: int


@dataclass(frozen=True)
class Prediction:
    """What a launch takes, and what each bound would alone. Units: seconds."""

    workers: int
    before: float
    working: float
    scheduling: float
    returning: float

    @property
    def seconds(self) -> float:
        """In all."""
        return self.before + max(self.working, self.scheduling, self.returning)

    @property
    def bound(self) -> str:
        """What it waits for."""
        parts = {"workers": self.working, "scheduler": self.scheduling, "caller's link": self.returning}
        return max(parts, key=lambda name: parts[name])


def predict(costs: Costs, work: Work, workers: int) -> Prediction:
    """What a launch takes on so many workers."""
    each = math.ceil(work.waves / (TASKS_PER_WORKER * workers))
    tasks = math.ceil(work.waves / each)
    last = math.ceil(tasks / workers)
    return Prediction(
        workers,
        before=work.image / costs.there * math.ceil(math.log2(workers + 1)),
        working=last * (each * work.wave + costs.task),
        scheduling=tasks * costs.handled,
        returning=work.result / costs.back,
    )


def efficiency(costs: Costs, work: Work, workers: int) -> float:
    """The share of the workers' time that a launch alone on one of them would take."""
    return work.waves * work.wave / (workers * predict(costs, work, workers).seconds)


def saturation(costs: Costs, work: Work) -> tuple[int, int]:
    """Workers beyond which the scheduler, and beyond which the caller's link, is what a launch waits for."""
    per_task = work.wave + costs.task
    return int(per_task / costs.handled), int(work.waves * per_task / (work.result / costs.back))
