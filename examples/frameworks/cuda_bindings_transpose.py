"""Matrix transpose with cuda-bindings: `python examples/frameworks/cuda_bindings_transpose.py [cubin|ptx]`.

The example needs the packages cuda-bindings and nvidia-cuda-nvrtc. Without a GPU, run it with
`warploom exec -- python …`.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = rb"""
constexpr int TILE = 32, ROWS = 8;

extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""


def checked(answer: tuple) -> object:
    """Return the results of a call, and raise an error if it failed."""
    status, *results = answer
    if status.value:
        raise RuntimeError(status.name)
    return results[0] if len(results) == 1 else results


def compiled(code: str, major: int, minor: int) -> bytes:
    """Return the device code of SOURCE for a compute capability, in the format "cubin" or "ptx"."""
    program = checked(nvrtc.nvrtcCreateProgram(SOURCE, b"transpose.cu", 0, [], []))
    options = [f"--gpu-architecture=sm_{major}{minor}".encode(), b"--std=c++17"]
    checked(nvrtc.nvrtcCompileProgram(program, len(options), options))
    get_size, get = {
        "cubin": (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN),
        "ptx": (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX),
    }[code]
    result = bytes(checked(get_size(program)))
    checked(get(program, result))
    return result


def main(code: str = "cubin", width: int = 150, height: int = 70) -> None:
    checked(driver.cuInit(0))
    device = checked(driver.cuDeviceGet(0))
    context = checked(driver.cuDevicePrimaryCtxRetain(device))
    checked(driver.cuCtxSetCurrent(context))
    attribute = driver.CUdevice_attribute
    major, minor = (
        checked(driver.cuDeviceGetAttribute(each, device))
        for each in (
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    module = checked(driver.cuModuleLoadData(compiled(code, major, minor)))
    kernel = checked(driver.cuModuleGetFunction(module, b"transpose"))

    x = np.random.default_rng(0).standard_normal((height, width)).astype(np.float32)
    result = np.empty((width, height), np.float32)
    source, target = (checked(driver.cuMemAlloc(x.nbytes)) for _ in range(2))
    checked(driver.cuMemcpyHtoD(source, x, x.nbytes))
    values, types = (source, target, width, height), (None, None, ctypes.c_int, ctypes.c_int)
    checked(driver.cuLaunchKernel(kernel, -(-width // 32), -(-height // 32), 1, 32, 8, 1, 0, 0, (values, types), 0))
    checked(driver.cuMemcpyDtoH(result, target, result.nbytes))

    wrong = np.count_nonzero(result != x.T)
    print(f"transposed {height}×{width} elements with {code}, {wrong} of them wrong")
    for each in (source, target):
        checked(driver.cuMemFree(each))
    checked(driver.cuModuleUnload(module))
    checked(driver.cuDevicePrimaryCtxRelease(device))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
