// The optimizer step of llm.c with its own reference, on a small input.

#define main unused_main
#include "dev/cuda/adamw.cu"
#undef main

#include "host.h"

int main() {
    constexpr int count = 5000;
    const Values parameters = normal<float>(count, 1), gradients = normal<float>(count, 2);
    const Values m = uniform(count, 0, 1, 3), v = uniform(count, 0, 1, 4);
    bool right = true;
    for (int number = 1; number <= 2; ++number) {
        Values expected = parameters, expected_m = m, expected_v = v;
        adamw_cpu(expected.data(), gradients.data(), expected_m.data(), expected_v.data(), 10, count);
        float *device = upload<float>(parameters), *device_m = upload<float>(m), *device_v = upload<float>(v);
        adamw(number, device, upload<float>(gradients), device_m, device_v, 10, count);
        right = agrees("parameters", device, expected, 1e-5) && right;
        right = agrees("first moment", device_m, expected_m, 1e-5) && right;
        right = agrees("second moment", device_v, expected_v, 1e-5) && right;
    }
    return verdict(right);
}
