// needs sm_80
#include <mma.h>
using namespace nvcuda;
template <int M, int N, int K, class T, class C, class S>
__global__ void tile(const S* a, const S* b, C* c) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc; wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::load_matrix_sync(fa, a, K); wmma::load_matrix_sync(fb, b, K); wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, N, wmma::mem_col_major);
}
template __global__ void tile<16, 16, 16, __nv_bfloat16, float, __nv_bfloat16>(
    const __nv_bfloat16*, const __nv_bfloat16*, float*);
template __global__ void tile<16, 16, 8, wmma::precision::tf32, float, float>(
    const float*, const float*, float*);
template __global__ void tile<8, 8, 4, double, double, double>(const double*, const double*, double*);
template __global__ void tile<16, 16, 16, signed char, int, signed char>(
    const signed char*, const signed char*, int*);
