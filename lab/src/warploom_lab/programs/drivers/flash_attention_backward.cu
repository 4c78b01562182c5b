// FlashAttention-3's backward kernels for sm_90 with one batch and one head, bf16.
//
// The macros DIMENSION (64 or 128) and IS_CAUSAL select the kernel, with the tile sizes of the repository.

#include "flash_bwd_launch_template.h"

#include "host.h"

using Element = cutlass::bfloat16_t;

constexpr int kQueries = 384, kKeys = 384;

struct Gradients {
    Values q, k, v;
};

// Return the gradients of q, k and v for the gradient `d` of the result.
Gradients gradients(const Values& q, const Values& k, const Values& v, const Values& d, const Attention& forward) {
    std::vector<double> dq(q.size()), dk(k.size()), dv(v.size());
    const double scale = 1 / std::sqrt(double(DIMENSION));
    for (int i = 0; i < kQueries; ++i) {
        double sum = 0;
        for (int l = 0; l < DIMENSION; ++l) sum += double(d[i * DIMENSION + l]) * forward.result[i * DIMENSION + l];
        for (int j = 0; j < (IS_CAUSAL ? i + 1 : kKeys); ++j) {
            double logit = 0, change = 0;
            for (int l = 0; l < DIMENSION; ++l) {
                logit += double(q[i * DIMENSION + l]) * k[j * DIMENSION + l];
                change += double(d[i * DIMENSION + l]) * v[j * DIMENSION + l];
            }
            const double weight = std::exp(logit * scale - forward.sums[i]), gradient = weight * (change - sum) * scale;
            for (int l = 0; l < DIMENSION; ++l) {
                dv[j * DIMENSION + l] += weight * d[i * DIMENSION + l];
                dq[i * DIMENSION + l] += gradient * k[j * DIMENSION + l];
                dk[j * DIMENSION + l] += gradient * q[i * DIMENSION + l];
            }
        }
    }
    return {Values(dq.begin(), dq.end()), Values(dk.begin(), dk.end()), Values(dv.begin(), dv.end())};
}

int main() {
    const Values q = normal<Element>(kQueries * DIMENSION, 0), k = normal<Element>(kKeys * DIMENSION, 1);
    const Values v = normal<Element>(kKeys * DIMENSION, 2), d = normal<Element>(kQueries * DIMENSION, 3);
    const Attention forward =
        attention(q.data(), k.data(), v.data(), kQueries, kKeys, DIMENSION, DIMENSION, DIMENSION, IS_CAUSAL);
    auto *dq = zeros<Element>(q.size()), *dk = zeros<Element>(k.size()), *dv = zeros<Element>(v.size());

    Flash_bwd_params params{};
    params.q_ptr = upload<Element>(q), params.k_ptr = upload<Element>(k), params.v_ptr = upload<Element>(v);
    params.o_ptr = upload<Element>(forward.result), params.softmax_lse_ptr = upload<float>(forward.sums);
    params.do_ptr = upload<Element>(d), params.dq_ptr = dq, params.dk_ptr = dk, params.dv_ptr = dv;
    params.q_row_stride = params.k_row_stride = params.v_row_stride = params.o_row_stride = DIMENSION;
    params.q_head_stride = params.k_head_stride = params.v_head_stride = params.o_head_stride = DIMENSION;
    params.q_batch_stride = params.o_batch_stride = kQueries * DIMENSION;
    params.k_batch_stride = params.v_batch_stride = kKeys * DIMENSION;
    params.do_row_stride = params.dq_row_stride = params.dk_row_stride = params.dv_row_stride = DIMENSION;
    params.do_head_stride = params.dq_head_stride = params.dk_head_stride = params.dv_head_stride = DIMENSION;
    params.do_batch_stride = params.dq_batch_stride = kQueries * DIMENSION;
    params.dk_batch_stride = params.dv_batch_stride = kKeys * DIMENSION;
    params.b = params.b_k = params.h = params.h_k = 1;
    params.seqlen_q = params.total_q = kQueries, params.seqlen_k = params.total_k = kKeys;
    params.seqlen_q_rounded = (kQueries + 127) / 128 * 128 + 128, params.seqlen_k_rounded = (kKeys + 127) / 128 * 128;
    params.d = params.dv = params.d_rounded = params.dv_rounded = DIMENSION;
    params.scale_softmax = 1 / std::sqrt(float(DIMENSION));
    params.window_size_left = -1, params.window_size_right = IS_CAUSAL ? 0 : -1;
    params.is_causal = IS_CAUSAL, params.is_bf16 = true;
    params.dsoftmax_sum = zeros<float>(params.seqlen_q_rounded);
    params.softmax_lse_log2_ptr = zeros<float>(params.seqlen_q_rounded);
    params.dq_accum_ptr = zeros<float>(params.seqlen_q_rounded * DIMENSION);
    params.dq_semaphore = zeros<int>(kQueries);
    params.arch = 90, params.num_sm = 2;
    if constexpr (DIMENSION == 64)
        run_flash_bwd<90, 64, 128, 128, Element, IS_CAUSAL, false, false, false, false, false, 2, 2, true, false,
                      false, 2, 1, 2, 2, false>(params, nullptr);
    else
        run_flash_bwd<90, 128, IS_CAUSAL ? 64 : 80, 128, Element, IS_CAUSAL, false, false, false, false, false, 2, 2,
                      true, false, !IS_CAUSAL, 2, 1, 2, 1, false>(params, nullptr);

    const Gradients expected = gradients(q, k, v, d, forward);
    bool right = agrees("gradient of q", dq, expected.q, kBf16Error);
    right = agrees("gradient of k", dk, expected.k, kBf16Error) && right;
    return verdict(agrees("gradient of v", dv, expected.v, kBf16Error) && right);
}
