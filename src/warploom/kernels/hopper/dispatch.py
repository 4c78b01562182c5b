"""From arrays to the arguments of the Hopper kernel, the same on both machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.kernels import scale_layout as scales
from warploom.kernels.hopper.cost_model import Share, tiles_of
from warploom.kernels.hopper.plan import SPAN, Plan, size_of
from warploom.kernels.hopper.producer import BLOCK
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
    def ctas(self) -> int:
        """The grid."""
        return self.share.ctas

    @property
    def cluster(self) -> int:
        """CTAs of a cluster."""
        return self.plan.tile.cluster

    @property
    def programmatic(self) -> bool:
        """Whether a launch may begin before the one before it has ended: the kernel waits for itself."""
        return True

    @property
    def held(self) -> tuple[int, int] | None:
        """Memory besides the arrays: words and flags of tiles that are cut; None where none is."""
        return None if self.share.even else (self.partial_words, self.flags)

    @property
    def addressed(self) -> bool:
        """Whether D's address is told once more, beside its tensor map."""
        return self.plan.addressed

    @property
    def alignment(self) -> int:
        """Bytes that the addresses of A, B, C and D are multiples of; tensor maps judge them for themselves."""
        return 1

    @property
    def partial_words(self) -> int:
        """Words of 32 bits for sums of tiles that are cut."""
        return 0 if self.share.even else self.flags * 128 * self.plan.words

    @property
    def flags(self) -> int:
        """Flags of such sums: one for each part of a CTA's tile. They are 0 before a launch, and after it."""
        return 0 if self.share.even else self.share.ctas * self.plan.tile.sharers

    def tensors(self, a: Any, b: Any, c: Any, d: Any) -> tuple[TensorMap, ...]:
        """The tensor maps of A, B, C and D; where there is no C, D's stands for it and is not looked at."""
        plan, tile = self.plan, self.plan.tile
        of_d = self._result(d, "d")
        return (
            self._operand(a, "a", plan.a, plan.a_major, tile.rows, plan.span_a),
            self._operand(swapped(b), "b", plan.b, plan.b_major, tile.columns // tile.cluster, SPAN),
            of_d if c is None else self._result(c, "c"),
            of_d,
        )

    def absent(self, arrays: Arrays) -> tuple[str, ...]:
        """The pointers that this multiplication does not need."""
        missing = arrays.missing("row_scales", "column_scales", "bias", "metadata", "ends")
        missing += () if self.addressed else ("d_start",)
        return missing if self.held is not None else (*missing, "partial", "flags")

    def _operand(self, array: Any, name: str, type_word: str, major: str, lines: int, span: int) -> TensorMap:
        """A map over (M or N, K), of which a stage has `span` bytes."""
        if major == "k":
            return self._map(array, name, (lines, span // size_of(type_word)), span, type_word)
        return self._map(swapped(array), name, (self.plan.depth, BLOCK), SPAN, type_word)

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
            arrays.metadata,
            arrays.ends,
            np.float32(alpha),
            np.float32(beta),
            start if self.addressed else None,
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
