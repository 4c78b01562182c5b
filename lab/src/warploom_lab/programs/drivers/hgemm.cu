// The tensor-core GEMM kernels of cuda_hgemm. The macro SOURCE is the source file, and FUNCTION its launcher.

#include "common.h"

#define TEXT(word) #word
#define NAME(word) TEXT(word)
#include NAME(SOURCE)

#include "host.h"

int main() {
    constexpr int M = 256, N = 256, K = 256;
    const Values a = normal<half>(M * K, 1), b = normal<half>(K * N, 2);
    half* result = zeros<half>(M * N);
    FUNCTION(upload<half>(a), upload<half>(b), result, M, N, K);
    // B is in column-major order. The kernels accumulate in half precision.
    return verdict(agrees("result", result, product(a.data(), b.data(), M, N, K, true), kBf16Error));
}
