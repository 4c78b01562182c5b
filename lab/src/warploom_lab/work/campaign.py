"""Campaigns: many independent tasks whose results are kept in a checkpoint file.

    campaign = Campaign({"campaign": "squares"}, square, None, range(1000), encode=int, decode=int)
    run(campaign, processes(campaign, 2), Path("squares.jsonl"))         # -> every result, in the tasks' order

After an interruption the same call runs the missing tasks and returns the same list.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from warploom.diagnostics import UsageError
from warploom.integrations.dask.compatibility import source_version
from warploom.integrations.dask.tasks import TaskFunction
from warploom_lab.work.checkpoint import Checkpoint

Task = TypeVar("Task")
Result = TypeVar("Result")

Progress = Callable[[int], object]
"""Callback with the number of finished tasks, including the tasks of earlier processes."""
Executor = Callable[[Sequence[Task], Progress], Iterator[Sequence[tuple[int, Result]]]]
"""Function that runs tasks and yields batches of (task number, result) as they finish."""


@dataclass(frozen=True)
class Campaign(Generic[Task, Result]):
    """Function `job(shared, task, report)`, the tasks to run it for, and the data `shared` for all tasks.

    `report` is a progress callback. `encode` turns a result into JSON data, and `decode` turns JSON data into the
    result.
    """

    about: Mapping[str, Any]  # JSON data: everything that the results depend on
    job: TaskFunction
    shared: Any
    tasks: Sequence[Task]
    encode: Callable[[Result], Any]
    decode: Callable[[Any], Result]
    group: int = 1  # tasks for a Dask worker at a time, some tenths of a second of work

    @property
    def header(self) -> dict[str, Any]:
        """Description of the campaign in a checkpoint."""
        # Another release of Warploom may give other results.
        return {**self.about, "tasks": len(self.tasks), "warploom": source_version()}


def run(
    campaign: Campaign[Task, Result],
    executor: Executor[Task, Result],
    checkpoint: Path | None = None,
    progress: Progress = lambda _: None,
    on_result: Callable[[Result], object] = lambda _: None,
) -> list[Result]:
    """Run the tasks without a result in the checkpoint. Return the results of all tasks, in task order.

    New results are appended to the checkpoint. `on_result` receives each result once, also those of the checkpoint.

    Errors: UsageError checkpoint.file, checkpoint.disk; the errors of the executor.
    """
    results: dict[int, Result] = {}
    with nullcontext() if checkpoint is None else Checkpoint(checkpoint, campaign.header) as kept:
        if kept is not None:
            results = {number: _decode(campaign, kept, number) for number in sorted(kept.results)}
            for result in results.values():
                on_result(result)
        resumed = len(results)
        progress(resumed)
        missing = [number for number in range(len(campaign.tasks)) if number not in results]
        if missing:
            tasks = [campaign.tasks[number] for number in missing]
            for batch in executor(tasks, lambda done: progress(resumed + done)):
                if kept is not None:
                    kept.add((missing[at], campaign.encode(result)) for at, result in batch)
                for at, result in batch:
                    results[missing[at]] = result
                    on_result(result)
    return [results[number] for number in range(len(campaign.tasks))]


def _decode(campaign: Campaign[Any, Result], checkpoint: Checkpoint, number: int) -> Result:
    try:
        return campaign.decode(checkpoint.results[number])
    except (TypeError, ValueError, KeyError, AttributeError):
        raise UsageError(
            f"{checkpoint.path} has an unreadable result of task {number}",
            code="checkpoint.file",
            hint="remove the file to start again",
        ) from None
