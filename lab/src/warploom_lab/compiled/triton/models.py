"""Triton kernels of neural networks: grouped products, packed weights, convolutions, gradients."""

from __future__ import annotations

from collections.abc import Iterator

import triton
import triton.language as tl

from warploom_lab.compiled.description import Case, buffer, out, scalar, table
from warploom_lab.compiled.triton.gemm import Request, request


@triton.jit
def split_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    pid = tl.program_id(0)
    rm = pid // (N // BN) * BM + tl.arange(0, BM)
    rn = pid % (N // BN) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.program_id(1) * BK, K, BK * SPLIT):
        rk = k + tl.arange(0, BK)
        acc = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]), acc)
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc, sem="relaxed")


@triton.jit
def stream_k(a, b, c, locks, M, N, K, per, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    steps = K // BK
    at = tl.program_id(0) * per
    last = tl.minimum(at + per, (M // BM) * (N // BN) * steps)
    while at < last:
        tile = at // steps
        end = tl.minimum((tile + 1) * steps, last)
        rm = tile // (N // BN) * BM + tl.arange(0, BM)
        rn = tile % (N // BN) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        first = at % steps == 0
        whole = end - at == steps
        for step in range(at - tile * steps, end - tile * steps):
            rk = step * BK + tl.arange(0, BK)
            acc = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]), acc)
        where = c + rm[:, None] * N + rn[None, :]
        if whole:
            tl.store(where, acc)
        elif first:
            tl.store(where, acc)
            tl.debug_barrier()
            tl.atomic_xchg(locks + tile, 1, sem="release")
        else:
            while tl.atomic_cas(locks + tile, 1, 1, sem="acquire") != 1:
                pass
            tl.debug_barrier()
            tl.atomic_add(where, acc, sem="relaxed")
        at = end


@triton.jit
def grouped(a, b, c, sizes, N, K, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    done = 0
    row = 0
    for g in range(groups):
        m = tl.load(sizes + g)
        tiles = tl.cdiv(m, BM) * (N // BN)
        while tile < done + tiles:
            t = tile - done
            rm = t // (N // BN) * BM + tl.arange(0, BM)
            rn = t % (N // BN) * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), tl.float32)
            for k in range(0, K, BK):
                rk = k + tl.arange(0, BK)
                ta = tl.load(a + (row + rm)[:, None] * K + rk[None, :], mask=rm[:, None] < m, other=0)
                acc = tl.dot(ta, tl.load(b + g * K * N + rk[:, None] * N + rn[None, :]), acc)
            tl.store(c + (row + rm)[:, None] * N + rn[None, :], acc, mask=rm[:, None] < m)
            tile += tl.num_programs(0)
        done += tiles
        row += m


@triton.jit
def grouped_tables(
    a, b, c, sizes, strides, groups, NUM_SM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Multiply several pairs of matrices, whose addresses, sizes and strides are in tables, as in Triton's tutorial."""
    tile = tl.program_id(0)
    done = 0
    for g in range(groups):
        gm = tl.load(sizes + g * 3)
        gn = tl.load(sizes + g * 3 + 1)
        gk = tl.load(sizes + g * 3 + 2)
        across = tl.cdiv(gn, BN)
        tiles = tl.cdiv(gm, BM) * across
        while tile >= done and tile < done + tiles:
            lda = tl.load(strides + g * 3)
            ldb = tl.load(strides + g * 3 + 1)
            ldc = tl.load(strides + g * 3 + 2)
            pa = tl.load(a + g).to(tl.pointer_type(tl.float16))
            pb = tl.load(b + g).to(tl.pointer_type(tl.float16))
            pc = tl.load(c + g).to(tl.pointer_type(tl.float16))
            t = tile - done
            rm = t // across * BM + tl.arange(0, BM)
            rn = t % across * BN + tl.arange(0, BN)
            rk = tl.arange(0, BK)
            at_a = pa + rm[:, None] * lda + rk[None, :]
            at_b = pb + rk[:, None] * ldb + rn[None, :]
            acc = tl.zeros((BM, BN), tl.float32)
            for _ in range(tl.cdiv(gk, BK)):
                tl.multiple_of(at_a, [16, 16])
                tl.multiple_of(at_b, [16, 16])
                acc += tl.dot(tl.load(at_a), tl.load(at_b))
                at_a += BK
                at_b += BK * ldb
            tl.store(pc + ldc * rm[:, None] + rn[None, :], acc.to(tl.float16))
            tile += NUM_SM
        done += tiles


@triton.jit
def packed(a, b, s, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FP8: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        ta = tl.load(a + rm[:, None] * K + rk[None, :])
        if FP8:
            tb = tl.load(b + rk[:, None] * N + rn[None, :]).to(tl.float32)
        else:
            word = tl.load(b + (rk // 2)[:, None] * N + rn[None, :])
            tb = ((word >> (rk % 2 * 4)[:, None].to(tl.uint8)) & 15).to(tl.float32) - 8
        scale = tl.load(s + (k // 32) * N + rn)
        acc = tl.dot(ta, (tb * scale[None, :]).to(ta.dtype), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def conv2d(x, w, y, H, W, C: tl.constexpr, F: tl.constexpr, BM: tl.constexpr):
    p = tl.program_id(0) * BM + tl.arange(0, BM)
    rc = tl.arange(0, C)
    rf = tl.arange(0, F)
    acc = tl.zeros((BM, F), tl.float32)
    for tap in range(9):
        i = p // W + tap // 3 - 1
        j = p % W + tap % 3 - 1
        keep = (i >= 0) & (i < H) & (j >= 0) & (j < W)
        tx = tl.load(x + (i * W + j)[:, None] * C + rc[None, :], mask=keep[:, None], other=0)
        acc = tl.dot(tx, tl.load(w + tap * C * F + rc[:, None] * F + rf[None, :]), acc)
    tl.store(y + p[:, None] * F + rf[None, :], acc, mask=p[:, None] < H * W)


@triton.jit
def rope(x, cos, sin, y, N, D: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, D // 2)
    c = tl.load(cos + row % N * (D // 2) + i)
    s = tl.load(sin + row % N * (D // 2) + i)
    low = tl.load(x + row * D + i).to(tl.float32)
    high = tl.load(x + row * D + D // 2 + i).to(tl.float32)
    tl.store(y + row * D + i, low * c - high * s)
    tl.store(y + row * D + D // 2 + i, high * c + low * s)


@triton.jit
def rope_in_place(x, cos, sin, N, D: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, D)
    v = tl.load(x + row * D + i)
    other = tl.load(x + row * D + (i + D // 2) % D)
    c = tl.load(cos + row % N * (D // 2) + i % (D // 2))
    s = tl.load(sin + row % N * (D // 2) + i % (D // 2))
    tl.debug_barrier()
    tl.store(x + row * D + i, v * c + tl.where(i < D // 2, -other, other) * s)


@triton.jit
def layernorm_backward(x, dy, w, dx, dw, locks, n, eps, ROWS: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    keep = i < n
    tw = tl.load(w + i, mask=keep, other=0)
    total = tl.zeros((B,), tl.float32)
    for r in range(ROWS):
        row = tl.program_id(0) * ROWS + r
        v = tl.load(x + row * n + i, mask=keep, other=0)
        g = tl.load(dy + row * n + i, mask=keep, other=0)
        mean = tl.sum(v, 0) / n
        d = tl.where(keep, v - mean, 0)
        rstd = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
        h = d * rstd
        wg = tw * g
        c1 = tl.sum(h * wg, 0) / n
        c2 = tl.sum(wg, 0) / n
        tl.store(dx + row * n + i, (wg - h * c1 - c2) * rstd, mask=keep)
        total += g * h
    slot = tl.program_id(0) % 2
    while tl.atomic_cas(locks + slot, 0, 1) == 1:
        pass
    total += tl.load(dw + slot * n + i, mask=keep, other=0)
    tl.store(dw + slot * n + i, total, mask=keep)
    tl.debug_barrier()
    tl.atomic_xchg(locks + slot, 0)


@triton.jit
def cross_entropy(x, label, loss, dx, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    top = tl.max(v, 0)
    e = tl.exp(v - top)
    s = tl.sum(e, 0)
    at = tl.load(label + row)
    tl.store(loss + row, top + tl.log(s) - tl.load(x + row * n + at))
    tl.store(dx + row * n + i, e / s - tl.where(i == at, 1.0, 0.0), mask=i < n)


@triton.jit
def welford(a_mean, a_m2, a_n, b_mean, b_m2, b_n):
    n = a_n + b_n
    d = b_mean - a_mean
    part = tl.where(n == 0, 0.0, b_n / n)
    return a_mean + d * part, a_m2 + b_m2 + d * d * a_n * part, n


@triton.jit
def group_norm(x, mean, var, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=0)
    m, m2, count = tl.reduce((v, tl.zeros_like(v), (i < n).to(tl.float32)), 0, welford)
    tl.store(mean + row, m)
    tl.store(var + row, m2 / count)


@triton.jit
def embedding_backward(at, dy, dw, D: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.arange(0, D)
    g = tl.load(dy + r[:, None] * D + c[None, :])
    tl.atomic_add(dw + tl.load(at + r)[:, None] * D + c[None, :], g)


@triton.jit
def histogram_grid(x, y, n, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    count = tl.histogram(tl.load(x + i, mask=i < n, other=0), BINS, mask=i < n)
    tl.atomic_add(y + tl.arange(0, BINS), count)


@triton.jit
def look_back(x, y, sums, flags, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.cumsum(tl.load(x + i), 0)
    before = 0
    if pid > 0:
        while tl.atomic_add(flags + pid - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(sums + pid - 1)
    tl.store(sums + pid, before + tl.sum(tl.load(x + i), 0))
    tl.debug_barrier()
    tl.atomic_xchg(flags + pid, 1, sem="release")
    tl.store(y + i, v + before)


@triton.jit
def decode_split(q, k, v, part, top, total, scale, N, D: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    at = (head * N + n)[:, None] * D + d[None, :]
    x = tl.sum(tl.load(k + at).to(tl.float32) * tl.load(q + head * D + d).to(tl.float32)[None, :], 1) * scale
    m = tl.max(x, 0)
    p = tl.exp(x - m)
    where = head * tl.num_programs(1) + tl.program_id(1)
    tl.store(top + where, m)
    tl.store(total + where, tl.sum(p, 0))
    tl.store(part + where * D + d, tl.sum(tl.load(v + at).to(tl.float32) * p[:, None], 0))


@triton.jit
def swiglu(a, b, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    g = tl.load(a + i, mask=i < n, other=0).to(tl.float32)
    tl.store(y + i, g / (1 + tl.exp(-g)) * tl.load(b + i, mask=i < n, other=0), mask=i < n)


@triton.jit
def sort_pairs(x, y, at, N: tl.constexpr):
    i = tl.arange(0, N)
    both = tl.sort((tl.load(x + tl.program_id(0) * N + i).to(tl.int64) << 32) | i, 0)
    tl.store(y + tl.program_id(0) * N + i, (both >> 32).to(tl.int32))
    tl.store(at + tl.program_id(0) * N + i, both.to(tl.int32))


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    for dtype, target, warps in (("fp16", 80, 4), ("bf16", 90, 4), ("fp16", 90, 8)):
        m, n, k = 64, 64, 128
        args = {"a": buffer(dtype, m, k), "b": buffer(dtype, k, n), "c": out("fp32", m, n)}
        numbers = {"M": scalar("i32", m), "N": scalar("i32", n), "K": scalar("i32", k)}
        tile = {"BM": 64 if warps == 8 else 32, "BN": 32, "BK": 32}
        parts = m // tile["BM"] * n // tile["BN"]
        near = {"kind": "models", "tolerance": (1e-2, 2e-2)}
        case = Case(
            f"split_k_{dtype}_{warps}w",
            "matmul",
            {**args, **numbers},
            (parts, 2),
            parameters={"layout": "nn", "unordered": ["c"]},
            **near,
        )
        yield request(split_k, target, case, warps, **tile, SPLIT=2)
        case = Case(
            f"stream_k_{dtype}_{warps}w", "matmul",
            {**args, "locks": buffer("i32", parts, fill="zeros"), **numbers, "per": scalar("i32", 3)},
            (-(-parts * 4 // 3),), parameters={"layout": "nn", "unordered": ["c"]}, **near,
        )  # fmt: skip
        yield request(stream_k, target, case, warps, **tile)
        case = Case(
            f"grouped_{dtype}_{warps}w", "grouped",
            {"a": buffer(dtype, 112, 64), "b": buffer(dtype, 3, 64, 64), "c": out("fp32", 112, 64),
             "sizes": buffer("i32", 3, fill="values", values=[40, 64, 8]), "N": scalar("i32", 64), "K": scalar("i32", 64),
             "groups": scalar("i32", 3)}, (3,), **near,
        )  # fmt: skip
        yield request(grouped, target, case, warps, BM=32, BN=32, BK=32)
        if dtype == "fp16":
            shapes = ((64, 32, 32), (32, 64, 96), (96, 32, 64))
            case = Case(
                f"grouped_tables_{warps}w", "grouped_tables",
                {"a": table(dtype, *((m, k) for m, n, k in shapes)), "b": table(dtype, *((k, n) for m, n, k in shapes)),
                 "c": table(dtype, *((m, n) for m, n, k in shapes), fill="zeros", checked=True),
                 "sizes": buffer("i32", 9, fill="values", values=[size for shape in shapes for size in shape]),
                 "strides": buffer("i32", 9, fill="values", values=[each for m, n, k in shapes for each in (k, n, n)]),
                 "groups": scalar("i32", 3)}, (4,), **near,
            )  # fmt: skip
            yield request(grouped_tables, target, case, warps, NUM_SM=4, BM=32, BN=32, BK=32)
        for fp8 in (False, True):
            weights = buffer("fp8e5", k, n) if fp8 else buffer("u8", k // 2, n, fill="bits")
            case = Case(
                f"packed_{'fp8' if fp8 else 'int4'}_{dtype}_{warps}w", "packed",
                {"a": buffer(dtype, m, k), "b": weights, "s": buffer("fp32", k // 32, n, fill="uniform", low=0.5, high=1.5),
                 "c": out("fp32", m, n), **numbers}, (2, 2), parameters={"fp8": fp8}, kind="models", tolerance=(3e-2, 1.0),
            )  # fmt: skip
            yield request(packed, target, case, warps, BM=32, BN=32, BK=32, FP8=fp8)
    for dtype, target in (("fp16", 80), ("bf16", 90)):
        case = Case(
            f"conv2d_{dtype}", "conv2d",
            {"x": buffer(dtype, 9, 11, 16), "w": buffer(dtype, 9, 16, 32), "y": out("fp32", 99, 32), "H": scalar("i32", 9),
             "W": scalar("i32", 11)}, (4,), kind="models", tolerance=(1e-2, 2e-2),
        )  # fmt: skip
        yield request(conv2d, target, case, C=16, F=32, BM=32)
        tables = {word: buffer("fp32", 4, 32, fill="uniform", low=-1, high=1) for word in ("cos", "sin")}
        case = Case(
            f"rope_{dtype}", "rope", {"x": buffer(dtype, 8, 64), **tables, "y": out("fp32", 8, 64), "N": scalar("i32", 4)},
            (8,), kind="models", tolerance=(1e-5, 1e-5),
        )  # fmt: skip
        yield request(rope, target, case, warps=1, D=64)
    for target in (80, 90):
        tables = {word: buffer("fp32", 4, 64, fill="uniform", low=-1, high=1) for word in ("cos", "sin")}
        case = Case(
            "rope_in_place", "rope", {"x": buffer("fp32", 8, 128, checked=True), **tables, "N": scalar("i32", 4)}, (8,),
            kind="models", tolerance=(1e-5, 1e-5), parameters={"result": "x"},
        )  # fmt: skip
        yield request(rope_in_place, target, case, D=128)
        case = Case(
            "layernorm_backward", "layernorm_backward",
            {"x": buffer("fp32", 8, 100), "dy": buffer("fp32", 8, 100), "w": buffer("fp32", 100), "dx": out("fp32", 8, 100),
             "dw": out("fp32", 2, 100), "locks": buffer("i32", 2, fill="zeros"), "n": scalar("i32", 100), "eps": scalar("fp32", 1e-5)},
            (4,), kind="models", tolerance=(1e-3, 1e-4), parameters={"unordered": ["dw"]},
        )  # fmt: skip
        yield request(layernorm_backward, target, case, ROWS=2, B=128)
        case = Case(
            "cross_entropy", "cross_entropy",
            {"x": buffer("fp32", 4, 300), "label": buffer("i32", 4, fill="values", values=[0, 299, 17, 128]),
             "loss": out("fp32", 4), "dx": out("fp32", 4, 300), "n": scalar("i32", 300)},
            (4,), kind="models", tolerance=(1e-4, 1e-5),
        )  # fmt: skip
        yield request(cross_entropy, target, case, B=512)
        case = Case(
            "group_norm", "group_norm",
            {"x": buffer("fp32", 4, 300), "mean": out("fp32", 4), "var": out("fp32", 4), "n": scalar("i32", 300)},
            (4,), kind="models", tolerance=(1e-4, 1e-5),
        )  # fmt: skip
        yield request(group_norm, target, case, B=512)
        rows = buffer("i32", 64, fill="integers", low=0, high=7)
        case = Case(
            "embedding_backward", "embedding_backward",
            {"at": rows, "dy": buffer("fp32", 64, 32, fill="integers", low=-9, high=9), "dw": out("fp32", 7, 32)}, (4,), kind="models",
        )  # fmt: skip
        yield request(embedding_backward, target, case, D=32, B=16)
        case = Case(
            "histogram_grid", "histogram_grid",
            {"x": buffer("i32", 700, fill="integers", low=0, high=32), "y": out("i32", 32), "n": scalar("i32", 700)}, (3,), kind="models",
        )  # fmt: skip
        yield request(histogram_grid, target, case, B=256, BINS=32)
        case = Case(
            "look_back", "look_back",
            {"x": buffer("i32", 512, fill="integers", low=-9, high=9), "y": out("i32", 512), "sums": buffer("i32", 4, fill="zeros"),
             "flags": buffer("i32", 4, fill="zeros")}, (4,), kind="models",
        )  # fmt: skip
        yield request(look_back, target, case, B=128)
        case = Case(
            "decode_split", "decode_split",
            {"q": buffer("fp16", 2, 64), "k": buffer("fp16", 2, 64, 64), "v": buffer("fp16", 2, 64, 64), "part": out("fp32", 2, 4, 64),
             "top": out("fp32", 2, 4), "total": out("fp32", 2, 4), "scale": scalar("fp32", 0.125), "N": scalar("i32", 64)},
            (2, 4), kind="models", tolerance=(1e-3, 1e-4),
        )  # fmt: skip
        yield request(decode_split, target, case, D=64, BN=16)
        case = Case(
            "swiglu", "swiglu", {"a": buffer("fp16", 600), "b": buffer("fp32", 600), "y": out("fp32", 600), "n": scalar("i32", 600)},
            (3,), kind="models", tolerance=(1e-4, 1e-5),
        )  # fmt: skip
        yield request(swiglu, target, case, B=256)
        case = Case(
            "sort_pairs", "sort_pairs", {"x": buffer("i32", 2, 128, fill="integers", low=-40, high=40), "y": out("i32", 2, 128), "at": out("i32", 2, 128)},
            (2,), kind="models",
        )  # fmt: skip
        yield request(sort_pairs, target, case, N=128)
