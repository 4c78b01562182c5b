"""A blocked GEMM in Triton, run by Triton's interpreter: what `end_to_end.py` compares with."""

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
from numpy.typing import NDArray

VERSIONS = f"Triton {triton.__version__}, PyTorch {torch.__version__}"
BLOCK_M, BLOCK_N, BLOCK_K = 128, 128, 64


@triton.jit
def _gemm(
    a, b, c, K, N, step_k, step_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK):
        left = tl.load(a + rows[:, None] * K + (k + depth)[None, :])
        right = tl.load(b + (k + depth)[:, None] * step_k + columns[None, :] * step_n)
        total = tl.dot(left, right, total, out_dtype=ACC)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty))


def gemm(a: NDArray[Any], b: NDArray[Any], dtype: Any, transposed: bool) -> NDArray[Any]:
    """A B, or A B^T where `transposed`, in blocks of 128 x 128 x 64; s8 is summed in s32, floats in f32."""
    M, K = a.shape
    N = b.shape[0] if transposed else b.shape[1]
    c = np.zeros((M, N), dtype)
    steps = (1, K) if transposed else (N, 1)
    sums = tl.int32 if np.dtype(dtype) == np.int32 else tl.float32
    grid = (M // BLOCK_M, N // BLOCK_N)
    _gemm[grid](_tensor(a), _tensor(b), _tensor(c), K, N, *steps, BLOCK_M, BLOCK_N, BLOCK_K, sums)
    return c


def _tensor(array: NDArray[Any]) -> Any:
    """A tensor over the array's own memory; PyTorch takes ml_dtypes' types as their bits."""
    names = {ml_dtypes.bfloat16: torch.bfloat16, ml_dtypes.float8_e4m3fn: torch.float8_e4m3fn}
    special = names.get(array.dtype.type)
    if special is None:
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(f"u{array.itemsize}").view(f"i{array.itemsize}")).view(special)
