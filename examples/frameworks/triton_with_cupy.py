"""Triton kernels on CuPy arrays, launched by Triton: `python examples/frameworks/triton_with_cupy.py`.

The example needs the packages triton, cupy-cuda13x and nvidia-cuda-nvrtc. PyTorch is not needed. Without a GPU, run it
with `warploom exec -- python …`.
"""

from __future__ import annotations

import sys

import cupy as cp
import numpy as np
import triton
import triton.language as tl
from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils


class CupyDriver(CudaDriver):
    """Triton's driver for CUDA, with the device and the stream of CuPy in place of PyTorch's."""

    def __init__(self) -> None:
        self.utils, self.launcher_cls = CudaUtils(), CudaLauncher
        self.get_current_device = cp.cuda.runtime.getDevice
        self.get_current_stream = lambda device: cp.cuda.get_current_stream().ptr
        self.get_device_capability = lambda device: divmod(int(cp.cuda.Device(device).compute_capability), 10)


class Pointer:
    """Argument of a Triton kernel: the memory of a CuPy array."""

    def __init__(self, array: cp.ndarray) -> None:
        self.array, self.dtype = array, array.dtype

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self.array.data.ptr


@triton.jit
def softmax(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + at, mask=at < columns, other=-float("inf"))
    exponentials = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row + at, exponentials / tl.sum(exponentials, axis=0), mask=at < columns)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, N, K, M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        at = k + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + at[None, :])
        b = tl.load(b_ptr + at[:, None] * N + columns[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)


def main() -> None:
    triton.runtime.driver.set_active(CupyDriver())
    generator = np.random.default_rng(0)
    x = generator.standard_normal((32, 781)).astype(np.float32)
    y = cp.empty(x.shape, cp.float32)
    softmax[(32,)](Pointer(cp.asarray(x)), Pointer(y), 781, BLOCK=1024)
    exponentials = np.exp(x.astype(np.float64))
    error = abs(y.get() - exponentials / exponentials.sum(1, keepdims=True)).max()

    a, b = (generator.integers(-4, 5, shape).astype(np.float16) for shape in ((64, 128), (128, 256)))
    c = cp.empty((64, 256), cp.float32)
    kernel = matmul[(2,)](
        Pointer(cp.asarray(a)), Pointer(cp.asarray(b)), Pointer(c), 256, 128, M=64, BLOCK_N=128, BLOCK_K=64
    )
    wrong = np.count_nonzero(c.get() != a.astype(np.float32) @ b.astype(np.float32))
    target = kernel.metadata.target
    print(f"softmax differs by at most {error:.0e}; {wrong} wrong elements of a product; sm_{target.arch}")
    sys.exit(bool(error > 1e-6 or wrong))


if __name__ == "__main__":
    main()
