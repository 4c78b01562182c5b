"""Triton kernels on rows: softmax, norms, reductions, scans, sorts, histograms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import triton
import triton.language as tl

from warploom_lab.compiled.description import Case, buffer, out, scalar
from warploom_lab.compiled.triton.gemm import Request, for_blackwell, request


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + i, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=i < n)


@triton.jit
def softmax_online(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    m = tl.full((B,), -float("inf"), tl.float32)
    s = tl.zeros((B,), tl.float32)
    for k in range(0, n, B):
        v = tl.load(x + row * n + k + i, mask=k + i < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(m, v)
        s = s * tl.where(new == m, 1.0, tl.exp(m - new)) + tl.where(k + i < n, tl.exp(v - new), 0)
        m = new
    top = tl.max(m, 0)
    total = tl.sum(s * tl.exp(m - top), 0)
    for k in range(0, n, B):
        v = tl.load(x + row * n + k + i, mask=k + i < n, other=0).to(tl.float32)
        tl.store(y + row * n + k + i, (tl.exp(v - top) / total).to(y.dtype.element_ty), mask=k + i < n)


@triton.jit
def layernorm(x, w, b, y, mean, rstd, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=0).to(tl.float32)
    mu = tl.sum(v, 0) / n
    d = tl.where(i < n, v - mu, 0)
    r = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    tl.store(mean + row, mu)
    tl.store(rstd + row, r)
    tl.store(
        y + row * n + i,
        (d * r * tl.load(w + i, mask=i < n) + tl.load(b + i, mask=i < n)).to(y.dtype.element_ty),
        mask=i < n,
    )


@triton.jit
def rmsnorm(x, w, y, n, eps, B: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.arange(0, B)
    at = row[:, None] * n + i[None, :]
    v = tl.load(x + at, mask=i[None, :] < n, other=0).to(tl.float32)
    r = tl.rsqrt(tl.sum(v * v, 1) / n + eps)
    tl.store(
        y + at,
        (v * r[:, None] * tl.load(w + i, mask=i < n, other=0)[None, :]).to(y.dtype.element_ty),
        mask=i[None, :] < n,
    )


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def linear(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def reduce_rows(x, y, R: tl.constexpr, C: tl.constexpr, OP: tl.constexpr, AXIS: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    if AXIS == 1:
        o = r
    else:
        o = c
    if OP == "sum":
        tl.store(y + o, tl.sum(v, AXIS))
    if OP == "max":
        tl.store(y + o, tl.max(v, AXIS))
    if OP == "min":
        tl.store(y + o, tl.min(v, AXIS))
    if OP == "xor":
        tl.store(y + o, tl.xor_sum(v, AXIS))
    if OP == "argmax":
        tl.store(y + o, tl.argmax(v, AXIS))
    if OP == "argmin":
        tl.store(y + o, tl.argmin(v, AXIS))
    if OP == "prod":
        tl.store(y + o, tl.reduce(v, AXIS, multiply))


@triton.jit
def scan_rows(x, z, y, R: tl.constexpr, C: tl.constexpr, OP: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    v = tl.load(x + at)
    if OP == "cumsum":
        tl.store(y + at, tl.cumsum(v, AXIS))
    if OP == "reverse":
        tl.store(y + at, tl.cumsum(v, AXIS, reverse=True))
    if OP == "cumprod":
        tl.store(y + at, tl.cumprod(v, AXIS))
    if OP == "linear":
        _, second = tl.associative_scan((v, tl.load(z + at)), AXIS, linear)
        tl.store(y + at, second)
    if OP == "sort":
        tl.store(y + at, tl.sort(v, AXIS))
    if OP == "sort_down":
        tl.store(y + at, tl.sort(v, AXIS, descending=True))
    if OP == "flip":
        tl.store(y + at, tl.flip(v, AXIS))
    if OP == "gather":
        tl.store(y + at, tl.gather(v, tl.load(z + at), AXIS))
    if OP == "transpose":
        tl.store(y + tl.arange(0, C)[:, None] * R + tl.arange(0, R)[None, :], tl.trans(v))
    if OP == "interleave":
        low, high = tl.split(tl.reshape(v, (R, C // 2, 2)))
        tl.store(y + at, tl.reshape(tl.join(high, low), (R, C)))


@triton.jit
def histogram(x, y, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(y + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, N)), BINS))


@triton.jit
def topk(x, y, N: tl.constexpr, K: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * N + tl.arange(0, N)[None, :])
    tl.store(y + tl.program_id(0) * K + tl.arange(0, K)[None, :], tl.topk(v, K, 1))


NEAR = {"fp32": (1e-5, 1e-6), "fp16": (2e-3, 1e-4), "bf16": (1e-2, 1e-3), "fp64": (1e-12, 1e-12)}


def _softmax(fn: Any, name: str, target: int, dtype: str, n: int, block: int, warps: int = 4) -> Request:
    case = Case(
        f"{fn.__name__}_{name}", "softmax", {"x": buffer(dtype, 5, n), "y": out(dtype, 5, n), "n": scalar("i32", n)},
        (5,), kind="rows", tolerance=NEAR[dtype],
    )  # fmt: skip
    return request(fn, target, case, warps, B=block)


def _norms(target: int, dtype: str, n: int, block: int) -> Iterator[Request]:
    near, least = NEAR[dtype]
    x, w, y = buffer(dtype, 8, n), buffer("fp32", n), out(dtype, 8, n)
    numbers = {"n": scalar("i32", n), "eps": scalar("fp32", 1e-5)}
    case = Case(
        f"layernorm_{dtype}", "layernorm",
        {"x": buffer(dtype, 4, n), "w": w, "b": w, "y": out(dtype, 4, n), "mean": out("fp32", 4), "rstd": out("fp32", 4), **numbers},
        (4,), kind="rows", tolerance=(near, 10 * least),
    )  # fmt: skip
    yield request(layernorm, target, case, B=block)
    case = Case(
        f"rmsnorm_{dtype}", "rmsnorm", {"x": x, "w": w, "y": y, **numbers}, (4,), kind="rows", tolerance=NEAR[dtype]
    )
    yield request(rmsnorm, target, case, B=block, ROWS=2)


def _blackwell() -> Iterator[Request]:
    for target, dtype, n, block in ((100, "bf16", 768, 1024), (103, "fp16", 300, 512), (120, "fp32", 200, 512)):
        yield from _norms(target, dtype, n, block)
        yield _softmax(softmax, dtype, target, dtype, n, 1024)


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    yield from for_blackwell(_blackwell())
    for fn, dtype, n, block, warps, target in (
        (softmax, "fp32", 100, 128, 1, 80), (softmax, "fp16", 1000, 1024, 4, 90), (softmax, "bf16", 37, 64, 2, 89),
        (softmax, "fp32", 2500, 4096, 8, 120), (softmax_online, "fp32", 300, 128, 4, 90),
        (softmax_online, "bf16", 200, 64, 2, 80),
    ):  # fmt: skip
        yield _softmax(fn, f"{dtype}_{n}", target, dtype, n, block, warps)
    for target, dtype, n, block in ((80, "fp32", 200, 256), (90, "fp16", 96, 256), (120, "bf16", 768, 1024)):
        yield from _norms(target, dtype, n, block)
    reductions = (
        ("sum", "fp32", 1, 80), ("sum", "fp16", 0, 90), ("sum", "i8", 1, 80), ("sum", "i64", 0, 90), ("max", "fp32", 0, 90),
        ("max", "i16", 1, 80), ("min", "bf16", 1, 90), ("min", "u8", 0, 89), ("xor", "i32", 1, 80), ("argmax", "fp32", 1, 90),
        ("argmin", "i32", 0, 80), ("prod", "fp64", 1, 90), ("max", "fp64", 0, 120), ("sum", "i32", 1, 80), ("max", "i32", 1, 90),
        ("argmax", "fp16", 0, 80), ("min", "i64", 1, 120),
    )  # fmt: skip
    for op, dtype, axis, target in reductions:
        rows, columns = 16, 64
        integer = dtype[0] in "iu"
        result = "i32" if op.startswith("arg") or dtype in ("i8", "i16", "u8") else dtype
        case = Case(
            f"reduce_{op}_{dtype}_{axis}", "reduce",
            {"x": buffer(dtype, rows, columns, fill="bits" if integer else "normal"), "y": out(result, rows if axis else columns)},
            kind="rows", tolerance=(0, 0) if integer or op[:3] in ("max", "min", "arg") else (1e-4, 5e-2 if dtype == "fp16" else 1e-4),
            parameters={"op": op, "axis": axis},
        )  # fmt: skip
        yield request(reduce_rows, target, case, R=rows, C=columns, OP=op, AXIS=axis)
    scans = (
        ("cumsum", "fp32", 1, 80), ("cumsum", "i32", 0, 90), ("reverse", "i64", 1, 80), ("cumprod", "fp32", 1, 90),
        ("linear", "fp32", 1, 90), ("sort", "fp32", 1, 80), ("sort", "i16", 1, 90), ("sort_down", "i32", 1, 89),
        ("flip", "i8", 1, 80), ("gather", "fp32", 1, 90), ("gather", "fp16", 0, 80), ("transpose", "fp16", 1, 90),
        ("transpose", "i8", 1, 80), ("interleave", "bf16", 1, 90), ("transpose", "fp64", 1, 90),
    )  # fmt: skip
    for op, dtype, axis, target in scans:
        rows, columns = 16, 32
        integer = dtype[0] in "iu"
        second = (
            buffer("i32", rows, columns, fill="integers", low=0, high=columns if axis else rows) if op == "gather"
            else buffer("fp32", rows, columns)
        )  # fmt: skip
        case = Case(
            f"scan_{op}_{dtype}_{axis}", "scan",
            {"x": buffer(dtype, rows, columns, fill="bits" if integer else "uniform", low=0.5, high=1.5), "z": second,
             "y": out(dtype, *((columns, rows) if op == "transpose" else (rows, columns)))},
            kind="rows", tolerance=(1e-4, 1e-4) if op in ("cumsum", "cumprod", "linear") and not integer else (0, 0),
            parameters={"op": op, "axis": axis},
        )  # fmt: skip
        yield request(scan_rows, target, case, warps=2, R=rows, C=columns, OP=op, AXIS=axis)
    for target, count, bins in ((80, 512, 64), (90, 1024, 16)):
        case = Case(
            f"histogram_{bins}", "histogram", {"x": buffer("i32", count, fill="integers", low=0, high=bins), "y": out("i32", bins)},
            kind="rows",
        )  # fmt: skip
        yield request(histogram, target, case, N=count, BINS=bins)
    case = Case("topk", "topk", {"x": buffer("fp32", 3, 128), "y": out("fp32", 3, 8)}, (3,), kind="rows")
    yield request(topk, 90, case, N=128, K=8)
