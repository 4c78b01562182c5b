// The softmax kernels of llm.c with its own reference, on a small input.

#define main unused_main
#include "dev/cuda/softmax_forward.cu"
#undef main

#include "host.h"

int main() {
    constexpr int N = 32, C = 1000;
    Values in = normal<float>(N * C, 1), out(N * C);
    softmax_forward_cpu(out.data(), in.data(), N, C);
    float *device_in = upload<float>(in), *device_out = zeros<float>(N * C);
    bool right = true;
    for (int number = 1; number <= 8; ++number) {
        std::printf("kernel %d\n", number);
        softmax_forward(number, device_out, device_in, N, C, 128);
        right = agrees("result", device_out, out, 1e-4) && right;
    }
    return verdict(right);
}
