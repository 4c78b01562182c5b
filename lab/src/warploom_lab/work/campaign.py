"""Campaigns: many independent tasks whose results are kept as they come, by whatever hands they are done.

    campaign = Campaign({"campaign": "squares"}, square, None, range(1000), write=int, read=int)
    with WorkerPool("dask") as crew:
        run(campaign, by_crew(campaign, crew), Path("squares.jsonl"))        # -> every result, in the tasks' order

The same call again after whatever ended it does what is missing, and returns the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from warploom.diagnostics import UsageError
from warploom.integrations.dask.compatibility import source_version
from warploom.integrations.dask.tasks import ProgressCallback, TaskFunction, run_tasks
from warploom.integrations.dask.worker_pool import WorkerPool
from warploom.runtime.distribution import WorkReport
from warploom_lab.work.journal import Journal

Task = TypeVar("Task")
Result = TypeVar("Result")

Progress = Callable[[int], object]
"""Told how many tasks are done, those of earlier processes among them."""
Doing = Callable[[Sequence[Task], Progress], Iterator[Sequence[tuple[int, Result]]]]
"""Does tasks: results with their numbers, some at a time, as they come. It tells how many of these are done."""


@dataclass(frozen=True)
class Campaign(Generic[Task, Result]):
    """What is to be done: `job` for each of the tasks, with what all share.

    `about` says in plain data all that the results follow from. `write` makes plain data of a result, as JSON has it,
    and `read` a result of that; both here, whoever did the task. `group` tasks go to a worker of a crew together, so
    that they take some tenths of a second.
    """

    about: Mapping[str, Any]
    job: TaskFunction
    shared: Any
    tasks: Sequence[Task]
    write: Callable[[Result], Any]
    read: Callable[[Any], Result]
    group: int = 1

    @property
    def header(self) -> dict[str, Any]:
        """What its journal says of it: the release too, as another one may find something else."""
        return {**self.about, "tasks": len(self.tasks), "warploom": source_version()}


def run(
    campaign: Campaign[Task, Result],
    doing: Doing[Task, Result],
    checkpoint: Path | None = None,
    progress: Progress = lambda _: None,
    heard: Callable[[Result], object] = lambda _: None,
) -> list[Result]:
    """Each task's result, in their order. What a checkpoint has is not done again, and what is done is added to it.

    `heard` is told each result once, as it comes; those of the checkpoint first.

    Errors: UsageError checkpoint.file, checkpoint.disk; those of `doing`.
    """
    found: dict[int, Result] = {}
    with nullcontext() if checkpoint is None else Journal(checkpoint, campaign.header) as journal:
        if journal is not None:
            found = {number: _read(campaign, journal, number) for number in sorted(journal.results)}
            for result in found.values():
                heard(result)
        resumed = len(found)
        progress(resumed)
        left = [number for number in range(len(campaign.tasks)) if number not in found]
        if left:
            tasks = [campaign.tasks[number] for number in left]
            for some in doing(tasks, lambda done: progress(resumed + done)):
                if journal is not None:
                    journal.add((left[at], campaign.write(result)) for at, result in some)
                for at, result in some:
                    found[left[at]] = result
                    heard(result)
    return [found[number] for number in range(len(campaign.tasks))]


def _read(campaign: Campaign[Any, Result], journal: Journal, number: int) -> Result:
    try:
        return campaign.read(journal.results[number])
    except (TypeError, ValueError, KeyError, AttributeError):
        raise UsageError(
            f"{journal.path} has a result of task {number} that cannot be read",
            code="checkpoint.file",
            hint="remove it to begin anew",
        ) from None


def by_crew(
    campaign: Campaign[Task, Result], crew: WorkerPool, ledger: WorkReport | None = None
) -> Doing[Task, Result]:
    """A crew does the tasks, by groups. Errors: those of `dask.tasks.run_tasks`."""

    def do(tasks: Sequence[Task], progress: Progress) -> Iterator[Sequence[tuple[int, Result]]]:
        starts = range(0, len(tasks), campaign.group)
        groups = [tasks[start : start + campaign.group] for start in starts]
        under_way: dict[int, int] = {}
        done = 0

        def hear(number: int, told: Any) -> None:
            under_way[number] = int(told)
            progress(done + sum(under_way.values()))

        shared = campaign.job, campaign.shared
        for number, values in run_tasks(crew, do_group, shared, groups, hear, ledger):
            under_way.pop(number, None)
            done += len(values)
            progress(done + sum(under_way.values()))
            yield [(starts[number] + at, value) for at, value in enumerate(values)]

    return do


def do_group(shared: tuple[TaskFunction, Any], tasks: Sequence[Any], tell: ProgressCallback) -> list[Any]:
    """The job of a group, on a worker: tells how many of its tasks are done."""
    job, what = shared
    found: list[Any] = []
    for task in tasks:
        found.append(job(what, task, _unheard))
        tell(len(found))
    return found


def _unheard(_: Any) -> None:
    return
