"""From arrays to the arguments of the warp-level kernel, the same on both machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.kernels.ampere.plan import CHUNK, Plan
from warploom.kernels.problem import Arrays, Problem, swapped
from warploom.layout import TensorMap, strided

_FARTHEST = 2**32 - CHUNK  # bytes from row to row


@dataclass(frozen=True, slots=True)
class WarpDispatch:
    """A problem and the plan of its kernel. It has the properties of a `dispatch.Dispatch`."""

    problem: Problem
    plan: Plan

    @property
    def ctas(self) -> int:
        """The grid: a CTA for each tile of each batch."""
        return self.plan.tile.count(self.problem.m, self.problem.n, self.problem.batch)

    @property
    def cluster(self) -> None:
        """CTAs of a cluster: there are none before sm_90."""
        return

    @property
    def programmatic(self) -> bool:
        """Whether a launch may begin before the one before it has ended: no, for the kernel does not wait."""
        return False

    @property
    def held(self) -> None:
        """Memory besides the arrays: none."""
        return

    @property
    def addressed(self) -> bool:
        """Whether D's address is told once more, beside its tensor map."""
        return False

    @property
    def alignment(self) -> int:
        """Bytes that the addresses of A, B, C and D are multiples of; tensor maps judge them for themselves."""
        return CHUNK

    def tensors(self, a: Any, b: Any, c: Any, d: Any) -> tuple[TensorMap, ...]:
        """The tensor maps: none, the kernel takes addresses."""
        return ()

    def absent(self, arrays: Arrays) -> tuple[str, ...]:
        """The pointers that this multiplication does not need."""
        return arrays.missing("row_scales", "column_scales", "bias")

    def arguments(self, arrays: Arrays, d: Any, start: Any, alpha: float, beta: float) -> list[Any]:
        """All arguments for arrays of NumPy's: D is `d`, in memory from the array `start` on."""
        plan = self.plan
        a = _aligned(arrays.a) if plan.a_major == "k" else swapped(_aligned(swapped(arrays.a)))
        b = _aligned(arrays.b) if plan.b_major == "n" else swapped(_aligned(swapped(arrays.b)))
        c = None if arrays.c is None else _aligned(arrays.c)
        return [
            *map(_whole, (a, b)),
            start if c is None else _whole(c),
            start,
            *(arrays.row_scales, arrays.column_scales, arrays.bias),
            np.float32(alpha),
            np.float32(beta),
            *self.numbers(d, arrays._replace(a=a, b=b, c=c)),
        ]

    def numbers(self, d: Any, arrays: Arrays) -> tuple[int, ...]:
        """The last parameters: how the matrices lie, and the sizes. Errors: UsageError kernels.layout."""
        plan, problem = self.plan, self.problem
        along = {"A": int(plan.a_major == "k"), "B": int(plan.b_major == "n")}
        matrices = {"A": arrays.a, "B": arrays.b, "C": d if arrays.c is None else arrays.c, "D": d}
        lie = [_lies(name, array, along.get(name, 1)) for name, array in matrices.items()]
        lines, planes = zip(*lie, strict=True)
        return (*lines, *planes, problem.m, problem.n, problem.k)


def _lies(name: str, array: Any, along: int) -> tuple[int, int]:
    """Bytes from line to line, where of the last two axes the one `along` has neighbours, and from batch to batch."""
    lies = strided(array)
    lines, across = lies.shape[-2:][1 - along], lies.strides[-2:][1 - along]
    plane = lies.strides[0] if len(lies.shape) == 3 and lies.shape[0] > 1 else 0
    stride = across if lines > 1 else 0
    if stride > _FARTHEST or plane < 0 or plane % CHUNK:
        raise UsageError(
            f"{name} of shape {lies.shape} has strides of {lies.strides} bytes; expected rows at most {_FARTHEST} bytes"
            f" apart, and batches a multiple of {CHUNK}",
            code="kernels.layout",
        )
    return stride, plane


def _aligned(array: Any) -> Any:
    """A copy whose rows begin at whole 16 bytes, as copies of 16 bytes ask for."""
    per_row = CHUNK // array.dtype.itemsize
    wide = -(-array.shape[-1] // per_row) * per_row
    made = np.zeros((*array.shape[:-1], wide), array.dtype)[..., : array.shape[-1]]
    made[...] = array
    return made


def _whole(array: Any) -> Any:
    """All the memory of such a copy."""
    return array.base
