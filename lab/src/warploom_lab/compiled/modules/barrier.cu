// needs sm_80
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void copy(float* out, const float* in, int n) {
    __shared__ float stage[2][256]; __shared__ Barrier bar;
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&stage[0][threadIdx.x], in + threadIdx.x, sizeof(float), bar); bar.arrive_and_wait();
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < n; ++i) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[i & 1][threadIdx.x], in + i * 256 + threadIdx.x, sizeof(float), pipe);
        pipe.producer_commit(); pipe.consumer_wait(); out[i * 256 + threadIdx.x] = stage[i & 1][threadIdx.x];
        pipe.consumer_release();
    }
}
