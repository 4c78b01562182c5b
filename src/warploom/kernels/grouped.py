"""`grouped_gemm`: rows that go by groups, each multiplied by a matrix of its own, as a mixture of experts has them."""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import Any, Literal

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu import Gpu
from warploom.gpu.arrays import is_on_gpu
from warploom.kernels import problem
from warploom.kernels.api import Options, check_vector, need_hopper, perform, planned
from warploom.kernels.hopper.cost_model import H200, Device, Share, microseconds, tiles
from warploom.kernels.hopper.dispatch import Dispatch
from warploom.kernels.hopper.plan import Plan, Tile
from warploom.kernels.problem import Arrays, Problem


def grouped_gemm(
    a: Any,
    b: Any,
    ends: Any,
    *,
    out: Any = None,
    c: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    row_scales: Any = None,
    column_scales: Any = None,
    bias: Any = None,
    activation: str = "",
    result: str = "",
    sums: str = "",
    fast: bool = False,
    tile: Tile | None = None,
    device: Literal["cpu", "cuda"] = "cuda",
) -> Any:
    """D = activation(alpha A B + beta C + bias) of each group of rows, rounded once; returns D, which is `out` where
    one is given.

    Group g has the rows from `ends[g - 1]`, or 0, to below `ends[g]` of A, C and D, and B[g], a row of
    `column_scales` and one of `bias`. Groups are of any size, or empty; `ends` ascend, and stay on the GPU. Rows that
    are of no group are not written. The rest is as `gemm` has it, but that the elements of A lie along K.

    Shapes: a (M, K), b (G, K, N), ends (G,) of int32, c and the result (M, N), row_scales (M,), column_scales and bias
        (G, N), f32.
    Errors: UsageError kernels.*, gpu.*.
    """
    arrays = a, b, c, out, row_scales, column_scales, bias, None, ends
    options = alpha != 1.0, "column", activation, result, sums, fast, tile
    return perform(dispatch_of, arrays, options, alpha, beta, device)


def dispatch_of(arrays: Arrays, options: Options, _gpu: Gpu | None) -> Dispatch:
    """The plan for arrays and options. Errors: UsageError kernels.*."""
    need_hopper("rows that go by groups", options.target)
    if len(arrays.a.shape) != 2 or len(arrays.b.shape) != 3:
        raise UsageError(
            f"A of shape {tuple(arrays.a.shape)} and B of shape {tuple(arrays.b.shape)}; expected (M, K) and"
            " (groups, K, N)",
            code="kernels.shape",
        )
    asked = problem.grouped(arrays.a, arrays.b)
    check_vector("ends", arrays.ends, (asked.groups,), np.int32)
    _check_ends(arrays, asked)
    check_vector("row_scales", arrays.row_scales, (asked.m,))
    check_vector("column_scales", arrays.column_scales, (asked.groups, asked.n))
    check_vector("bias", arrays.bias, (asked.groups, asked.n))
    return _dispatch(asked, planned(asked, arrays, options), options.tile)


def _check_ends(arrays: Arrays, asked: Problem) -> None:
    """Refuse ends that are elsewhere than A, or that are seen to be wrong. Errors: UsageError kernels.ends."""
    ends = arrays.ends
    if is_on_gpu(ends) != is_on_gpu(arrays.a):
        raise UsageError("ends is not where A is; expected both on one device", code="kernels.ends")
    if not is_on_gpu(ends) and np.any(np.diff(np.asarray(ends, np.int64), prepend=0, append=asked.m) < 0):
        raise UsageError(
            f"the ends of the groups do not ascend from 0 to {asked.m}, the rows of A", code="kernels.ends"
        )


@lru_cache(maxsize=256)
def _dispatch(asked: Problem, plan: Plan, tile: Tile | None) -> Dispatch:
    """A plan with the tile that is asked for, or the one that is the quickest if all groups are of one size."""
    if tile is not None:
        plan = plan.with_tile(tile)
        return Dispatch(asked, plan, share_of(asked, plan))
    each = Problem(
        ceil(asked.m / asked.groups), asked.n, asked.k, asked.groups, asked.a, asked.b, "k", asked.b_major
    )
    found = min(tiles(plan), key=lambda plan: microseconds(each, plan, share_of(asked, plan)))
    return Dispatch(asked, found, share_of(asked, found))


def share_of(asked: Problem, plan: Plan, device: Device = H200) -> Share:
    """Whole tiles, dealt out to CTAs. How many there are the GPU knows: half a tile more for each group is likely."""
    tile = plan.tile
    height, columns = tile.rows * tile.cluster, ceil(asked.n / tile.columns)
    most = min(asked.m, asked.m // height + asked.groups) * columns
    likely = ceil(asked.m / height + asked.groups / 2) * columns
    clusters = min(device.multiprocessors // tile.cluster, most)
    return Share(clusters * tile.cluster, 0, likely, ceil(asked.k / plan.depth))
