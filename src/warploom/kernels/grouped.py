"""`grouped_gemm`: multiplication of each group of rows by its own matrix, as in a mixture of experts."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom.gpu import Gpu
from warploom.gpu.arrays import is_on_gpu
from warploom.kernels.api import Device, Options, plan_of, require_hopper, run_gemm
from warploom.kernels.hopper.cost_model import H200, TileSchedule, microseconds, tiled_plans
from warploom.kernels.hopper.dispatch import HopperDispatch
from warploom.kernels.hopper.plan import BlockScales, Plan, Tile
from warploom.kernels.problem import Operands, Problem, check_vector, grouped_problem


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
    accumulator: str = "",
    fast: bool = False,
    tile: Tile | None = None,
    device: Device = "cuda",
) -> Any:
    """Return D = activation(alpha A B + beta C + bias) for each group of rows. D is `out` if it is given.

    Group g consists of the rows of A, C and D from `ends[g - 1]`, or 0, to below `ends[g]`. It uses B[g],
    `column_scales[g]` and `bias[g]`. `ends` ascend. They stay on the GPU, so the call does not wait for them. A group
    may be empty. Rows outside of all groups are not written. The other options are those of `gemm`. Elements of A are
    contiguous along K.

    Shapes: a (M, K), b (G, K, N), ends (G,) of int32, c and the result (M, N), row_scales (M,), column_scales and bias
        (G, N), f32.

    Errors: UsageError kernels.*, gpu.*.
    """
    operands = a, b, c, out, row_scales, column_scales, bias, None, ends
    options = alpha != 1.0, "column", activation, result, accumulator, fast, tile
    return run_gemm(plan_grouped, operands, options, alpha, beta, device)


def plan_grouped(operands: Operands, options: Options, _gpu: Gpu | None) -> HopperDispatch:
    """Return the dispatch of a grouped multiplication. Errors: UsageError kernels.*."""
    require_hopper("grouped rows", options.target)
    a, b, ends = operands.a, operands.b, operands.ends
    if len(a.shape) != 2 or len(b.shape) != 3:
        message = f"A of shape {tuple(a.shape)} and B of shape {tuple(b.shape)}; expected (M, K) and (groups, K, N)"
        raise UsageError(message, code="kernels.shape")
    problem = grouped_problem(a, b)
    check_vector("ends", ends, (problem.groups,), np.int32)
    if is_on_gpu(ends) != is_on_gpu(a):
        raise UsageError("`ends` and `A` are on different devices; expected the same device", code="kernels.ends")
    if not is_on_gpu(ends) and np.any(np.diff(np.asarray(ends, np.int64), prepend=0, append=problem.m) < 0):
        message = f"the ends of the groups do not ascend from 0 to {problem.m}, the rows of A"
        raise UsageError(message, code="kernels.ends")
    check_vector("row_scales", operands.row_scales, (problem.m,))
    check_vector("column_scales", operands.column_scales, (problem.groups, problem.n))
    check_vector("bias", operands.bias, (problem.groups, problem.n))
    plan = plan_of(problem, operands, options, BlockScales(), None)
    assert isinstance(plan, Plan)
    return _dispatch(problem, plan, options.tile)


@lru_cache(maxsize=256)
def _dispatch(problem: Problem, plan: Plan, tile: Tile | None) -> HopperDispatch:
    """Return a dispatch with the given tile, or with the tile that is fastest for groups of equal size."""
    if tile is None:
        group = replace(problem, m=ceil(problem.m / problem.groups), batch=problem.groups, groups=0)

        def estimate(tiled: Plan) -> float:
            return microseconds(group, tiled, grouped_schedule(problem, tiled))

        plan = min(tiled_plans(plan), key=estimate)
    else:
        plan = plan.with_tile(tile)
    return HopperDispatch(problem, plan, grouped_schedule(problem, plan))


def grouped_schedule(problem: Problem, plan: Plan) -> TileSchedule:
    """Return a schedule of whole tiles with an estimated number of tiles.

    The sizes of the groups are in GPU memory, so the exact number is unknown. The estimate adds half a tile row for
    each group.
    """
    tile = plan.tile
    height, columns = tile.rows * tile.cluster, ceil(problem.n / tile.columns)
    most = min(problem.m, problem.m // height + problem.groups) * columns
    likely = ceil(problem.m / height + problem.groups / 2) * columns
    clusters = min(H200.multiprocessors // tile.cluster, most)
    return TileSchedule(clusters * tile.cluster, 0, likely, ceil(problem.k / plan.stage_k))
