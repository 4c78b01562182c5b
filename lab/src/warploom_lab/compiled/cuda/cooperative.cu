// Cooperating threads: warps, groups, shared memory, atomics, barriers, pipelines, clusters.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void
#define ID (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL shuffles(const int* x, int* y, int n) {
    int i = ID; int v = i < n ? x[i] : 0;
    int r = __shfl_sync(~0u, v, (threadIdx.x * 7) & 31) + 3 * __shfl_up_sync(~0u, v, 5) + 5 * __shfl_down_sync(~0u, v, 3, 16) + 7 * __shfl_xor_sync(~0u, v, 9);
    r += 11 * __shfl_sync(~0u, v, threadIdx.x + 3, 8);
    long long w = (long long)v * 0x100000001ll; w = __shfl_xor_sync(~0u, w, 1); r ^= (int)(w >> 32);
    double d = __shfl_up_sync(~0u, (double)v, 2); r += (int)d;
    if (i < n) y[i] = r;
}
KERNEL votes(const int* x, unsigned* y) {
    int t = threadIdx.x, v = x[t];
    unsigned* r = y + 8 * t;
    r[0] = __ballot_sync(~0u, v & 1); r[1] = __all_sync(~0u, v > -1000); r[2] = __any_sync(~0u, v == 3);
    r[3] = __match_any_sync(~0u, v & 7); int p; r[4] = __match_all_sync(~0u, v & 1024, &p); r[5] = p;
    r[6] = 0; r[7] = 0;
    if (v & 1) { unsigned m = __activemask(); r[6] = __ballot_sync(m, v & 2); r[7] = __reduce_add_sync(m, v) ^ __reduce_max_sync(m, v); }
    else { r[6] = __reduce_xor_sync(__activemask(), (unsigned)v); r[7] = __reduce_min_sync(__activemask(), (unsigned)v); }
}
KERNEL block_sum(const float* x, float* y, int n) {
    __shared__ float part[32];
    float s = 0;
    for (int i = ID; i < n; i += gridDim.x * blockDim.x) s += x[i];
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : 0;
        for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
        if (threadIdx.x == 0) atomicAdd(y, s);
    }
}
KERNEL last_block_done(const float* x, float* part, unsigned* count, float* y, int n) {
    __shared__ float s[128]; __shared__ bool last;
    s[threadIdx.x] = ID < n ? x[ID] : 0; __syncthreads();
    for (int o = 64; o; o >>= 1) { if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o]; __syncthreads(); }
    if (threadIdx.x == 0) { part[blockIdx.x] = s[0]; __threadfence(); last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1; __threadfence(); }
    __syncthreads();
    if (last && threadIdx.x == 0) { float t = 0; for (int b = 0; b < gridDim.x; ++b) t += ((volatile float*)part)[b]; *y = t; }
}
KERNEL spin_lock(int* mutex, int* y, int rounds) {
    for (int k = 0; k < rounds; ++k) {
        bool done = false;
        while (!done) {
            if (atomicCAS(mutex, 0, 1) == 0) { __threadfence(); int v = *(volatile int*)y; *(volatile int*)y = v + 1; __threadfence(); atomicExch(mutex, 0); done = true; }
        }
    }
}
KERNEL global_atomics(int* i, unsigned long long* l, float* f, double* d) {
    int t = ID;
    atomicAdd(i, t); atomicSub(i + 1, t); atomicMin(i + 2, t - 50); atomicMax(i + 3, t); atomicAnd(i + 4, ~(1 << (t & 15)));
    atomicOr(i + 5, 1 << (t & 31)); atomicXor(i + 6, t * 77); atomicInc((unsigned*)i + 7, 9u); atomicDec((unsigned*)i + 8, 6u);
    atomicAdd_block(i + 13 + blockIdx.x, 1); atomicAdd_system(i + 10, 2); atomicCAS(i + 11, 0, 5); atomicMin((unsigned*)i + 12, 100u - t % 60);
    atomicAdd(l, 1ull << 33); atomicMax(l + 1, (unsigned long long)t << 40); atomicMin((long long*)l + 2, (long long)-t); atomicXor(l + 3, 0x100000001ull * t);
    atomicAdd(f, 1.5f); atomicAdd(d, 0.25); atomicExch(f + 1, 3.0f); atomicOr(l + 4, 1ull << (t & 63));
}
KERNEL half_atomics(__half* h, __half2* h2, __nv_bfloat16* b, float4* v) {
    atomicAdd(h, __float2half(0.5f)); atomicAdd(h2, __floats2half2_rn(1.0f, -0.25f)); atomicAdd(b, __float2bfloat16(1.0f));
#if __CUDA_ARCH__ >= 900
    atomicAdd(v, make_float4(1, 2, 3, 4));
#else
    atomicAdd(&v->x, 1.0f); atomicAdd(&v->y, 2.0f); atomicAdd(&v->z, 3.0f); atomicAdd(&v->w, 4.0f);
#endif
}
KERNEL shared_histogram(const unsigned char* x, unsigned* y, int n) {
    __shared__ unsigned h[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) h[k] = 0;
    __syncthreads();
    for (int i = ID; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[x[i]], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) if (h[k]) atomicAdd(&y[k], h[k]);
}
KERNEL dynamic_transpose(const float* x, float* y, int rows, int columns) {
    extern __shared__ float tile[];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += blockDim.y) if (r + k < rows && c < columns) tile[(threadIdx.y + k) * 33 + threadIdx.x] = x[(r + k) * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x; r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += blockDim.y) if (r + k < columns && c < rows) y[(r + k) * rows + c] = tile[threadIdx.x * 33 + threadIdx.y + k];
}
KERNEL tiles(const int* x, int* y) {
    auto block = cg::this_thread_block(); auto warp = cg::tiled_partition<32>(block); auto tile = cg::tiled_partition<8>(warp);
    int t = block.thread_rank(), v = x[t];
    int* r = y + 8 * t;
    r[0] = cg::reduce(tile, v, cg::plus<int>()); r[1] = cg::inclusive_scan(warp, v); r[2] = cg::exclusive_scan(tile, v, cg::plus<int>());
    r[3] = tile.shfl_xor(v, 3); r[4] = tile.any(v > 90); r[5] = tile.meta_group_rank(); r[6] = cg::reduce(warp, v, cg::greater<int>());
    block.sync(); r[7] = warp.match_any(v & 3);
}
KERNEL coalesced(const int* x, int* y, int* counter) {
    int t = threadIdx.x;
    y[t] = -1;
    if (x[t] % 3 == 0) {
        auto g = cg::coalesced_threads();
        int base = 0; if (g.thread_rank() == 0) base = atomicAdd(counter, (int)g.size());
        base = g.shfl(base, 0); y[t] = g.size() * 1000 + g.thread_rank() + base * 0; y[t] += cg::reduce(g, 1, cg::plus<int>()) * 100000;
        g.sync();
    } else {
        auto g = cg::labeled_partition(cg::coalesced_threads(), x[t] & 3);
        y[t] = g.size() + 100 * cg::reduce(g, t, cg::less<int>());
    }
}
KERNEL barriers(const float* x, float* y, int n) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ float stage[256]; __shared__ Barrier bar; auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    float s = 0;
    for (int k = 0; k < n; ++k) {
        cuda::memcpy_async(block, stage, x + k * 256, sizeof(float) * 256, bar); bar.arrive_and_wait();
        s += stage[255 - threadIdx.x]; bar.arrive_and_wait();
    }
    y[threadIdx.x] = s;
}
KERNEL pipelines(const float* x, float* y, int n) {
    __shared__ float stage[2][128]; auto pipe = cuda::make_pipeline(); int t = threadIdx.x; float s = 0;
    pipe.producer_acquire(); cuda::memcpy_async(&stage[0][t], x + t, sizeof(float), pipe); pipe.producer_commit();
    for (int k = 0; k < n; ++k) {
        if (k + 1 < n) { pipe.producer_acquire(); cuda::memcpy_async(&stage[(k + 1) & 1][t], x + (k + 1) * 128 + t, sizeof(float), pipe); pipe.producer_commit(); cuda::pipeline_consumer_wait_prior<1>(pipe); }
        else cuda::pipeline_consumer_wait_prior<0>(pipe);
        s = s * 0.5f + stage[k & 1][t]; pipe.consumer_release();
    }
    y[t] = s;
}
KERNEL shared_pipeline(const float* x, float* y, int n) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; __shared__ float stage[2][64];
    auto block = cg::this_thread_block(); auto role = threadIdx.x < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role); int t = threadIdx.x & 63; float s = 0;
    for (int k = 0; k < n; ++k) {
        if (role == cuda::pipeline_role::producer) { pipe.producer_acquire(); cuda::memcpy_async(&stage[k & 1][t], x + k * 64 + t, cuda::aligned_size_t<4>(4), pipe); pipe.producer_commit(); }
        else { pipe.consumer_wait(); s = s * 0.5f + stage[k & 1][63 - t]; pipe.consumer_release(); }
    }
    if (role == cuda::pipeline_role::consumer) y[t] = s;
}
KERNEL group_copy(const int4* x, int4* y) {
    __shared__ int4 stage[64]; auto block = cg::this_thread_block();
    cg::memcpy_async(block, stage, x + blockIdx.x * 64, sizeof(int4) * 64); cg::wait(block);
    int4 v = stage[63 - threadIdx.x % 64]; v.x += 1; y[blockIdx.x * 64 + threadIdx.x % 64] = v;
}
KERNEL scoped_atomics(int* y, int rounds) {
    cuda::atomic_ref<int, cuda::thread_scope_device> a(y[0]); cuda::atomic_ref<int, cuda::thread_scope_block> b(y[1 + blockIdx.x]);
    for (int k = 0; k < rounds; ++k) { a.fetch_add(1, cuda::memory_order_relaxed); b.fetch_max(threadIdx.x, cuda::memory_order_acq_rel); }
    int old = a.load(cuda::memory_order_acquire); while (!a.compare_exchange_weak(old, old + 2)) {}
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    cuda::atomic_ref<int, cuda::thread_scope_system>(y[3]).fetch_or(1 << (threadIdx.x & 7));
}
KERNEL flag_wait(volatile int* flag, int* data, int* y) {
    if (blockIdx.x == 0) { if (threadIdx.x == 0) { data[0] = 42; __threadfence(); flag[0] = 1; } y[threadIdx.x] = 1; }
    else { while (flag[0] == 0) __nanosleep(20); __threadfence(); y[blockIdx.x * blockDim.x + threadIdx.x] = data[0] + threadIdx.x; }
}
KERNEL named_barriers(int* y) {
    __shared__ int box[2]; int w = threadIdx.x >> 5;
    if (w == 0) { if (threadIdx.x == 0) box[0] = 11; asm volatile("barrier.sync 1, 64;"); asm volatile("barrier.sync 2, 64;"); y[threadIdx.x] = box[1]; }
    else if (w == 1) { asm volatile("barrier.sync 1, 64;"); if (threadIdx.x == 32) box[1] = box[0] * 2; asm volatile("barrier.arrive 2, 64;"); y[threadIdx.x] = box[0]; }
    else { __syncwarp(); y[threadIdx.x] = 5; }
    __syncthreads(); y[threadIdx.x] += __syncthreads_or(threadIdx.x == 70) + 2 * __syncthreads_and(threadIdx.x < 90);
}
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
KERNEL __cluster_dims__(4, 1, 1) cluster_histogram(const int* x, int* y, int n) {
#if __CUDA_ARCH__ >= 900
    __shared__ int h[16]; auto cluster = cg::this_cluster(); unsigned rank = cluster.block_rank();
    if (threadIdx.x < 16) h[threadIdx.x] = 0;
    cluster.sync();
    for (int i = ID; i < n; i += gridDim.x * blockDim.x) { int b = x[i] & 63; atomicAdd(cluster.map_shared_rank(h, b >> 4) + (b & 15), 1); }
    cluster.sync();
    if (threadIdx.x < 16) atomicAdd(&y[rank * 16 + threadIdx.x], h[threadIdx.x]);
#endif
}
KERNEL __cluster_dims__(2, 1, 1) cluster_exchange(const float* x, float* y) {
#if __CUDA_ARCH__ >= 900
    __shared__ float s[64]; auto cluster = cg::this_cluster(); int t = threadIdx.x;
    s[t] = x[ID]; cluster.barrier_arrive(); float mine = s[t]; cluster.barrier_wait();
    float other = *cluster.map_shared_rank(&s[63 - t], cluster.block_rank() ^ 1); cluster.sync();
    y[ID] = mine * 2 + other + cluster.num_blocks() + cluster.thread_rank();
#endif
}
KERNEL bulk_stream(const float* x, float* y, int n) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) float stage[2][256]; 
    using Barrier = cuda::barrier<cuda::thread_scope_block>; namespace cde = cuda::device::experimental;
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ Barrier bar[2]; int t = threadIdx.x;
    if (t == 0) { init(&bar[0], blockDim.x); init(&bar[1], blockDim.x); cde::fence_proxy_async_shared_cta(); }
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        int b = k & 1; Barrier::arrival_token token;
        if (t == 0) { cde::cp_async_bulk_global_to_shared(stage[b], x + k * 256, sizeof(stage[b]), bar[b]); token = cuda::device::barrier_arrive_tx(bar[b], 1, sizeof(stage[b])); }
        else token = bar[b].arrive();
        bar[b].wait(std::move(token));
        for (int i = t; i < 256; i += blockDim.x) stage[b][i] = stage[b][i] * 2 + 1;
        cde::fence_proxy_async_shared_cta(); __syncthreads();
        if (t == 0) { cde::cp_async_bulk_shared_to_global(y + k * 256, stage[b], sizeof(stage[b])); cde::cp_async_bulk_commit_group(); cde::cp_async_bulk_wait_group_read<0>(); }
        __syncthreads();
    }
#endif
}
#endif
