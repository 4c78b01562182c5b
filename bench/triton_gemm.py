"""Blocked GEMM in Triton, run by Triton's interpreter, for the comparison in `end_to_end.py`."""

# Triton and PyTorch are installed for this benchmark alone, and the kernel's body is Triton's own language.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUntypedFunctionDecorator=false, reportMissingTypeStubs=false, reportArgumentType=false
from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported

from typing import Any

import ml_dtypes
import numpy as np
import torch
import triton
import triton.language as tl
from corpus_gemms import TYPES
from numpy.typing import NDArray
from triton.tools.tensor_descriptor import TensorDescriptor

VERSIONS = f"Triton {triton.__version__}, PyTorch {torch.__version__}"


@triton.jit
def _gemm(
    a, b, c, K, N, step_k, step_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, WIDENED: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + (k + depth)[None, :])
        right = tl.load(b + (k + depth)[:, None] * step_k + columns[None, :] * step_n)
        if WIDENED:
            left, right = left.to(tl.float32), right.to(tl.float32)
        total = tl.dot(left, right, total, out_dtype=ACC)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def _gemm_by_tensors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
    c.store([row, column], total.to(tl.float16))


def gemm(
    a: NDArray[Any], b: NDArray[Any], result: str, transposed: bool, blocks: tuple[int, int, int], by_tensors: bool
) -> NDArray[Any]:
    """Return A B, or A B^T if `transposed`, as computed by Triton's interpreter.

    The kernel loads through pointers or, if `by_tensors`, f16 through tensor descriptors. `result` is Triton's name of
    the type of C.
    """
    M, K = a.shape
    N = b.shape[0] if transposed else b.shape[1]
    c = np.zeros((M, N), TYPES[result])
    if by_tensors:
        boxes = (blocks[0], blocks[2]), (blocks[1], blocks[2]), (blocks[0], blocks[1])
        tensors = (
            TensorDescriptor(tensor, list(tensor.shape), list(tensor.stride()), list(box))
            for tensor, box in zip(map(_tensor, (a, b, c)), boxes, strict=True)
        )
        _gemm_by_tensors[M // blocks[0], N // blocks[1]](*tensors, K, *blocks)
        return c
    steps = (1, K) if transposed else (N, 1)
    sums = {"i32": tl.int32, "fp64": tl.float64}.get(result, tl.float32)
    grid = (M // blocks[0], N // blocks[1])
    # The interpreter multiplies the bits of bf16 as if they were numbers.
    widened = a.dtype == ml_dtypes.bfloat16
    _gemm[grid](_tensor(a), _tensor(b), _tensor(c), K, N, *steps, *blocks, sums, widened)
    return c


def _tensor(array: NDArray[Any]) -> Any:
    """Return a tensor over the memory of an array.

    PyTorch receives the types of ml_dtypes as integers of the same width.
    """
    names = {ml_dtypes.bfloat16: torch.bfloat16, ml_dtypes.float8_e4m3fn: torch.float8_e4m3fn}
    special = names.get(array.dtype.type)
    if special is None:
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(f"u{array.itemsize}").view(f"i{array.itemsize}")).view(special)
