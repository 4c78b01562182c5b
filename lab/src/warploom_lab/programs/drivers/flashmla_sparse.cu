// Launch of FlashMLA's sparse prefill for sm_90: each query attends to the keys that its indices name.

#include "sm90/prefill/sparse/phase1.h"
#include "sm90/prefill/sparse/phase1.cuh"

// Buffers: q, kv, indices, result, largest logits, log-sum-exp.
extern "C" int run(void** buffers, int queries, int keys, int chosen) {
    constexpr int kHeads = 64, kKeyDimension = 576, kValueDimension = 512;
    const auto matrix = [&](int number) { return static_cast<cutlass::bfloat16_t*>(buffers[number]); };
    SparseAttnFwdParams params{};
    params.s_q = queries, params.s_kv = keys, params.h_q = kHeads, params.h_kv = 1, params.topk = chosen;
    params.d_qk = kKeyDimension, params.d_v = kValueDimension;
    params.sm_scale = 1 / std::sqrt(float(kKeyDimension)), params.sm_scale_div_log2 = params.sm_scale * float(M_LOG2E);
    params.q = matrix(0), params.kv = matrix(1), params.indices = static_cast<int*>(buffers[2]);
    params.stride_q_s_q = kHeads * kKeyDimension, params.stride_q_h_q = kKeyDimension;
    params.stride_kv_s_kv = params.stride_kv_h_kv = kKeyDimension;
    params.stride_indices_s_q = params.stride_indices_h_kv = chosen;
    params.out = matrix(3);
    params.max_logits = static_cast<float*>(buffers[4]), params.lse = static_cast<float*>(buffers[5]);
    params.num_sm = 2;
    sm90::fwd::run_fwd_phase1_kernel<kKeyDimension, false>(params);
    return cudaGetLastError();
}
