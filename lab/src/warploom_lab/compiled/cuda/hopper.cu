// Hopper features through CUDA's headers: bulk and tensor copies, transaction barriers, clusters, pipelines.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/semaphore>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
#define KERNEL extern "C" __global__ void
using Barrier = cuda::barrier<cuda::thread_scope_block>;
using Word = uint64_t;

__device__ inline void wait(Word* bar, unsigned phase) { while (!ptx::mbarrier_try_wait_parity(bar, phase)) {} }

// A copy by the whole block whose size is a multiple of 16, for which the header chooses a bulk copy.
KERNEL block_copy(const int* x, int* y, int n) {
    __shared__ alignas(128) int stage[2][256];
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier bar[2]; auto block = cg::this_thread_block(); int t = threadIdx.x;
    if (t < 2) init(&bar[t], blockDim.x);
    ptx::fence_proxy_async(); __syncthreads();
    for (int k = 0; k < n; ++k) {
        int b = k & 1;
        cuda::memcpy_async(block, stage[b], x + k * 256, cuda::aligned_size_t<16>(1024), bar[b]);
        bar[b].arrive_and_wait();
        y[k * 256 + t] = stage[b][255 - t] * 3;
        ptx::fence_proxy_async(ptx::space_shared); __syncthreads();
    }
}
// A tile is loaded through one tensor map, transposed, and stored through another.
KERNEL tile_turned(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(128) float in[16][32]; __shared__ alignas(128) float out[32][16]; __shared__ Word bar;
    int t = threadIdx.x, at[2] = {32 * (int)blockIdx.x, 16 * (int)blockIdx.y}, there[2] = {at[1], at[0]};
    if (t == 0) { ptx::mbarrier_init(&bar, 1); ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster); }
    __syncthreads();
    if (t == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(in));
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, in, &from, at, &bar);
    }
    wait(&bar, 0);
    for (int i = t; i < 512; i += blockDim.x) out[i % 32][i / 32] = in[i / 32][i % 32];
    ptx::fence_proxy_async(ptx::space_shared); __syncthreads();
    if (t == 0) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, there, out);
        ptx::cp_async_bulk_commit_group(); ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}
// Three stages between a producer warp and four consumer warps; every consumer lane releases the stage.
KERNEL ring(const float* x, float* y, int n) {
    __shared__ alignas(128) float stage[3][128]; __shared__ Word full[3], empty[3]; int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < 3; ++s) { ptx::mbarrier_init(&full[s], 1); ptx::mbarrier_init(&empty[s], 128); }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (t >= 128) {
        if (t == 128) for (int k = 0; k < n; ++k) {
            int s = k % 3; wait(&empty[s], k / 3 + 1 & 1);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 512);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage[s], x + k * 128, 512, &full[s]);
        }
        return;
    }
    float sum = 0;
    for (int k = 0; k < n; ++k) {
        int s = k % 3; wait(&full[s], k / 3 & 1);
        sum = sum * 0.5f + stage[s][127 - t];
        ptx::fence_proxy_async(ptx::space_shared); ptx::mbarrier_arrive(&empty[s]);
    }
    y[t] = sum;
}
// Every block adds a row to the same row of global memory by a bulk reduction.
KERNEL added_rows(const int* x, int* y) {
    __shared__ alignas(16) int row[64]; int t = threadIdx.x;
    row[t] = x[blockIdx.x * 64 + t] * 2;
    ptx::fence_proxy_async(ptx::space_shared); __syncthreads();
    if (t == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, y, row, sizeof(row));
        ptx::cp_async_bulk_commit_group(); ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}
// A tree over the blocks of a cluster: half of them read the other half each round.
KERNEL __cluster_dims__(4, 1, 1) cluster_tree(const int* x, int* y) {
    __shared__ int part[64]; auto cluster = cg::this_cluster(); unsigned rank = cluster.block_rank(); int t = threadIdx.x;
    part[t] = x[blockIdx.x * 64 + t];
    for (unsigned half = 2; half; half /= 2) {
        cluster.sync();
        int other = rank < half ? cluster.map_shared_rank(part, rank + half)[t] : 0;
        cluster.sync();
        if (rank < half) part[t] += other;
    }
    if (rank == 0) y[blockIdx.x / 4 * 64 + t] = part[t];
}
// Asynchronous stores send words around a cluster and complete a phase of the receiver's mbarrier in each round.
KERNEL __cluster_dims__(4, 1, 1) pushed_around(const int* x, int* y, int rounds) {
    __shared__ alignas(16) int box[2][32]; __shared__ Word bar[2]; auto cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(); int t = threadIdx.x, v = x[blockIdx.x * 32 + t];
    if (t < 2) ptx::mbarrier_init(&bar[t], 1);
    cluster.sync();
    for (int k = 0; k < rounds; ++k) {
        int b = k & 1;
        if (t == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar[b], 128);
        ptx::st_async(cluster.map_shared_rank(&box[b][t], (rank + 1) % 4), v, cluster.map_shared_rank(&bar[b], (rank + 1) % 4));
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar[b], k / 2 & 1)) {}
        v = box[b][t] + 1;
        cluster.sync();
    }
    y[blockIdx.x * 32 + t] = v;
}
// Remote arrivals: every block waits until both blocks have added to its words.
KERNEL __cluster_dims__(2, 1, 1) remote_sums(const int* x, int* y) {
    __shared__ int sum[32]; __shared__ Word bar; auto cluster = cg::this_cluster(); int t = threadIdx.x;
    sum[t] = 0;
    if (t == 0) ptx::mbarrier_init(&bar, 64);
    cluster.sync();
    for (unsigned r = 0; r < 2; ++r) {
        atomicAdd(cluster.map_shared_rank(&sum[t], r), x[blockIdx.x * 32 + t]);
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, cluster.map_shared_rank(&bar, r));
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {}
    y[blockIdx.x * 32 + t] = sum[t];
    cluster.sync();
}
// The header's pipeline of four stages, all threads both producers and consumers.
KERNEL four_stages(const int4* x, int4* y, int n) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 4> state; __shared__ int4 stage[4][64];
    auto block = cg::this_thread_block(); auto pipe = cuda::make_pipeline(block, &state); int t = threadIdx.x, sent = 0;
    for (int k = 0; k < n; ++k) {
        for (; sent < n && sent < k + 4; ++sent) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[sent % 4], x + sent * 64, cuda::aligned_size_t<16>(1024), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait(); int4 v = stage[k % 4][63 - t]; v.w += k; y[k * 64 + t] = v; pipe.consumer_release();
    }
}
// Separate arrival and wait, and threads that drop out of the barrier.
KERNEL dropped(const int* x, int* y, int n) {
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier bar; __shared__ int box[64]; int t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    if (t >= 64) { for (int k = 0; k < t / 32; ++k) bar.arrive_and_wait(); bar.arrive_and_drop(); return; }
    int v = x[t];
    for (int k = 0; k < n; ++k) {
        box[t] = v; auto token = bar.arrive(); v *= 3; bar.wait(std::move(token));
        v += box[(t + 1) % 64]; bar.arrive_and_wait();
    }
    y[t] = v;
}
// A latch that all warps count down, and a semaphore that admits one warp at a time.
KERNEL one_by_one(const int* x, int* y) {
    using Latch = cuda::latch<cuda::thread_scope_block>; using Turn = cuda::binary_semaphore<cuda::thread_scope_block>;
    __shared__ alignas(16) char room[2][64]; __shared__ int sum; int t = threadIdx.x;
    auto start = reinterpret_cast<Latch*>(room[0]); auto turn = reinterpret_cast<Turn*>(room[1]);
    if (t == 0) { new (start) Latch(4); new (turn) Turn(1); sum = 0; }
    __syncthreads();
    if (t % 32 == 0) { start->arrive_and_wait(); turn->acquire(); sum += x[t / 32]; turn->release(); }
    __syncthreads();
    y[t] = sum + t;
}
// One copy for two blocks: each loads a half and multicasts it.
KERNEL __cluster_dims__(2, 1, 1) shared_halves(const int* x, int* y) {
    __shared__ alignas(128) int tile[128]; __shared__ Word bar; auto cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(); int t = threadIdx.x;
    if (t == 0) { ptx::mbarrier_init(&bar, 1); ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster); }
    cluster.sync();
    if (t == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 512);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile + rank * 64, x + rank * 64, 256, &bar, (uint16_t)3);
    }
    wait(&bar, 0);
    y[blockIdx.x * 128 + t] = tile[127 - t] + (int)rank;
    cluster.sync();
}
// A bulk copy from the shared memory of one block to that of another.
KERNEL __cluster_dims__(2, 1, 1) block_to_block(const int* x, int* y) {
    __shared__ alignas(16) int mine[64], theirs[64]; __shared__ Word bar; auto cluster = cg::this_cluster();
    unsigned peer = cluster.block_rank() ^ 1; int t = threadIdx.x;
    mine[t] = x[blockIdx.x * 64 + t] + 1;
    if (t == 0) { ptx::mbarrier_init(&bar, 1); ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster); }
    ptx::fence_proxy_async(ptx::space_shared); cluster.sync();
    if (t == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar, 256);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(theirs, peer), mine, 256, cluster.map_shared_rank(&bar, peer));
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0)) {}
    y[blockIdx.x * 64 + t] = theirs[63 - t];
    cluster.sync();
}
