"""Grid and arguments of the Ampere kernel for arrays in host or GPU memory."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.kernels.ampere.plan import WarpPlan
from warploom.kernels.plan import CHUNK
from warploom.kernels.problem import Operands, Problem, array_error, transposed
from warploom.layout import TensorMap, strided

_MAX_STRIDE = 2**32 - CHUNK  # largest distance of two rows in bytes


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

    def tensor_maps(self, a: Any, b: Any, c: Any, d: Any) -> tuple[TensorMap, ...]:
        """Return an empty tuple, because the kernel has no tensor maps."""
        return ()

    def unused_pointers(self, operands: Operands) -> tuple[str, ...]:
        """Return the names of the pointer parameters without an array."""
        return operands.missing("row_scales", "column_scales", "bias")

    def arguments(self, operands: Operands, d: Any, start: Any, alpha: float, beta: float) -> list[Any]:
        """Return the kernel arguments for NumPy arrays.

        `start` is the array that the kernel writes. Its rows are padded. `d` is a view of `start` without the padding.
        """
        plan = self.plan
        a, b = operands.a, operands.b
        a = _aligned(a) if plan.a_major == "k" else transposed(_aligned(transposed(a)))
        b = _aligned(b) if plan.b_major == "n" else transposed(_aligned(transposed(b)))
        c = None if operands.c is None else _aligned(operands.c)
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
            _strides("A", operands.a, int(plan.a_major == "k")),
            _strides("B", operands.b, int(plan.b_major == "n")),
            *(_strides(name, array, 1) for name, array in (("C", c), ("D", d))),
        ]
        rows, planes = zip(*layouts, strict=True)
        return (*rows, *planes, problem.m, problem.n, problem.k)


def _strides(name: str, array: Any, contiguous: int) -> tuple[int, int]:
    """Return the byte stride of the axis that is not contiguous, and the byte stride of the batch axis.

    `contiguous` is the contiguous one of the last two axes, 0 or 1.
    """
    layout = strided(array)
    lines, across = layout.shape[-2:][1 - contiguous], layout.strides[-2:][1 - contiguous]
    plane = layout.strides[0] if len(layout.shape) == 3 and layout.shape[0] > 1 else 0
    stride = across if lines > 1 else 0
    if stride > _MAX_STRIDE or plane < 0 or plane % CHUNK:
        expected = f"rows at most {_MAX_STRIDE} bytes apart, and batches a multiple of {CHUNK}"
        raise array_error(name, layout, expected)
    return stride, plane


def _aligned(array: Any) -> Any:
    """Return a copy of an array. Its rows start at multiples of 16 bytes."""
    per_row = CHUNK // array.dtype.itemsize
    wide = -(-array.shape[-1] // per_row) * per_row
    made = np.zeros((*array.shape[:-1], wide), array.dtype)[..., : array.shape[-1]]
    made[...] = array
    return made
