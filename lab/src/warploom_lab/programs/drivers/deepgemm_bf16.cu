// DeepGEMM's bf16 kernel for sm_90: two CTAs of one cluster compute tiles with multicast of B.
//
// The macro GROUPS selects the kind: 1 for one matrix, 2 for two groups of rows with one matrix B each.

#include <deep_gemm/impls/sm90_bf16_gemm.cuh>

#include "host.h"
#include "tensor_map.h"

constexpr int M = 512, N = 256, K = 512;
constexpr int kBlockM = 128, kBlockN = 128, kBlockK = 64, kStages = 6;

int main() {
    using namespace deep_gemm;
    using Element = cutlass::bfloat16_t;
    const Values a = normal<Element>(M * K, 1), b = normal<Element>(GROUPS * N * K, 2);
    Values expected;
    std::vector<int> groups;
    for (int group = 0; group < GROUPS; ++group) {
        const int rows = M / GROUPS;
        const Values part = product(&a[group * rows * K], &b[group * N * K], rows, N, K, true);
        expected.insert(expected.end(), part.begin(), part.end());
        groups.insert(groups.end(), rows, group);
    }
    auto* result = zeros<Element>(M * N);
    const auto map = [](void* matrix, int rows, int columns) {
        return tensor_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix, rows, columns, 128, 64,
                          CU_TENSOR_MAP_SWIZZLE_128B);
    };
    constexpr auto kKind = GROUPS == 1 ? GemmType::Normal : GemmType::MGroupedContiguous;
    const auto kernel =
        sm90_bf16_gemm_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 0, N, K, GROUPS, kBlockM, kBlockN, kBlockK,
                            128, 128, 128, kStages, 128, 256, 2, false, 2, kKind, false, Element>;
    const int shared = kBlockM * kBlockN * 2 + kStages * (kBlockM + kBlockN) * kBlockK * 2 + 256;
    launch(kernel, 2, 384, 2, shared, upload<int>(groups), M, N, K, map(upload<Element>(a), M, K),
           map(upload<Element>(b), GROUPS * N, K), map(result, M, N));
    return verdict(agrees("result", result, expected, kBf16Error));
}
