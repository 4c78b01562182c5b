"""Script that writes the LLVM IR of small Triton kernels to a folder. The Python interpreter must have Triton."""

# pyright: basic

from __future__ import annotations

import re
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.exp(tl.load(x + i, mask=i < n)) * 2.0, mask=i < n)


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def matmul(a, b, c, k, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for s in range(0, k, B):
        acc += tl.dot(tl.load(a + i[:, None] * k + s + i[None, :]), tl.load(b + (s + i[:, None]) * B + i[None, :]))
    tl.store(c + i[:, None] * B + i[None, :], acc)


@triton.jit
def histogram(x, h, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(h + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@triton.jit
def scan(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.cumsum(tl.load(x + i, mask=i < n, other=0), 0), mask=i < n)


@triton.jit
def transpose(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tile = tl.load(x + i[:, None] * n + i[None, :])
    tl.store(y + i[:, None] * n + i[None, :], tl.trans(tile))


@triton.jit
def normalize(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.program_id(0) * n
    v = tl.load(x + row + i, mask=i < n, other=0.0)
    mean = tl.sum(v, 0) / n
    d = tl.where(i < n, v - mean, 0.0)
    tl.store(y + row + i, d * tl.rsqrt(tl.sum(d * d, 0) / n + 1e-5), mask=i < n)


KERNELS = {
    "scale": (scale, ("*fp32", "*fp32", "i32"), 256),
    "softmax": (softmax, ("*fp32", "*fp32", "i32"), 256),
    "matmul_f16": (matmul, ("*fp16", "*fp16", "*fp32", "i32"), 64),
    "matmul_tf32": (matmul, ("*fp32", "*fp32", "*fp32", "i32"), 32),
    "histogram": (histogram, ("*i32", "*i32", "i32"), 256),
    "scan": (scan, ("*i32", "*i32", "i32"), 256),
    "transpose": (transpose, ("*fp32", "*fp32", "i32"), 32),
    "normalize": (normalize, ("*fp32", "*fp32", "i32"), 256),
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, (kernel, types, block) in KERNELS.items():
        signature = {**dict(zip(kernel.arg_names, types, strict=False)), "B": "constexpr"}
        source = ASTSource(fn=kernel, signature=signature, constexprs={"B": block})
        made = triton.compile(source, target=GPUTarget("cuda", 90, 32))
        threads, shared = 32 * made.metadata.num_warps, made.metadata.shared
        head = f"; Triton {triton.__version__}: {threads} threads, {shared} bytes of dynamic shared memory\n"
        (folder / f"{name}.ll").write_text(head + re.sub(r'directory: "[^"]*"', 'directory: ""', made.asm["llir"]))
