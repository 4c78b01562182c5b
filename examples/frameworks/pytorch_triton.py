"""Triton kernel on PyTorch tensors, launched by Triton: `python examples/frameworks/pytorch_triton.py`.

The example needs PyTorch with CUDA and Triton. Without a GPU, run it with `warploom exec -- python …`.
"""

from __future__ import annotations

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm(x_ptr, y_ptr, weight_ptr, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row + at, mask=inside, other=0).to(tl.float32)
    centred = tl.where(inside, x - tl.sum(x, axis=0) / columns, 0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    weight = tl.load(weight_ptr + at, mask=inside)
    tl.store(y_ptr + row + at, centred * scale * weight, mask=inside)


def main(rows: int = 24, columns: int = 300) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(rows, columns), torch.rand(columns)
    y = torch.empty(rows, columns, device="cuda")
    layer_norm[(rows,)](x.cuda(), y, weight.cuda(), columns, 1e-5, BLOCK=triton.next_power_of_2(columns))
    expected = torch.nn.functional.layer_norm(x.double(), (columns,), weight.double(), eps=1e-5)
    error = (y.cpu() - expected).abs().max().item()
    print(f"layer norm of {rows}×{columns} elements differs by at most {error:.0e}")
    sys.exit(error > 1e-5)


if __name__ == "__main__":
    main()
