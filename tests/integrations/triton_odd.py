"""Triton kernels for special cases of the integration: hooks, unusual arguments, faults."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@triton.autotune(
    configs=[triton.Config({"BLOCK": 32}, num_warps=1), triton.Config({"BLOCK": 128}, num_warps=1)],
    key=["n"],
    restore_value=["x_ptr"],
)
@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


@triton.autotune(
    configs=[triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 64})], key=["n"], reset_to_zero=["sum_ptr"]
)
@triton.jit
def total(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(sum_ptr, tl.sum(tl.load(x_ptr + at, mask=at < n, other=0), axis=0))


@triton.jit
def scalars(out_ptr, none_ptr, whole, real, true, half: tl.float16, pair, FLAG: tl.constexpr):
    if none_ptr is None:
        tl.store(out_ptr, whole)
    tl.store(out_ptr + 1, real)
    tl.store(out_ptr + 2, true.to(tl.float32))
    tl.store(out_ptr + 3, half.to(tl.float32))
    tl.store(out_ptr + 4, pair[0] + tl.load(pair[1]))
    if FLAG:
        tl.store(out_ptr + 5, 1.0)


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x, mask=at < n)


@triton.jit
def copy_rows(x_ptr, out_ptr, pitch, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    tl.store(
        out_ptr + row * columns + at,
        tl.load(x_ptr + row * pitch + at, mask=at < columns),
        mask=at < columns,
    )


@triton.jit
def checked(x_ptr):
    tl.device_assert(tl.load(x_ptr) > 0, "expected a positive number")


@gluon.jit
def exchange(x_ptr, out_ptr, WIDTH: gl.constexpr):
    """Exchange the number of each thread with another thread through shared memory."""
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    turned: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.arange(0, WIDTH, layout)
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    held = gl.allocate_shared_memory(gl.float32, [WIDTH], shared, gl.load(x_ptr + at))
    gl.store(out_ptr + gl.arange(0, WIDTH, turned), held.load(turned))
