"""Interface of the distribution of work over the workers of a cluster."""

from collections import Counter
from collections.abc import Callable
from dataclasses import field
from typing import Any, Protocol, cast

from warploom.diagnostics import Diagnostic, UsageError
from warploom.emulator.arena import Arena
from warploom.emulator.request import Request
from warploom.emulator.stats import Progress, Stats
from warploom.lazy_dataclass import dataclass
from warploom.providers import provider

Announce = Callable[[str], None]


@dataclass(slots=True)
class WorkerShare:
    """Work that one worker did.

    `tasks` counts finished tasks, and `seconds` is their total duration. `lost` counts tasks that the worker began
    and did not finish. `counts` has totals of other quantities, such as the CTAs that the worker ran.
    """

    name: str
    tasks: int = 0
    seconds: float = 0.0
    lost: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])


@dataclass(slots=True)
class WorkReport:
    """Report on a list of tasks.

    `done` of `total` tasks have ended. `restarted` counts the repeated starts of tasks. `resubmissions` counts how
    often all unfinished tasks were submitted again after a loss of the scheduler. `workers` has each worker's share by
    name.
    """

    done: int = 0
    total: int = 0
    restarted: int = 0
    resubmissions: int = 0
    workers: dict[str, WorkerShare] = field(default_factory=dict[str, WorkerShare])

    def worker(self, name: str) -> WorkerShare:
        """Return the share of a worker. Create the share if it does not exist."""
        return self.workers.setdefault(name, WorkerShare(name))


@dataclass(frozen=True, slots=True)
class Distribution:
    """Record of the distribution of one launch over workers.

    `single_worker_reason` states why one worker ran the whole grid. It is empty if the workers shared the grid.
    """

    single_worker_reason: str
    report: WorkReport


def check_workers(workers: object) -> None:
    """Refuse a `workers` option that is neither a positive number of threads nor a string.

    A string names a Dask cluster; `WorkDistributor` checks it.

    Errors: UsageError launch.workers.
    """
    if isinstance(workers, str):
        return
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise UsageError(
            f"workers is {workers!r}; expected an integer above 0, 'dask', or the address of a Dask scheduler",
            code="launch.workers",
        )


class WorkDistributor(Protocol):
    """Interface of the module that distributes work over the workers of a cluster."""

    def run_grid(
        self, request: Request, arena: Arena, segments: dict[str, int], sanitize: bool | frozenset[str], workers: str,
        progress: Callable[[Progress], None] | None, announce: Announce | None,
    ) -> tuple[Stats, tuple[Diagnostic, ...], Distribution]:  # fmt: skip
        """Run a grid on the workers `workers`. Return statistics, findings and a record of the distribution.

        `arena` is the emulator's memory. `segments` has the address of each variable by name. `sanitize` is as in
        `runtime.cpu.run`.
        """
        ...

    def map_tasks(
        self, function: Callable[[Any, Any, Callable[[Any], None]], Any], shared: object, tasks: list[Any],
        workers: str, announce: Announce | None,
    ) -> tuple[list[Any], WorkReport]:  # fmt: skip
        """Call `function` for each task on the workers `workers`. Return the results in order, and a report.

        The arguments of `function` are a copy of `shared`, the task, and a callback for its progress.
        """
        ...


def distributor() -> WorkDistributor:
    """Return the module that distributes work over the workers of a cluster."""
    return cast("WorkDistributor", provider("workers"))
