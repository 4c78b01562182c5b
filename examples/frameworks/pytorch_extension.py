"""PyTorch extension with a kernel that includes PTX: `python examples/frameworks/pytorch_extension.py`.

The example needs PyTorch with CUDA, nvcc and ninja. nvcc compiles for compute_90a, so it needs an H100 or H200. Without
a GPU, run it with `warploom exec -- python …`.
"""

from __future__ import annotations

import sys

import torch
from torch.utils.cpp_extension import load_inline

BINDING = r"""
#include <torch/csrc/utils/pybind.h>

at::Tensor run(at::Tensor x);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) { module.def("run", &run); }
"""
SOURCE = r"""
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

// Add 1 to each element of a row that the Tensor Memory Accelerator copies to shared memory.
__global__ void add_one(const float *x, float *y, int columns) {
    extern __shared__ __align__(16) float row[];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned to = __cvta_generic_to_shared(row), at = __cvta_generic_to_shared(&barrier), bytes = 4 * columns, done = 0;
    const float *from = x + size_t(blockIdx.x) * columns;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     ::"r"(to), "l"(from), "r"(bytes), "r"(at) : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at) : "memory");
    for (int i = threadIdx.x; i < columns; i += blockDim.x) y[size_t(blockIdx.x) * columns + i] = row[i] + 1;
}

at::Tensor run(at::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.size(1) % 4 == 0, "expected rows of 16-byte multiples");
    auto y = at::empty_like(x);
    add_one<<<x.size(0), 128, 4 * x.size(1), c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""


def main(rows: int = 20, columns: int = 500) -> None:
    extension = load_inline(
        "warploom_example",
        cpp_sources=BINDING,
        cuda_sources=SOURCE,
        extra_cuda_cflags=["-gencode", "arch=compute_90a,code=compute_90a"],
        no_implicit_headers=True,
    )
    torch.manual_seed(0)
    x = torch.randn(rows, columns).pin_memory()
    stream, began, ended = torch.cuda.Stream(), *(torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(stream):
        began.record()
        y = extension.run(x.to("cuda", non_blocking=True))
        result = torch.empty_like(x).copy_(y, non_blocking=True)
        ended.record()
    stream.synchronize()
    assert began.elapsed_time(ended) >= 0
    again = y.clone().cpu()
    wrong = int((result.numpy() != x.numpy() + 1).sum() + (again.numpy() != result.numpy()).sum())
    print(f"{x.numel()} elements, {wrong} of them wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
