"""The work of the campaign, a case at a time: functions that any process can be given."""

from __future__ import annotations

from warploom_lab.gemm.campaign import Outcome, Task, compare
from warploom_lab.gemm.record import Recorded


def multiplication(_shared: None, task: Task, _tell: object) -> Outcome:
    """A case run and compared."""
    return compare(task)


def gemm_against(seed: int, recorded: Recorded, _tell: object) -> str:
    """How the machine's result of a case is another than the recorded one, in a phrase; "" where it is the same."""
    return recorded.difference(seed)
