"""Model that predicts the time of a launch on many Dask workers from costs measured with two.

The initial memory reaches the workers in a tree, in which each worker forwards it to two others. Then the launch takes
the maximum of three times:

- workers: the tasks of the worker with the most tasks;
- scheduler: the handling of all tasks, one after the other;
- caller's link: the transfer of all results, one after the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from warploom.integrations.dask.grid import TASKS_PER_WORKER


@dataclass(frozen=True)
class Costs:
    """Measured costs of tasks and transfers.

    Units: `task` seconds of a task without its waves, `handled` seconds of the scheduler for each task, `there` and
    `back` bytes per second to the workers and to the caller.
    """

    task: float
    handled: float
    there: float
    back: float


@dataclass(frozen=True)
class Work:
    """Launch whose time is predicted.

    Units: `wave` seconds of a wave on one worker, `image` bytes of initial memory, `result` bytes of results.
    """

    name: str
    waves: int
    wave: float
    image: int
    result: int


@dataclass(frozen=True)
class Prediction:
    """Predicted times of a launch and of its parts.

    Units: seconds.
    """

    workers: int
    before: float
    working: float
    scheduling: float
    returning: float

    @property
    def seconds(self) -> float:
        """Predicted time of the whole launch."""
        return self.before + max(self.working, self.scheduling, self.returning)

    @property
    def bound(self) -> str:
        """Name of the part that takes longest."""
        parts = {"workers": self.working, "scheduler": self.scheduling, "caller's link": self.returning}
        return max(parts, key=lambda name: parts[name])


def predict(costs: Costs, work: Work, workers: int) -> Prediction:
    """Predict the time of a launch on a number of workers."""
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
    """Return the predicted speedup on some workers, divided by their number."""
    return work.waves * work.wave / (workers * predict(costs, work, workers).seconds)


def saturation(costs: Costs, work: Work) -> tuple[int, int]:
    """Return the numbers of workers at which the scheduler and the caller's link are saturated."""
    per_task = work.wave + costs.task
    return int(per_task / costs.handled), int(work.waves * per_task / (work.result / costs.back))
