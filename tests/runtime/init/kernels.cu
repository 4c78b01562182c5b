// The kernels of kernels.ptx, made by: nvcc 13.0 --ptx -arch=sm_90a -o kernels.ptx kernels.cu
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// Addresses, a bound and a factor.
extern "C" __global__ void axpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

// Nothing but addresses, and bounds on the CTA: it runs as it is.
extern "C" __global__ void __launch_bounds__(256) halves(const __half *x, __half *y) {
  int i = blockIdx.x * 256 + threadIdx.x;
  y[i] = __hmul(x[i], x[i]);
}

// Dynamic shared memory, and bf16 under a pointer.
extern "C" __global__ void __launch_bounds__(128) reversed(const __nv_bfloat16 *x, __nv_bfloat16 *y) {
  extern __shared__ __nv_bfloat16 held[];
  held[threadIdx.x] = __hadd(x[threadIdx.x], x[threadIdx.x]);
  __syncthreads();
  y[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

// A structure by value: two addresses, a stride of 64 bits, and two sizes.
struct Tensor {
  const double *from;
  double *to;
  long long stride;
  int rows, cols;
};
extern "C" __global__ void transposed(Tensor t) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < t.rows && col < t.cols) t.to[col * t.stride + row] = t.from[row * t.stride + col];
}

// A tensor map, a cluster of two.
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128)
    box(const __grid_constant__ CUtensorMap map, int *out, int row, int col) {
  __shared__ alignas(128) int tile[8 * 16];
  __shared__ unsigned long long barrier;
  unsigned at = __cvta_generic_to_shared(tile), bar = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(bar));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                     "r"(at), "l"(&map), "r"(col), "r"(row), "r"(bar));
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(bar));
  out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
}
