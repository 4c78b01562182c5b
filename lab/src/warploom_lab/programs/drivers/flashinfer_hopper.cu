// FlashInfer's prefill for sm_90 with one head, half precision, head dimension 128 and a causal mask.

#include <flashinfer/attention/hopper/default_params.cuh>
#include <flashinfer/attention/hopper/prefill_sm90.cuh>
#include <flashinfer/attention/hopper/variants.cuh>

#include "host.h"

int main() {
    using Element = cutlass::half_t;
    constexpr int kDimension = 128, kQueries = 256, kKeys = 384;
    const Values q = normal<Element>(kQueries * kDimension, 1), k = normal<Element>(kKeys * kDimension, 2);
    const Values v = normal<Element>(kKeys * kDimension, 3);
    auto* result = zeros<Element>(q.size());
    flashinfer::SinglePrefillParams<Element, Element, Element> params{};
    params.q_ptr = upload<Element>(q), params.k_ptr = upload<Element>(k), params.v_ptr = upload<Element>(v);
    params.o_ptr = result;
    params.additional_params.sm_scale = 1 / std::sqrt(float(kDimension));
    params.q_stride_n = params.k_stride_n = params.v_stride_n = params.o_stride_n = kDimension;
    params.q_stride_h = params.k_stride_h = params.v_stride_h = params.o_stride_h = kDimension;
    params.qo_len = kQueries, params.kv_len = kKeys;
    params.num_qo_heads = params.num_kv_heads = params.group_size = 1;
    params.window_left = -1, params.causal = true;
    check((flashinfer::SinglePrefillWithKVCacheDispatched<kDimension, kDimension, flashinfer::MaskMode::kCausal, false,
                                                          flashinfer::StandardAttention>(params, nullptr)),
          "prefill");
    const Attention expected = attention(q.data(), k.data(), v.data(), kQueries, kKeys, kDimension, kDimension,
                                         kDimension, true);
    return verdict(agrees("result", result, expected.result, kBf16Error));
}
