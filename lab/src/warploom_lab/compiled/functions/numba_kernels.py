"""Script that writes the LLVM IR of small numba-cuda kernels to a folder. The interpreter must have numba-cuda."""

# pyright: basic

from __future__ import annotations

import sys
from pathlib import Path

import numba_cuda
from numba import cuda, float32, int32, void
from numba.cuda.compiler import compile_cuda, kernel_fixup

ARRAY, INTS = float32[::1], int32[::1]


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def polynomial(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i] = (v * v + float32(1.5)) * v if v > 0 else -v


def reverse(x, y):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    y[t] = tile[63 - t]


def histogram(x, h):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(h, x[i], 1)


def warp_sum(x, y):
    t = cuda.threadIdx.x
    v = x[t]
    offset = 16
    while offset:
        v += cuda.shfl_down_sync(-1, v, offset)
        offset //= 2
    if t == 0:
        y[0] = v


def matmul(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = float32(0.0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


def branches(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        if v < 0:
            v = -v * 3
        elif v % 2:
            v = v // 2
        y[i] = v


def ballot(x, y):
    t = cuda.threadIdx.x
    y[t] = cuda.popc(cuda.ballot_sync(-1, x[t] > 0))


def clip(x, y, low, high):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = low if x[i] < low else min(x[i], high)


def neighbours(x, y):
    tile = cuda.shared.array((34,), float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t + 1] = x[i]
    if t == 0:
        tile[0] = x[i - 1] if i > 0 else float32(0.0)
        tile[33] = x[i + 32] if i + 32 < x.size else float32(0.0)
    cuda.syncthreads()
    y[i] = tile[t] - float32(2.0) * tile[t + 1] + tile[t + 2]


MATRIX = float32[:, ::1]
KERNELS = {
    "saxpy": (saxpy, (float32, ARRAY, ARRAY)),
    "polynomial": (polynomial, (ARRAY, ARRAY)),
    "reverse": (reverse, (INTS, INTS)),
    "histogram": (histogram, (INTS, INTS)),
    "warp_sum": (warp_sum, (INTS, INTS)),
    "matmul": (matmul, (MATRIX, MATRIX, MATRIX)),
    "branches": (branches, (INTS, INTS)),
    "ballot": (ballot, (INTS, INTS)),
    "clip": (clip, (INTS, INTS, int32, int32)),
    "neighbours": (neighbours, (ARRAY, ARRAY)),
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, (function, types) in KERNELS.items():
        made = compile_cuda(function, void, types, cc=(9, 0))
        kernel_fixup(made.library.get_function(made.fndesc.llvm_func_name), debug=False)
        (folder / f"{name}.ll").write_text(f"; numba-cuda {numba_cuda.__version__}\n{made.library.get_llvm_str()}")
