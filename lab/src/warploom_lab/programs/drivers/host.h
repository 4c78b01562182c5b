// Random inputs, device buffers, reference results and comparisons of the drivers.

#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

using Values = std::vector<float>;

constexpr double kBf16Error = 1.0 / 64, kFp8Error = 1.0 / 16;  // attention rounds the weights to the type of V

inline void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::printf("%s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

// Return normally distributed values that are rounded to an element type.
template <typename Element>
Values normal(size_t count, int seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> distribution;
    Values values(count);
    for (float& each : values) each = static_cast<float>(static_cast<Element>(distribution(random)));
    return values;
}

inline Values uniform(size_t count, float low, float high, int seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> distribution(low, high);
    Values values(count);
    for (float& each : values) each = distribution(random);
    return values;
}

template <typename Element>
Element* zeros(size_t count) {
    Element* found;
    check(cudaMalloc(&found, count * sizeof(Element)), "cudaMalloc");
    check(cudaMemset(found, 0, count * sizeof(Element)), "cudaMemset");
    return found;
}

template <typename Element, typename Value>
Element* upload(const std::vector<Value>& values) {
    std::vector<Element> elements;
    for (const Value& each : values) elements.push_back(static_cast<Element>(each));
    Element* found = zeros<Element>(values.size());
    check(cudaMemcpy(found, elements.data(), values.size() * sizeof(Element), cudaMemcpyHostToDevice), "cudaMemcpy");
    return found;
}

// Print whether the largest error of a device array is at most `tolerance` times the largest expected element.
template <typename Element>
bool agrees(const char* name, const Element* device, const Values& expected, double tolerance) {
    check(cudaDeviceSynchronize(), "kernel");
    std::vector<Element> got(expected.size());
    check(cudaMemcpy(got.data(), device, got.size() * sizeof(Element), cudaMemcpyDeviceToHost), "cudaMemcpy");
    double error = 0, largest = 0;
    bool finite = true;
    for (size_t i = 0; i < got.size(); ++i) {
        const double value = static_cast<float>(got[i]);
        finite = finite && std::isfinite(value);
        error = std::max(error, std::fabs(value - expected[i]));
        largest = std::max(largest, std::fabs(double(expected[i])));
    }
    const bool right = finite && error <= tolerance * largest;
    std::printf("%s: error %.3g of %.3g: %s\n", name, error, largest, right ? "right" : "WRONG");
    return right;
}

// Print the verdict of the program, and return its exit status.
inline int verdict(bool right) {
    std::printf("%s\n", right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}

// Return the product of A (m, k) and of B (k, n), or of its transpose (n, k).
inline Values product(const float* a, const float* b, int m, int n, int k, bool transposed) {
    Values found(size_t(m) * n);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int l = 0; l < k; ++l)
                sum += double(a[size_t(i) * k + l]) * (transposed ? b[size_t(j) * k + l] : b[size_t(l) * n + j]);
            found[size_t(i) * n + j] = float(sum);
        }
    return found;
}

struct Attention {
    Values result, sums;
};

// Return attention of one head and the logarithms of the sums.
//
// Query i of a causal mask sees the keys up to i + keys - queries. Shapes: q (queries, d), k (keys, d), and v
// (keys, dv) with `stride` elements between rows.
inline Attention attention(const float* q, const float* k, const float* v, int queries, int keys, int d, int dv,
                           int stride, bool causal = false) {
    Attention found{Values(size_t(queries) * dv), Values(queries)};
    for (int i = 0; i < queries; ++i) {
        const int seen = causal ? std::min(keys, i + keys - queries + 1) : keys;
        std::vector<double> weights(seen), sum(dv);
        double largest = -INFINITY, total = 0;
        for (int j = 0; j < seen; ++j) {
            for (int l = 0; l < d; ++l) weights[j] += double(q[size_t(i) * d + l]) * k[size_t(j) * d + l];
            weights[j] /= std::sqrt(double(d));
            largest = std::max(largest, weights[j]);
        }
        for (int j = 0; j < seen; ++j) {
            weights[j] = std::exp(weights[j] - largest);
            total += weights[j];
            for (int l = 0; l < dv; ++l) sum[l] += weights[j] * v[size_t(j) * stride + l];
        }
        for (int l = 0; l < dv; ++l) found.result[size_t(i) * dv + l] = float(sum[l] / total);
        found.sums[i] = float(std::log(total) + largest);
    }
    return found;
}
