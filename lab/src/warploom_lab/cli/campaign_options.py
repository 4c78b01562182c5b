"""Options and executors for verbs that run campaigns.

A campaign is a set of independent tasks. They run in processes of this computer or on Dask workers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from warploom.cli import _workers
from warploom.diagnostics import UsageError
from warploom_lab.cli.status import counting

if TYPE_CHECKING:
    from warploom.integrations.dask.compatibility import Requirements
    from warploom.integrations.dask.tasks import TaskFunction
    from warploom_lab.work.campaign import Campaign, Executor, Progress

Task = TypeVar("Task")
Result = TypeVar("Result")

REPOSITORY = Path(__file__).resolve().parents[4]
"""Root folder of the checkout."""


def declare_record_folder(parser: argparse.ArgumentParser, folder: Path) -> None:
    """Add the option --record with the default `folder`."""
    parser.add_argument(
        "--record", type=Path, default=folder, metavar="FOLDER", help=f"folder of the record ({folder})"
    )


def declare_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Add the option --checkpoint."""
    parser.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="append each result to a file; after an interruption the same command continues from it",
    )


def require_positive_workers(options: argparse.Namespace) -> None:
    """Raise UsageError for a number of --workers below 1."""
    if isinstance(options.workers, int) and options.workers < 1:
        raise UsageError(f"--workers is {options.workers}; expected 1 or more")


def file_digest(path: Path) -> dict[str, str]:
    """Return {"file": digest of the file at `path`}. Errors: UsageError dask.file."""
    from warploom.integrations.dask.compatibility import file_digests

    return {"file": next(iter(file_digests([path]).values()))}


def run_campaign(
    title: str,
    campaign: Campaign[Task, Result],
    options: argparse.Namespace,
    local: Callable[[int], Executor[Task, Result]],
    *,
    needs: Requirements | None = None,
) -> list[Result]:
    """Run a campaign with the options --workers and --checkpoint. Return the results in task order.

    `title` is the title of the progress bar. `local` makes the executor for a number of processes of this computer.
    `needs` are packages and files that each Dask worker must have.

    Errors: UsageError dask.*; the errors of the tasks.
    """
    executor = local(options.workers) if isinstance(options.workers, int) else on_dask(campaign, options.workers, needs)
    return run_with_progress(title, campaign, options, executor)


def run_with_progress(
    title: str,
    campaign: Campaign[Task, Result],
    options: argparse.Namespace,
    executor: Executor[Task, Result],
    on_result: Callable[[Result], object] = lambda _: None,
) -> list[Result]:
    """Run a campaign with a progress bar and the option --checkpoint. Return the results in task order.

    `title` is the title of the bar. Each result is passed to `on_result` as soon as it arrives.
    """
    from warploom_lab.work.campaign import run

    with counting(title, len(campaign.tasks)) as progress:
        return run(campaign, executor, options.checkpoint, progress, on_result)


def on_dask(
    campaign: Campaign[Task, Result], workers: str, needs: Requirements | None = None
) -> Executor[Task, Result]:
    """Return an executor that starts Dask workers, and at the end prints a table of the workers.

    `workers` names the Dask cluster. `needs` are packages and files that each worker must have.
    """

    def execute(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Result]]]:
        with dask_pool(workers, needs) as executor_of:
            yield from executor_of(campaign)(tasks, progress)

    return execute


@contextmanager
def dask_pool(
    workers: str, needs: Requirements | None = None
) -> Generator[Callable[[Campaign[Any, Any]], Executor[Any, Any]]]:
    """Start Dask workers. Yield a function that returns an executor for a campaign.

    A table of the workers is printed at the end. `workers` names the Dask cluster. `needs` are packages and files that
    each worker must have.
    """
    from warploom.integrations.dask.worker_pool import WorkerPool
    from warploom.runtime.distribution import WorkReport
    from warploom_lab.work.executors import dask_workers

    ledger = WorkReport()
    with WorkerPool(workers, needs) as pool:
        _workers.say(str(pool))
        try:
            yield lambda campaign: dask_workers(campaign, pool, ledger)
        finally:
            _workers.table(ledger)


def map_on_dask(job: TaskFunction, workers: str, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
    """Run tasks on Dask workers. Yield (index of a task, result) as each task finishes.

    `job` runs one task. `workers` names the Dask cluster.
    """
    from warploom_lab.work.campaign import Campaign

    def unchanged(value: Any) -> Any:
        return value

    campaign = Campaign[Any, Any]({}, job, None, tasks, unchanged, unchanged)
    for batch in on_dask(campaign, workers)(tasks, lambda _: None):
        yield from batch
