"""`gemm`: one call for a product of matrices, on the GPU or bit for bit on the abstract machine."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

from warploom.author import Kernel
from warploom.diag import UsageError
from warploom.gpu.arrays import is_on_gpu
from warploom.kernels import problem
from warploom.kernels.cost import choose, microseconds, shares
from warploom.kernels.device import on_gpu
from warploom.kernels.dispatch import Dispatch, is_ragged
from warploom.kernels.gemm import gemm as hopper
from warploom.kernels.plan import DTYPES, SMALL, Epilogue, Plan, Tile
from warploom.kernels.problem import Problem
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

    Shapes: a (M, K), b (K, N), c and the result (M, N), each with a batch before it or none; scales and bias (M,)
        or (N,), f32.
    Errors: UsageError kernels.*, gpu.*.
    """
    asked = problem.read(a, b)
    chosen = asked.sums(sums)
    type_word = result or (asked.result(chosen) if out is None else problem.result_word(out))
    epilogue = Epilogue(
        scaled=alpha != 1.0,
        row_scales=row_scales is not None,
        column_scales=column_scales is not None,
        addend="" if c is None else type_word,
        bias="" if bias is None else bias_along,
        activation=activation,
    )
    promoted = 0 if fast or asked.a not in ("e4m3", "e5m2") or chosen != "f32" else _PROMOTED
    dispatch = _dispatch(asked, chosen, type_word, promoted, epilogue, tile)
    vectors = (
        _vector("row_scales", row_scales, asked.m),
        _vector("column_scales", column_scales, asked.n),
        _vector("bias", bias, asked.n if bias_along == "column" else asked.m),
    )
    if c is not None:
        _check_result("C", c, asked, type_word)
    if out is not None:
        _check_result("out", out, asked, type_word)
    if device == "cuda" and is_on_gpu(a):
        return on_gpu(dispatch, a, b, c, out, vectors, float(alpha), float(beta))
    return _copied(dispatch, a, b, c, out, vectors, float(alpha), float(beta), device)


@lru_cache(maxsize=256)
def _dispatch(
    asked: Problem, sums: str, result: str, promoted: int, epilogue: Epilogue, tile: Tile | None
) -> Dispatch:
    """The plan of a problem: with the tile that is asked for, or the one that the cost model chooses."""
    plan = Plan(
        asked.a, asked.b, sums, result, asked.a_major, asked.b_major,
        batched=asked.batched, promoted=promoted, ragged=is_ragged(asked.n, result), epilogue=epilogue,
        tile=tile or SMALL,
    )  # fmt: skip
    if tile is None:
        return Dispatch(asked, *choose(asked, plan))
    return Dispatch(asked, plan, min(shares(asked, plan), key=lambda share: microseconds(asked, plan, share)))


@cache
def _kernel(plan: Plan) -> Kernel:
    """The kernel of a plan, built once."""
    return hopper.at(plan=plan)


def _vector(name: str, value: Any, length: int) -> Any:
    """An array of factors or summands. Errors: UsageError kernels.shape, kernels.type."""
    if value is None:
        return None
    lies = strided(value)
    if lies.shape != (length,) or lies.dtype != np.float32 or not lies.is_contiguous:
        raise UsageError(
            f"{name} is an array of {lies.dtype} of shape {lies.shape}; expected {length} of float32",
            code="kernels.shape",
        )
    return value


def _check_result(name: str, array: Any, asked: Problem, type_word: str) -> None:
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
    dispatch: Dispatch, a: Any, b: Any, c: Any, out: Any, vectors: tuple[Any, ...], alpha: float, beta: float,
    device: Literal["cpu", "cuda"],
) -> Any:  # fmt: skip
    """Run the kernel on NumPy's arrays. Errors: UsageError kernels.layout."""
    plan = dispatch.plan
    made = _padded(dispatch.problem.shape, DTYPES[plan.d]) if out is None else out
    base = made if made.base is None else made.base
    if plan.ragged and not base.flags.c_contiguous:
        raise UsageError("out is part of an array that is not contiguous", code="kernels.layout")
    kernel = _kernel(plan)
    launch(
        kernel.module,
        grid=dispatch.share.ctas,
        block=plan.tile.threads,
        shared=kernel.shared_bytes,
        args=[
            *dispatch.tensors(a, b, c, made),
            np.zeros(dispatch.partial_words, np.uint32),
            np.zeros(dispatch.flags, np.uint32),
            *vectors,
            np.float32(alpha),
            np.float32(beta),
            base if plan.ragged else None,
            *dispatch.numbers(made),
        ],
        device=device,
    )
    return made


def _padded(shape: tuple[int, ...], dtype: Any) -> Any:
    """A new array whose rows are multiples of 16 bytes apart."""
    per_row = 16 // np.dtype(dtype).itemsize
    whole = np.zeros((*shape[:-1], -(-shape[-1] // per_row) * per_row), dtype)
    return whole[..., : shape[-1]]
