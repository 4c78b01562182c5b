// The normalisations of llm.c with its own reference, on a small input.

#define main unused_main
#include "dev/cuda/layernorm_forward.cu"
#undef main

#include "host.h"

int main() {
    constexpr int B = 2, T = 16, C = 768;
    Values in = normal<float>(B * T * C, 1), weight = normal<float>(C, 2), bias = normal<float>(C, 3);
    Values out(B * T * C), mean(B * T), scale(B * T);
    layernorm_forward_cpu(out.data(), mean.data(), scale.data(), in.data(), weight.data(), bias.data(), B, T, C);
    float *device_out = zeros<float>(out.size()), *device_mean = zeros<float>(B * T), *device_scale = zeros<float>(B * T);
    float *device_in = upload<float>(in), *device_weight = upload<float>(weight), *device_bias = upload<float>(bias);
    bool right = true;
    for (int number = 1; number <= 5; ++number) {
        std::printf("kernel %d\n", number);
        layernorm_forward(number, device_out, device_mean, device_scale, device_in, device_weight, device_bias, B, T, C,
                          256);
        right = agrees("result", device_out, out, 1e-5) && right;
        right = agrees("mean", device_mean, mean, 1e-5) && right;
        right = agrees("scale", device_scale, scale, 1e-5) && right;
    }
    return verdict(right);
}
