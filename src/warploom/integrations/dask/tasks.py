"""Independent pieces of work, one for each of a list of tasks."""

from __future__ import annotations

from typing import Any

from warploom.integrations.dask.crew import Crew
from warploom.integrations.dask.work import Job, results
from warploom.runtime.spreading import Announce, Ledger


def each(
    job: Job, shared: object, tasks: list[Any], workers: str, announce: Announce | None = None
) -> tuple[list[Any], Ledger]:
    """What `job` makes of each task, in the order of the tasks, and who did it.

    Errors: UsageError farm.*.
    """
    ledger = Ledger()
    found: dict[int, Any] = {}
    with Crew(workers) as crew:
        if announce is not None:
            announce(str(crew))
        found.update(results(crew, job, shared, tasks, None, ledger))
    return [found[number] for number in range(len(tasks))], ledger
