"""SAXPY with cuda-core: `python examples/frameworks/cuda_core_saxpy.py [cubin|ptx]`.

The example needs the packages cuda-core and nvidia-cuda-nvrtc. Without a GPU, run it with `warploom exec -- python …`.
"""

from __future__ import annotations

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
template <typename T>
__global__ void saxpy(T a, const T *x, const T *y, T *out, size_t n) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        out[i] = a * x[i] + y[i];
}
"""


def main(code: str = "cubin", n: int = 5000) -> None:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", fma=False)
    module = Program(SOURCE, code_type="c++", options=options).compile(code, name_expressions=("saxpy<float>",))
    kernel = module.get_kernel("saxpy<float>")

    host = LegacyPinnedMemoryResource().allocate(3 * 4 * n)
    x, y, result = np.from_dlpack(host).view(np.float32).reshape(3, n)
    x[:], y[:] = np.random.default_rng(0).standard_normal((2, n)).astype(np.float32)
    buffer = device.allocate(3 * 4 * n, stream=stream)
    buffer.copy_from(host, stream=stream)
    config = LaunchConfig(grid=8, block=128)
    addresses = [int(buffer.handle) + 4 * n * row for row in range(3)]
    launch(stream, config, kernel, np.float32(2.5), *addresses, np.uint64(n))
    host.copy_from(buffer, stream=stream)
    stream.sync()

    wrong = np.count_nonzero(result != np.float32(2.5) * x + y)
    print(f"{n} results of saxpy<float> from {code}, {wrong} of them wrong")
    buffer.close(stream)
    host.close()
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
