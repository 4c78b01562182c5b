// Kernels that the emulator refuses by name before anything runs.
#define KERNEL extern "C" __global__ void
KERNEL samples(cudaTextureObject_t t, float* y) { y[threadIdx.x] = tex2D<float>(t, threadIdx.x * 0.5f, 1.0f) + tex1Dfetch<float>(t, 3); }
KERNEL writes_surface(cudaSurfaceObject_t s) { surf2Dwrite<float>(1.0f, s, threadIdx.x * 4, 2); }
extern __device__ int outside(int);
KERNEL calls_outside(int* y) { y[threadIdx.x] = outside(threadIdx.x); }
__device__ __noinline__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
KERNEL recurses(int* y) { y[threadIdx.x] = ackermann(2, threadIdx.x & 3); }
