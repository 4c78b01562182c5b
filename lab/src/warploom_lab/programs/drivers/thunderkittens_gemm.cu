// ThunderKittens' bf16 GEMM for H100.

#define main unused_main
#include "bf16_h100_gemm.cu"
#undef main

#include "host.h"

int main() {
    using matmul = matmul_template<2, 4, 8>;
    constexpr int M = 256, N = 512, K = 384;
    const Values a = normal<bf16>(M * K, 1), b = normal<bf16>(K * N, 2);
    bf16* result = zeros<bf16>(M * N);
    const auto kernel = prototype::lcf::kernel<matmul>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kittens::MAX_SHARED_MEMORY - 1024),
          "cudaFuncSetAttribute");
    inner_run<matmul>(upload<bf16>(a), upload<bf16>(b), result, M, N, K, 2,
                      kittens::prototype::detail::NUM_THREADS_v<matmul>);
    return verdict(agrees("result", result, product(a.data(), b.data(), M, N, K, false), kBf16Error));
}
