// The single-precision GEMM kernels of SGEMM_CUDA, with the tile sizes and grids of the repository.

#include <cuda_runtime.h>

#include <cassert>

#define CEIL_DIV(M, N) (((M) + (N) - 1) / (N))
#include "src/kernels.cuh"

#include "host.h"

constexpr int M = 256, N = 256, K = 128;

int main() {
    const Values a = normal<float>(M * K, 1), b = normal<float>(K * N, 2);
    const Values expected = product(a.data(), b.data(), M, N, K, false);
    float *A = upload<float>(a), *B = upload<float>(b), *C = zeros<float>(M * N);
    bool right = true;
    const auto compare = [&](const char* name) {
        right = agrees(name, C, expected, 1e-5) && right;
        check(cudaMemset(C, 0, M * N * sizeof(float)), "cudaMemset");
    };
    sgemm_naive<<<dim3(M / 32, N / 32), dim3(32, 32)>>>(M, N, K, 1, A, B, 0, C);
    compare("naive");
    sgemm_global_mem_coalesce<32><<<dim3(M / 32, N / 32), 32 * 32>>>(M, N, K, 1, A, B, 0, C);
    compare("coalesced");
    sgemm_shared_mem_block<32><<<dim3(M / 32, N / 32), 32 * 32>>>(M, N, K, 1, A, B, 0, C);
    compare("shared memory");
    sgemm1DBlocktiling<64, 64, 8, 8><<<dim3(N / 64, M / 64), 64 * 64 / 8>>>(M, N, K, 1, A, B, 0, C);
    compare("1D tiles");
    sgemm2DBlocktiling<128, 128, 8, 8, 8><<<dim3(N / 128, M / 128), 256>>>(M, N, K, 1, A, B, 0, C);
    compare("2D tiles");
    sgemmVectorize<128, 128, 8, 8, 8><<<dim3(N / 128, M / 128), 256>>>(M, N, K, 1, A, B, 0, C);
    compare("vectors");
    sgemmResolveBankConflicts<128, 128, 8, 8, 8><<<dim3(N / 128, M / 128), 256>>>(M, N, K, 1, A, B, 0, C);
    compare("bank conflicts");
    sgemmResolveBankExtraCol<128, 128, 8, 8, 8><<<dim3(N / 128, M / 128), 256>>>(M, N, K, 1, A, B, 0, C);
    compare("extra column");
    sgemmWarptiling<128, 128, 16, 64, 64, 4, 8, 4, 128><<<dim3(N / 128, M / 128), 128>>>(M, N, K, 1, A, B, 0, C);
    compare("warp tiles");
    return verdict(right);
}
