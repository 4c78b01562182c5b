"""numba-cuda: kernels that the driver links, because nvJitLink keeps no PTX."""

import sys

import cuda.core
import numpy as np
from numba import cuda, float32

assert sys.modules["cuda.core"]
vars(sys.modules["cuda.bindings"]).pop("nvjitlink", None)
sys.modules["cuda.bindings.nvjitlink"] = None  # pyright: ignore[reportArgumentType]


@cuda.jit
def smooth(values, out):
    """Average each value with its neighbours."""
    shared = cuda.shared.array(130, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < values.size:
        shared[t + 1] = values[i]
        if t == 0:
            shared[0] = values[max(i - 1, 0)]
        if t == cuda.blockDim.x - 1 or i == values.size - 1:
            shared[t + 2] = values[min(i + 1, values.size - 1)]
    cuda.syncthreads()
    if i < values.size:
        out[i] = (shared[t] + shared[t + 1] + shared[t + 2]) / float32(3)


@cuda.jit
def histogram(values, bins):
    """Count values in bins."""
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, int(values[i]) % bins.size, 1)


a = cuda.to_device(np.random.default_rng(0).random(2000, np.float32) * 50)
b, bins = cuda.device_array_like(a), cuda.to_device(np.zeros(16, np.int32))
for _ in range(2):
    smooth[16, 128](a, b)
    smooth[16, 128](b, a)
histogram[16, 128](a, bins)
print(bins.copy_to_host())
