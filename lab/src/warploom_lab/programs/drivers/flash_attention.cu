// Launch of FlashAttention-3's forward kernel for sm_90 with one batch and one head.
//
// The macros ELEMENT, DIMENSION, IS_CAUSAL and CLUSTER select the kernel.

#include "flash_fwd_launch_template.h"

// The launcher calls this function only for sequences of several lengths.
void prepare_varlen_num_blocks(Flash_fwd_params&, cudaStream_t, bool, int, int, bool) {}

extern "C" int run(void** buffers, int queries, int keys) {
    using Result = std::conditional_t<sizeof(ELEMENT) == 1, cutlass::bfloat16_t, ELEMENT>;
    Flash_fwd_params params{};
    params.q_ptr = buffers[0], params.k_ptr = buffers[1], params.v_ptr = buffers[2];
    params.o_ptr = buffers[3], params.softmax_lse_ptr = buffers[4];
    params.tile_count_semaphore = static_cast<int*>(buffers[5]);
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
    return cudaGetLastError();
}
