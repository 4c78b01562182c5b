// needs sm_75
#include <mma.h>
using namespace nvcuda;
template <int M, int N, int K, class A, class B, class C>
__global__ void tile(const half* a, const half* b, C* c) {
    wmma::fragment<wmma::matrix_a, M, N, K, half, A> fa; wmma::fragment<wmma::matrix_b, M, N, K, half, B> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc; wmma::fill_fragment(fc, C(0));
    for (int k = 0; k < 4; ++k) {
        wmma::load_matrix_sync(fa, a + k * K, 64); wmma::load_matrix_sync(fb, b + k * K, 64);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
#define MAKE(M, N, K, A, B, C) \
    template __global__ void tile<M, N, K, wmma::A, wmma::B, C>(const half*, const half*, C*);
MAKE(16, 16, 16, row_major, col_major, float) MAKE(32, 8, 16, col_major, row_major, float)
MAKE(8, 32, 16, row_major, row_major, half) MAKE(16, 16, 16, col_major, col_major, half)
