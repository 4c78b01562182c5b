// FlashMLA's dense decoding for sm_90: two requests over two CTAs, of which the scheduler splits the first request.

#include "smxx/decode/combine/combine.cu"
#include "smxx/decode/get_decoding_sched_meta/get_decoding_sched_meta.cu"
#include "sm90/decode/dense/splitkv_mla.cuh"
#include "sm90/decode/dense/splitkv_mla.h"

#include "host.h"

constexpr int kRequests = 2, kHeads = 64, kKeyDimension = 576, kValueDimension = 512, kPage = 64, kParts = 2;
constexpr int kPages = 26, kPagesOfRequest = 13;
using Element = cutlass::bfloat16_t;

int main() {
    const std::vector<int> lengths{788, 20};
    std::vector<int> table(kPages);
    for (int i = 0; i < kPages; ++i) table[i] = i * 7 % kPages;  // a permutation of the pages
    const Values q = normal<Element>(kRequests * kHeads * kKeyDimension, 1);
    const Values pages = normal<Element>(kPages * kPage * kKeyDimension, 2);
    Values expected, expected_sums;
    for (int request = 0; request < kRequests; ++request) {
        Values keys;
        for (int page = 0; page < kPagesOfRequest; ++page) {
            const auto first = pages.begin() + table[request * kPagesOfRequest + page] * kPage * kKeyDimension;
            keys.insert(keys.end(), first, first + kPage * kKeyDimension);
        }
        const Attention found = attention(&q[request * kHeads * kKeyDimension], keys.data(), keys.data(), kHeads,
                                          lengths[request], kKeyDimension, kValueDimension, kKeyDimension);
        expected.insert(expected.end(), found.result.begin(), found.result.end());
        expected_sums.insert(expected_sums.end(), found.sums.begin(), found.sums.end());
    }
    auto* result = zeros<Element>(expected.size());
    auto* sums = zeros<float>(expected_sums.size());
    auto* device_lengths = upload<int>(lengths);
    auto* schedule = reinterpret_cast<DecodingSchedMeta*>(zeros<int>(kParts * 8));
    auto* splits = zeros<int>(kRequests + 1);
    auto* partial_sums = zeros<float>((kRequests + kParts) * kHeads);
    auto* partial_results = zeros<float>((kRequests + kParts) * kHeads * kValueDimension);

    GetDecodeSchedMetaParams planning{kRequests, 1,        kPage,  5,      -1,     -1, nullptr, nullptr,
                                      device_lengths, schedule, splits, kParts, nullptr};
    smxx::decode::run_get_decoding_sched_meta_kernel(planning);

    DenseAttnDecodeParams params{};
    params.b = kRequests, params.s_q = 1, params.q_seq_per_hk = kHeads;
    params.d = kKeyDimension, params.d_v = kValueDimension;
    params.h_q = params.q_head_per_hk = kHeads, params.h_k = 1, params.num_blocks = kPages;
    params.scale_softmax = 1 / std::sqrt(float(kKeyDimension));
    params.scale_softmax_log2 = params.scale_softmax * float(M_LOG2E);
    params.q_ptr = upload<Element>(q), params.k_ptr = upload<Element>(pages), params.o_ptr = result;
    params.softmax_lse_ptr = sums;
    params.q_batch_stride = kHeads * kKeyDimension, params.q_row_stride = params.q_head_stride = kKeyDimension;
    params.k_batch_stride = kPage * kKeyDimension, params.k_row_stride = params.k_head_stride = kKeyDimension;
    params.o_batch_stride = kHeads * kValueDimension, params.o_row_stride = kValueDimension;
    params.o_head_stride = kHeads * kValueDimension;
    params.block_table = upload<int>(table), params.block_table_batch_stride = kPagesOfRequest;
    params.page_block_size = kPage, params.seqlens_k_ptr = device_lengths;
    params.tile_scheduler_metadata_ptr = schedule, params.num_sm_parts = kParts, params.num_splits_ptr = splits;
    params.total_num_splits = kRequests + kParts;
    params.softmax_lseaccum_ptr = partial_sums, params.oaccum_ptr = partial_results;
    sm90::run_flash_splitkv_mla_kernel<Element>(params);

    CombineParams combining{};
    combining.b = kRequests, combining.s_q = 1, combining.h_q = kHeads, combining.d_v = kValueDimension;
    combining.lse = sums, combining.out = result;
    combining.stride_lse_b = combining.stride_lse_s_q = kHeads;
    combining.stride_o_b = combining.stride_o_s_q = kHeads * kValueDimension, combining.stride_o_h_q = kValueDimension;
    combining.lse_accum = partial_sums, combining.o_accum = partial_results;
    combining.stride_lse_accum_split = combining.stride_lse_accum_s_q = kHeads;
    combining.stride_o_accum_split = combining.stride_o_accum_s_q = kHeads * kValueDimension;
    combining.stride_o_accum_h_q = kValueDimension;
    combining.tile_scheduler_metadata_ptr = schedule, combining.num_splits_ptr = splits;
    combining.num_sm_parts = kParts;
    smxx::decode::run_flash_mla_combine_kernel<Element>(combining);
    const bool right = agrees("result", result, expected, kBf16Error);
    return verdict(agrees("sums", sums, expected_sums, kBf16Error) && right);
}
