"""`gemm` and `grouped_gemm`: matrix multiplications on a GPU, or on the CPU with the same bits."""

# Callers may pass objects of other types than annotated.
# pyright: reportUnnecessaryIsInstance=false

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from math import ceil, inf
from numbers import Real
from types import NoneType
from typing import Any, Literal, NamedTuple

import numpy as np

from warploom.author import Kernel
from warploom.diagnostics import UsageError
from warploom.gpu import Gpu
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu, number_of, signature
from warploom.kernels.ampere import plan as ampere
from warploom.kernels.ampere.dispatch import AmpereDispatch
from warploom.kernels.ampere.gemm import kernel_of as ampere_kernel
from warploom.kernels.ampere.plan import WarpPlan, WarpTile
from warploom.kernels.blackwell import plan as blackwell
from warploom.kernels.blackwell.dispatch import BlackwellDispatch
from warploom.kernels.blackwell.gemm import kernel_of as blackwell_kernel
from warploom.kernels.blackwell.plan import TensorPlan, TensorTile
from warploom.kernels.block_formats import host_operands, scaled_problem
from warploom.kernels.hopper import plan as hopper
from warploom.kernels.hopper.cost_model import H200, RESIDENT, TileSchedule, microseconds, tiled_plans
from warploom.kernels.hopper.dispatch import HopperDispatch, block_scales_of, dispatch_for
from warploom.kernels.hopper.kernel_of import kernel_of as hopper_kernel
from warploom.kernels.hopper.plan import HOPPER, BlockScales, Plan, Tile
from warploom.kernels.plan import DTYPES, Epilogue
from warploom.kernels.prepared import Dispatch, PreparedGemm, gpu_of
from warploom.kernels.problem import (
    Operands,
    Problem,
    check_results,
    check_vector,
    grouped_problem,
    problem_of,
    result_type,
)
from warploom.kernels.sparse import Compressed, check_compressed
from warploom.runtime.api import launch

Device = Literal["cpu", "cuda"]


def gemm(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    c: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    row_scales: Any = None,
    column_scales: Any = None,
    bias: Any = None,
    bias_along: Literal["column", "row"] = "column",
    activation: str = "",
    result: str = "",
    accumulator: str = "",
    fast: bool = False,
    tile: Tile | TensorTile | WarpTile | None = None,
    device: Device = "cuda",
    target: str = "",
) -> Any:
    """Return D = activation(alpha A B + beta C + bias), rounded once. D is `out` if `out` is given.

    A, B and C are arrays of one library. PyTorch, CuPy and JAX arrays on a GPU are used in place. NumPy arrays are
    copied. With device="cpu" all arrays are NumPy arrays. The result then has the bits that the GPU returns. A may be
    a `Compressed` matrix. Elements of 16-bit types must be contiguous along one axis. Elements of other types must be
    contiguous along K. The stride of the other axis must be a multiple of 16 bytes.

    `target` selects the kernel. The default is the target of the GPU, and sm_90a with device="cpu". Kernels of sm_90a
    use wgmma. Kernels of sm_100a and sm_103a use tensor memory. Kernels of other targets from sm_80 on use mma. Only
    sm_90a accepts compressed A and block scales in f32.

    `row_scales` has a factor for each row of A B, and `column_scales` for each column. Scales with two dimensions are
    block scales. A block scale belongs to 128 elements of K, and to one row of A, one column of B or 128 columns of B.
    The products of these elements are summed, multiplied by their scales and added in f32. On sm_100a, sm_103a and
    sm_120a, both may instead be scale factors of mxfp8, mxfp4 or nvfp4 (see `arrange_scales`). `bias` has one number
    for each column. With bias_along="row" it has one number for each row. `activation` is "relu", "gelu" (in the tanh
    approximation) or "silu".

    `result` is the type of D, and `accumulator` the type of the sums. `fast` is for 8-bit floats: the tensor cores sum
    all of K, with fewer bits than f32. Without `fast`, sums over 512 elements of K (32 with mma) are added in f32. The
    sums in tensor memory have the bits of f32, with `fast` or without. `tile` replaces the automatic choice. It is a
    `Tile` for sm_90a, a `TensorTile` for sm_100a and sm_103a, and a `WarpTile` for other targets.

    Shapes: a (M, K), b (K, N), c and the result (M, N). If a or b has a batch axis in front, the result has it too, and
        c may have it. Operands without it are broadcast. Scales and bias (M,) or (N,), f32. Block scales, with K/128
        and N/128 rounded up: rows (M, K/128), columns (N/128, K/128) or (N, K/128), with any strides, and optionally a
        batch axis.

    Errors: UsageError kernels.*, gpu.*.
    """
    metadata, columns = None, 0
    if a.__class__ is Compressed:
        a, metadata, columns = a.values, a.metadata, a.columns
    operands = a, b, c, out, row_scales, column_scales, bias, metadata
    options = alpha != 1.0, bias_along, activation, result, accumulator, fast, tile, target, columns
    return run_gemm(plan_gemm, operands, options, alpha, beta, device)


class Options(NamedTuple):
    """Options of a multiplication, which `gemm` describes. `scaled` is true if alpha is not 1."""

    scaled: bool
    bias_along: Literal["column", "row"]
    activation: str
    result: str
    accumulator: str
    fast: bool
    tile: Any
    target: str = ""
    columns: int = 0  # extent of K if A is compressed


Planner = Callable[[Operands, Options, Gpu | None], Dispatch]
"""Function that chooses the kernel and its arguments for a GPU, or for the CPU without one."""


def run_gemm(
    planner: Planner,
    operands: tuple[Any, ...],
    options: tuple[Any, ...],
    alpha: float,
    beta: float,
    device: Device,
    start: Callable[..., Any] | None = None,
) -> Any:
    """Launch a multiplication and return D.

    `planner` is `plan_gemm` or `plan_grouped`. `operands` are the fields of an `Operands`, `options` of an `Options`.
    `start` launches the kernel for NumPy arrays, in place of `wl.launch`.
    """
    a = operands[0]
    if device != "cuda" or not is_foreign_type(a.__class__):
        return _run_on_numpy(planner, Operands(*operands), Options(*options), alpha, beta, device, start)
    key = planner, options, *[None if array is None else signature(array) for array in operands]
    try:
        ready = _PREPARED.get(key)
    except TypeError:  # an option is unhashable; _checked reports it
        ready = None
    if ready is None:
        if not is_on_gpu(a):
            return _run_on_numpy(planner, Operands(*operands), Options(*options), alpha, beta, device, start)
        gpu = gpu_of(number_of(a))
        dispatch = planner(Operands(*operands), _checked(Options(*options), alpha, beta, gpu), gpu)
        ready = PreparedGemm(dispatch, kernel_of(dispatch.plan), Operands(*operands))
        if len(_PREPARED) >= _MAX_PREPARED:
            _PREPARED.clear()
        _PREPARED[key] = ready
    return ready(alpha, beta, *operands)


# Prepared launches by the layouts of the arrays, so that a repeated call is short.
_PREPARED: dict[tuple[Any, ...], PreparedGemm] = {}
_MAX_PREPARED = 1024


_TOO_LARGE = 2.0**128 - 2.0**103  # smallest number that float32 rounds to infinity


def _checked(options: Options, alpha: float, beta: float, gpu: Gpu | None) -> Options:
    """Return the options, with `target` filled in. Errors: UsageError kernels.option."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not isinstance(value, (Real, np.number)):
            raise UsageError(f"{name} is {value!r}; expected a number", code="kernels.option")
        if _TOO_LARGE <= abs(value) != inf:
            raise UsageError(f"{name} is beyond the range of float32; expected at most 3.4e38", code="kernels.option")
    if options.bias_along not in ("column", "row"):
        message = f"bias_along is {options.bias_along!r}; expected 'column' or 'row'"
        raise UsageError(message, code="kernels.option")
    target, tile = options.target, options.tile
    if not isinstance(target, str):
        raise UsageError(f"target is {target!r}; expected a name such as sm_90a", code="kernels.option")
    target = target or (HOPPER if gpu is None else gpu.arch)
    kind = Tile if target == HOPPER else TensorTile if target in blackwell.TARGETS else WarpTile
    if not isinstance(tile, (kind, NoneType)):
        message = f"tile is {tile!r}; expected a {kind.__name__} for {target}"
        raise UsageError(message, code="kernels.option")
    return options._replace(target=target)


def _run_on_numpy(
    planner: Planner,
    operands: Operands,
    options: Options,
    alpha: float,
    beta: float,
    device: Device,
    start: Callable[..., Any] | None,
) -> Any:
    """Launch a multiplication of NumPy arrays and return D."""
    given = operands.out
    operands = Operands(*[as_numpy(each) if is_foreign_type(each.__class__) else each for each in operands])
    operands = host_operands(operands)
    gpu = gpu_of(0) if device == "cuda" else None
    dispatch = planner(operands, _checked(options, alpha, beta, gpu), gpu)
    if operands.out is not None and not operands.out.flags.writeable:
        raise UsageError("out is a read-only array; expected an array that can be written", code="kernels.layout")
    plan, problem = dispatch.plan, dispatch.problem
    whole = np.zeros((*problem.shape[:-1], problem.pitch(plan.d)), DTYPES[plan.d])
    made = whole[..., : problem.n]
    if operands.out is not None:
        made[...] = operands.out  # rows of no group are not written
    kernel = kernel_of(plan)
    args = dispatch.arguments(operands, made, whole, float(alpha), float(beta))
    run = start or launch
    run(kernel.module, grid=dispatch.grid, block=plan.tile.threads, shared=kernel.shared, args=args, device=device)
    if operands.out is None:
        return made
    operands.out[...] = made
    return given


@cache
def kernel_of(plan: Plan | TensorPlan | WarpPlan) -> Kernel:
    """Return the kernel of a plan."""
    if isinstance(plan, Plan):
        return hopper_kernel(plan)
    return blackwell_kernel(plan) if isinstance(plan, TensorPlan) else ampere_kernel(plan)


# Plans ------------------------------------------------------------------------------------------------------


def plan_gemm(operands: Operands, options: Options, gpu: Gpu | None) -> Dispatch:
    """Return the grid and arguments of a multiplication. Errors: UsageError kernels.*."""
    problem = scaled_problem(problem_of(operands.a, operands.b, options.columns), operands)
    if problem.batched and operands.c is not None and operands.c.ndim == 2:
        problem = replace(problem, broadcast=f"{problem.broadcast}c")
    scales = BlockScales()
    if not problem.scaling:
        scales = block_scales_of(operands, problem)
        if not scales.rows:
            check_vector("row_scales", operands.row_scales, (problem.m,))
        if not scales.columns:
            check_vector("column_scales", operands.column_scales, (problem.n,))
    check_vector("bias", operands.bias, (problem.n if options.bias_along == "column" else problem.m,))
    if problem.sparse:
        check_compressed(operands.a, operands.metadata, problem.a, problem.m, problem.k)
        require_hopper("a compressed A", options.target)
    if scales:
        require_hopper("block scales in f32", options.target)
    if problem.scaling and options.target not in (expected := (*blackwell.TARGETS, *ampere.BLOCK_TARGETS)):
        message = f"no kernels of {options.target} support {problem.scaling}; expected target {', '.join(expected)}"
        raise UsageError(message, code="kernels.target")
    plan = plan_of(problem, operands, options, scales, gpu)
    if isinstance(plan, WarpPlan):
        return AmpereDispatch(problem, plan)
    if isinstance(plan, TensorPlan):
        return BlackwellDispatch(problem, plan, blackwell.MULTIPROCESSORS if gpu is None else gpu.multiprocessors)
    name, multiprocessors = ("", H200.multiprocessors) if gpu is None else (gpu.name, gpu.multiprocessors)
    return dispatch_for(problem, plan, options.tile, name, multiprocessors)


def require_hopper(what: str, target: str) -> None:
    """Refuse the feature `what` if the target is not sm_90a. Errors: UsageError kernels.target."""
    if target != HOPPER:
        raise UsageError(f"no kernels of {target} support {what}; expected target {HOPPER}", code="kernels.target")


def plan_of(
    problem: Problem, operands: Operands, options: Options, scales: BlockScales, gpu: Gpu | None
) -> Plan | TensorPlan | WarpPlan:
    """Return the plan of a problem. Errors: UsageError kernels.*."""
    accumulator = problem.accumulator(options.accumulator)
    default = problem.result(accumulator) if operands.out is None else result_type(operands.out)
    result = options.result or default
    epilogue = Epilogue(
        scaled=options.scaled,
        row_scales=operands.row_scales is not None and not (scales.rows or problem.scaling),
        column_scales=operands.column_scales is not None and not (scales.columns or problem.scaling),
        addend="" if operands.c is None else result,
        bias="" if operands.bias is None else options.bias_along,
        activation=options.activation,
    )
    eight_bits = problem.a in ("e4m3", "e5m2") and not problem.scaling
    promoted = accumulator == "f32" and eight_bits and not options.fast
    words: Any = {"accumulator": accumulator, "result": result, "epilogue": epilogue, "promoted": promoted}
    if options.target == HOPPER:
        # This plan has the smallest tile. `dispatch_for` replaces the tile.
        plan = hopper.plan_for(problem, **words, scales=scales)
    elif options.target in blackwell.TARGETS:
        del words["promoted"]  # tensor memory has sums with the bits of f32
        multiprocessors = blackwell.MULTIPROCESSORS if gpu is None else gpu.multiprocessors
        plan = blackwell.plan_for(problem, options.target, **words, tile=options.tile, multiprocessors=multiprocessors)
    else:
        multiprocessors = ampere.MULTIPROCESSORS if gpu is None else gpu.multiprocessors
        plan = ampere.plan_for(problem, options.target, **words, tile=options.tile, multiprocessors=multiprocessors)
    check_results(problem, operands, result)
    return plan


# Groups of rows ---------------------------------------------------------------------------------------------


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
    target: str = "",
) -> Any:
    """Return D = activation(alpha A B + beta C + bias) for each group of rows.

    Group g has the rows of A, C and D from `ends[g - 1]` (0 for the first group) to below `ends[g]`. The group uses
    B[g], `column_scales[g]` and `bias[g]`. `ends` must ascend. A group may be empty. Rows outside of all groups are not
    written. D is `out` if `out` is given. Elements of A must be contiguous along K. The only `target` with kernels is
    sm_90a. `gemm` describes the other options.

    Shapes: a (M, K), b (G, K, N), ends (G,) of int32, c and the result (M, N), row_scales (M,), column_scales and bias
        (G, N), f32. Errors: UsageError kernels.*, gpu.*.
    """
    operands = a, b, c, out, row_scales, column_scales, bias, None, ends
    options = alpha != 1.0, "column", activation, result, accumulator, fast, tile, target
    return run_gemm(plan_grouped, operands, options, alpha, beta, device)


def plan_grouped(operands: Operands, options: Options, _gpu: Gpu | None) -> HopperDispatch:
    """Return the grid and arguments of a grouped multiplication. Errors: UsageError kernels.*."""
    require_hopper("grouped rows", options.target)
    a, b, ends = operands.a, operands.b, operands.ends
    if len(a.shape) != 2 or len(b.shape) != 3:
        message = f"A has shape {tuple(a.shape)} and B has shape {tuple(b.shape)}; expected (M, K) and (groups, K, N)"
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
    """Return the launch of a grouped multiplication. Without `tile`, estimated times decide."""
    if tile is None:
        # The estimate assumes groups of equal size.
        group = replace(problem, m=ceil(problem.m / problem.groups), batch=problem.groups, groups=0)

        def estimate(tiled: Plan) -> float:
            return microseconds(group, tiled, grouped_schedule(problem, tiled))

        plan = min(tiled_plans(plan), key=estimate)
    else:
        plan = plan.with_tile(tile)
    return HopperDispatch(problem, plan, grouped_schedule(problem, plan))


def grouped_schedule(problem: Problem, plan: Plan) -> TileSchedule:
    """Return a schedule without tiles that are cut along K. Its number of tiles is an estimate."""
    tile = plan.tile
    height, columns = tile.rows * tile.cluster, ceil(problem.n / (tile.columns * tile.across))
    most = min(problem.m, problem.m // height + problem.groups) * columns
    # The sizes of the groups are in GPU memory. On average a group fills half of its last tile row.
    likely = ceil(problem.m / height + problem.groups / 2) * columns
    clusters = min(RESIDENT[tile.ctas] // tile.ctas, most)
    return TileSchedule(clusters * tile.ctas, 0, likely, ceil(problem.k / plan.stage_k))
