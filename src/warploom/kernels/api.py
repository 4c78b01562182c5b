"""`gemm`: one call for a product of matrices, on the GPU or bit for bit on the abstract machine."""

# A caller may hand over anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from numbers import Real
from types import NoneType
from typing import Any, Literal, NamedTuple

import numpy as np

from warploom.author import Kernel
from warploom.diagnostics import UsageError
from warploom.gpu import Gpu
from warploom.gpu.arrays import as_numpy, is_foreign_type, is_on_gpu, number_of, signature
from warploom.kernels import problem
from warploom.kernels.ampere.dispatch import WarpDispatch
from warploom.kernels.ampere.gemm import built
from warploom.kernels.ampere.plan import PROCESSORS, WarpTile
from warploom.kernels.ampere.plan import Plan as WarpPlan
from warploom.kernels.hopper.cost_model import choose, microseconds, shares
from warploom.kernels.hopper.dispatch import Dispatch
from warploom.kernels.hopper.gemm import gemm as hopper
from warploom.kernels.hopper.plan import (
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
from warploom.kernels.hopper.tuned_tiles import chosen
from warploom.kernels.prepared import Ready, gpu_of
from warploom.kernels.problem import Arrays, Problem
from warploom.kernels.scale_layout import blocks_of
from warploom.kernels.sparse import Compressed, shapes
from warploom.layout import strided
from warploom.runtime.api import launch


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
    `Compressed`: half of a 2:4 sparse one.

    `target` is what the kernel is for: the GPU that is there, with device="cpu" sm_90a. On sm_90a it multiplies by
    wgmma, on every other target from sm_80 on by mma, which takes no compressed A and no scales of blocks. A GPU also
    runs what is for an older target.

    `row_scales` and `column_scales` multiply the rows and columns of A B. In two dimensions they are of blocks: of one
    row of A, of one column of B or 128, and of 128 elements of K each; the products of a block are summed up,
    multiplied, and added in f32. `bias` is added along columns (one for each column) or rows. `activation` is
    "relu", "gelu" (by tanh) or "silu". `result` is the type of D, `sums` of the products' sums ("f16" for short
    ones). 8-bit floats are summed in the tensor cores, which keep fewer bits, if `fast`, and else 512 elements of K
    at a time, by mma 32. `tile` overrules what was tuned, and the cost model: a Tile on sm_90a, else a WarpTile.

    Shapes: a (M, K), b (K, N), c and the result (M, N); a and b with a batch before them, or one of them, and c with
        it or without: what has none is the same for all. Scales and bias (M,) or (N,), f32. Scales of blocks, K/128
        rounded up: rows (M, K/128), columns (N/128, K/128) or (N, K/128), with any strides, and a batch before them or
        none.
    Errors: UsageError kernels.*, gpu.*.
    """
    metadata, columns = None, 0
    if a.__class__ is Compressed:
        a, metadata, columns = a.values, a.metadata, a.columns
    arrays = a, b, c, out, row_scales, column_scales, bias, metadata
    options = alpha != 1.0, bias_along, activation, result, sums, fast, tile, target, columns
    return perform(dispatch_of, arrays, options, alpha, beta, device)


class Options(NamedTuple):
    """What a multiplication is asked for besides its arrays; `gemm` says what they are."""

    scaled: bool
    bias_along: Literal["column", "row"]
    activation: str
    result: str
    sums: str
    fast: bool
    tile: Any
    target: str = ""
    columns: int = 0  # K of a compressed A


Ask = Callable[[Arrays, Options, Gpu | None], Dispatch | WarpDispatch]
"""What says which kernel is launched for arrays and options, and how, on a GPU or the abstract machine.

Errors: UsageError kernels.*.
"""
Device = Literal["cpu", "cuda"]


def perform(
    ask: Ask, arrays: tuple[Any, ...], options: tuple[Any, ...], alpha: float, beta: float, device: Device
) -> Any:
    """Launch what is asked for, the fields of `Arrays` and `Options`; on a GPU `ask` is asked once for each way that
    arrays lie. Returns D.
    """
    a = arrays[0]
    if device != "cuda" or not is_foreign_type(a.__class__):
        return _copied(ask, Arrays(*arrays), Options(*options), alpha, beta, device)
    key = ask, options, *[None if array is None else signature(array) for array in arrays]
    try:
        ready = _READY.get(key)
    except TypeError:  # of an option that is no such thing, which is said below
        ready = None
    if ready is None:
        if not is_on_gpu(a):
            return _copied(ask, Arrays(*arrays), Options(*options), alpha, beta, device)
        gpu = gpu_of(number_of(a))
        dispatch = ask(Arrays(*arrays), _checked(Options(*options), alpha, beta, gpu), gpu)
        ready = Ready(dispatch, _kernel(dispatch.plan), Arrays(*arrays))
        if len(_READY) >= _MOST_READY:
            _READY.clear()
        _READY[key] = ready
    return ready(alpha, beta, *arrays)


_READY: dict[tuple[Any, ...], Ready] = {}
_MOST_READY = 1024


def _checked(options: Options, alpha: float, beta: float, gpu: Gpu | None) -> Options:
    """The options, which are what they should be, with a target. Errors: UsageError kernels.option."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not isinstance(value, (Real, np.number)):
            raise UsageError(f"{name} is {value!r}; expected a number", code="kernels.option")
    if not isinstance(options.target, str):
        raise UsageError(
            f"target is {options.target!r}; expected a name such as sm_90a", code="kernels.option"
        )
    target = options.target or (HOPPER if gpu is None else gpu.arch)
    kind = Tile if target == HOPPER else WarpTile
    if not isinstance(options.tile, (kind, NoneType)):
        raise UsageError(
            f"tile is {options.tile!r}; expected a {kind.__name__} for {target}", code="kernels.option"
        )
    return options._replace(target=target)


def dispatch_of(arrays: Arrays, options: Options, gpu: Gpu | None) -> Dispatch | WarpDispatch:
    """The plan for arrays and options. Errors: UsageError kernels.*."""
    asked = problem.read(arrays.a, arrays.b, options.columns)
    if asked.batched and arrays.c is not None and arrays.c.ndim == 2:
        asked = replace(asked, common=f"{asked.common}c")
    blocks = blocks_of(arrays, asked)
    if not blocks.rows:
        check_vector("row_scales", arrays.row_scales, (asked.m,))
    if not blocks.columns:
        check_vector("column_scales", arrays.column_scales, (asked.n,))
    check_vector("bias", arrays.bias, (asked.n if options.bias_along == "column" else asked.m,))
    _check_metadata(arrays, asked)
    if options.target == HOPPER:
        plan = planned(asked, arrays, options, blocks)
        return _dispatch(asked, plan, options.tile, "" if gpu is None else gpu.name)
    for there, what in ((asked.sparse, "a compressed A"), (blocks, "factors of blocks")):
        if there:
            need_hopper(what, options.target)
    return WarpDispatch(asked, _warp_planned(asked, arrays, options, gpu))


def need_hopper(what: str, target: str) -> None:
    """Refuse what the kernels by mma have not, for their targets. Errors: UsageError kernels.target."""
    if target != HOPPER:
        raise UsageError(
            f"there are no kernels of {target} for {what}; expected {HOPPER}", code="kernels.target"
        )


_ALL_OF_K = Blocks()


def planned(asked: Problem, arrays: Arrays, options: Options, blocks: Blocks = _ALL_OF_K) -> Plan:
    """The plan of a problem, but for its tile. Errors: UsageError kernels.*."""
    sums, result, is_promoted, epilogue = _wanted(asked, arrays, options, blocks)
    promoted = SCALED // (SPAN // size_of(asked.a)) if blocks else PROMOTED if is_promoted else 0
    plan = Plan(
        asked.a, asked.b, sums, result, asked.a_major, asked.b_major,
        batched=asked.batched, common=asked.common, grouped=asked.groups > 0, promoted=promoted,
        ragged=asked.is_ragged(result), sparse=asked.sparse, blocks=blocks, tile=SMALL, epilogue=epilogue,
    )  # fmt: skip
    _check_results(asked, arrays, result)
    return plan


def _warp_planned(asked: Problem, arrays: Arrays, options: Options, gpu: Gpu | None) -> WarpPlan:
    """The plan of a problem for a target without warpgroup instructions. Errors: UsageError kernels.*."""
    sums, result, promoted, epilogue = _wanted(asked, arrays, options, _ALL_OF_K)
    plan = asked.warp_level(
        options.target, sums=sums, d=result, epilogue=epilogue, promoted=promoted, tile=options.tile,
        processors=PROCESSORS if gpu is None else gpu.multiprocessors,
    )  # fmt: skip
    _check_results(asked, arrays, result)
    return plan


def _wanted(
    asked: Problem, arrays: Arrays, options: Options, blocks: Blocks
) -> tuple[str, str, bool, Epilogue]:
    """The types of sums and result, whether 8-bit floats are promoted, and what becomes of the sums."""
    sums = asked.sums(options.sums)
    own = asked.result(sums) if arrays.out is None else problem.result_word(arrays.out)
    result = options.result or own
    epilogue = Epilogue(
        scaled=options.scaled,
        row_scales=arrays.row_scales is not None and not blocks.rows,
        column_scales=arrays.column_scales is not None and not blocks.columns,
        addend="" if arrays.c is None else result,
        bias="" if arrays.bias is None else options.bias_along,
        activation=options.activation,
    )
    return sums, result, sums == "f32" and asked.a in ("e4m3", "e5m2") and not options.fast, epilogue


@lru_cache(maxsize=256)
def _dispatch(asked: Problem, plan: Plan, tile: Tile | None, gpu: str) -> Dispatch:
    """A plan with the tile that is asked for, that was tuned for a GPU, or that the cost model chooses."""
    if tile is None:
        return Dispatch(asked, *(chosen(gpu, asked, plan) if gpu else choose(asked, plan)))
    plan = plan.with_tile(tile)
    return Dispatch(asked, plan, min(shares(asked, plan), key=lambda share: microseconds(asked, plan, share)))


@cache
def _kernel(plan: Plan | WarpPlan) -> Kernel:
    """The kernel of a plan, built once."""
    return hopper.at(plan=plan) if isinstance(plan, Plan) else built(plan)


def check_vector(name: str, value: Any, shape: tuple[int, ...], dtype: Any = np.float32) -> None:
    """Refuse what is no array of factors, summands or ends. Errors: UsageError kernels.shape."""
    if value is None:
        return
    lies = strided(value)
    if lies.shape != shape or lies.dtype != dtype or not lies.is_contiguous:
        wanted = " by ".join(map(str, shape))
        raise UsageError(
            f"{name} is an array of {lies.dtype} of shape {lies.shape}; expected {wanted} of {np.dtype(dtype)}",
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


def _check_results(asked: Problem, arrays: Arrays, type_word: str) -> None:
    """Refuse a C or an `out` that is not as D is. Errors: UsageError kernels.layout."""
    c = asked.shape[-2:] if "c" in asked.common else asked.shape
    _check_result("C", arrays.c, c, type_word)
    _check_result("out", arrays.out, asked.shape, type_word)


def _check_result(name: str, array: Any, expected: tuple[int, ...], type_word: str) -> None:
    if array is None:
        return
    lies = strided(array)
    steps = all(step % 16 == 0 for step in lies.strides[:-1]) and lies.strides[-1] == lies.itemsize
    if lies.shape != expected or lies.dtype != DTYPES[type_word] or not steps:
        raise UsageError(
            f"{name} is an array of {lies.dtype} of shape {lies.shape} with strides of {lies.strides} bytes; expected"
            f" {DTYPES[type_word]} of shape {expected}, rows of neighbours a multiple of 16 bytes apart",
            code="kernels.layout",
        )


def _copied(ask: Ask, arrays: Arrays, options: Options, alpha: float, beta: float, device: Device) -> Any:
    """Run the kernel on NumPy's arrays. D is made apart, and copied to where `out` lies."""
    given = arrays.out
    arrays = Arrays(*[as_numpy(array) if is_foreign_type(array.__class__) else array for array in arrays])
    gpu = gpu_of(0) if device == "cuda" else None
    dispatch = ask(arrays, _checked(options, alpha, beta, gpu), gpu)
    plan, asked = dispatch.plan, dispatch.problem
    whole = np.zeros((*asked.shape[:-1], asked.pitch(plan.d)), DTYPES[plan.d])
    made = whole[..., : asked.n]
    if arrays.out is not None:
        made[...] = arrays.out  # of groups not all rows are written
    kernel = _kernel(plan)
    launch(
        kernel.module,
        grid=dispatch.ctas,
        block=plan.tile.threads,
        shared=kernel.shared,
        args=dispatch.arguments(arrays, made, whole, float(alpha), float(beta)),
        device=device,
    )
    if arrays.out is None:
        return made
    arrays.out[...] = made
    return given
