"""Executors of campaigns: threads and processes of this computer, and workers of a Dask cluster."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, TypeVar

from warploom.diagnostics import UsageError, WarploomError
from warploom.integrations.dask.tasks import ProgressCallback, TaskFunction, run_tasks
from warploom.integrations.dask.worker_pool import WorkerPool
from warploom.runtime.distribution import WorkReport
from warploom_lab.work.campaign import Campaign, Executor, Progress
from warploom_lab.work.isolated import IsolatedProcesses

Task = TypeVar("Task")
Result = TypeVar("Result")


def threads(campaign: Campaign[Task, Result], count: int) -> Executor[Task, Result]:
    """Return an executor that runs a campaign in `count` threads, for tasks that wait for other programs."""

    def execute(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Result]]]:
        pool = ThreadPoolExecutor(count)
        try:
            numbers = {pool.submit(campaign.job, campaign.shared, task, _ignore): at for at, task in enumerate(tasks)}
            for done, future in enumerate(as_completed(numbers), 1):
                progress(done)
                yield [(numbers[future], future.result())]
        finally:
            pool.shutdown(cancel_futures=True)

    return execute


def processes(
    campaign: Campaign[Task, Result],
    count: int,
    *,
    timeout: float = float("inf"),
    is_reusable: Callable[[Result], bool] = lambda _: True,
    on_loss: Callable[[Task], Result] | None = None,
    warm_up: Callable[[Sequence[Task]], object] | None = None,
    isolated: bool = False,
) -> Executor[Task, Result]:
    """Return an executor that runs a campaign in `count` processes of this computer.

    Count 0 means one process per core. With `isolated`, no task runs in this process. `warm_up` receives all tasks
    before the processes start. `on_loss` makes the result of a task whose process ended or exceeded `timeout`.
    `is_reusable(result)` is True if the process that returned the result can run another task.

    Units: `timeout` in seconds.
    """

    def execute(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Result]]]:
        wanted = min(count or os.cpu_count() or 1, len(tasks))
        # The first task compiles code, which the other processes then find in the cache.
        first = 0 if isolated else len(tasks) if wanted == 1 else 1
        if warm_up is not None:
            warm_up(tasks)
        for at in range(first):
            result = campaign.job(campaign.shared, tasks[at], _ignore)
            progress(at + 1)
            yield [(at, result)]
        pool = IsolatedProcesses(
            _PicklableTask(campaign.job, campaign.shared),
            workers=wanted,
            timeout=timeout,
            is_reusable=lambda result: isinstance(result, _Failure) or is_reusable(result),
            on_loss=on_loss or _lost,
        )
        for done, (at, result) in enumerate(pool.results(tasks[first:]), first + 1):
            if isinstance(result, _Failure):
                raise result.error
            progress(done)
            yield [(first + at, result)]

    return execute


def dask_workers(
    campaign: Campaign[Task, Result], workers: WorkerPool, ledger: WorkReport | None = None
) -> Executor[Task, Result]:
    """Return an executor that sends groups of a campaign's tasks to Dask workers.

    `ledger`, if given, collects the work of each worker.

    Errors: the errors of `integrations.dask.tasks.run_tasks`.
    """

    def execute(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Result]]]:
        starts = range(0, len(tasks), campaign.group)
        groups = [tasks[start : start + campaign.group] for start in starts]
        partial_counts: dict[int, int] = {}
        done = 0

        def on_progress(number: int, count: Any) -> None:
            partial_counts[number] = int(count)
            progress(done + sum(partial_counts.values()))

        shared = campaign.job, campaign.shared
        for number, values in run_tasks(workers, run_group, shared, groups, on_progress, ledger):
            partial_counts.pop(number, None)
            done += len(values)
            progress(done + sum(partial_counts.values()))
            yield [(starts[number] + at, value) for at, value in enumerate(values)]

    return execute


def run_group(shared: tuple[TaskFunction, Any], tasks: Sequence[Any], report: ProgressCallback) -> list[Any]:
    """Run a group of tasks on a Dask worker and return their results.

    `shared` is (function for one task, data for all tasks). `report` receives the number of finished tasks.
    """
    job, data = shared
    found: list[Any] = []
    for task in tasks:
        found.append(job(data, task, _ignore))
        report(len(found))
    return found


@dataclass(frozen=True)
class _Failure:
    """Result of a task that raised an error in another process."""

    error: WarploomError


@dataclass(frozen=True)
class _PicklableTask:
    """Picklable function that runs one task in another process."""

    func: TaskFunction
    shared: Any

    def __call__(self, task: Any) -> Any:
        try:
            return self.func(self.shared, task, _ignore)
        except WarploomError as error:
            return _Failure(error)


def _lost(_: Any) -> _Failure:
    return _Failure(
        UsageError(
            "a worker process ended before it finished its task", hint="start the command again with fewer --workers"
        )
    )


def _ignore(_: Any) -> None:
    return
