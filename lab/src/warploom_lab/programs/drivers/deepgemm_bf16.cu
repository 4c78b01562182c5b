// Launch of DeepGEMM's bf16 kernel for sm_90: two CTAs of one cluster compute four tiles with multicast of B.

#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

#include "tensor_map.h"

constexpr int M = 256, N = 256, K = 512;
constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 64, kStages = 6;

extern "C" int run(void** buffers) {
    using namespace deep_gemm;
    const auto map = [](void* matrix, int rows, int columns) {
        return tensor_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix, rows, columns, 128, 64,
                          CU_TENSOR_MAP_SWIZZLE_128B);
    };
    const auto kernel =
        sm90_bf16_gemm_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 0, N, K, 1, kBlockM, kBlockN, kBlockK, 128,
                            128, 128, kStages, 128, 256, 2, false, 2, GemmType::Normal, false, cutlass::bfloat16_t>;
    const int shared = kBlockM * kBlockN * 2 + kStages * (kBlockM + kBlockN) * kBlockK * 2 + 256;
    return launch(kernel, 2, 384, 2, shared, nullptr, M, N, K, map(buffers[0], M, K), map(buffers[1], N, K),
                  map(buffers[2], M, N));
}
