"""Checks and layouts of block scales: scales of rows of A or columns of B for each 128 elements of K."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from warploom.gpu.arrays import as_numpy, is_foreign_type
from warploom.kernels.hopper.plan import SCALE_BLOCK, BlockScales
from warploom.kernels.problem import Operands, Problem, array_error
from warploom.layout import strided


def block_scales_of(operands: Operands, problem: Problem) -> BlockScales:
    """Return which scales are block scales, with two or three axes. Errors: UsageError kernels.shape."""
    blocks = ceil(problem.n / SCALE_BLOCK)
    rows = _count("row_scales", operands.row_scales, problem, (problem.m,))
    columns = _count("column_scales", operands.column_scales, problem, (blocks, problem.n))
    return BlockScales(rows is not None, 0 if columns is None else SCALE_BLOCK if columns == blocks else 1)


def _count(name: str, value: Any, problem: Problem, counts: tuple[int, ...]) -> int | None:
    """Return the number of rows, columns or column blocks with block scales. None without block scales."""
    if not is_by_block(value):
        return None
    layout, along_k = strided(value), ceil(problem.k / SCALE_BLOCK)
    planes = layout.shape[:-2] in ((), (problem.batch,) if problem.batched else ())
    fits = planes and layout.shape[-2] in counts and layout.shape[-1] == along_k
    if not fits or layout.dtype != np.float32 or any(s % 4 or s < 0 for s in layout.strides):
        shapes = " or ".join(f"({count}, {along_k})" for count in dict.fromkeys(counts))
        batch = f", with or without a batch of {problem.batch} in front" if problem.batched else ""
        expected = f"float32 of shape ({counts[-1]},), or by blocks of {SCALE_BLOCK} of shape {shapes}{batch}"
        raise array_error(name, layout, expected, "kernels.shape")
    return layout.shape[-2]


def scale_strides(value: Any) -> tuple[int, int, int]:
    """Return the byte strides of block scales along M or N, K blocks and batches. Zeros for other scales."""
    if not is_by_block(value):
        return 0, 0, 0
    layout = strided(value)
    return layout.strides[-2], layout.strides[-1], layout.strides[0] if layout.ndim == 3 else 0


def dense_scales(value: Any) -> Any:
    """Return a copy of block scales in host memory without gaps. Return other scales unchanged."""
    if not is_by_block(value):
        return value
    return (as_numpy(value) if is_foreign_type(value.__class__) else value).copy(order="K")


def is_by_block(value: Any) -> bool:
    """Return True if an array holds block scales. Other scales have one dimension."""
    return value is not None and len(value.shape) > 1
