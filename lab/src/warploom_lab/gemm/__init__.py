"""Random multiplications, put to a GPU, to float64 and to the abstract machine.

case(seed=1, number=7)                      # a Case: what is multiplied, and how
compare(Task(seed=1, number=7, bits=True))  # -> Outcome: how far from float64, and whether bits differ

A new feature is a field of `Case` that `case.py` draws, its arrays in `given.py`, its arithmetic in `expected.py`.
"""

from __future__ import annotations

from warploom_lab.gemm.campaign import Outcome, Task, Way, compare, lives, lost, small_ones, warm
from warploom_lab.gemm.case import Case, case, cases
from warploom_lab.gemm.record import Record, Recorded, recorded

__all__ = [
    "Case",
    "Outcome",
    "Record",
    "Recorded",
    "Task",
    "Way",
    "case",
    "cases",
    "compare",
    "lives",
    "lost",
    "recorded",
    "small_ones",
    "warm",
]
