"""cuda-core: a program that NVRTC compiles to PTX, with a template and a variable."""

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
__device__ int launches;
template <typename T> __global__ void axpy(const T *x, T *y, T a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
    if (i == 0) launches++;
}
"""
device = Device()
device.set_current()
stream = device.create_stream()
names = ("axpy<float>", "axpy<double>")
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
module = Program(SOURCE, code_type="c++", options=options).compile("ptx", name_expressions=names)
for name, kind in zip(names, (np.float32, np.float64), strict=True):
    kernel, count = module.get_kernel(name), 3000
    arrays = [device.allocate(count * kind().itemsize, stream=stream) for _ in range(2)]
    for each in arrays:
        each.fill(3, stream=stream)
    for step in range(3):
        launch(stream, LaunchConfig(grid=12, block=256), kernel, *arrays, kind(step + 0.3), np.int32(count))
stream.sync()
print("done")
