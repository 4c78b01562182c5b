// Blackwell features: tensor memory, tcgen05 in one CTA and in pairs, block scaling, cancelled launches.
#include <cuda.h>
#include <cuda/ptx>
namespace ptx = cuda::ptx;
#define KERNEL extern "C" __global__ void
using Word = uint64_t;
constexpr int ROW = 128;  // bytes of a row of a stage, which the 128-byte swizzle spans

__device__ inline void wait(Word* bar, unsigned phase) { while (!ptx::mbarrier_try_wait_parity(bar, phase)) {} }
__device__ inline uint32_t at(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ inline void after_sync() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
__device__ inline void before_sync() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
// An instruction of one CTA or of a pair.
#define IN_GROUP(G, before, after, ...) do { \
    if (G == 1) asm volatile(before ".cta_group::1" after __VA_ARGS__); else asm volatile(before ".cta_group::2" after __VA_ARGS__); \
} while (0)

// The columns that a kernel allocates are freed at its end.
template <int G> __device__ inline uint32_t allocate(uint32_t* slot, int columns) {
    if (threadIdx.x < 32) {
        IN_GROUP(G, "tcgen05.alloc", ".sync.aligned.shared::cta.b32 [%0], %1;", :: "r"(at(slot)), "r"(columns) : "memory");
        IN_GROUP(G, "tcgen05.relinquish_alloc_permit", ".sync.aligned;");
    }
    before_sync(); __syncthreads(); after_sync();
    return *(volatile uint32_t*)slot;
}
template <int G> __device__ inline void release(uint32_t base, int columns) {
    before_sync(); __syncthreads();
    if (threadIdx.x < 32) IN_GROUP(G, "tcgen05.dealloc", ".sync.aligned.b32 %0, %1;", :: "r"(base), "r"(columns));
}
// Descriptor of a tile whose rows along K have 128 bytes, with the 128-byte swizzle.
__device__ inline Word tile(const void* p) { return Word(at(p) >> 4) | Word(1) << 16 | Word(64) << 32 | Word(1) << 46 | Word(2) << 61; }
// Descriptor of packed scale factors: 32 rows of 16 bytes, without a swizzle.
__device__ inline Word plain(const void* p) { return Word(at(p) >> 4) | Word(8) << 16 | Word(8) << 32 | Word(1) << 46; }

enum { F16, TF32, F8, I8 };
template <int KIND, int G> __device__ inline void multiply(uint32_t d, Word a, Word b, uint32_t idesc, bool add) {
#define MULTIPLY(kind) IN_GROUP(G, "{.reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma", ".kind::" kind " [%0], %1, %2, %3, p;}", \
        :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"((int)add) : "memory")
    if (KIND == F16) MULTIPLY("f16");
    if (KIND == TF32) MULTIPLY("tf32");
    if (KIND == F8) MULTIPLY("f8f6f4");
    if (KIND == I8) MULTIPLY("i8");
}
__device__ inline void commit(Word* bar) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(at(bar)) : "memory");
}
// Every warp stores its 32 rows, 8 columns at a time.
__device__ inline void store(uint32_t base, int columns, float* c, int stride) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32; float* row = c + (size_t)(warp * 32 + lane) * stride;
    for (int n = 0; n < columns; n += 8) {
        uint32_t v[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
            : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7])
            : "r"(base + (warp * 32 << 16) + n));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        for (int i = 0; i < 8; ++i) row[n + i] = __uint_as_float(v[i]);
    }
}
__device__ inline void load(void* to, const CUtensorMap* map, int x, int y, Word* bar) {
    int place[2] = {x, y};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, place, bar);
}
// Initialise the mbarriers of S stages and the one of the result.
template <int S> __device__ inline void initialise(Word* full, Word* empty, Word* done) {
    if (threadIdx.x) return;
    for (int s = 0; s < S; ++s) { ptx::mbarrier_init(&full[s], 1); ptx::mbarrier_init(&empty[s], 1); }
    ptx::mbarrier_init(done, 1); ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
}
// Store a tile after the multiplications.
template <int N> __device__ inline void finish(Word* done, uint32_t base, float* c, int columns) {
    __syncthreads(); wait(done, 0); after_sync();
    store(base, N, c + (size_t)blockIdx.x * 128 * columns + blockIdx.y * N, columns);
}

// C = A B^T in tiles of 128 x N, with S stages of 128 bytes along K. Warp 0 loads and multiplies.
template <int KIND, int N, int S> __device__ inline void dense(
    const CUtensorMap* ma, const CUtensorMap* mb, float* c, int columns, int steps, int elements, uint32_t idesc
) {
    __shared__ alignas(1024) char a[S][128 * ROW]; __shared__ alignas(1024) char b[S][N * ROW];
    __shared__ Word full[S], empty[S], done; __shared__ uint32_t slot;
    constexpr int COLUMNS = N < 32 ? 32 : N; int t = threadIdx.x;
    initialise<S>(full, empty, &done);
    uint32_t base = allocate<1>(&slot, COLUMNS);
    if (t == 0) {
        for (int k = 0; k < steps + S - 1; ++k) {
            if (k < steps) {
                int s = k % S; wait(&empty[s], k / S + 1 & 1);
                ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], (128 + N) * ROW);
                load(a[s], ma, k * elements, blockIdx.x * 128, &full[s]); load(b[s], mb, k * elements, blockIdx.y * N, &full[s]);
            }
            int now = k - (S - 1); if (now < 0) continue;
            int s = now % S; wait(&full[s], now / S & 1);
            after_sync();
            for (int i = 0; i < 4; ++i) multiply<KIND, 1>(base, tile(a[s]) + 2 * i, tile(b[s]) + 2 * i, idesc, now + i > 0);
            commit(&empty[s]);
        }
        commit(&done);
    }
    finish<N>(&done, base, c, columns);
    release<1>(base, COLUMNS);
}
#define PRODUCT(name, dimensions, function) KERNEL dimensions name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c, \
    int columns, int steps, int elements, uint32_t idesc) { function(&a, &b, c, columns, steps, elements, idesc); }
#define DENSE(name, ...) PRODUCT(name, , (dense<__VA_ARGS__>))
DENSE(dense_f16, F16, 64, 3)
DENSE(dense_bf16, F16, 32, 2)
DENSE(dense_tf32, TF32, 64, 2)
DENSE(dense_e4m3, F8, 64, 3)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 1000  // sm_103 has no multiplications of integers
DENSE(dense_s8, I8, 64, 2)
#endif

// Pairs of CTAs: each loads 128 rows of A and half of the rows of B, and the first multiplies for both.
template <int KIND, int N> __device__ inline void paired(
    const CUtensorMap* ma, const CUtensorMap* mb, float* c, int columns, int steps, int elements, uint32_t idesc
) {
    __shared__ alignas(1024) char a[2][128 * ROW]; __shared__ alignas(1024) char b[2][N / 2 * ROW];
    __shared__ Word full[2], empty[2], done; __shared__ uint32_t slot;
    int t = threadIdx.x; unsigned rank; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    initialise<2>(full, empty, &done);
    ptx::barrier_cluster_arrive(); ptx::barrier_cluster_wait();  // both CTAs have started, and see the mbarriers
    uint32_t base = allocate<2>(&slot, N);
    if (t == 0) {
        for (int k = 0; k < steps; ++k) {
            int s = k % 2; wait(&empty[s], k / 2 + 1 & 1);
            uint32_t leader = at(&full[s]) & 0xFEFFFFFF;
            if (rank == 0) ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], 2 * (128 + N / 2) * ROW);
            #define LOAD(to, map, y) asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%2, %3}], [%4];" \
                :: "r"(at(to)), "l"(map), "r"(k * elements), "r"(y), "r"(leader) : "memory")
            LOAD(a[s], ma, (int)blockIdx.x * 128); LOAD(b[s], mb, (int)(blockIdx.y * N + rank * N / 2));
            if (rank == 0) {
                wait(&full[s], k / 2 & 1);
                after_sync();
                for (int i = 0; i < 4; ++i) multiply<KIND, 2>(base, tile(a[s]) + 2 * i, tile(b[s]) + 2 * i, idesc, k + i > 0);
                asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;"
                    :: "r"(at(k + 1 < steps ? &empty[s] : &done)), "h"((uint16_t)3) : "memory");
            }
        }
    }
    finish<N>(&done, base, c, columns);
    ptx::barrier_cluster_arrive(); ptx::barrier_cluster_wait();
    release<2>(base, N);
}
#define PAIRED(name, ...) PRODUCT(name, __cluster_dims__(2, 1, 1), (paired<__VA_ARGS__>))
PAIRED(paired_f16, F16, 64)
PAIRED(paired_e4m3, F8, 128)

// Block scaling: the scale factors are in the order in which tensor memory has them, 512 bytes for 128 rows and 4 columns.
template <bool NV> __device__ inline void scaled(
    const CUtensorMap* ma, const CUtensorMap* mb, const uint4* sa, const uint4* sb, float* c, int steps, uint32_t idesc
) {
    constexpr int PARTS = NV ? 4 : 1;  // columns of scale factors of a stage, in groups of 4
    __shared__ alignas(1024) char a[128 * ROW]; __shared__ alignas(1024) char b[128 * ROW];
    __shared__ alignas(128) uint4 fa[PARTS][32]; __shared__ alignas(128) uint4 fb[PARTS][32];
    __shared__ Word full, done; __shared__ uint32_t slot; int t = threadIdx.x;
    if (t == 0) { ptx::mbarrier_init(&full, 1); ptx::mbarrier_init(&done, 1); ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster); }
    uint32_t base = allocate<1>(&slot, 256), ta = base + 128, tb = base + 160;
    for (int k = 0; k < steps; ++k) {
        if (t < 32) for (int p = 0; p < PARTS; ++p) { fa[p][t] = sa[(k * PARTS + p) * 32 + t]; fb[p][t] = sb[(k * PARTS + p) * 32 + t]; }
        ptx::fence_proxy_async(ptx::space_shared); __syncthreads();
        if (t == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, 2 * 128 * ROW);
            load(a, ma, k * (NV ? 256 : 128) / (NV ? 2 : 1), 0, &full); load(b, mb, k * (NV ? 256 : 128) / (NV ? 2 : 1), 0, &full);
            for (int p = 0; p < PARTS; ++p) {
                asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" :: "r"(ta + 4 * p), "l"(plain(fa[p])) : "memory");
                asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" :: "r"(tb + 4 * p), "l"(plain(fb[p])) : "memory");
            }
            wait(&full, k & 1);
            for (int i = 0; i < 4; ++i) {
                #define SCALED(kind, x, y, word) asm volatile("{.reg .pred p; setp.ne.u32 p, %6, 0; tcgen05.mma.cta_group::1.kind::" kind " [%0], %1, %2, %3, [%4], [%5], p;}" \
                    :: "r"(base), "l"(tile(a) + 2 * i), "l"(tile(b) + 2 * i), "r"(word), "r"(x), "r"(y), "r"((int)(k + i > 0)) : "memory")
                if (NV) SCALED("mxf4nvf4.block_scale.scale_vec::4X", ta + 4 * i, tb + 4 * i, idesc);
                else SCALED("mxf8f6f4.block_scale.scale_vec::1X", ta, tb, idesc | i << 4 | i << 29);
            }
            commit(&done);
        }
        wait(&done, k & 1);
        after_sync(); __syncthreads();
    }
    store(base, 128, c, 128);
    release<1>(base, 256);
}
#define SCALED_KERNEL(name, nv) KERNEL name(const __grid_constant__ CUtensorMap a, const uint4* sa, const __grid_constant__ CUtensorMap b, \
    const uint4* sb, float* c, int steps, uint32_t idesc) { scaled<nv>(&a, &b, sa, sb, c, steps, idesc); }
SCALED_KERNEL(scaled_mxf8, false)
SCALED_KERNEL(scaled_nvf4, true)

// A block computes the rows of the blocks that it cancels before they start.
KERNEL cancelled_rows(const int* x, int* y) {
    __shared__ alignas(16) uint4 answer; __shared__ Word bar; int t = threadIdx.x, row = blockIdx.x;
    if (t == 0) { ptx::mbarrier_init(&bar, 1); ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster); }
    __syncthreads();
    for (int k = 0;; ++k) {
        if (t == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, 16);
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" :: "r"(at(&answer)), "r"(at(&bar)) : "memory");
        }
        y[row * 64 + t] = x[row * 64 + t] * 3 + row;
        wait(&bar, k & 1);
        int found; int next;
        asm volatile("{.reg .b128 q; .reg .pred p; ld.shared.b128 q, [%2]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q; selp.s32 %0, 1, 0, p;"
            " mov.s32 %1, 0; @p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, q;}" : "=r"(found), "=r"(next) : "r"(at(&answer)) : "memory");
        ptx::fence_proxy_async(ptx::space_shared); __syncthreads();
        if (!found) break;
        row = next;
    }
}

// Registers reach tensor memory in one shape and leave it in another.
KERNEL reshaped(const int* x, int* y) {
    __shared__ uint32_t slot; int t = threadIdx.x, warp = t / 32; uint32_t base = allocate<1>(&slot, 32) + (warp * 32 << 16), v[8];
    for (int i = 0; i < 8; ++i) v[i] = x[t * 8 + i];
    asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7};"
        :: "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "r"(v[4]), "r"(v[5]), "r"(v[6]), "r"(v[7]), "r"(base) : "memory");
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    for (int half = 0; half < 2; ++half) {
        asm volatile("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%0, %1, %2, %3}, [%4];"
            : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(base + (16 * half << 16)) : "memory");
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        // Lane l has the columns 2 (l % 4) and 2 (l % 4) + 1 of the rows l / 4 and l / 4 + 8.
        int lane = t % 32, row = warp * 32 + half * 16 + lane / 4, column = 2 * (lane % 4);
        y[row * 8 + column] = v[0]; y[row * 8 + column + 1] = v[1]; y[(row + 8) * 8 + column] = v[2]; y[(row + 8) * 8 + column + 1] = v[3];
    }
    release<1>(base - (warp * 32 << 16), 32);
}
