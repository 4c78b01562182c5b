// FlashInfer's attention of one sequence, half precision: prefill of many queries, and decoding of one query.
//
// The instances are those that FlashInfer's templates generate for head dimension 64, four heads and two heads of keys.

#include <flashinfer/attention/decode.cuh>
#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/default_prefill_params.cuh>
#include <flashinfer/attention/prefill.cuh>
#include <flashinfer/attention/variants.cuh>

#include "host.h"

using namespace flashinfer;

constexpr int kHeads = 4, kKeyHeads = 2, kDimension = 64, kQueries = 70, kKeys = 200;

// Return one head of a matrix (rows, heads, dimension).
Values head(const Values& all, int heads, int number) {
    Values found;
    for (size_t row = 0; row < all.size() / heads / kDimension; ++row) {
        const auto first = all.begin() + (row * heads + number) * kDimension;
        found.insert(found.end(), first, first + kDimension);
    }
    return found;
}

// Return attention of all heads. Shapes: (queries, heads, dimension).
Values expected(const Values& q, const Values& k, const Values& v, bool causal) {
    const int queries = int(q.size()) / kHeads / kDimension;
    Values found(q.size());
    for (int number = 0; number < kHeads; ++number) {
        const int shared = number / (kHeads / kKeyHeads);
        const Values one = attention(head(q, kHeads, number).data(), head(k, kKeyHeads, shared).data(),
                                     head(v, kKeyHeads, shared).data(), queries, kKeys, kDimension, kDimension,
                                     kDimension, causal).result;
        for (int i = 0; i < queries; ++i)
            std::copy_n(&one[i * kDimension], kDimension, &found[(i * kHeads + number) * kDimension]);
    }
    return found;
}

int main() {
    using Variant = DefaultAttention<false, false, false, false>;
    const Values q = normal<half>(kQueries * kHeads * kDimension, 1), k = normal<half>(kKeys * kKeyHeads * kDimension, 2);
    const Values v = normal<half>(kKeys * kKeyHeads * kDimension, 3);
    half *keys = upload<half>(k), *values = upload<half>(v), *result = zeros<half>(q.size());
    const float scale = 1 / std::sqrt(float(kDimension));
    SinglePrefillParams<half, half, half> prefill(
        upload<half>(q), keys, values, nullptr, result, nullptr, nullptr, kHeads, kKeyHeads, kQueries, kKeys,
        kHeads * kDimension, kDimension, kKeyHeads * kDimension, kDimension, kDimension, -1, 0, scale, 1, 10000);
    check((SinglePrefillWithKVCacheDispatched<kDimension, kDimension, PosEncodingMode::kNone, false, MaskMode::kCausal,
                                              Variant>(prefill, nullptr, nullptr)),
          "prefill");
    bool right = agrees("prefill", result, expected(q, k, v, true), kBf16Error);

    const Values query = normal<half>(kHeads * kDimension, 4);
    half* decoded = zeros<half>(query.size());
    SingleDecodeParams<half, half, half> decode(upload<half>(query), keys, values, decoded, nullptr, kKeys, kHeads,
                                                kKeyHeads, QKVLayout::kNHD, kDimension, -1, 0, scale, 1, 10000);
    check((SingleDecodeWithKVCacheDispatched<kDimension, PosEncodingMode::kNone, Variant>(decode, nullptr, nullptr)),
          "decoding");
    right = agrees("decoding", decoded, expected(query, k, v, false), kBf16Error) && right;
    return verdict(right);
}
