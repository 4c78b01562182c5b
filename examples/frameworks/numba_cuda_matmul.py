"""Matrix product with numba-cuda: `python examples/frameworks/numba_cuda_matmul.py`.

The example needs the package numba-cuda with the extra cu13. Without a GPU, run it with `warploom exec -- python …`.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit(device=True)
def clamped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


@cuda.jit
def matmul(A, B, C):
    """Compute one element of C = clamped(A B) per thread, with tiles of A and B in shared memory."""
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    row, column = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for start in range(0, A.shape[1], TILE):
        a[i, j] = A[row, start + j] if row < A.shape[0] and start + j < A.shape[1] else float32(0)
        b[i, j] = B[start + i, column] if start + i < B.shape[0] and column < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += a[i, k] * b[k, j]
        cuda.syncthreads()
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = clamped(total, float32(-10), float32(10))


@cuda.jit
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i], 1)


def main() -> None:
    generator = np.random.default_rng(0)
    A = generator.integers(-2, 3, (70, 40)).astype(np.float32)
    B = generator.integers(-2, 3, (40, 50)).astype(np.float32)
    stream = cuda.stream()
    with stream.auto_synchronize():
        C = cuda.device_array((70, 50), np.float32, stream=stream)
        grid = (-(-70 // TILE), -(-50 // TILE))
        matmul[grid, (TILE, TILE), stream](cuda.to_device(A, stream), cuda.to_device(B, stream), C)
        result = C.copy_to_host(stream=stream)
    wrong = np.count_nonzero(result != (A @ B).clip(-10, 10))

    values = generator.integers(0, 16, 3000)
    bins = np.zeros(16, np.int32)
    histogram[24, 128](values, bins)
    miscounted = np.count_nonzero(bins != np.bincount(values, minlength=16))
    print(f"{result.size} elements of a product, {wrong} of them wrong; {miscounted} wrong counts")
    sys.exit(bool(wrong or miscounted))


if __name__ == "__main__":
    main()
