"""Functions that run one case of `compare gemm` in any process."""

from warploom_lab.gemm.comparison import Outcome, Task, compare
from warploom_lab.gemm.record import Recorded


def run_case(_shared: None, task: Task, _report: object) -> Outcome:
    """Run the case of a task and return the outcome."""
    return compare(task)


def case_against_record(seed: int, recorded: Recorded, _report: object) -> str:
    """Return a message if the emulator's result differs from the recorded result, or ""."""
    return recorded.difference(seed)
