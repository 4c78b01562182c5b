"""Grids and arguments of the kernels for few rows of A."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.kernels.hopper.cost_model import TileSchedule, tile_counts
from warploom.kernels.hopper.plan import Plan
from warploom.kernels.plan import BLOCK, CHUNK, size_of
from warploom.kernels.problem import Operands, Problem, aligned, line_strides, transposed
from warploom.layout import TensorMap

_L2_PROMOTION = 256  # bytes that L2 fetches at once


@dataclass(frozen=True, slots=True)
class ExchangedDispatch:
    """Launch of a kernel with an exchanged tile.

    `HopperDispatch` describes the properties. The threads may store two elements at once.
    """

    problem: Problem
    plan: Plan
    schedule: TileSchedule

    programmatic = True
    stores_by_address = False
    alignment = CHUNK

    @property
    def grid(self) -> int:
        """Number of CTAs of the launch."""
        return self.schedule.ctas

    @property
    def workspace(self) -> tuple[int, int] | None:
        """Number of 32-bit words and of zeroed flags for tiles that are cut along K; None without such tiles."""
        return self.schedule.workspace(self.plan)

    @property
    def cluster(self) -> int:
        """Number of CTAs of a cluster."""
        return self.plan.tile.ctas

    def tensor_maps(self, operands: Operands, d: Any) -> dict[str, TensorMap]:
        """Return the tensor maps of A and B by parameter. Operand A of the plan is B transposed."""
        plan = self.plan
        return {"a": operand_map(plan, operands.a, "b"), "b": operand_map(plan, transposed(operands.b), "a")}

    def unused_pointers(self, operands: Operands) -> tuple[str, ...]:
        """Return the names of the pointer parameters without an array."""
        missing = operands.missing("row_scales", "column_scales", "bias")
        return missing if self.workspace is not None or self.plan.tile.is_vector else (*missing, "partial", "flags")

    def arguments(self, operands: Operands, d: Any, start: Any, alpha: float, beta: float) -> list[Any]:
        """Return the kernel arguments for NumPy arrays.

        `start` is the array that the kernel writes. Its rows are padded. `d` is a view of `start` without the padding.
        """
        c = None if operands.c is None else aligned(operands.c)
        return [
            *self._matrices(operands, d),
            *(start if c is None else c.base, start),
            *self._partial_sums(),
            *(operands.row_scales, operands.column_scales, operands.bias),
            *(np.float32(alpha), np.float32(beta)),
            *self.numbers(d, operands._replace(c=c)),
        ]

    def _matrices(self, operands: Operands, d: Any) -> tuple[Any, ...]:
        """Return the arguments for A and B."""
        return tuple(self.tensor_maps(operands, d).values())

    def _partial_sums(self) -> tuple[Any, ...]:
        """Return the arguments for partial sums and flags."""
        return tuple(np.zeros(count, np.uint32) for count in self.workspace or (0, 0))

    def numbers(self, d: Any, operands: Operands) -> tuple[int, ...]:
        """Return the last kernel arguments: strides of C and D, and sizes. Errors: UsageError kernels.layout."""
        schedule = self.schedule
        return *_strides(operands, d), *self._sizes(), schedule.stages, schedule.split, schedule.tiles

    def _sizes(self) -> tuple[int, ...]:
        return self.problem.m, self.problem.n, *tile_counts(self.problem, self.plan)


class VectorDispatch(ExchangedDispatch):
    """Launch of the kernel for one to four rows of A."""

    def tensor_maps(self, operands: Operands, d: Any) -> dict[str, TensorMap]:
        """Return an empty mapping, because the kernel has no tensor maps."""
        return {}

    def _partial_sums(self) -> tuple[Any, ...]:
        return ()

    def arguments(self, operands: Operands, d: Any, start: Any, alpha: float, beta: float) -> list[Any]:
        """Return the kernel arguments for NumPy arrays.

        A and B are copied, because their rows must be aligned.
        """
        b = transposed(aligned(transposed(operands.b)))
        return super().arguments(operands._replace(a=aligned(operands.a), b=b), d, start, alpha, beta)

    def _matrices(self, operands: Operands, d: Any) -> tuple[Any, ...]:
        return operands.a.base, operands.b.base

    def numbers(self, d: Any, operands: Operands) -> tuple[int, ...]:
        """Return the last kernel arguments: strides in bytes, and sizes. Errors: UsageError kernels.layout."""
        a, b = (line_strides("A", operands.a, 1), line_strides("B", operands.b, 0))
        rows, planes = zip(a, b, strict=True)
        return *rows, *planes, *_strides(operands, d), *self._sizes(), self.problem.k


def _strides(operands: Operands, d: Any) -> tuple[int, ...]:
    """Return the strides of the rows of C and D, and those of their batches."""
    lines = (line_strides(*each, 1) for each in (("C", d if operands.c is None else operands.c), ("D", d)))
    strides, planes = zip(*lines, strict=True)
    return *strides, *planes


def operand_map(plan: Plan, array: Any, name: str) -> TensorMap:
    """Return the tensor map of operand "a" of a plan, or of operand "b" transposed.

    `OperandCopy` copies its boxes.
    """
    type_word, (lines, span, is_along_k) = plan.a if name == "a" else plan.b, plan.stage_layout(name)
    count = plan.sharers(name)
    if is_along_k:
        return matrix_map(plan, array, name, (lines // count, span // size_of(type_word)), span, type_word)
    return matrix_map(plan, transposed(array), name, (plan.stage_k // count, BLOCK), span, type_word)


def matrix_map(plan: Plan, array: Any, name: str, box: tuple[int, int], swizzle: int, type_word: str) -> TensorMap:
    """Return the tensor map of a matrix with the name of the plan's operand."""
    whole = (1, *box) if plan.rank(name) == 3 else box
    dtype = "tf32" if type_word == "tf32" else None
    return TensorMap.tiled(array, whole, swizzle=swizzle, dtype=dtype, l2_promotion=_L2_PROMOTION)
