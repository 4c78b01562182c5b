// Launch of ThunderKittens' attention for H100: head dimension 64 with a causal mask, or 128 without a mask.

#include "mha_h100.cu"

template <int kDimension, bool kIsCausal>
int attend(void** buffers, unsigned length, unsigned heads) {
    using globals = fwd_globals<kDimension>;
    const auto matrix = [&](int number) { return static_cast<bf16*>(buffers[number]); };
    const unsigned columns = kDimension;
    typename globals::q_gl q{matrix(0), 1U, heads, length, columns};
    typename globals::k_gl k{matrix(1), 1U, heads, length, columns};
    typename globals::v_gl v{matrix(2), 1U, heads, length, columns};
    typename globals::l_gl l{static_cast<float*>(buffers[4]), 1U, heads, 1U, length};
    typename globals::o_gl o{matrix(3), 1U, heads, length, columns};
    globals given{q, k, v, l, o, static_cast<int>(length), 1};
    const dim3 grid(length / (CONSUMER_WARPGROUPS * 64), heads, 1);
    fwd_attend_ker<kDimension, kIsCausal><<<grid, 32 * NUM_WORKERS, kittens::MAX_SHARED_MEMORY - 1024>>>(given);
    return cudaGetLastError();
}

extern "C" int run(void** buffers) { return attend<DIMENSION, IS_CAUSAL>(buffers, 384, 1); }
