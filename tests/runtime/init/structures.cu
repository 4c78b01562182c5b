// The kernels of structures.ptx, made by: nvcc 13.0 --ptx -arch=sm_90a -o structures.ptx structures.cu
#include <cuda.h>
#include <cuda_fp16.h>

struct Params {
  const __half *x;
  float *y;
  int n;
  float scale[4];
  CUtensorMap map;
  struct { int column; long long row; } inner;
  float4 v;
  const float *const *rows;
  const CUtensorMap *maps;
  unsigned char flag;
};

__device__ void load(const CUtensorMap *map, unsigned at, unsigned bar, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                   "r"(at), "l"(map), "r"(column), "r"(row), "r"(bar));
}

__device__ void start(unsigned bar, int bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
  asm volatile("fence.mbarrier_init.release.cluster;");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes));
}

__device__ void wait(unsigned bar) {
  __syncthreads();
  asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(bar));
}

// A structure with every kind of member.
extern "C" __global__ void __launch_bounds__(128) rich(const __grid_constant__ Params p) {
  __shared__ alignas(128) int tile[2][8 * 16];
  __shared__ unsigned long long barrier;
  unsigned at = __cvta_generic_to_shared(tile), bar = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    start(bar, 1024);
    load(&p.map, at, bar, p.inner.column, p.inner.row);
    load(p.maps + 1, at + 512, bar, p.inner.column, p.inner.row);
  }
  wait(bar);
  int i = threadIdx.x;
  if (i < p.n)
    p.y[i] = __half2float(p.x[i]) * p.scale[i & 3] + p.v.x + p.rows[blockIdx.x][i] + tile[0][i] + 2 * tile[1][i] + p.flag;
}

// The addresses of tensor maps and of arrays as parameters.
extern "C" __global__ void __launch_bounds__(128) tables(const CUtensorMap *map, const float *const *rows, float *y) {
  __shared__ alignas(128) int tile[8 * 16];
  __shared__ unsigned long long barrier;
  unsigned at = __cvta_generic_to_shared(tile), bar = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    start(bar, 512);
    load(map, at, bar, 0, 0);
  }
  wait(bar);
  int i = threadIdx.x;
  y[i] += tile[i] + rows[0][i] + rows[1][i];
}
