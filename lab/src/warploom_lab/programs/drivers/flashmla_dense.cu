// Launch of FlashMLA's dense decoding for sm_90: two requests over two CTAs, of which one request is split.

#include "smxx/decode/combine/combine.cu"
#include "smxx/decode/get_decoding_sched_meta/get_decoding_sched_meta.cu"
#include "sm90/decode/dense/splitkv_mla.cuh"
#include "sm90/decode/dense/splitkv_mla.h"

constexpr int kRequests = 2, kHeads = 64, kKeyDimension = 576, kValueDimension = 512, kPage = 64, kParts = 2;
using Element = cutlass::bfloat16_t;

// Buffers: q, pages of k, result, log-sum-exp, page table, lengths, schedule, splits, partial lse, partial result.
extern "C" int run(void** buffers, int pages, int pages_of_request) {
    const auto integers = [&](int number) { return static_cast<int*>(buffers[number]); };
    const auto floats = [&](int number) { return static_cast<float*>(buffers[number]); };
    const auto schedule = static_cast<DecodingSchedMeta*>(buffers[6]);
    GetDecodeSchedMetaParams planning{kRequests, 1, kPage, 5, -1, -1, nullptr, nullptr, integers(5), schedule,
                                      integers(7), kParts, nullptr};
    smxx::decode::run_get_decoding_sched_meta_kernel(planning);

    DenseAttnDecodeParams params{};
    params.b = kRequests, params.s_q = 1, params.q_seq_per_hk = kHeads;
    params.d = kKeyDimension, params.d_v = kValueDimension;
    params.h_q = params.q_head_per_hk = kHeads, params.h_k = 1, params.num_blocks = pages;
    params.scale_softmax = 1 / std::sqrt(float(kKeyDimension));
    params.scale_softmax_log2 = params.scale_softmax * float(M_LOG2E);
    params.q_ptr = buffers[0], params.k_ptr = buffers[1], params.o_ptr = buffers[2];
    params.softmax_lse_ptr = floats(3);
    params.q_batch_stride = kHeads * kKeyDimension, params.q_row_stride = params.q_head_stride = kKeyDimension;
    params.k_batch_stride = kPage * kKeyDimension, params.k_row_stride = params.k_head_stride = kKeyDimension;
    params.o_batch_stride = kHeads * kValueDimension, params.o_row_stride = kValueDimension;
    params.o_head_stride = kHeads * kValueDimension;
    params.block_table = integers(4), params.block_table_batch_stride = pages_of_request;
    params.page_block_size = kPage, params.seqlens_k_ptr = integers(5);
    params.tile_scheduler_metadata_ptr = schedule, params.num_sm_parts = kParts, params.num_splits_ptr = integers(7);
    params.total_num_splits = kRequests + kParts;
    params.softmax_lseaccum_ptr = floats(8), params.oaccum_ptr = floats(9);
    sm90::run_flash_splitkv_mla_kernel<Element>(params);

    CombineParams combining{};
    combining.b = kRequests, combining.s_q = 1, combining.h_q = kHeads, combining.d_v = kValueDimension;
    combining.lse = floats(3), combining.out = buffers[2];
    combining.stride_lse_b = combining.stride_lse_s_q = kHeads;
    combining.stride_o_b = combining.stride_o_s_q = kHeads * kValueDimension, combining.stride_o_h_q = kValueDimension;
    combining.lse_accum = floats(8), combining.o_accum = floats(9);
    combining.stride_lse_accum_split = combining.stride_lse_accum_s_q = kHeads;
    combining.stride_o_accum_split = combining.stride_o_accum_s_q = kHeads * kValueDimension;
    combining.stride_o_accum_h_q = kValueDimension;
    combining.tile_scheduler_metadata_ptr = schedule, combining.num_splits_ptr = integers(7);
    combining.num_sm_parts = kParts;
    smxx::decode::run_flash_mla_combine_kernel<Element>(combining);
    return cudaGetLastError();
}
