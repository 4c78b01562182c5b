"""`gemm`: one call for a product of matrices, on the GPU or bit for bit on the abstract machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from warploom.author import Kernel
from warploom.diag import UsageError
from warploom.gpu.arrays import is_on_gpu, number_of
from warploom.kernels import problem
from warploom.kernels.cost import choose, microseconds, shares
from warploom.kernels.device import Ready
from warploom.kernels.dispatch import Dispatch
from warploom.kernels.gemm import gemm as hopper
from warploom.kernels.plan import DTYPES, SMALL, Epilogue, Plan, Tile
from warploom.kernels.problem import Arrays, Problem
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
    tile: Tile | None = None,
    device: Literal["cpu", "cuda"] = "cuda",
) -> Any:
    """D = activation(alpha A B + beta C + bias), rounded once; returns D, which is `out` where one is given.

    A, B and C are arrays of one kind: of PyTorch, CuPy or JAX on a GPU of sm_90, used in place; NumPy's, which are
    copied; with device="cpu" NumPy's alone, on the abstract machine, bit for bit what the GPU returns. Elements lie
    side by side along either axis for 16-bit types, along K for the others; the other axis steps by multiples of
    16 bytes.

    `row_scales` and `column_scales` multiply the rows and columns of A B, `bias` is added along columns (one for
    each column) or rows. `activation` is "relu", "gelu" (by tanh) or "silu". `result` is the type of D, `sums` of
    the products' sums ("f16" for short ones). 8-bit floats are summed in the tensor cores, which keep fewer bits,
    if `fast`, and else 512 elements of K at a time. `tile` overrules the cost model.

    Shapes: a (M, K), b (K, N), c and the result (M, N); a and b with a batch before them, or one of them, and c with
        it or without: what has none is the same for all. Scales and bias (M,) or (N,), f32.
    Errors: UsageError kernels.*, gpu.*.
    """
    arrays = Arrays(a, b, c, out, row_scales, column_scales, bias)
    options = Options(float(alpha), float(beta), bias_along, activation, result, sums, fast, tile)
    return perform(_asked, arrays, options, device)


class Options(NamedTuple):
    """What a multiplication is asked for besides its arrays; `gemm` says what they are."""

    alpha: float
    beta: float
    bias_along: Literal["column", "row"]
    activation: str
    result: str
    sums: str
    fast: bool
    tile: Tile | None


def perform(
    ask: Callable[[Arrays, Options], Dispatch],
    arrays: Arrays,
    options: Options,
    device: Literal["cpu", "cuda"],
) -> Any:
    """Launch what `ask` says is asked for; on a GPU it is asked once for each way that arrays lie. Returns D."""
    if device == "cuda" and is_on_gpu(arrays.a):
        key = ask, options, number_of(arrays.a), *map(_lies, arrays)
        ready = _READY.get(key)
        if ready is None:
            if len(_READY) >= _MOST_READY:
                _READY.clear()
            ready = _READY[key] = Ready(ask(arrays, options), arrays, options.alpha, options.beta)
        return ready(arrays)
    return _copied(ask(arrays, options), arrays, options, device)


_READY: dict[tuple[Any, ...], Ready] = {}
_MOST_READY = 1024


def _lies(array: Any) -> object:
    """How an array lies, in its library's own words, which are quick to have."""
    if array is None:
        return None
    strides = array.stride() if hasattr(array, "stride") else getattr(array, "strides", None)
    return array.shape, strides, array.dtype


def _asked(arrays: Arrays, options: Options) -> Dispatch:
    """The plan for arrays and options. Errors: UsageError kernels.*."""
    asked = problem.read(arrays.a, arrays.b)
    if asked.batched and arrays.c is not None and arrays.c.ndim == 2:
        asked = replace(asked, common=f"{asked.common}c")
    check_vector("row_scales", arrays.row_scales, (asked.m,))
    check_vector("column_scales", arrays.column_scales, (asked.n,))
    check_vector("bias", arrays.bias, (asked.n if options.bias_along == "column" else asked.m,))
    return _dispatch(asked, planned(asked, arrays, options), options.tile)


def planned(asked: Problem, arrays: Arrays, options: Options) -> Plan:
    """The plan of a problem, but for its tile. Errors: UsageError kernels.*."""
    sums = asked.sums(options.sums)
    own = asked.result(sums) if arrays.out is None else problem.result_word(arrays.out)
    result = options.result or own
    epilogue = Epilogue(
        scaled=options.alpha != 1.0,
        row_scales=arrays.row_scales is not None,
        column_scales=arrays.column_scales is not None,
        addend="" if arrays.c is None else result,
        bias="" if arrays.bias is None else options.bias_along,
        activation=options.activation,
    )
    promoted = 0 if options.fast or asked.a not in ("e4m3", "e5m2") or sums != "f32" else _PROMOTED
    plan = Plan(
        asked.a, asked.b, sums, result, asked.a_major, asked.b_major,
        batched=asked.batched, common=asked.common, grouped=asked.groups > 0, promoted=promoted,
        ragged=asked.is_ragged(result), tile=SMALL, epilogue=epilogue,
    )  # fmt: skip
    _check_result("C", arrays.c, asked.shape[-2:] if "c" in asked.common else asked.shape, result)
    _check_result("out", arrays.out, asked.shape, result)
    return plan


@lru_cache(maxsize=256)
def _dispatch(asked: Problem, plan: Plan, tile: Tile | None) -> Dispatch:
    """A plan with the tile that is asked for, or the one that the cost model chooses."""
    if tile is None:
        return Dispatch(asked, *choose(asked, plan))
    plan = plan.with_tile(tile)
    return Dispatch(asked, plan, min(shares(asked, plan), key=lambda share: microseconds(asked, plan, share)))


@cache
def _kernel(plan: Plan) -> Kernel:
    """The kernel of a plan, built once."""
    return hopper.at(plan=plan)


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


def _copied(dispatch: Dispatch, arrays: Arrays, options: Options, device: Literal["cpu", "cuda"]) -> Any:
    """Run the kernel on NumPy's arrays."""
    plan = dispatch.plan
    made = _padded(dispatch.problem.shape, DTYPES[plan.d]) if arrays.out is None else arrays.out
    start = made[(slice(1),) * made.ndim]
    kernel = _kernel(plan)
    launch(
        kernel.module,
        grid=dispatch.share.ctas,
        block=plan.tile.threads,
        shared=kernel.shared_bytes,
        args=dispatch.arguments(arrays, made, start, options.alpha, options.beta),
        device=device,
    )
    return made


def _padded(shape: tuple[int, ...], dtype: Any) -> Any:
    """A new array whose rows are multiples of 16 bytes apart."""
    per_row = 16 // np.dtype(dtype).itemsize
    whole = np.zeros((*shape[:-1], -(-shape[-1] // per_row) * per_row), dtype)
    return whole[..., : shape[-1]]
