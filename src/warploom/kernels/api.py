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
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu, number_of, signature
from warploom.kernels import problem
from warploom.kernels.compress import Compressed, shapes
from warploom.kernels.cost import choose, microseconds, shares
from warploom.kernels.device import Ready, gpu_here
from warploom.kernels.dispatch import Dispatch
from warploom.kernels.gemm import gemm as hopper
from warploom.kernels.plan import DTYPES, HOPPER, SMALL, Epilogue, Plan, Tile
from warploom.kernels.problem import Arrays, Problem
from warploom.kernels.warp_level.dispatch import WarpDispatch
from warploom.kernels.warp_level.gemm import built
from warploom.kernels.warp_level.plan import PROCESSORS, WarpTile
from warploom.kernels.warp_level.plan import Plan as WarpPlan
from warploom.launch.api import launch
from warploom.layout import strided

_PROMOTED = 4  # stages of 8-bit floats that are summed before their sum is added in f32: 512 elements of K


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

    `row_scales` and `column_scales` multiply the rows and columns of A B, `bias` is added along columns (one for
    each column) or rows. `activation` is "relu", "gelu" (by tanh) or "silu". `result` is the type of D, `sums` of
    the products' sums ("f16" for short ones). 8-bit floats are summed in the tensor cores, which keep fewer bits,
    if `fast`, and else 512 elements of K at a time (by mma, 32). `tile` overrules the cost model: a Tile on sm_90a, a
    WarpTile on other targets.

    Shapes: a (M, K), b (K, N), c and the result (M, N), each with a batch before it or none; scales and bias (M,)
        or (N,), f32.
    Errors: UsageError kernels.*, gpu.*.
    """
    metadata, columns = None, 0
    if isinstance(a, Compressed):
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
        dispatch = _asked(Arrays(*arrays), _placed(Options(*options), number_of(a)), alpha, beta)
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
    tile: Tile | WarpTile | None
    target: str
    columns: int  # K of a compressed A; 0 for another
    processors: int = PROCESSORS


_READY: dict[tuple[Any, ...], Ready] = {}
_MOST_READY = 1024


def _placed(options: Options, number: int) -> Options:
    """The options for a GPU. Errors: UsageError gpu.*, kernels.target."""
    gpu = gpu_here(number)
    return options._replace(target=options.target or gpu.arch, processors=gpu.multiprocessors)


def _asked(arrays: Arrays, options: Options, alpha: float, beta: float) -> Dispatch | WarpDispatch:
    """The plan for arrays and options. Errors: UsageError kernels.*."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not isinstance(value, (Real, np.number)):
            raise UsageError(f"{name} is {value!r}; expected a number", code="kernels.option")
    if not isinstance(options.target, str):
        raise UsageError(f"target is {options.target!r}; expected a name such as sm_90a", code="kernels.option")
    wgmma = options.target == HOPPER
    if not isinstance(options.tile, (Tile if wgmma else WarpTile, NoneType)):
        expected = f"a {'Tile' if wgmma else 'WarpTile'} for {options.target}"
        raise UsageError(f"tile is {options.tile!r}; expected {expected}", code="kernels.option")
    asked = problem.read(arrays.a, arrays.b, options.columns)
    sums = asked.sums(options.sums)
    own = asked.result(sums) if arrays.out is None else problem.result_word(arrays.out)
    result = options.result or own
    epilogue = Epilogue(
        scaled=options.scaled,
        row_scales=arrays.row_scales is not None,
        column_scales=arrays.column_scales is not None,
        addend="" if arrays.c is None else result,
        bias="" if arrays.bias is None else options.bias_along,
        activation=options.activation,
    )
    _check_vector("row_scales", arrays.row_scales, asked.m)
    _check_vector("column_scales", arrays.column_scales, asked.n)
    _check_vector("bias", arrays.bias, asked.n if options.bias_along == "column" else asked.m)
    _check_metadata(arrays, asked)
    promoted = 0 if options.fast or asked.a not in ("e4m3", "e5m2") or sums != "f32" else _PROMOTED
    if isinstance(options.tile, WarpTile) or not wgmma:
        dispatch = _warp_dispatch(asked, sums, result, bool(promoted), epilogue, options)
    else:
        dispatch = _dispatch(asked, sums, result, promoted, epilogue, options.tile)
    _check_result("C", arrays.c, asked, result)
    _check_result("out", arrays.out, asked, result)
    return dispatch


@lru_cache(maxsize=256)
def _dispatch(
    asked: Problem, sums: str, result: str, promoted: int, epilogue: Epilogue, tile: Tile | None
) -> Dispatch:
    """The plan of a problem: with the tile that is asked for, or the one that the cost model chooses."""
    plan = Plan(
        asked.a, asked.b, sums, result, asked.a_major, asked.b_major,
        batched=asked.batched, promoted=promoted, ragged=asked.is_ragged(result), sparse=asked.sparse,
        epilogue=epilogue, tile=tile or SMALL,
    )  # fmt: skip
    if tile is None:
        return Dispatch(asked, *choose(asked, plan))
    return Dispatch(asked, plan, min(shares(asked, plan), key=lambda share: microseconds(asked, plan, share)))


def _warp_dispatch(
    asked: Problem, sums: str, result: str, promoted: bool, epilogue: Epilogue, options: Options
) -> WarpDispatch:
    """The plan of a problem on a target without wgmma. Errors: UsageError kernels.*."""
    tile = options.tile if isinstance(options.tile, WarpTile) else None
    plan = asked.warp_level(
        options.target, sums=sums, d=result, epilogue=epilogue, promoted=promoted, tile=tile,
        processors=options.processors,
    )  # fmt: skip
    return WarpDispatch(asked, plan)


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
    options = _placed(options, 0) if device == "cuda" else options._replace(target=options.target or HOPPER)
    dispatch = _asked(arrays, options, alpha, beta)
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
