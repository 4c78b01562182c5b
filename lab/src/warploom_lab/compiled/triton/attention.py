"""Triton attention kernels, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator

import triton
import triton.language as tl

from warploom_lab.compiled.description import Case, buffer, out, scalar, tensor
from warploom_lab.compiled.triton.gemm import Request, for_blackwell, request


@triton.jit
def attention(
    q,
    k,
    v,
    o,
    lse,
    scale,
    N,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
):
    start = tl.program_id(0) * BM
    head = tl.program_id(1).to(tl.int64)
    q += head * N * D
    k += head * N * D
    v += head * N * D
    o += head * N * D
    rm = start + tl.arange(0, BM)
    rd = tl.arange(0, D)
    tq = tl.load(q + rm[:, None] * D + rd[None, :], mask=rm[:, None] < N, other=0.0)
    m = tl.full((BM,), -float("inf"), tl.float32)
    s = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    first = 0
    last = N
    if CAUSAL:
        last = min(start + BM, N)
    if WINDOW > 0:
        first = max(start - WINDOW + 1, 0) // BN * BN
    for n in range(first, last, BN):
        rn = n + tl.arange(0, BN)
        tk = tl.load(k + rn[None, :] * D + rd[:, None], mask=rn[None, :] < N, other=0.0)
        x = tl.dot(tq, tk) * (scale * 1.4426950408889634)
        keep = rn[None, :] < N
        if CAUSAL:
            keep = keep & (rn[None, :] <= rm[:, None])
        if WINDOW > 0:
            keep = keep & (rn[None, :] > rm[:, None] - WINDOW)
        x = tl.where(keep, x, -1.0e30)
        new = tl.maximum(m, tl.max(x, 1))
        p = tl.exp2(x - new[:, None])
        a = tl.exp2(m - new)
        s = s * a + tl.sum(p, 1)
        acc = acc * a[:, None]
        tv = tl.load(v + rn[:, None] * D + rd[None, :], mask=rn[:, None] < N, other=0.0)
        acc = tl.dot(p.to(tv.dtype), tv, acc)
        m = new
    tl.store(o + rm[:, None] * D + rd[None, :], (acc / s[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < N)
    tl.store(lse + head * N + rm, m + tl.log2(s), mask=rm < N)


@triton.jit
def attention_tensor(qd, kd, vd, od, scale, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, WS: tl.constexpr):
    start = tl.program_id(0) * BM
    row = tl.program_id(1) * N
    tq = qd.load([row + start, 0])
    m = tl.full((BM,), -float("inf"), tl.float32)
    s = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in tl.range(0, N, BN, warp_specialize=WS):
        x = tl.dot(tq, kd.load([row + n, 0]).T) * (scale * 1.4426950408889634)
        new = tl.maximum(m, tl.max(x, 1))
        p = tl.exp2(x - new[:, None])
        a = tl.exp2(m - new)
        s = s * a + tl.sum(p, 1)
        acc = acc * a[:, None]
        acc = tl.dot(p.to(qd.dtype), vd.load([row + n, 0]), acc)
        m = new
    od.store([row + start, 0], (acc / s[:, None]).to(od.dtype))


@triton.jit
def attention_backward(
    q,
    k,
    v,
    do,
    lse,
    delta,
    dq,
    dk,
    dv,
    scale,
    N,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    start = tl.program_id(0) * BN
    rn = start + tl.arange(0, BN)
    rd = tl.arange(0, D)
    tk = tl.load(k + rn[:, None] * D + rd[None, :])
    tv = tl.load(v + rn[:, None] * D + rd[None, :])
    adk = tl.zeros((BN, D), tl.float32)
    adv = tl.zeros((BN, D), tl.float32)
    first = 0
    if CAUSAL:
        first = start // BM * BM
    for m in range(first, N, BM):
        rm = m + tl.arange(0, BM)
        tq = tl.load(q + rm[:, None] * D + rd[None, :])
        tdo = tl.load(do + rm[:, None] * D + rd[None, :])
        x = tl.dot(tk, tl.trans(tq)) * (scale * 1.4426950408889634)
        p = tl.exp2(x - tl.load(lse + rm)[None, :])
        if CAUSAL:
            p = tl.where(rm[None, :] >= rn[:, None], p, 0.0)
        adv += tl.dot(p.to(tdo.dtype), tdo)
        dp = tl.dot(tv, tl.trans(tdo))
        ds = (p * (dp - tl.load(delta + rm)[None, :]) * scale).to(tq.dtype)
        adk += tl.dot(ds, tq)
        tl.atomic_add(dq + rm[:, None] * D + rd[None, :], tl.dot(tl.trans(ds), tk))
    tl.store(dk + rn[:, None] * D + rd[None, :], adk)
    tl.store(dv + rn[:, None] * D + rd[None, :], adv)


@triton.jit
def decode(q, k, v, o, table, lengths, scale, D: tl.constexpr, PAGE: tl.constexpr, PAGES: tl.constexpr):
    head = tl.program_id(0)
    rd = tl.arange(0, D)
    rp = tl.arange(0, PAGE)
    tq = tl.load(q + head * D + rd).to(tl.float32)
    length = tl.load(lengths + head)
    m = -float("inf")
    s = 0.0
    acc = tl.zeros((D,), tl.float32)
    n = 0
    while n < length:
        page = tl.load(table + head * PAGES + n // PAGE)
        at = (page * PAGE + rp)[:, None] * D + rd[None, :]
        keep = n + rp < length
        x = tl.sum(tl.load(k + at, mask=keep[:, None], other=0).to(tl.float32) * tq[None, :], 1) * scale
        x = tl.where(keep, x, -1.0e30)
        new = tl.maximum(m, tl.max(x, 0))
        p = tl.exp(x - new)
        a = tl.exp(m - new)
        s = s * a + tl.sum(p, 0)
        acc = acc * a + tl.sum(tl.load(v + at, mask=keep[:, None], other=0).to(tl.float32) * p[:, None], 0)
        m = new
        n += PAGE
    tl.store(o + head * D + rd, acc / s)


def _forward(
    name: str, target: int, dtype: str, heads: int, n: int, d: int, bm: int, bn: int, causal: bool, window: int, warps: int
) -> Request:  # fmt: skip
    """Return the request for attention of `n` positions, in tiles of `bm` queries and `bn` keys."""
    result = "fp32" if dtype.startswith("fp8") else dtype
    near = {"fp16": (1e-2, 3e-3), "bf16": (2e-2, 2e-2), "fp32": (0.1, 0.1)}[result]
    case = Case(
        f"attention_{name}", "attention",
        {**{word: buffer(dtype, heads, n, d) for word in "qkv"}, "o": out(result, heads, n, d), "lse": out("fp32", heads, n),
         "scale": scalar("fp32", d**-0.5), "N": scalar("i32", n)},
        (-(-n // bm), heads), kind="attention", tolerance=near, parameters={"causal": causal, "window": window},
    )  # fmt: skip
    return request(attention, target, case, warps, D=d, BM=bm, BN=bn, CAUSAL=causal, WINDOW=window)


def _through_tensors(target: int, heads: int, bm: int, special: bool) -> Request:
    """Return the request for attention of 256 positions of all `heads`, in tiles of `bm` queries and 64 keys."""
    n = 256 // heads
    queries, keys = {"box": (bm, 64)}, {"box": (64, 64)}
    case = Case(
        f"attention_tensor{'_ws' * special}", "attention",
        {"qd": tensor("fp16", 256, 64, **queries), "kd": tensor("fp16", 256, 64, **keys), "vd": tensor("fp16", 256, 64, **keys),
         "od": tensor("fp16", 256, 64, **queries, fill="zeros", checked=True), "scale": scalar("fp32", 0.125), "N": scalar("i32", n)},
        (n // bm, heads), kind="attention", tolerance=(1e-2, 3e-3), parameters={"heads": heads},
    )  # fmt: skip
    return request(attention_tensor, target, case, D=64, BM=bm, BN=64, WS=special)


def _blackwell() -> Iterator[Request]:
    yield _forward("f16_d64", 100, "fp16", 1, 256, 64, 128, 64, False, 0, 4)
    yield _forward("bf16_d128_causal", 100, "bf16", 1, 256, 128, 128, 64, True, 0, 8)
    yield _forward("f16_d64_causal_ragged", 103, "fp16", 1, 201, 64, 128, 64, True, 0, 4)
    yield _forward("e5m2_d64", 100, "fp8e5", 1, 256, 64, 128, 64, False, 0, 4)
    yield _forward("bf16_d64", 120, "bf16", 1, 128, 64, 128, 64, True, 0, 4)
    for target, special in ((100, False), (100, True), (103, True)):
        yield _through_tensors(target, 1, 128, special)


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    yield from for_blackwell(_blackwell())
    yield _forward("f16_d32", 80, "fp16", 2, 64, 32, 32, 32, False, 0, 2)
    yield _forward("bf16_d64_causal", 80, "bf16", 1, 128, 64, 64, 32, True, 0, 4)
    yield _forward("f16_d64_causal_ragged", 90, "fp16", 1, 101, 64, 64, 64, True, 0, 4)
    yield _forward("bf16_d128_window", 90, "bf16", 1, 128, 128, 64, 64, True, 40, 8)
    yield _forward("f16_d128", 89, "fp16", 1, 64, 128, 64, 32, False, 0, 4)
    yield _forward("e5m2_d64", 90, "fp8e5", 1, 128, 64, 64, 64, False, 0, 4)
    yield _forward("e4m3_d64", 89, "fp8e4nv", 1, 64, 64, 32, 32, False, 0, 4)
    yield _forward("f16_d64", 120, "fp16", 1, 128, 64, 64, 64, True, 0, 4)
    for special in (False, True):
        yield _through_tensors(90, 2, 64, special)
    for target, dtype, causal in ((80, "fp16", False), (90, "bf16", True)):
        n, d = 64, 32
        case = Case(
            f"attention_backward_{dtype}", "attention_backward",
            {**{word: buffer(dtype, n, d) for word in ("q", "k", "v", "do")}, "lse": buffer("fp32", n, fill="derived"),
             "delta": buffer("fp32", n, fill="derived"), **{word: out("fp32", n, d) for word in ("dq", "dk", "dv")},
             "scale": scalar("fp32", d**-0.5), "N": scalar("i32", n)},
            (2,), kind="attention", tolerance=(3e-2, 3e-2), parameters={"causal": causal},
        )  # fmt: skip
        yield request(attention_backward, target, case, D=d, BM=32, BN=32, CAUSAL=causal)
    case = Case(
        "attention_decode_paged", "attention_decode",
        {"q": buffer("bf16", 3, 64), "k": buffer("bf16", 12, 16, 64), "v": buffer("bf16", 12, 16, 64), "o": out("fp32", 3, 64),
         "table": buffer("i32", 3, 4, fill="values", values=[7, 2, 9, 0, 1, 3, 5, 4, 11, 10, 8, 6]),
         "lengths": buffer("i32", 3, fill="values", values=[50, 17, 64]), "scale": scalar("fp32", 0.125)},
        (3,), kind="attention", tolerance=(1e-3, 1e-4),
    )  # fmt: skip
    yield request(decode, 80, case, D=64, PAGE=16, PAGES=4)
