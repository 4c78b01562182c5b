"""PyTorch: an extension with PTX. The kernels of PyTorch itself have no PTX for the GPU."""

import os

os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0a+PTX"

import torch
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void gelu_kernel(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
}
__global__ void row_sums_kernel(const float *x, float *y, int columns) {
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += 32) sum += x[blockIdx.x * columns + i];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
torch::Tensor gelu(torch::Tensor x) {
    auto y = torch::empty_like(x);
    gelu_kernel<<<(x.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
torch::Tensor row_sums(torch::Tensor x) {
    auto y = torch::empty({x.size(0)}, x.options());
    row_sums_kernel<<<x.size(0), 32, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
"""
HEADER = "torch::Tensor gelu(torch::Tensor x); torch::Tensor row_sums(torch::Tensor x);"
extension = load_inline("warploom_trial", HEADER, SOURCE, functions=["gelu", "row_sums"])
x = torch.linspace(-4, 4, 64 * 200, device="cuda").reshape(64, 200)
for _ in range(2):
    x = extension.gelu(x)
print(float(extension.row_sums(x).sum()))
