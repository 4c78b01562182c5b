"""Common Triton kernels."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside), mask=inside)


@triton.jit
def softmax(out_ptr, in_ptr, pitch_in, pitch_out, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    column = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(in_ptr + row * pitch_in + column, mask=column < columns, other=-float("inf"))
        grown = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * pitch_out + column, grown / tl.sum(grown, axis=0), mask=column < columns)


@triton.jit
def layer_norm(x_ptr, out_ptr, weight_ptr, bias_ptr, mean_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * columns
    out_ptr += row * columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < columns, other=0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < columns, other=0).to(tl.float32)
        away = tl.where(at < columns, x - mean, 0.0)
        total += away * away
    rstd = 1 / tl.sqrt(tl.sum(total, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        inside = at < columns
        x = tl.load(x_ptr + at, mask=inside, other=0).to(tl.float32)
        scaled = (x - mean) * rstd * tl.load(weight_ptr + at, mask=inside) + tl.load(
            bias_ptr + at, mask=inside
        )
        tl.store(out_ptr + at, scaled, mask=inside)


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    keep = tl.rand(seed, at) > p
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(out_ptr + at, tl.where(keep, x / (1 - p), 0.0), mask=inside)


@triton.heuristics({"EVEN": lambda args: args["K"] % args["BK"] == 0})
@triton.jit
def gemm(
    a_ptr, b_ptr, c_ptr, M, N, K, a_m, a_k, b_k, b_n, c_m, c_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, EVEN: tl.constexpr,
    SUMS: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    tiles_m = tl.cdiv(M, BM)
    wide = GROUP * tl.cdiv(N, BN)
    first = tile // wide * GROUP
    tall = min(tiles_m - first, GROUP)
    m = (first + tile % wide % tall) * BM + tl.arange(0, BM)
    n = tile % wide // tall * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_at = a_ptr + (m % M)[:, None] * a_m + k[None, :] * a_k
    b_at = b_ptr + k[:, None] * b_k + (n % N)[None, :] * b_n
    sums = tl.zeros((BM, BN), dtype=SUMS)
    for done in range(0, K, BK):
        if EVEN:
            a, b = tl.load(a_at), tl.load(b_at)
        else:
            a = tl.load(a_at, mask=k[None, :] < K - done, other=0.0)
            b = tl.load(b_at, mask=k[:, None] < K - done, other=0.0)
        sums = tl.dot(a, b, sums, out_dtype=SUMS)
        a_at += BK * a_k
        b_at += BK * b_k
    c_at = c_ptr + m[:, None] * c_m + n[None, :] * c_n
    tl.store(c_at, sums.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def gemm_by_descriptors(a_desc, b_desc, c_desc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a_desc.load([m, k]), b_desc.load([n, k]).T, sums)
    c_desc.store([m, n], sums.to(tl.float16))


@triton.jit
def gemm_persistent(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    SPECIAL: tl.constexpr,
):  # fmt: skip
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=not SPECIAL):
        m = tile // tiles_n * BM
        n = tile % tiles_n * BN
        sums = tl.zeros((BM, BN), dtype=tl.float32)
        for k in tl.range(0, tl.cdiv(K, BK), warp_specialize=SPECIAL):
            sums = tl.dot(a_desc.load([m, k * BK]), b_desc.load([n, k * BK]).T, sums)
        c_desc.store([m, n], sums.to(tl.float16))


@triton.jit
def attention(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    tokens,
    pitch,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    WIDTH: tl.constexpr,
):
    head = tl.program_id(1) * pitch
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, WIDTH)
    q = tl.load(q_ptr + head + m[:, None] * WIDTH + d[None, :])
    most = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    out = tl.zeros((BM, WIDTH), dtype=tl.float32)
    for first in range(0, (tl.program_id(0) + 1) * BM, BN):
        k = tl.load(k_ptr + head + (first + n)[None, :] * WIDTH + d[:, None])
        score = tl.dot(q, k) * (scale * 1.44269504)
        score = tl.where(m[:, None] >= (first + n)[None, :], score, -float("inf"))
        higher = tl.maximum(most, tl.max(score, 1))
        p = tl.exp2(score - higher[:, None])
        shrunk = tl.exp2(most - higher)
        total = total * shrunk + tl.sum(p, 1)
        v = tl.load(v_ptr + head + (first + n)[:, None] * WIDTH + d[None, :])
        out = tl.dot(p.to(v.dtype), v, out * shrunk[:, None])
        most = higher
    tl.store(out_ptr + head + m[:, None] * WIDTH + d[None, :], (out / total[:, None]).to(tl.float16))


@triton.jit
def gemm_split(
    a_ptr, b_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.program_id(1) * BK + tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK * SPLIT):
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
        sums += tl.dot(a, tl.load(b_ptr + k[:, None] * N + n[None, :]))
        k += BK * SPLIT
    tl.atomic_add(c_ptr + m[:, None] * N + n[None, :], sums, sem="relaxed")


@triton.jit
def histogram(x_ptr, counts_ptr, largest_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    counts = tl.histogram(x, BINS, mask=at < n)
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts)
    tl.atomic_max(largest_ptr, tl.max(x, axis=0))


@triton.jit
def _then(decay, value, decay_after, value_after):
    return decay * decay_after, value * decay_after + value_after


@triton.jit
def scan(decay_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    _, out = tl.associative_scan((tl.load(decay_ptr + at), tl.load(x_ptr + at)), 0, _then)
    tl.store(out_ptr + at, out)


@triton.jit
def argmax(x_ptr, at_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=-float("inf"))
    tl.store(at_ptr + row, tl.argmax(x, axis=0))


@triton.jit
def sort_and_gather(x_ptr, at_ptr, sorted_ptr, taken_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    x = tl.load(x_ptr + row + tl.arange(0, BLOCK))
    at = tl.load(at_ptr + row + tl.arange(0, BLOCK))
    tl.store(sorted_ptr + row + tl.arange(0, BLOCK), tl.sort(x))
    tl.store(taken_ptr + row + tl.arange(0, BLOCK), tl.gather(x, at, axis=0))


@triton.jit
def cross_entropy(logits_ptr, target_ptr, loss_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    logits_ptr += row * columns
    target = tl.load(target_ptr + row)
    most, total = -float("inf"), 0.0
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        before, most = most, tl.maximum(most, tl.max(x, axis=0))
        total = total * tl.exp(before - most) + tl.sum(tl.exp(x - most), axis=0)
    chosen = tl.load(logits_ptr + target).to(tl.float32)
    tl.store(loss_ptr + row, tl.log(total) + most - chosen)
    tl.debug_barrier()
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        gradient = tl.exp(x - most) / total - tl.where(at == target, 1.0, 0.0)
        tl.store(logits_ptr + at, gradient, mask=at < columns)


@triton.jit
def quantise(x_ptr, out_ptr, scale_ptr, GROUP: tl.constexpr):
    at = tl.program_id(0) * GROUP + tl.arange(0, GROUP)
    x = tl.load(x_ptr + at).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-10) / 448.0
    tl.store(scale_ptr + tl.program_id(0), scale)
    tl.store(out_ptr + at, (x / scale).to(tl.float8e4nv))


@triton.jit
def rotate(x_ptr, cos_ptr, sin_ptr, heads, HALF: tl.constexpr):
    position, pair = tl.program_id(0), tl.arange(0, HALF)
    cos = tl.load(cos_ptr + position * HALF + pair)
    sin = tl.load(sin_ptr + position * HALF + pair)
    for head in range(heads):
        first = x_ptr + (position * heads + head) * 2 * HALF + pair
        x, y = tl.load(first), tl.load(first + HALF)
        tl.store(first, x * cos - y * sin)
        tl.store(first + HALF, y * cos + x * sin)
