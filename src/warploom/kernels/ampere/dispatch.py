"""Grid and arguments of the Ampere kernel for arrays in host or GPU memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.kernels.ampere.plan import WarpPlan
from warploom.kernels.plan import CHUNK
from warploom.kernels.problem import Operands, Problem, aligned, line_strides, transposed
from warploom.layout import TensorMap


@dataclass(frozen=True, slots=True)
class AmpereDispatch:
    """Launch of an Ampere kernel: the problem, and the plan of the kernel."""

    problem: Problem
    plan: WarpPlan

    # These values stand for the properties of `HopperDispatch` with the same names.
    cluster = workspace = None
    programmatic = stores_by_address = False
    alignment = CHUNK

    @property
    def grid(self) -> int:
        """Number of CTAs: one for each tile of each batch."""
        return self.plan.tile.count(self.problem)

    def tensor_maps(self, operands: Operands, d: Any) -> dict[str, TensorMap]:
        """Return an empty mapping, because the kernel has no tensor maps."""
        return {}

    def unused_pointers(self, operands: Operands) -> tuple[str, ...]:
        """Return the names of the pointer parameters without an array."""
        return operands.missing("row_scales", "column_scales", "bias")

    def arguments(self, operands: Operands, d: Any, start: Any, alpha: float, beta: float) -> list[Any]:
        """Return the kernel arguments for NumPy arrays.

        `start` is the array that the kernel writes. Its rows are padded. `d` is a view of `start` without the padding.
        """
        plan = self.plan
        a, b = operands.a, operands.b
        a = aligned(a) if plan.a_major == "k" else transposed(aligned(transposed(a)))
        b = aligned(b) if plan.b_major == "n" else transposed(aligned(transposed(b)))
        c = None if operands.c is None else aligned(operands.c)
        return [
            *(a.base, b.base, start if c is None else c.base, start),
            *(operands.row_scales, operands.column_scales, operands.bias),
            *(np.float32(alpha), np.float32(beta)),
            *self.numbers(d, operands._replace(a=a, b=b, c=c)),
        ]

    def numbers(self, d: Any, operands: Operands) -> tuple[int, ...]:
        """Return the last kernel arguments: strides in bytes, then M, N and K.

        Errors: UsageError kernels.layout.
        """
        plan, problem = self.plan, self.problem
        c = d if operands.c is None else operands.c
        layouts = [
            line_strides("A", operands.a, int(plan.a_major == "k")),
            line_strides("B", operands.b, int(plan.b_major == "n")),
            *(line_strides(name, array, 1) for name, array in (("C", c), ("D", d))),
        ]
        rows, planes = zip(*layouts, strict=True)
        return (*rows, *planes, problem.m, problem.n, problem.k)
