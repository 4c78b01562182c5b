"""Random matrix multiplications, compared between a GPU, float64 and the emulator.

    case(seed=1, number=7)                      # -> Case: operands, sizes, layouts, epilogue
    compare(Task(seed=1, number=7, bits=True))  # -> Outcome: error relative to float64, and whether bits differ

A new feature of `gemm` needs a field of `Case` with random values in `case.py`, its arrays in `inputs.py`, and its
arithmetic in `expected.py`.
"""

from warploom_lab.gemm.case import Case, case, cases
from warploom_lab.gemm.comparison import Outcome, Partition, compare, emulate
from warploom_lab.gemm.record import Recorded, parse, recorded
from warploom_lab.problems.subject import Subject

GEMM = Subject("gemm", Outcome, case, compare, emulate, recorded, parse)
"""Cases of `gemm` and `grouped_gemm`."""

__all__ = ["GEMM", "Case", "Outcome", "Partition", "Recorded", "case", "cases", "compare", "emulate", "parse"]
