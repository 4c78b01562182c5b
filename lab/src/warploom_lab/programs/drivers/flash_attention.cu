// FlashAttention-3's forward kernel for sm_90 with one batch and one head.
//
// The macros ELEMENT, DIMENSION, IS_CAUSAL and CLUSTER select the kernel.

#include "flash_fwd_launch_template.h"

#include "host.h"

// The launcher calls this function only for sequences of several lengths.
void prepare_varlen_num_blocks(Flash_fwd_params&, cudaStream_t, bool, int, int, bool) {}

int main() {
    using Result = std::conditional_t<sizeof(ELEMENT) == 1, cutlass::bfloat16_t, ELEMENT>;
    const int queries = IS_CAUSAL ? 512 : 256, keys = IS_CAUSAL ? 512 : 704;
    const Values q = normal<ELEMENT>(queries * DIMENSION, 0), k = normal<ELEMENT>(keys * DIMENSION, 1);
    const Values v = normal<ELEMENT>(keys * DIMENSION, 2);
    auto* result = zeros<Result>(queries * DIMENSION);
    auto* sums = zeros<float>(queries);

    Flash_fwd_params params{};
    params.q_ptr = upload<ELEMENT>(q), params.k_ptr = upload<ELEMENT>(k), params.v_ptr = upload<ELEMENT>(v);
    params.o_ptr = result, params.softmax_lse_ptr = sums;
    params.tile_count_semaphore = zeros<int>(4);
    params.q_row_stride = params.k_row_stride = params.v_row_stride = params.o_row_stride = DIMENSION;
    params.q_head_stride = params.k_head_stride = params.v_head_stride = params.o_head_stride = DIMENSION;
    params.q_batch_stride = params.o_batch_stride = queries * DIMENSION;
    params.k_batch_stride = params.v_batch_stride = keys * DIMENSION;
    params.v_dim_stride = 1;
    params.b = params.b_k = params.h = params.h_k = params.num_splits = 1;
    params.seqlen_q = queries, params.seqlen_k = keys;
    params.d = params.dv = params.d_rounded = params.dv_rounded = DIMENSION;
    params.scale_softmax = 1 / std::sqrt(float(DIMENSION));
    params.window_size_left = -1, params.window_size_right = IS_CAUSAL ? 0 : -1;
    params.is_causal = IS_CAUSAL;
    params.arch = 90, params.num_sm = 2;
    run_flash_fwd<90, DIMENSION, DIMENSION, CLUSTER, ELEMENT, Result, IS_CAUSAL, false, false, false, false, false,
                  false, false, false, false>(params, nullptr);

    const Attention expected =
        attention(q.data(), k.data(), v.data(), queries, keys, DIMENSION, DIMENSION, DIMENSION, IS_CAUSAL);
    const double tolerance = sizeof(ELEMENT) == 1 ? kFp8Error : kBf16Error;
    const bool right = agrees("result", result, expected.result, tolerance);
    return verdict(agrees("sums", sums, expected.sums, tolerance) && right);
}
