"""Random attention problems, compared between a GPU, float64 and the emulator.

    case(seed=1, number=7)                      # -> Case: sizes, masks, storage, values, target
    compare(Task(seed=1, number=7, bits=True))  # -> Outcome: error relative to float64, and whether bits differ

A new feature of `attention` needs a field of `Case` with random values in `case.py`, its arrays in `inputs.py`, and its
arithmetic in `expected.py`, or in `gradients.py` for `attention_backward`.
"""

from warploom_lab.attention.case import Case, case, cases
from warploom_lab.attention.comparison import Outcome, Runner, compare, emulate
from warploom_lab.attention.record import Recorded, parse, recorded
from warploom_lab.problems.subject import Subject

ATTENTION = Subject("attention", Outcome, case, compare, emulate, recorded, parse)
"""Cases of `attention` and `attention_backward`."""

__all__ = ["ATTENTION", "Case", "Outcome", "Recorded", "Runner", "case", "cases", "compare", "emulate", "parse"]
