// Launch of ThunderKittens' bf16 GEMM for H100.

#define main unused_main
#include "bf16_h100_gemm.cu"
#undef main

extern "C" int run(void** buffers) {
    using matmul = matmul_template<2, 4, 8>;
    const auto matrix = [&](int number) { return static_cast<bf16*>(buffers[number]); };
    const int block = kittens::prototype::detail::NUM_THREADS_v<matmul>;
    inner_run<matmul>(matrix(0), matrix(1), matrix(2), 256, 512, 384, 2, block);
    return cudaGetLastError();
}
