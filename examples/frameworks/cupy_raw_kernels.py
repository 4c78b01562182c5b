"""CuPy's RawKernel and RawModule: `python examples/frameworks/cupy_raw_kernels.py`.

The example needs the packages cupy-cuda13x and nvidia-cuda-nvrtc. Without a GPU, run it with
`warploom exec -- python …`.
"""

from __future__ import annotations

import sys

import cupy as cp
import numpy as np

HYPOT = cp.RawKernel(
    r"""
extern "C" __global__ void hypot_(const float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sqrtf(x[i] * x[i] + y[i] * y[i]);
}
""",
    "hypot_",
    options=("--fmad=false",),
)
SUMS = cp.RawModule(
    code=r"""
#include <cuda_fp16.h>

__constant__ float scale[1];

template <typename T>
__global__ void row_sums(const T *x, float *sums, int columns) {
    float total = 0;
    for (int i = threadIdx.x; i < columns; i += 32) total += float(x[blockIdx.x * columns + i]);
    for (int step = 16; step; step /= 2) total += __shfl_down_sync(0xffffffff, total, step);
    if (threadIdx.x == 0) sums[blockIdx.x] = scale[0] * total;
}
""",
    options=("-std=c++17",),
    name_expressions=("row_sums<float>", "row_sums<__half>"),
)


def main(n: int = 3000, rows: int = 40) -> None:
    x, y = np.random.default_rng(0).standard_normal((2, n)).astype(np.float32)
    out = cp.empty(n, cp.float32)
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        HYPOT((-(-n // 256),), (256,), (cp.asarray(x), cp.asarray(y), out, np.int32(n)))
    stream.synchronize()
    wrong = int(cp.count_nonzero(out != cp.asarray(np.sqrt(x * x + y * y))))

    memory = SUMS.get_global("scale")
    cp.ndarray(1, cp.float32, memory).set(np.array([0.5], np.float32))
    matrix = np.random.default_rng(1).integers(-8, 8, (rows, n // rows))
    for name, dtype in (("row_sums<float>", np.float32), ("row_sums<__half>", np.float16)):
        sums = cp.zeros(rows, cp.float32)
        data = cp.asarray(matrix.astype(dtype))
        SUMS.get_function(name)((rows,), (32,), (data, sums, np.int32(matrix.shape[1])))
        wrong += np.count_nonzero(sums.get() != matrix.sum(1) / 2)
    print(f"{n} lengths and {2 * rows} sums, {wrong} of them wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
