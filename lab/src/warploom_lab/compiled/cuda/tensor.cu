// Tensor cores: wmma, inline mma, ldmatrix, cp.async and wgmma.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
#define KERNEL extern "C" __global__ void

template <int M, int N, int K, class T, class C, class LA, class LB, class S>
__device__ void tile(const S* a, const S* b, C* c, int lda, int ldb, int k_extent, wmma::layout_t order) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa; wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc; wmma::fill_fragment(fc, C(0));
    bool ra = std::is_same_v<LA, wmma::row_major>, rb = std::is_same_v<LB, wmma::row_major>;
    for (int k = 0; k < k_extent; k += K) {
        wmma::load_matrix_sync(fa, a + (ra ? k : k * lda), lda); wmma::load_matrix_sync(fb, b + (rb ? k * ldb : k), ldb);
        if constexpr (std::is_same_v<T, wmma::precision::tf32>) {
            for (auto& x : fa.x) x = wmma::__float_to_tf32(x);
            for (auto& x : fb.x) x = wmma::__float_to_tf32(x);
        }
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (auto& x : fc.x) x = x + x;
    wmma::store_matrix_sync(c, fc, order == wmma::mem_row_major ? N : M, order);
}
using R = wmma::row_major; using L = wmma::col_major;
KERNEL wmma_f16(const half* a, const half* b, float* c) { tile<16, 16, 16, half, float, R, L>(a, b, c, 32, 32, 32, wmma::mem_row_major); }
KERNEL wmma_f16_f16(const half* a, const half* b, half* c) { tile<32, 8, 16, half, half, L, R>(a, b, c, 32, 8, 32, wmma::mem_row_major); }
KERNEL wmma_f16_8x32(const half* a, const half* b, float* c) { tile<8, 32, 16, half, float, R, R>(a, b, c, 32, 32, 32, wmma::mem_col_major); }
KERNEL wmma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) { tile<16, 16, 16, __nv_bfloat16, float, R, L>(a, b, c, 32, 32, 32, wmma::mem_row_major); }
KERNEL wmma_bf16_32x8(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) { tile<32, 8, 16, __nv_bfloat16, float, R, L>(a, b, c, 32, 32, 32, wmma::mem_col_major); }
KERNEL wmma_tf32(const float* a, const float* b, float* c) { tile<16, 16, 8, wmma::precision::tf32, float, R, L>(a, b, c, 32, 32, 32, wmma::mem_row_major); }
KERNEL wmma_f64(const double* a, const double* b, double* c) { tile<8, 8, 4, double, double, R, L>(a, b, c, 32, 32, 32, wmma::mem_row_major); }
KERNEL wmma_s8(const signed char* a, const signed char* b, int* c) { tile<16, 16, 16, signed char, int, R, L>(a, b, c, 32, 32, 32, wmma::mem_row_major); }
KERNEL wmma_u8(const unsigned char* a, const unsigned char* b, int* c) { tile<8, 32, 16, unsigned char, int, L, R>(a, b, c, 8, 32, 32, wmma::mem_row_major); }
KERNEL wmma_s4(const void* a, const void* b, int* c) {
    using namespace wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, R> fa; wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, L> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc; wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fa, a, 32); wmma::load_matrix_sync(fb, b, 32); wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
KERNEL wmma_b1(const void* a, const void* b, int* c) {
    using namespace wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, R> fa; wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, L> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc; wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fa, a, 128); wmma::load_matrix_sync(fb, b, 128); wmma::bmma_sync(fc, fa, fb, fc, bmmaBitOpXOR);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}

__device__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

// C[64,64] = A[64,K] B[K,64]: cp.async double buffering, ldmatrix with and without trans, m16n8k16, four warps.
KERNEL mma_pipeline(const half* a, const half* b, float* c, int k_extent) {
    __shared__ __align__(128) half sa[2][64][40], sb[2][32][72];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    float acc[8][4] = {};
    auto fetch = [&](int s, int k) {
        for (int i = t; i < 256; i += 128) { int r = i / 4, q = i % 4 * 8; asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared_address(&sa[s][r][q])), "l"(a + r * k_extent + k + q)); }
        for (int i = t; i < 256; i += 128) { int r = i / 8, q = i % 8 * 8; asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 16, 16;" :: "r"(shared_address(&sb[s][r][q])), "l"(b + (k + r) * 64 + q)); }
        asm volatile("cp.async.commit_group;");
    };
    fetch(0, 0);
    for (int k = 0, s = 0; k < k_extent; k += 32, s ^= 1) {
        if (k + 32 < k_extent) { fetch(s ^ 1, k + 32); asm volatile("cp.async.wait_group 1;"); } else asm volatile("cp.async.wait_all;");
        __syncthreads();
        for (int kk = 0; kk < 32; kk += 16) {
            uint32_t fa[4];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(shared_address(&sa[s][warp * 16 + lane % 16][kk + lane / 16 * 8])));
            for (int n = 0; n < 8; ++n) {
                uint32_t fb[2];
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(shared_address(&sb[s][kk + lane % 16][n * 8])));
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+f"(acc[n][0]), "+f"(acc[n][1]), "+f"(acc[n][2]), "+f"(acc[n][3]) : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
            }
        }
        __syncthreads();
    }
    for (int n = 0; n < 8; ++n) for (int e = 0; e < 4; ++e) c[(warp * 16 + lane / 4 + e / 2 * 8) * 64 + n * 8 + lane % 4 * 2 + e % 2] = acc[n][e];
}

KERNEL mma_s8_m16n8k32(const int* a, const int* b, int* c) {
    int lane = threadIdx.x, g = lane / 4, t = lane % 4, d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]), "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]));
    for (int e = 0; e < 4; ++e) c[(g + e / 2 * 8) * 8 + t * 2 + e % 2] = d[e];
}
KERNEL mma_f64_m8n8k4(const double* a, const double* b, double* c) {
    int lane = threadIdx.x, g = lane / 4, t = lane % 4; double d0 = 0, d1 = 0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d0), "+d"(d1) : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]));
    c[g * 8 + 2 * t] = d0; c[g * 8 + 2 * t + 1] = d1;
}
#if __CUDA_ARCH_FEAT_SM90_ALL
#define HOPPER 1
#else
#define HOPPER 0
#endif
// C[64,16] = A[64,64] B[16,64]^T in shared memory without swizzle.
KERNEL wgmma_plain(const half* a, const half* b, float* c) {
#if HOPPER
    __shared__ __align__(128) half sa[4][1024], sb[4][256];
    int t = threadIdx.x;
    for (int i = t; i < 64 * 64; i += 128) { int r = i / 64, k = i % 64; sa[k / 16][(r / 8 * 2 + k % 16 / 8) * 64 + r % 8 * 8 + k % 8] = a[i]; }
    for (int i = t; i < 16 * 64; i += 128) { int r = i / 64, k = i % 64; sb[k / 16][(r / 8 * 2 + k % 16 / 8) * 64 + r % 8 * 8 + k % 8] = b[i]; }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float d[8] = {};
    auto descriptor = [](const void* p) { uint64_t x = shared_address(p); return (x & 0x3ffff) >> 4 | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32; };
    for (float& v : d) asm volatile("" : "+f"(v)); // or the compiler sets them behind the fence
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; ++k)
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p, 1, 1, 0, 0; }"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "l"(descriptor(sa[k])), "l"(descriptor(sb[k])), "r"(k));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    int g = t % 32 / 4, q = t % 4;
    for (int e = 0; e < 8; ++e) c[(t / 32 * 16 + g + e / 2 % 2 * 8) * 16 + e / 4 * 8 + q * 2 + e % 2] = d[e];
#endif
}
