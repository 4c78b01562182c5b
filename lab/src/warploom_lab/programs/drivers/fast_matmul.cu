// The matrix multiplications of fast.cu with their own launchers. The macro NUMBER selects the version.

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <cassert>
#include <vector>

#include "host.h"

typedef __nv_bfloat16 bf16;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
#define cudaCheck(status) check(status, "launcher")
#define PASTE(left, right) left##right
#define LAUNCHER(number) PASTE(runKernel, number)
#define TEXT(word) #word
#define HEADER(number) TEXT(examples/matmul/matmul_##number.cuh)
#define INCLUDED(number) HEADER(number)

#include INCLUDED(NUMBER)

int main() {
    // From version 7 on, the schedule needs 16 x 8 tiles.
    constexpr int M = NUMBER < 7 ? 512 : 2048, N = M, K = 320;
    const Values a = normal<bf16>(M * K, 1), b = normal<bf16>(N * K, 2);
    bf16* result = zeros<bf16>(M * N);
#if NUMBER == 2
    LAUNCHER(NUMBER)(M, N, K, upload<bf16>(a), upload<bf16>(b), result);
#else
    LAUNCHER(NUMBER)(M, N, K, upload<bf16>(a), upload<bf16>(b), result, nullptr);
#endif
    // The result is in column-major order, so its rows are the columns of the product.
    return verdict(agrees("result", result, product(b.data(), a.data(), N, M, K, true), kBf16Error));
}
