"""`gemm`: one call for a product of matrices, on the GPU or bit for bit on the abstract machine."""

# A caller may hand over anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from functools import cache, lru_cache
from numbers import Real
from types import NoneType
from typing import Any, Literal, NamedTuple

import numpy as np

from warploom.author import Kernel
from warploom.diag import UsageError
from warploom.gpu import Gpu
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu, number_of, signature
from warploom.kernels import problem
from warploom.kernels.compress import Compressed, shapes
from warploom.kernels.cost import choose, microseconds, shares
from warploom.kernels.device import Ready, gpu_of
from warploom.kernels.dispatch import Dispatch
from warploom.kernels.gemm import gemm as hopper
from warploom.kernels.plan import (
    DTYPES,
    HOPPER,
    PROMOTED,
    SCALED,
    SMALL,
    SPAN,
    Blocks,
    Epilogue,
    Plan,
    Tile,
    size_of,
)
from warploom.kernels.problem import Arrays, Problem
from warploom.kernels.scales import blocks_of
from warploom.kernels.tuned import chosen
from warploom.kernels.warp_level.dispatch import WarpDispatch
from warploom.kernels.warp_level.gemm import built
from warploom.kernels.warp_level.plan import PROCESSORS, WarpTile
from warploom.kernels.warp_level.plan import Plan as WarpPlan
from warploom.launch.api import launch
from warploom.layout import strided


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
    sums: str = "",
    fast: bool = False,
    tile: Tile | WarpTile | None = None,
    device: Literal["cpu", "cuda"] = "cuda",
    target: str = "",
) -> Any:
    """D = activation(alpha A B + beta C + bias), rounded once; returns D, which is `out` where one is given.

    A, B and C are arrays of one kind: of PyTorch, CuPy or JAX on a GPU, used in place; NumPy's, which are copied; with
    device="cpu" NumPy's alone, on the abstract machine, bit for bit what the GPU returns. Elements lie side by side
    along either axis for 16-bit types, along K for the others; the other axis steps by multiples of 16 bytes. A may be
    `Compressed`, which holds half of a 2:4 sparse one.

    `target` is what the kernel is made for: the GPU that is there, with device="cpu" sm_90a. On sm_90a it multiplies by
    wgmma; on every other target from sm_80 on by mma, of a dense A. A GPU takes targets that are older than it is.

    `row_scales` and `column_scales` multiply the rows and columns of A B. In two dimensions they are of blocks: of one
    row of A, of one column of B or 128, and of 128 elements of K each; the products of a block are summed up,
    multiplied, and added in f32. `bias` is added along columns (one for each column) or rows. `activation` is
    "relu", "gelu" (by tanh) or "silu". `result` is the type of D, `sums` of the products' sums ("f16" for short
    ones). 8-bit floats are summed in the tensor cores, which keep fewer bits, if `fast`, and else 512 elements of K
    at a time, by mma 32. `tile` overrules what was tuned, and the cost model: a Tile on sm_90a, else a WarpTile.

    Shapes: a (M, K), b (K, N), c and the result (M, N), each with a batch before it or none; scales and bias (M,)
        or (N,), f32. Scales of blocks, K/128 rounded up: rows (M, K/128), columns (N/128, K/128) or (N, K/128), with
        any strides, and a batch before them or none.
    Errors: UsageError kernels.*, gpu.*.
    """
    metadata, columns = None, 0
    if a.__class__ is Compressed:
        a, metadata, columns = a.values, a.metadata, a.columns
    arrays = a, b, c, out, row_scales, column_scales, bias, metadata
    options = alpha != 1.0, bias_along, activation, result, sums, fast, tile, target, columns
    if device != "cuda" or not is_foreign_type(a.__class__):
        return _copied(Arrays(*arrays), Options(*options), alpha, beta, device)
    key = options, *[None if array is None else signature(array) for array in arrays]
    try:
        ready = _READY.get(key)
    except TypeError:  # of an option that is no such thing, which is said below
        ready = None
    if ready is None:
        if not is_on_gpu(a):
            return _copied(Arrays(*arrays), Options(*options), alpha, beta, device)
        gpu = gpu_of(number_of(a))
        dispatch = _asked(Arrays(*arrays), Options(*options), alpha, beta, gpu)
        ready = Ready(dispatch, _kernel(dispatch.plan), Arrays(*arrays))
        if len(_READY) >= _MOST_READY:
            _READY.clear()
        _READY[key] = ready
    return ready(alpha, beta, *arrays)


class Options(NamedTuple):
    """What a multiplication is asked for besides its arrays; `gemm` says what they are."""

    scaled: bool
    bias_along: Literal["column", "row"]
    activation: str
    result: str
    sums: str
    fast: bool
    tile: Any
    target: str
    columns: int  # K of a compressed A; 0 for another


_READY: dict[tuple[Any, ...], Ready] = {}
_MOST_READY = 1024


def _asked(
    arrays: Arrays, options: Options, alpha: float, beta: float, gpu: Gpu | None
) -> Dispatch | WarpDispatch:
    """How a multiplication is done, on a GPU or the abstract machine. Errors: UsageError kernels.*."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not isinstance(value, (Real, np.number)):
            raise UsageError(f"{name} is {value!r}; expected a number", code="kernels.option")
    if not isinstance(options.target, str):
        raise UsageError(
            f"target is {options.target!r}; expected a name such as sm_90a", code="kernels.option"
        )
    target = options.target or (HOPPER if gpu is None else gpu.arch)
    _check_tile(options.tile, target)
    asked = problem.read(arrays.a, arrays.b, options.columns)
    sums = asked.sums(options.sums)
    own = asked.result(sums) if arrays.out is None else problem.result_word(arrays.out)
    result = options.result or own
    blocks = blocks_of(arrays, asked)
    epilogue = Epilogue(
        scaled=options.scaled,
        row_scales=arrays.row_scales is not None and not blocks.rows,
        column_scales=arrays.column_scales is not None and not blocks.columns,
        addend="" if arrays.c is None else result,
        bias="" if arrays.bias is None else options.bias_along,
        activation=options.activation,
    )
    if not blocks.rows:
        _check_vector("row_scales", arrays.row_scales, asked.m)
    if not blocks.columns:
        _check_vector("column_scales", arrays.column_scales, asked.n)
    _check_vector("bias", arrays.bias, asked.n if options.bias_along == "column" else asked.m)
    _check_metadata(arrays, asked)
    promoted = 0 if options.fast or asked.a not in ("e4m3", "e5m2") or sums != "f32" else PROMOTED
    if blocks:
        promoted = SCALED // (SPAN // size_of(asked.a))
    if target == HOPPER:
        plan = Plan(
            asked.a, asked.b, sums, result, asked.a_major, asked.b_major,
            batched=asked.batched, promoted=promoted, ragged=asked.is_ragged(result), sparse=asked.sparse,
            blocks=blocks, epilogue=epilogue, tile=options.tile or SMALL,
        )  # fmt: skip
        found = _dispatch(asked, plan, options.tile is not None, "" if gpu is None else gpu.name)
    else:
        _check_warp_level(target, asked, blocks)
        plan = asked.warp_level(
            target, sums=sums, d=result, epilogue=epilogue, promoted=promoted > 0, tile=options.tile,
            processors=PROCESSORS if gpu is None else gpu.multiprocessors,
        )  # fmt: skip
        found = WarpDispatch(asked, plan)
    _check_result("C", arrays.c, asked, result)
    _check_result("out", arrays.out, asked, result)
    return found


@lru_cache(maxsize=256)
def _dispatch(asked: Problem, plan: Plan, keeps_tile: bool, gpu: str) -> Dispatch:
    """The plan as it is, or with the tile that was tuned for a GPU, or else the one that the cost model chooses."""
    if keeps_tile:
        return Dispatch(asked, plan, min(shares(asked, plan), key=lambda way: microseconds(asked, plan, way)))
    return Dispatch(asked, *(chosen(gpu, asked, plan) if gpu else choose(asked, plan)))


def _check_tile(tile: Any, target: str) -> None:
    """Refuse what is no tile for a target. Errors: UsageError kernels.option."""
    kind = Tile if target == HOPPER else WarpTile
    if not isinstance(tile, (kind, NoneType)):
        raise UsageError(f"tile is {tile!r}; expected a {kind.__name__} for {target}", code="kernels.option")


def _check_warp_level(target: str, asked: Problem, blocks: Blocks) -> None:
    """Refuse what the kernels by mma have not. Errors: UsageError kernels.target."""
    for asked_for, what in ((asked.sparse, "a compressed A"), (blocks, "factors of blocks")):
        if asked_for:
            raise UsageError(f"{target} has no kernels for {what}; expected {HOPPER}", code="kernels.target")


@cache
def _kernel(plan: Plan | WarpPlan) -> Kernel:
    """The kernel of a plan, built once."""
    return hopper.at(plan=plan) if isinstance(plan, Plan) else built(plan)


def _check_vector(name: str, value: Any, length: int) -> None:
    """Refuse what is no array of factors or summands. Errors: UsageError kernels.shape."""
    if value is None:
        return
    lies = strided(value)
    if lies.shape != (length,) or lies.dtype != np.float32 or not lies.is_contiguous:
        raise UsageError(
            f"{name} is an array of {lies.dtype} of shape {lies.shape}; expected {length} of float32",
            code="kernels.shape",
        )


def _check_metadata(arrays: Arrays, asked: Problem) -> None:
    """Refuse metadata that `compress` did not make for these values. Errors: UsageError kernels.shape."""
    if not asked.sparse:
        return
    values, metadata = strided(arrays.a), strided(arrays.metadata)
    stored, shape = shapes(asked.a, values.shape[:-2], asked.m, asked.k)
    right = values.shape == stored and metadata.shape == shape and metadata.itemsize == 4
    if not right or not metadata.is_contiguous:
        raise UsageError(
            f"a Compressed of shape {(*stored[:-1], asked.k)} has values of shape {values.shape} and metadata of"
            f" {metadata.dtype} of shape {metadata.shape}; expected {stored} and 32 bits of {shape}",
            code="kernels.shape",
            hint="`compress` makes both",
        )


def _check_result(name: str, array: Any, asked: Problem, type_word: str) -> None:
    if array is None:
        return
    lies = strided(array)
    expected = asked.shape
    steps = all(step % 16 == 0 for step in lies.strides[:-1]) and lies.strides[-1] == lies.itemsize
    if lies.shape != expected or lies.dtype != DTYPES[type_word] or not steps:
        raise UsageError(
            f"{name} is an array of {lies.dtype} of shape {lies.shape} with strides of {lies.strides} bytes; expected"
            f" {DTYPES[type_word]} of shape {expected}, rows of neighbours a multiple of 16 bytes apart",
            code="kernels.layout",
        )


def _copied(
    arrays: Arrays, options: Options, alpha: float, beta: float, device: Literal["cpu", "cuda"]
) -> Any:
    """Run the kernel on NumPy's arrays. D is copied to `out`, wherever that lies. Errors: UsageError kernels.*."""
    given = arrays.out
    arrays = Arrays(*[as_numpy(array) if is_foreign_type(array.__class__) else array for array in arrays])
    dispatch = _asked(arrays, options, alpha, beta, gpu_of(0) if device == "cuda" else None)
    plan, asked = dispatch.plan, dispatch.problem
    whole = np.zeros((*asked.shape[:-1], asked.pitch(plan.d)), DTYPES[plan.d])
    made = whole[..., : asked.n]
    if arrays.out is not None:
        made[...] = arrays.out
    kernel = _kernel(plan)
    launch(
        kernel.module,
        grid=dispatch.ctas,
        block=plan.tile.threads,
        shared=kernel.shared_bytes,
        args=dispatch.arguments(arrays, made, whole, float(alpha), float(beta)),
        device=device,
    )
    if arrays.out is None:
        return made
    arrays.out[...] = made
    return given
