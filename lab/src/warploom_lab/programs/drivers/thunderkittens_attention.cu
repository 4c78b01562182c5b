// ThunderKittens' attention for H100. The macros DIMENSION and IS_CAUSAL select the kernel.

#define main unused_main
#include "mha_h100.cu"
#undef main

#include "host.h"

int main() {
    using globals = fwd_globals<DIMENSION>;
    constexpr unsigned heads = 1, length = 384, columns = DIMENSION;
    const Values q = normal<bf16>(length * columns, 0), k = normal<bf16>(length * columns, 1);
    const Values v = normal<bf16>(length * columns, 2);
    bf16* result = zeros<bf16>(length * columns);
    typename globals::q_gl q_map{upload<bf16>(q), 1U, heads, length, columns};
    typename globals::k_gl k_map{upload<bf16>(k), 1U, heads, length, columns};
    typename globals::v_gl v_map{upload<bf16>(v), 1U, heads, length, columns};
    typename globals::l_gl l_map{zeros<float>(length), 1U, heads, 1U, length};
    typename globals::o_gl o_map{result, 1U, heads, length, columns};
    globals given{q_map, k_map, v_map, l_map, o_map, static_cast<int>(length), 1};
    const auto kernel = fwd_attend_ker<DIMENSION, IS_CAUSAL>;
    const int shared = kittens::MAX_SHARED_MEMORY - 1024;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "cudaFuncSetAttribute");
    kernel<<<dim3(length / (CONSUMER_WARPGROUPS * 64), heads, 1), 32 * NUM_WORKERS, shared>>>(given);
    const Attention expected =
        attention(q.data(), k.data(), v.data(), length, length, columns, columns, columns, IS_CAUSAL);
    return verdict(agrees("result", result, expected.result, kBf16Error));
}
