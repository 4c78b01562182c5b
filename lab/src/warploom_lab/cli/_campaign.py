"""A campaign carried out: by processes or threads here or by a crew, with a checkpoint, watched on the terminal."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from warploom.cli import _workers
from warploom.cli._progress import counting
from warploom.diagnostics import UsageError, WarploomError

if TYPE_CHECKING:
    from warploom.integrations.dask.compatibility import Requirements
    from warploom.integrations.dask.tasks import TaskFunction
    from warploom_lab.work.campaign import Campaign, Doing, Progress

Task = TypeVar("Task")
Result = TypeVar("Result")


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the option of a checkpoint."""
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="keep each result in a file as it comes; the same command started again does what is missing",
    )


def at_least_one(options: argparse.Namespace) -> None:
    """Refuse a number of threads below 1. Errors: UsageError."""
    if isinstance(options.workers, int) and options.workers < 1:
        raise UsageError(f"--workers is {options.workers}; expected 1 or more")


def file(path: Path) -> dict[str, str]:
    """What a checkpoint says of a file that results follow from. Errors: UsageError dask.file."""
    from warploom.integrations.dask.compatibility import file_digests

    return {"file": next(iter(file_digests([path]).values()))}


def carry_out(
    what: str,
    campaign: Campaign[Task, Result],
    options: argparse.Namespace,
    here: Callable[[int], Doing[Task, Result]],
    *,
    needs: Requirements | None = None,
    heard: Callable[[Result], object] = lambda _: None,
) -> list[Result]:
    """Every result, in the tasks' order. `here` makes what does tasks in so many processes or threads of this machine.

    Errors: UsageError dask.*; those of the tasks.
    """
    doing = (
        here(options.workers)
        if isinstance(options.workers, int)
        else crewed(campaign, options.workers, needs)
    )
    return watched(what, campaign, options, doing, heard)


def watched(
    what: str,
    campaign: Campaign[Task, Result],
    options: argparse.Namespace,
    doing: Doing[Task, Result],
    heard: Callable[[Result], object] = lambda _: None,
) -> list[Result]:
    """Every result, in the tasks' order, with a bar while there are some to come."""
    from warploom_lab.work.campaign import run

    with counting(what, len(campaign.tasks)) as progress:
        return run(campaign, doing, options.checkpoint, progress, heard)


def crewed(
    campaign: Campaign[Task, Result], workers: str, needs: Requirements | None = None
) -> Doing[Task, Result]:
    """A crew does the tasks. It is called together when there are some, and its table is shown at the end."""

    def do(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Result]]]:
        with crew(workers, needs) as called:
            yield from called(campaign)(tasks, progress)

    return do


@contextmanager
def crew(
    workers: str, needs: Requirements | None = None
) -> Generator[Callable[[Campaign[Any, Any]], Doing[Any, Any]]]:
    """A crew that is called together now, for one campaign after the other; its table is shown at the end."""
    from warploom.integrations.dask.worker_pool import WorkerPool
    from warploom.runtime.distribution import WorkReport
    from warploom_lab.work.campaign import by_crew

    ledger = WorkReport()
    with WorkerPool(workers, needs) as called:
        _workers.say(str(called))
        try:
            yield lambda campaign: by_crew(campaign, called, ledger)
        finally:
            _workers.table(ledger)


def spread(job: TaskFunction, workers: str, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
    """What a crew makes of tasks that share nothing, with their numbers, as it comes."""
    from warploom_lab.work.campaign import Campaign

    campaign = Campaign[Any, Any]({}, job, None, tasks, _same, _same)
    for some in crewed(campaign, workers)(tasks, _unheard):
        yield from some


# Here --------------------------------------------------------------------------------------------------------


def threads(campaign: Campaign[Task, Result], count: int) -> Doing[Task, Result]:
    """So many threads here do the tasks: for those that wait for other programs."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    def do(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Result]]]:
        pool = ThreadPoolExecutor(count)
        try:
            asked = {
                pool.submit(campaign.job, campaign.shared, task, _unheard): at
                for at, task in enumerate(tasks)
            }
            for done, future in enumerate(as_completed(asked), 1):
                progress(done)
                yield [(asked[future], future.result())]
        finally:
            pool.shutdown(cancel_futures=True)

    return do


def processes(
    campaign: Campaign[Task, Result],
    count: int,
    *,
    patience: float = float("inf"),
    lasts: Callable[[Result], bool] = lambda _: True,
    lost: Callable[[Task], Result] | None = None,
    warm: Callable[[Sequence[Task]], object] | None = None,
    alone: bool = False,
) -> Doing[Task, Result]:
    """So many processes here do the tasks, 0 for one for each core.

    By default the first task is done in this process, so that the others find compiled what they need, and all are
    where there is to be no other process. With `alone` none is, as a task may end its process: `warm` is called
    first instead, a task that does not end within `patience` is `lost`, and so is one whose process ends.

    Units: `patience` in seconds.
    """

    def do(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Result]]]:
        from warploom_lab.campaign.isolated import Isolated

        wanted = min(count or os.cpu_count() or 1, len(tasks))
        first = 0 if alone else len(tasks) if wanted == 1 else 1
        if warm is not None:
            warm(tasks)
        for at in range(first):
            result = campaign.job(campaign.shared, tasks[at], _unheard)
            progress(at + 1)
            yield [(at, result)]
        crew = Isolated(
            _Piece(campaign.job, campaign.shared),
            workers=wanted,
            patience=patience,
            lasts=lambda found: isinstance(found, _Failed) or lasts(found),
            lost=lost or _lost,
        )
        for done, (at, result) in enumerate(crew.results(tasks[first:]), first + 1):
            if isinstance(result, _Failed):
                raise result.error
            progress(done)
            yield [(first + at, result)]

    return do


@dataclass(frozen=True)
class _Failed:
    """Why a task could not be done."""

    error: WarploomError


@dataclass(frozen=True)
class _Piece:
    """A job with what its tasks share, for another process. `func` says whose module that needs."""

    func: TaskFunction
    shared: Any

    def __call__(self, task: Any) -> Any:
        try:
            return self.func(self.shared, task, _unheard)
        except WarploomError as error:
            return _Failed(error)


def _lost(_: Any) -> _Failed:
    return _Failed(
        UsageError(
            "a process that did a part of the work ended before it",
            hint="start it again, with fewer --workers",
        )
    )


def _unheard(_: Any) -> None:
    return


def _same(value: Any) -> Any:
    return value
