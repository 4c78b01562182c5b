"""Jobs of the gemm campaign: module-level functions of one case, which any process can import."""

from __future__ import annotations

from warploom_lab.gemm.comparison import Outcome, Task, compare
from warploom_lab.gemm.record import Recorded


def run_case(_shared: None, task: Task, _report: object) -> Outcome:
    """Run a case and compare its result."""
    return compare(task)


def case_against_record(seed: int, recorded: Recorded, _report: object) -> str:
    """Return the difference of the emulator's result from the recorded one, or "" if they are equal."""
    return recorded.difference(seed)
