// A tensor-core sample of cuda-samples with its kernel for any size, because its own sizes are fixed at 4096 and above.
//
// The macro SOURCE is the sample, KERNEL the kernel, and TYPE the type of A and B.

#include "host.h"

#include <mma.h>

#define TEXT(word) #word
#define NAME(word) TEXT(word)
#define main unused_main
#include NAME(SOURCE)
#undef main

template <typename Input, typename Output>
int multiply(void (*kernel)(Input*, Input*, Output*, Output*, int, int, int, Output, Output), const Values& a,
             const Values& b, const Values& c, int m, int n, int k) {
    using Element = std::remove_const_t<Input>;
    using Result = std::remove_const_t<Output>;
    Values expected = product(a.data(), b.data(), m, n, k, true);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = 2 * expected[i] + 3 * c[i];
    Result* result = zeros<Result>(expected.size());
    const dim3 block(128, 4), grid(m / (M * 4), n / (N * 4));  // a warp computes one tile
    kernel<<<grid, block>>>(upload<Element>(a), upload<Element>(b), upload<Result>(c), result, m, n, k, 2, 3);
    return verdict(agrees("result", result, expected, 1e-4));
}

// The integer kernel declares its inputs as constant.
template <typename Input, typename Output>
int multiply(void (*kernel)(const Input*, const Input*, const Output*, Output*, int, int, int, Output, Output),
             const Values& a, const Values& b, const Values& c, int m, int n, int k) {
    return multiply(reinterpret_cast<void (*)(Input*, Input*, Output*, Output*, int, int, int, Output, Output)>(kernel),
                    a, b, c, m, n, k);
}

int main() {
    constexpr int m = 128, n = 128, k = 128;
    Values a(m * k), b(n * k), c(m * n);
    for (int i = 0; i < m * k; ++i) a[i] = i * 7 % 3, b[i] = i * 5 % 4;
    for (int i = 0; i < m * n; ++i) c[i] = i % 5;
    return multiply(KERNEL, a, b, c, m, n, k);
}
