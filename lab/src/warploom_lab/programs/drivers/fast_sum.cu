// The sums of fast.cu over a small array.
//
// The last kernel executes redux.sync with lanes outside of its member mask, so that its result is undefined.

#define main unused_main
#include "sum.cu"
#undef main

#include "host.h"

int main() {
    constexpr int N = 1 << 18;
    std::vector<int> values(N);
    int expected = 0;
    for (int i = 0; i < N; ++i) expected += values[i] = i * 31 % 100;
    int *in = upload<int>(values), *out = zeros<int>(1);
    bool right = true;
    for (int number = 1; number <= NUM_KERNELS; ++number) {
        check(cudaMemset(out, 0, sizeof(int)), "cudaMemset");
        int found = 0;
        kernelDispatch(number, in, out, &found, N);
        check(cudaMemcpy(&found, out, sizeof(int), cudaMemcpyDeviceToHost), "kernel");
        std::printf("kernel %d: %d of %d\n", number, found, expected);
        right = right && (found == expected || number == NUM_KERNELS);
    }
    return verdict(right);
}
