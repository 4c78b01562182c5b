// DeepGEMM's fp8 kernel for sm_90, with scales of 1 x 128 elements of A and 128 x 128 of B, and multicast of A.
//
// The macro GROUPS selects the kind: 1 for one matrix, 2 for two groups of rows with one matrix B each.

#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

#include "host.h"
#include "tensor_map.h"

constexpr int M = 256, N = 256, K = 896;
constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 128, kStages = 5;

int main() {
    using namespace deep_gemm;
    using Element = cutlass::float_e4m3_t;
    const Values a = normal<Element>(M * K, 1), b = normal<Element>(GROUPS * N * K, 2);
    const Values scales_a = uniform(K / kBlockK * M, 0.5, 2, 3);
    const Values scales_b = uniform(GROUPS * N / kBlockK * (K / kBlockK), 0.5, 2, 4);
    Values left = a, right = b, expected;
    for (int i = 0; i < M * K; ++i) left[i] *= scales_a[i % K / kBlockK * M + i / K];
    for (int i = 0; i < GROUPS * N * K; ++i) right[i] *= scales_b[i / K / kBlockK * (K / kBlockK) + i % K / kBlockK];
    std::vector<int> groups;
    for (int group = 0; group < GROUPS; ++group) {
        const int rows = M / GROUPS;
        const Values part = product(&left[group * rows * K], &right[group * N * K], rows, N, K, true);
        expected.insert(expected.end(), part.begin(), part.end());
        groups.insert(groups.end(), rows, group);
    }
    auto* result = zeros<cutlass::bfloat16_t>(M * N);
    const auto fp8 = [](void* matrix, int rows) {
        return tensor_map(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, matrix, rows, K, 128, kBlockK, CU_TENSOR_MAP_SWIZZLE_128B);
    };
    const auto result_map = tensor_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, result, M, N, kBlockM, 64,
                                       CU_TENSOR_MAP_SWIZZLE_128B);
    const auto scales = tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, upload<float>(scales_a), K / kBlockK, M, 1,
                                   kBlockM, CU_TENSOR_MAP_SWIZZLE_NONE);
    constexpr auto kKind = GROUPS == 1 ? GemmType::Normal : GemmType::MGroupedContiguous;
    const auto kernel =
        sm90_fp8_gemm_1d2d_impl<cute::UMMA::Major::K, 0, N, K, GROUPS, kBlockM, kBlockN, kBlockK, 128, 128, 128,
                                kStages, 128, 256, 2, true, 2, kKind, cutlass::bfloat16_t,
                                epilogue::transform::EpilogueIdentity>;
    const int shared = kBlockM * kBlockN * 2 + kStages * ((kBlockM + kBlockN) * kBlockK + kBlockM * 4) + 512;
    launch(kernel, 2, 384, 2, shared, upload<float>(scales_b), upload<int>(groups), M, N, K,
           fp8(upload<Element>(a), M), fp8(upload<Element>(b), GROUPS * N), result_map, scales);
    return verdict(agrees("result", result, expected, kBf16Error));
}
