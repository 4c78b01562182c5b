// Launch of DeepGEMM's fp8 kernel with scales of 1 x 128 and 128 x 128 elements for sm_90, with multicast of A.

#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

#include "tensor_map.h"

constexpr int M = 256, N = 256, K = 896;
constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 128, kStages = 5;

extern "C" int run(void** buffers) {
    using namespace deep_gemm;
    const auto fp8 = [](void* matrix, int rows) {
        return tensor_map(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, matrix, rows, K, 128, kBlockK, CU_TENSOR_MAP_SWIZZLE_128B);
    };
    const auto result = tensor_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, buffers[4], M, N, kBlockM, 64,
                                   CU_TENSOR_MAP_SWIZZLE_128B);
    const auto scales = tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, buffers[2], K / kBlockK, M, 1, kBlockM,
                                   CU_TENSOR_MAP_SWIZZLE_NONE);
    const auto kernel =
        sm90_fp8_gemm_1d2d_impl<cute::UMMA::Major::K, 0, N, K, 1, kBlockM, kBlockN, kBlockK, 128, 128, 128, kStages,
                                128, 256, 2, true, 2, GemmType::Normal, cutlass::bfloat16_t,
                                epilogue::transform::EpilogueIdentity>;
    const int shared = kBlockM * kBlockN * 2 + kStages * ((kBlockM + kBlockN) * kBlockK + kBlockM * 4) + 512;
    return launch(kernel, 2, 384, 2, shared, buffers[3], nullptr, M, N, K, fp8(buffers[0], M), fp8(buffers[1], N),
                  result, scales);
}
