"""Functions that run one case of a comparison in any process."""

from typing import Any

from warploom_lab.attention import ATTENTION
from warploom_lab.gemm import GEMM
from warploom_lab.problems.outcome import Outcome, Task
from warploom_lab.problems.record import Recorded
from warploom_lab.problems.subject import Subject

SUBJECTS: dict[str, Subject] = {each.name: each for each in (GEMM, ATTENTION)}
"""Subjects by name."""


def run_case(name: str, task: Task, _report: object) -> Outcome[Any]:
    """Run the case of a task of the subject `name` and return the outcome."""
    return SUBJECTS[name].compare(task)


def case_against_record(seed: int, recorded: Recorded, _report: object) -> str:
    """Return a message if the emulator's result differs from the recorded result, or ""."""
    return recorded.difference(seed)
