"""From arrays to the arguments of the Hopper kernel, the same on both machines."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from warploom.kernels import scales
from warploom.kernels.cost import Share, tiles_of
from warploom.kernels.load import BLOCK
from warploom.kernels.plan import Plan, size_of
from warploom.kernels.problem import Arrays, Problem, swapped
from warploom.layout import TensorMap, strided

_PROMOTION = 256  # bytes that L2 fetches at once


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A problem, the plan of its kernel, and how its tiles are dealt out."""

    problem: Problem
    plan: Plan
    share: Share

    @property
    def pitch(self) -> int:
        """Elements from a row of a new D to the next: whole 16 bytes."""
        per_row = 16 // size_of(self.plan.d)
        return ceil(self.problem.n / per_row) * per_row

    @property
    def partial_words(self) -> int:
        """Words of 32 bits for sums of tiles that are cut."""
        return 0 if self.share.even else self.flags * 128 * self.plan.words

    @property
    def flags(self) -> int:
        """Flags of such sums: one for each part of a CTA's tile. They are 0 before a launch, and after it."""
        return 0 if self.share.even else self.share.ctas * self.plan.tile.sharers

    def tensors(self, a: Any, b: Any, c: Any, d: Any) -> tuple[TensorMap, TensorMap, TensorMap, TensorMap]:
        """The tensor maps of A, B, C and D; where there is no C, D's stands for it and is not looked at."""
        plan, tile = self.plan, self.plan.tile
        of_d = self._result(d, "d")
        return (
            self._operand(a, "a", plan.a, plan.a_major, tile.rows),
            self._operand(swapped(b), "b", plan.b, plan.b_major, tile.columns // tile.cluster),
            of_d if c is None else self._result(c, "c"),
            of_d,
        )

    def _operand(self, array: Any, name: str, type_word: str, major: str, lines: int) -> TensorMap:
        """A map over (M or N, K)."""
        box = (lines, self.plan.depth) if major == "k" else (self.plan.depth, BLOCK)
        return self._map(array if major == "k" else swapped(array), name, box, 128, type_word)

    def _result(self, array: Any, name: str) -> TensorMap:
        span = self.plan.row_bytes
        return self._map(array, name, (64, self.plan.patch), span if span > 16 else 0, "")

    def _map(self, array: Any, name: str, box: tuple[int, int], swizzle: int, type_word: str) -> TensorMap:
        whole = (1, *box) if self.plan.rank(name) == 3 else box
        dtype = "tf32" if type_word == "tf32" else None
        return TensorMap.tiled(array, whole, swizzle=swizzle, dtype=dtype, l2_promotion=_PROMOTION)

    def arguments(self, arrays: Arrays, d: Any, start: Any, alpha: float, beta: float) -> list[Any]:
        """All arguments for arrays of NumPy's: D is `d`, in memory from the array `start` on."""
        rows, columns = scales.dense(arrays.row_scales), scales.dense(arrays.column_scales)
        arrays = arrays._replace(row_scales=rows, column_scales=columns)
        return [
            *self.tensors(arrays.a, arrays.b, arrays.c, d),
            np.zeros(self.partial_words, np.uint32),
            np.zeros(self.flags, np.uint32),
            *(scales.flat(rows), scales.flat(columns), arrays.bias),
            None,
            arrays.ends,
            np.float32(alpha),
            np.float32(beta),
            start if self.plan.addressed else None,
            *self.numbers(d, arrays),
        ]

    def numbers(self, d: Any, arrays: Arrays) -> tuple[int, ...]:
        """The last parameters: how D lies, the sizes, and how factors of blocks lie."""
        problem, lies = self.problem, strided(d)
        return (
            lies.strides[-2],
            lies.strides[0] if self.plan.batched else 0,
            problem.m,
            problem.n,
            *tiles_of(problem, self.plan),
            self.share.stages,
            self.share.split,
            self.share.tiles,
            problem.groups,
            *scales.strides(arrays.row_scales),
            *scales.strides(arrays.column_scales),
        )
