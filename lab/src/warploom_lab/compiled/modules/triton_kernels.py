"""Script that compiles small Triton kernels for several targets into a folder.

The Python interpreter must have Triton.
"""

from __future__ import annotations

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(y + i, tl.exp(tl.load(x + i, mask=m).to(tl.float32)) * 2.0, mask=m)


@triton.jit
def rows(x, y, n, B: tl.constexpr):
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


KERNELS = (
    (scale, {"x": "*fp32", "y": "*fp32", "n": "i32"}, 256),
    (scale, {"x": "*fp16", "y": "*fp16", "n": "i32"}, 512),
    (rows, {"x": "*fp32", "y": "*fp32", "n": "i32"}, 1024),
    (matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32"}, 64),
    (matmul, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "k": "i32"}, 32),
    (histogram, {"x": "*i32", "h": "*i32", "n": "i32"}, 256),
)

folder = Path(sys.argv[1])
for number, (kernel, signature, block) in enumerate(KERNELS):
    for cc in (80, 89, 90, 100, 120):
        source = ASTSource(fn=kernel, signature={**signature, "B": "constexpr"}, constexprs={"B": block})
        text = triton.compile(source, target=GPUTarget("cuda", cc, 32)).asm["ptx"]
        (folder / f"triton_{kernel.__name__}{number}_sm{cc}.ptx").write_text(text, newline="")
