// Cooperating threads: groups, scans, sorts, queues, grid barriers, pipelines between warps, blocks of clusters.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/semaphore>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
#define KERNEL extern "C" __global__ void
#define ID (blockIdx.x * blockDim.x + threadIdx.x)
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// One atomic operation of each warp for all lanes with a positive element.
KERNEL warp_aggregated(const int* x, int* sums, int* count, int n) {
    int v = ID < n ? x[ID] : -1;
    if (v > 0) {
        auto g = cg::coalesced_threads(); int base = 0;
        int total = cg::reduce(g, v, cg::plus<int>());
        if (g.thread_rank() == 0) { base = atomicAdd(count, (int)g.size()); atomicAdd(sums, total); }
        base = g.shfl(base, 0) + g.thread_rank();
        atomicMax(sums + 1, base);
    }
}
KERNEL tile_scratch(const int* x, int* y) {
    __shared__ int box[8][16]; auto block = cg::this_thread_block(); auto tile = cg::tiled_partition<16>(block);
    int t = tile.thread_rank(), r = tile.meta_group_rank(); box[r][t] = x[ID]; tile.sync();
    int v = box[r][15 - t]; tile.sync(); box[r][t] = v + cg::reduce(tile, v, cg::greater<int>()); tile.sync();
    y[ID] = box[r][(t + 1) % 16];
}
KERNEL block_scan(const int* x, int* y) {
    __shared__ int s[2][128]; int t = threadIdx.x, b = 0; s[0][t] = x[ID]; __syncthreads();
    for (int o = 1; o < 128; o *= 2) { s[b ^ 1][t] = s[b][t] + (t >= o ? s[b][t - o] : 0); b ^= 1; __syncthreads(); }
    y[ID] = s[b][t];
}
KERNEL bitonic_sort(const int* x, int* y) {
    __shared__ int s[128]; int t = threadIdx.x; s[t] = x[ID]; s[t + 64] = x[ID + 64 * gridDim.x]; __syncthreads();
    for (int k = 2; k <= 128; k *= 2) for (int j = k / 2; j; j /= 2) {
        int i = 2 * j * (t / j) + t % j, l = i + j; bool up = !(i & k);
        if ((s[i] > s[l]) == up) { int v = s[i]; s[i] = s[l]; s[l] = v; }
        __syncthreads();
    }
    y[blockIdx.x * 128 + t] = s[t]; y[blockIdx.x * 128 + t + 64] = s[t + 64];
}
KERNEL warp_transpose(const int* x, int* y) {
    __shared__ int s[2][32][33]; int w = threadIdx.x / 32, l = threadIdx.x % 32; x += w * 1024; y += w * 1024;
    for (int round = 0; round < 2; ++round) {
        for (int k = 0; k < 32; ++k) s[w][k][l] = x[k * 32 + l] + round;
        __syncwarp();
        for (int k = 0; k < 32; ++k) y[k * 32 + l] = s[w][l][k];
        __syncwarp();
    }
}
// Two warps produce, two consume, through two buffers with a barrier for full and one for empty each.
KERNEL ready_filled(const int* x, int* y, int n) {
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier bar[4]; __shared__ int box[2][64]; int t = threadIdx.x & 63;
    if (threadIdx.x < 4) init(&bar[threadIdx.x], 128);
    __syncthreads();
    if (threadIdx.x < 64) for (int k = 0; k < n; ++k) { bar[k & 1].arrive_and_wait(); box[k & 1][t] = x[k * 64 + t]; (void)bar[2 + (k & 1)].arrive(); }
    else {
        (void)bar[0].arrive(); (void)bar[1].arrive();
        for (int k = 0; k < n; ++k) { bar[2 + (k & 1)].arrive_and_wait(); y[k * 64 + t] = box[k & 1][63 - t]; (void)bar[k & 1].arrive(); }
    }
}
KERNEL pipelined_tiles(const int* x, int* y, int n) {
    __shared__ int stage[3][64]; __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    auto block = cg::this_thread_block(); auto pipe = cuda::make_pipeline(block, &state); int t = threadIdx.x, sent = 0, sum = 0;
    for (int k = 0; k < n; ++k) {
        for (; sent < n && sent < k + 3; ++sent) { pipe.producer_acquire(); cuda::memcpy_async(block, stage[sent % 3], x + sent * 64, 256, pipe); pipe.producer_commit(); }
        pipe.consumer_wait(); sum = sum * 3 + stage[k % 3][63 - t]; pipe.consumer_release();
    }
    y[t] = sum;
}
KERNEL group_prefetch(const int* x, int* y, int n) {
    __shared__ int stage[2][64]; auto block = cg::this_thread_block(); int t = threadIdx.x;
    cg::memcpy_async(block, stage[0], x, 256);
    for (int k = 0; k < n; ++k) {
        if (k + 1 < n) { cg::memcpy_async(block, stage[(k + 1) & 1], x + (k + 1) * 64, 256); cg::wait_prior<1>(block); } else cg::wait(block);
        y[k * 64 + t] = stage[k & 1][63 - t] * 2; block.sync();
    }
}
KERNEL stencil(const int* x, int* y, int n) {
    __shared__ int s[10][34]; int c = threadIdx.x, r = threadIdx.y, gx = blockIdx.x * 32 + c, gy = blockIdx.y * 8 + r;
    for (int j = r; j < 10; j += 8) for (int i = c; i < 34; i += 32) {
        int u = blockIdx.x * 32 + i - 1, v = blockIdx.y * 8 + j - 1; s[j][i] = u >= 0 && u < n && v >= 0 && v < n ? x[v * n + u] : 0;
    }
    __syncthreads();
    if (gx < n && gy < n) y[gy * n + gx] = 4 * s[r + 1][c + 1] - s[r][c + 1] - s[r + 2][c + 1] - s[r + 1][c] - s[r + 1][c + 2];
}
// One thread of each block fetches the next tile until none is left.
KERNEL work_queue(const int* x, int* y, int* next, int tiles) {
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(next, 1);
        __syncthreads(); int mine = tile; __syncthreads();
        if (mine >= tiles) return;
        y[mine * 64 + threadIdx.x] = x[mine * 64 + threadIdx.x] * 2 + mine;
    }
}
// A scan over the grid: every block waits for the sum of the preceding blocks.
KERNEL chained_scan(const int* x, int* y, int* flag, int* sum) {
    __shared__ int before, s[64]; int t = threadIdx.x; s[t] = x[ID]; __syncthreads();
    if (t == 0) {
        int total = 0; for (int k = 0; k < 64; ++k) { int v = s[k]; s[k] = total; total += v; }
        before = 0;
        if (blockIdx.x) { cuda::atomic_ref<int, cuda::thread_scope_device> f(flag[blockIdx.x - 1]); while (f.load(cuda::memory_order_acquire) == 0) __nanosleep(20); before = sum[blockIdx.x - 1]; }
        sum[blockIdx.x] = before + total; cuda::atomic_ref<int, cuda::thread_scope_device>(flag[blockIdx.x]).store(1, cuda::memory_order_release);
    }
    __syncthreads(); y[ID] = before + s[t];
}
// All blocks of a grid synchronise twice at a counter.
KERNEL grid_meeting(const int* x, int* y, int* part, unsigned* count) {
    int t = threadIdx.x; part[ID] = x[ID] * 3; __syncthreads();
    for (unsigned round = 1; round <= 2; ++round) {
        if (t == 0) { cuda::atomic_ref<unsigned, cuda::thread_scope_device> c(*count); c.fetch_add(1, cuda::memory_order_acq_rel); while (c.load(cuda::memory_order_acquire) < round * gridDim.x) __nanosleep(20); }
        __syncthreads();
        int v = part[(ID + 64) % (gridDim.x * 64)];
        if (round == 1) { y[ID] = v; }
        else y[ID] += v + part[ID];
    }
}
KERNEL locked_sum(const int* x, int* y) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> mutex; __shared__ int sum, most;
    if (threadIdx.x == 0) { new (&mutex) cuda::atomic<int, cuda::thread_scope_block>(0); sum = 0; most = -100000; }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        int v = x[threadIdx.x / 32], free = 0;
        while (!mutex.compare_exchange_weak(free, 1, cuda::memory_order_acquire)) free = 0;
        sum += v; most = v > most ? v : most; mutex.store(0, cuda::memory_order_release);
    }
    __syncthreads(); y[threadIdx.x] = sum * 7 + most;
}
// A queue of four slots from one warp to another: heads and tails in shared memory.
KERNEL slot_queue(const int* x, int* y, int n) {
    __shared__ int slot[4][32]; __shared__ unsigned head, tail; int l = threadIdx.x % 32;
    if (threadIdx.x == 0) head = tail = 0;
    __syncthreads();
    cuda::atomic_ref<unsigned, cuda::thread_scope_block> in(head), out(tail);
    if (threadIdx.x < 32) for (unsigned k = 0; k < n; ++k) { while (k - out.load(cuda::memory_order_acquire) >= 4) {} slot[k % 4][l] = x[k * 32 + l]; __syncwarp(); if (l == 0) in.store(k + 1, cuda::memory_order_release); }
    else for (unsigned k = 0; k < n; ++k) { while (in.load(cuda::memory_order_acquire) <= k) {} y[k * 32 + l] = slot[k % 4][31 - l]; __syncwarp(); if (l == 0) out.store(k + 1, cuda::memory_order_release); }
}
KERNEL counted_turns(const int* x, int* y) {
    using Turn = cuda::counting_semaphore<cuda::thread_scope_block, 2>; __shared__ alignas(16) char room[64]; __shared__ int sum;
    auto turn = reinterpret_cast<Turn*>(room); if (threadIdx.x == 0) { new (turn) Turn(2); sum = 0; }
    __syncthreads();
    if (threadIdx.x % 32 == 0) { turn->acquire(); atomicAdd(&sum, x[threadIdx.x / 32]); turn->release(); }
    __syncthreads(); y[threadIdx.x] = sum;
}
KERNEL swapped_sums(const float* x, float* y, int n) {
    for (int i = ID; i < n; i += gridDim.x * blockDim.x) {
        int* word = (int*)(y + (i & 1)); int old = *word, seen;
        do { seen = old; old = atomicCAS(word, seen, __float_as_int(__int_as_float(seen) + x[i])); } while (old != seen);
    }
}
// Bulk copies bring tiles that are changed and stored at their source.
KERNEL bulk_round_trip(int* x, int n) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int tile[64]; __shared__ uint64_t bar; int t = threadIdx.x;
    if (t == 0) { ptx::mbarrier_init(&bar, 1); ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster); }
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        int* at = x + (blockIdx.x * n + k) * 64;
        if (t == 0) { ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 256); ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, at, 256, &bar); }
        while (!ptx::mbarrier_try_wait_parity(&bar, k & 1)) {}
        at[t] = tile[63 - t] + k; ptx::fence_proxy_async(ptx::space_shared); __syncthreads();
    }
#endif
}
// Bulk copies store partial rows, which the last block to arrive reads.
KERNEL bulk_handover(const int* x, int* part, int* y, unsigned* count) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int tile[64]; __shared__ bool last; int t = threadIdx.x;
    tile[t] = x[ID] * 2; ptx::fence_proxy_async(ptx::space_shared); __syncthreads();
    if (t == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, part + blockIdx.x * 64, tile, 256);
        ptx::cp_async_bulk_commit_group(); ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
        ptx::fence_proxy_async(ptx::space_global);
        last = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*count).fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) { int s = 0; for (int b = 0; b < gridDim.x; ++b) s += part[b * 64 + t]; y[t] = s; }
#endif
}
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
KERNEL __cluster_dims__(4, 1, 1) cluster_scan(const int* x, int* y) {
#if __CUDA_ARCH__ >= 900
    __shared__ int total, part[32]; auto cluster = cg::this_cluster(); auto warp = cg::tiled_partition<32>(cg::this_thread_block()); int t = threadIdx.x;
    int v = cg::inclusive_scan(warp, x[ID]); if (t == 31) total = v;
    cluster.sync(); int before = 0;
    for (unsigned r = 0; r < cluster.block_rank(); ++r) before += *cluster.map_shared_rank(&total, r);
    part[t] = v + before; cluster.sync(); y[ID] = part[31 - t];
#endif
}
KERNEL __cluster_dims__(2, 1, 1) cluster_transpose(const int* x, int* y) {
#if __CUDA_ARCH__ >= 900
    __shared__ int s[32][33]; auto cluster = cg::this_cluster(); unsigned rank = cluster.block_rank(); int c = threadIdx.x, r = threadIdx.y;
    for (int round = 0; round < 2; ++round) {
        for (int k = r; k < 32; k += 4) s[k][c] = x[(blockIdx.x * 32 + k) * 32 + c] + round;
        cluster.sync();
        auto far = cluster.map_shared_rank(&s[0][0], rank ^ 1);
        for (int k = r; k < 32; k += 4) y[(blockIdx.x * 32 + k) * 32 + c] = far[c * 33 + k];
        cluster.sync();
    }
#endif
}
// Consumers release a stage by arrivals at the mbarrier of the block that fills it.
KERNEL __cluster_dims__(2, 1, 1) cluster_stages(const int* x, int* y, int n) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int tile[2][64]; __shared__ uint64_t full[2], empty[2]; auto cluster = cg::this_cluster(); unsigned rank = cluster.block_rank(); int t = threadIdx.x;
    if (t == 0) { for (int s = 0; s < 2; ++s) { ptx::mbarrier_init(&full[s], 1); ptx::mbarrier_init(&empty[s], 128); } ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster); }
    cluster.sync();
    for (int k = 0; k < n; ++k) {
        int s = k & 1;
        if (t == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 256);
            if (rank == 0) {
                while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &empty[s], (k / 2 & 1) ^ 1)) {}
                ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[s], x + k * 64, 256, &full[s], (uint16_t)3);
            }
        }
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full[s], k / 2 & 1)) {}
        y[(blockIdx.x * n + k) * 64 + t] = tile[s][63 - t] + (int)rank;
        ptx::fence_proxy_async(ptx::space_shared);
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, cluster.map_shared_rank(&empty[s], 0));
    }
    cluster.sync();
#endif
}
#endif
