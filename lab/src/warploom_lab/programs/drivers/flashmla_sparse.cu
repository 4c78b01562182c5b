// FlashMLA's sparse prefill for sm_90: one query attends to 200 of 300 keys. The index -1 means no key.

#include "sm90/prefill/sparse/phase1.h"
#include "sm90/prefill/sparse/phase1.cuh"

#include "host.h"

int main() {
    using Element = cutlass::bfloat16_t;
    constexpr int kHeads = 64, kKeyDimension = 576, kValueDimension = 512, keys = 300, chosen = 256, used = 200;
    const Values q = normal<Element>(kHeads * kKeyDimension, 1), kv = normal<Element>(keys * kKeyDimension, 2);
    std::vector<int> indices(chosen, -1);
    Values picked;
    for (int i = 0; i < used; ++i) {
        indices[i] = i * 7 % keys;
        const auto first = kv.begin() + indices[i] * kKeyDimension;
        picked.insert(picked.end(), first, first + kKeyDimension);
    }
    auto* result = zeros<Element>(kHeads * kValueDimension);
    SparseAttnFwdParams params{};
    params.s_q = 1, params.s_kv = keys, params.h_q = kHeads, params.h_kv = 1, params.topk = chosen;
    params.d_qk = kKeyDimension, params.d_v = kValueDimension;
    params.sm_scale = 1 / std::sqrt(float(kKeyDimension)), params.sm_scale_div_log2 = params.sm_scale * float(M_LOG2E);
    params.q = upload<Element>(q), params.kv = upload<Element>(kv), params.indices = upload<int>(indices);
    params.stride_q_s_q = kHeads * kKeyDimension, params.stride_q_h_q = kKeyDimension;
    params.stride_kv_s_kv = params.stride_kv_h_kv = kKeyDimension;
    params.stride_indices_s_q = params.stride_indices_h_kv = chosen;
    params.out = result;
    params.max_logits = zeros<float>(kHeads), params.lse = zeros<float>(kHeads);
    params.num_sm = 2;
    sm90::fwd::run_fwd_phase1_kernel<kKeyDimension, false>(params);
    const Attention expected = attention(q.data(), picked.data(), picked.data(), kHeads, used, kKeyDimension,
                                         kValueDimension, kKeyDimension);
    return verdict(agrees("result", result, expected.result, kBf16Error));
}
