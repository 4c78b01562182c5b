"""Triton: a softmax and a matrix product with tensor descriptors, whose PTX is in Triton's cache."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    """Compute the softmax of a row."""
    row, offsets = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + offsets, offsets < columns, -float("inf"))
    values = tl.exp(values - tl.max(values, 0))
    tl.store(y + row * columns + offsets, values / tl.sum(values, 0), offsets < columns)


@triton.jit
def product(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Multiply a row of tiles with a column of tiles."""
    i, j = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        total = tl.dot(a.load([i, start]), b.load([start, j]), total)
    c.store([i, j], total.to(tl.float16))


torch.manual_seed(0)
x = torch.randn(20, 300).cuda()
y = torch.empty_like(x)
for _ in range(2):
    softmax[(20,)](x, y, 300, BLOCK=512)
a, b = torch.randn(128, 128).half().cuda(), torch.randn(128, 128).half().cuda()
c = torch.empty(128, 128, dtype=torch.float16, device="cuda")
tiles = [TensorDescriptor.from_tensor(each, [64, 64]) for each in (a, b, c)]
product[(2, 2)](*tiles, 128, M=64, N=64, K=64)
print(float(y.sum()), float(c.float().abs().sum()))
