"""Factors of rows and columns as the host has them: which are by block, what they must be, how they lie."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu.arrays import as_numpy, is_foreign_type
from warploom.kernels.hopper.plan import SCALED, Blocks
from warploom.kernels.problem import Arrays, Problem
from warploom.layout import strided


def blocks_of(arrays: Arrays, asked: Problem) -> Blocks:
    """Which factors are by block: those in arrays of more than one dimension. Errors: UsageError kernels.shape."""
    wide = ceil(asked.n / SCALED)
    rows = _lines("row_scales", arrays.row_scales, asked, (asked.m,))
    columns = _lines("column_scales", arrays.column_scales, asked, (wide, asked.n))
    return Blocks(rows is not None, 0 if columns is None else SCALED if columns == wide else 1)


def _lines(name: str, value: Any, asked: Problem, counts: tuple[int, ...]) -> int | None:
    """How many rows or columns an array has factors for, each by block; None where it has them for all of K."""
    if not _by_block(value):
        return None
    lies, along = strided(value), ceil(asked.k / SCALED)
    planes = lies.shape[:-2] in ((), (asked.batch,) if asked.batched else ())
    fits = planes and lies.shape[-2] in counts and lies.shape[-1] == along
    if not fits or lies.dtype != np.float32 or any(stride % 4 or stride < 0 for stride in lies.strides):
        shapes = " or ".join(f"({count}, {along})" for count in dict.fromkeys(counts))
        batch = f", with a batch of {asked.batch} before it or none" if asked.batched else ""
        raise UsageError(
            f"{name} is an array of {lies.dtype} of shape {lies.shape} with strides of {lies.strides} bytes; expected"
            f" float32 of shape ({counts[-1]},), or by blocks of {SCALED} of shape {shapes}{batch}",
            code="kernels.shape",
        )
    return lies.shape[-2]


def strides(value: Any) -> tuple[int, int, int]:
    """Bytes from one factor to the next: across, from block to block, and from batch to batch."""
    if not _by_block(value):
        return 0, 0, 0
    lies = strided(value)
    return lies.strides[-2], lies.strides[-1], lies.strides[0] if lies.ndim == 3 else 0


def dense(value: Any) -> Any:
    """Factors of blocks in the host's memory without gaps, their axes in memory as they are; others stay."""
    if not _by_block(value):
        return value
    return (as_numpy(value) if is_foreign_type(value.__class__) else value).copy(order="K")


def flat(value: Any) -> Any:
    """Such factors in one dimension, as they lie; others stay."""
    return value.ravel(order="K") if _by_block(value) else value


def _by_block(value: Any) -> bool:
    return value is not None and len(value.shape) > 1
