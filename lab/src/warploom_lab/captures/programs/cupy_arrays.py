"""CuPy: elementwise operations, reductions, scans, and a RawKernel with a table of pointers."""

import cupy

x = cupy.arange(5000, dtype=cupy.float32) / 7
y = cupy.sin(x) * 3 + cupy.sqrt(x)
print(float(y.sum()), float(y.max()), int(cupy.argmin(y)))
m = y[:4096].reshape(64, 64)
print(float((m.T + m).std()), float(cupy.cumsum(y)[-1]))
kernel = cupy.RawKernel(
    """
    extern "C" __global__ void add_all(const float *const *tables, float *out, int count) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < count) out[i] = tables[0][i] + tables[1][i];
    }
    """,
    "add_all",
)
tables = cupy.array([x.data.ptr, y.data.ptr], dtype=cupy.uint64)
out = cupy.zeros(5000, cupy.float32)
for _ in range(2):
    kernel((20,), (256,), (tables, out, cupy.int32(5000)))
print(float(out.sum()))
