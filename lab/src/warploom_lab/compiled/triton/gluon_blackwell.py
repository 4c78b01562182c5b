"""Gluon kernels for tensor memory: `tcgen05` in one CTA and in pairs, launch control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    clc,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tma,
)

from warploom_lab.compiled.description import Case, Spec, buffer, out, scalar, tensor
from warploom_lab.compiled.triton.gemm import Request, request

# Products in one CTA --------------------------------------------------------------------------------------


@gluon.jit
def tile(a, b, d, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, LEFT: gl.constexpr, VARIANT: gl.constexpr):
    blocked: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    rm = gl.arange(0, M, gl.SliceLayout(1, blocked))
    rk = gl.arange(0, K, gl.SliceLayout(0, blocked))
    kk = gl.arange(0, K, gl.SliceLayout(1, blocked))
    rn = gl.arange(0, N, gl.SliceLayout(0, blocked))
    ta = gl.load(a + rm[:, None] * K + rk[None, :])
    tb = gl.load(b + kk[:, None] * N + rn[None, :])
    dtype: gl.constexpr = a.dtype.element_ty
    sb = gl.allocate_shared_memory(dtype, [K, N], gl.NVMMASharedLayout.get_default_for([K, N], dtype), tb)
    acc = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    if LEFT == "tensor":
        left = allocate_tensor_memory(dtype, [M, K], TensorMemoryLayout([M, K], col_stride=1))
        left.store(gl.convert_layout(ta, left.get_reg_layout()))
    else:
        left = gl.allocate_shared_memory(dtype, [M, K], gl.NVMMASharedLayout.get_default_for([M, K], dtype), ta)
    fence_async_shared()
    tcgen05_mma(left, sb, acc, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)  # the conversion of the layout uses shared memory
    result = acc.load(acc.get_reg_layout(instr_variant=VARIANT))
    result = gl.convert_layout(result, blocked)
    gl.store(d + rm[:, None] * N + rn[None, :], result.to(d.dtype.element_ty))


@gluon.jit
def added(a, b, c, d, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, PARTS: gl.constexpr):
    blocked: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    rm = gl.arange(0, M, gl.SliceLayout(1, blocked))
    rk = gl.arange(0, K, gl.SliceLayout(0, blocked))
    rn = gl.arange(0, N, gl.SliceLayout(0, blocked))
    ln = gl.arange(0, N, gl.SliceLayout(1, blocked))
    dtype: gl.constexpr = a.dtype.element_ty
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, K], dtype)
    sa = gl.allocate_shared_memory(dtype, [M, K], shared, gl.load(a + rm[:, None] * K + rk[None, :]))
    sb = gl.allocate_shared_memory(dtype, [N, K], shared, gl.load(b + ln[:, None] * K + rk[None, :]))
    tc = gl.load(c + rm[:, None] * N + rn[None, :])
    acc = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    acc.store(gl.convert_layout(tc, acc.get_reg_layout()))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    fence_async_shared()
    tcgen05_mma(sa, sb.permute((1, 0)), acc, mbarriers=[done])
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)
    # The epilogue reads the accumulator in parts.
    W: gl.constexpr = N // PARTS
    for p in gl.static_range(PARTS):
        part = acc.slice(p * W, W)
        value = gl.convert_layout(part.load(), blocked)
        wn = gl.arange(0, W, gl.SliceLayout(0, blocked))
        gl.store(d + rm[:, None] * N + p * W + wn[None, :], value)


@gluon.jit
def pipelined(ad, bd, cd, K, STAGES: gl.constexpr):
    BM: gl.constexpr = ad.block_type.shape[0]
    BK: gl.constexpr = ad.block_type.shape[1]
    BN: gl.constexpr = bd.block_type.shape[0]
    sa = gl.allocate_shared_memory(ad.dtype, [STAGES, BM, BK], ad.layout)
    sb = gl.allocate_shared_memory(bd.dtype, [STAGES, BN, BK], bd.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    free = mbarrier.allocate_mbarrier(batch=STAGES)
    for j in gl.static_range(STAGES):
        mbarrier.init(ready.index(j), count=1)
        mbarrier.init(free.index(j), count=1)
    fence_async_shared()
    acc = allocate_tensor_memory(gl.float32, [BM, BN], TensorMemoryLayout([BM, BN], col_stride=1))
    pm = gl.program_id(0) * BM
    pn = gl.program_id(1) * BN
    steps = K // BK
    for j in gl.static_range(STAGES - 1):
        mbarrier.expect(ready.index(j), ad.nbytes_per_cta + bd.nbytes_per_cta)
        tma.async_load(ad, [pm, j * BK], ready.index(j), sa.index(j))
        tma.async_load(bd, [pn, j * BK], ready.index(j), sb.index(j))
    for i in range(steps):
        s = i % STAGES
        mbarrier.wait(ready.index(s), i // STAGES & 1)
        tcgen05_mma(sa.index(s), sb.index(s).permute((1, 0)), acc, use_acc=i > 0)
        tcgen05_commit(free.index(s))
        ahead = i + STAGES - 1
        t = ahead % STAGES
        more = ahead < steps
        # The stage was read by the multiplication before this one.
        mbarrier.wait(free.index(t), (ahead // STAGES - 1) & 1, pred=more & (i > 0))
        mbarrier.expect(ready.index(t), ad.nbytes_per_cta + bd.nbytes_per_cta, pred=more)
        tma.async_load(ad, [pm, ahead * BK], ready.index(t), sa.index(t), pred=more)
        tma.async_load(bd, [pn, ahead * BK], ready.index(t), sb.index(t), pred=more)
    mbarrier.wait(free.index((steps - 1) % STAGES), (steps - 1) // STAGES & 1)
    sc = gl.allocate_shared_memory(cd.dtype, cd.block_type.shape, cd.layout)
    sc.store(acc.load().to(cd.dtype))
    fence_async_shared()
    tma.async_store(cd, [pm, pn], sc)
    tma.store_wait(0)


# Warp specialisation --------------------------------------------------------------------------------------


@gluon.jit
def load_tiles(ad, bd, sa, sb, ready, empty, tiles, tiles_n, steps, STAGES: gl.constexpr):
    BM: gl.constexpr = ad.block_type.shape[0]
    BK: gl.constexpr = ad.block_type.shape[1]
    BN: gl.constexpr = bd.block_type.shape[0]
    i = 0
    for t in range(gl.program_id(0), tiles, gl.num_programs(0)):
        for k in range(steps):
            s = i % STAGES
            mbarrier.wait(empty.index(s), (i // STAGES & 1) ^ 1)
            mbarrier.expect(ready.index(s), ad.nbytes_per_cta + bd.nbytes_per_cta)
            tma.async_load(ad, [t // tiles_n * BM, k * BK], ready.index(s), sa.index(s))
            tma.async_load(bd, [t % tiles_n * BN, k * BK], ready.index(s), sb.index(s))
            i += 1


@gluon.jit
def multiply_tiles(sa, sb, acc, ready, empty, full, drained, tiles, steps, STAGES: gl.constexpr):
    i = 0
    n = 0
    for _ in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(drained.index(n % 2), (n // 2 & 1) ^ 1)
        for k in range(steps):
            s = i % STAGES
            mbarrier.wait(ready.index(s), i // STAGES & 1)
            tcgen05_mma(sa.index(s), sb.index(s).permute((1, 0)), acc.index(n % 2), use_acc=k > 0)
            tcgen05_commit(empty.index(s))
            i += 1
        tcgen05_commit(full.index(n % 2))
        n += 1  # noqa: SIM113 - Gluon has no `enumerate`


@gluon.jit
def store_tiles(cd, acc, full, drained, tiles, tiles_n):
    BM: gl.constexpr = cd.block_type.shape[0]
    BN: gl.constexpr = cd.block_type.shape[1]
    sc = gl.allocate_shared_memory(cd.dtype, cd.block_type.shape, cd.layout)
    n = 0
    for t in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(full.index(n % 2), n // 2 & 1)
        value = acc.index(n % 2).load()
        mbarrier.arrive(drained.index(n % 2), count=1)
        tma.store_wait(0)
        sc.store(value.to(cd.dtype))
        fence_async_shared()
        tma.async_store(cd, [t // tiles_n * BM, t % tiles_n * BN], sc)
        n += 1  # noqa: SIM113 - Gluon has no `enumerate`
    tma.store_wait(0)


@gluon.jit
def specialised(ad, bd, cd, tiles, tiles_n, K, STAGES: gl.constexpr):
    BM: gl.constexpr = ad.block_type.shape[0]
    BK: gl.constexpr = ad.block_type.shape[1]
    BN: gl.constexpr = bd.block_type.shape[0]
    sa = gl.allocate_shared_memory(ad.dtype, [STAGES, BM, BK], ad.layout)
    sb = gl.allocate_shared_memory(bd.dtype, [STAGES, BN, BK], bd.layout)
    acc = allocate_tensor_memory(gl.float32, [2, BM, BN], TensorMemoryLayout([BM, BN], col_stride=1))
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    full = mbarrier.allocate_mbarrier(batch=2)
    drained = mbarrier.allocate_mbarrier(batch=2)
    for j in gl.static_range(STAGES):
        mbarrier.init(ready.index(j), count=1)
        mbarrier.init(empty.index(j), count=1)
    for j in gl.static_range(2):
        mbarrier.init(full.index(j), count=1)
        mbarrier.init(drained.index(j), count=1)
    fence_async_shared()
    steps = K // BK
    gl.warp_specialize(
        [
            (store_tiles, (cd, acc, full, drained, tiles, tiles_n)),
            (load_tiles, (ad, bd, sa, sb, ready, empty, tiles, tiles_n, steps, STAGES)),
            (multiply_tiles, (sa, sb, acc, ready, empty, full, drained, tiles, steps, STAGES)),
        ],
        [1, 1],
        [24, 24],
    )


# Launch control -------------------------------------------------------------------------------------------


@gluon.jit
def cancelling(ad, bd, cd, K):
    BM: gl.constexpr = ad.block_type.shape[0]
    BK: gl.constexpr = ad.block_type.shape[1]
    BN: gl.constexpr = bd.block_type.shape[0]
    sa = gl.allocate_shared_memory(ad.dtype, [BM, BK], ad.layout)
    sb = gl.allocate_shared_memory(bd.dtype, [BN, BK], bd.layout)
    sc = gl.allocate_shared_memory(cd.dtype, cd.block_type.shape, cd.layout)
    answer = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    answered = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.init(done, count=1)
    mbarrier.init(answered, count=1)
    fence_async_shared()
    acc = allocate_tensor_memory(gl.float32, [BM, BN], TensorMemoryLayout([BM, BN], col_stride=1))
    pm = gl.program_id(0)
    pn = gl.program_id(1)
    phase = 0
    answers = 0
    has_work = True
    while has_work:
        gl.barrier()
        mbarrier.expect(answered, 16)
        clc.try_cancel(answer, answered)
        for k in range(0, K, BK):
            mbarrier.expect(ready, ad.nbytes_per_cta + bd.nbytes_per_cta)
            tma.async_load(ad, [pm * BM, k], ready, sa)
            tma.async_load(bd, [pn * BN, k], ready, sb)
            mbarrier.wait(ready, phase)
            tcgen05_mma(sa, sb.permute((1, 0)), acc, use_acc=k > 0, mbarriers=[done])
            mbarrier.wait(done, phase)
            phase ^= 1
        tma.store_wait(0)
        sc.store(acc.load().to(cd.dtype))
        fence_async_shared()
        tma.async_store(cd, [pm * BM, pn * BN], sc)
        mbarrier.wait(answered, answers & 1)
        answers += 1
        found = clc.load_result(answer)
        has_work = found.is_canceled()
        if has_work:
            pm = found.program_id(0)
            pn = found.program_id(1)
    tma.store_wait(0)


# Pairs of CTAs --------------------------------------------------------------------------------------------


@gluon.jit
def pair(ad, bd, cd, K, STAGES: gl.constexpr):
    BM: gl.constexpr = ad.block_type.shape[0]
    BK: gl.constexpr = ad.block_type.shape[1]
    BN: gl.constexpr = bd.block_type.shape[0]
    sa = gl.allocate_shared_memory(ad.dtype, [STAGES, BM, BK], ad.layout)
    sb = gl.allocate_shared_memory(bd.dtype, [STAGES, BN, BK], bd.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES, two_ctas=True)
    free = mbarrier.allocate_mbarrier(batch=STAGES)
    for j in gl.static_range(STAGES):
        mbarrier.init(ready.index(j), count=1)
        mbarrier.init(free.index(j), count=tcgen05_mma_barrier_count([sa, sb], multicast=False, two_ctas=True))
    layout: gl.constexpr = TensorMemoryLayout(
        (BM // 2, BN), col_stride=1, cga_layout=cd.layout.cga_layout, two_ctas=True
    )
    acc = allocate_tensor_memory(gl.float32, [BM, BN], layout)
    pm = gl.program_id(0) * BM
    pn = gl.program_id(1) * BN
    steps = K // BK
    for i in range(steps):
        s = i % STAGES
        mbarrier.wait(free.index(s), (i // STAGES & 1) ^ 1)
        mbarrier.expect(ready.index(s), ad.nbytes_per_cta + bd.nbytes_per_cta)
        tma.async_load(ad, [pm, i * BK], ready.index(s), sa.index(s))
        tma.async_load(bd, [pn, i * BK], ready.index(s), sb.index(s))
        mbarrier.wait(ready.index(s), i // STAGES & 1)
        tcgen05_mma(sa.index(s), sb.index(s).permute((1, 0)), acc, use_acc=i > 0, mbarriers=[free.index(s)])
    mbarrier.wait(free.index((steps - 1) % STAGES), (steps - 1) // STAGES & 1)
    sc = gl.allocate_shared_memory(cd.dtype, cd.block_type.shape, cd.layout)
    sc.store(acc.load().to(cd.dtype))
    fence_async_shared()
    tma.async_store(cd, [pm, pn], sc)
    tma.store_wait(0)


# Other instructions ---------------------------------------------------------------------------------------


@gluon.jit
def attention_step(q, k, v, o, scale, M: gl.constexpr, N: gl.constexpr, D: gl.constexpr):
    blocked: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    rm = gl.arange(0, M, gl.SliceLayout(1, blocked))
    rn = gl.arange(0, N, gl.SliceLayout(1, blocked))
    rd = gl.arange(0, D, gl.SliceLayout(0, blocked))
    dtype: gl.constexpr = q.dtype.element_ty
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([N, D], dtype)
    sq = gl.allocate_shared_memory(dtype, [M, D], shared, gl.load(q + rm[:, None] * D + rd[None, :]))
    sk = gl.allocate_shared_memory(dtype, [N, D], shared, gl.load(k + rn[:, None] * D + rd[None, :]))
    sv = gl.allocate_shared_memory(dtype, [N, D], shared, gl.load(v + rn[:, None] * D + rd[None, :]))
    scores = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    acc = allocate_tensor_memory(gl.float32, [M, D], TensorMemoryLayout([M, D], col_stride=1))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    fence_async_shared()
    tcgen05_mma(sq, sk.permute((1, 0)), scores, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0)
    x = scores.load() * (scale * 1.4426950408889634)
    p = gl.exp2(x - gl.max(x, 1)[:, None])
    total = gl.sum(p, 1)
    # The probabilities replace the scores in tensor memory.
    left = scores.slice(0, N // 2).reinterpret(dtype, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    left.store(p.to(dtype))
    tcgen05_mma(left, sv, acc, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 1)
    mbarrier.invalidate(done)
    y = acc.load()
    y = y / gl.convert_layout(total, gl.SliceLayout(1, y.type.layout))[:, None]
    gl.store(o + rm[:, None] * D + rd[None, :], gl.convert_layout(y, blocked).to(dtype))


@gluon.jit
def reduced(x, y, best, M: gl.constexpr, N: gl.constexpr, LEAST: gl.constexpr):
    blocked: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    rm = gl.arange(0, M, gl.SliceLayout(1, blocked))
    rn = gl.arange(0, N, gl.SliceLayout(0, blocked))
    memory = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout([M, N], col_stride=1))
    memory.store(gl.convert_layout(gl.load(x + rm[:, None] * N + rn[None, :]), memory.get_reg_layout()))
    if LEAST:
        value, found = memory.load_min(memory.get_reg_layout())
    else:
        value, found = memory.load_max(memory.get_reg_layout(), abs=True)
    gl.store(y + rm[:, None] * N + rn[None, :], gl.convert_layout(value, blocked) * 2)
    gl.store(best + rm, gl.convert_layout(found, gl.SliceLayout(1, blocked)))


@gluon.jit
def gathered(xd, yd, rows, target, N, ROWS: gl.constexpr, BN: gl.constexpr):
    shared: gl.constexpr = gl.NVMMASharedLayout.get_default_for([ROWS, BN], xd.dtype)
    lines: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, gl.num_warps()], [1, 0]))
    stage = gl.allocate_shared_memory(xd.dtype, [ROWS, BN], shared)
    ready = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    fence_async_shared()
    i = gl.arange(0, ROWS, lines)
    phase = 0
    for n in range(0, N, BN):
        mbarrier.expect(ready, ROWS * xd.nbytes_per_cta)
        tma.async_gather(xd, gl.load(rows + i), n, ready, stage)
        mbarrier.wait(ready, phase)
        phase ^= 1
        tma.async_scatter(yd, gl.load(target + i), n, stage)
        tma.store_wait(0)


@gluon.jit
def cluster_softmax(x, y, n, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [gl.num_warps()], [0], cga_layout=[[1]])
    row = gl.program_id(0)
    i = gl.arange(0, B, layout)
    v = gl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = gl.exp(v - gl.max(v, 0))
    gl.store(y + row * n + i, e / gl.sum(e, 0), mask=i < n)


# Requests -------------------------------------------------------------------------------------------------

_SIZES = {"fp16": 16, "bf16": 16, "fp8e4nv": 8, "fp8e5": 8, "u8": 8, "fp32": 32}


def shared_layout(dtype: str, columns: int, **options: Any) -> str:
    """Return the layout of a tile in shared memory with rows of `columns` elements."""
    bits = _SIZES[dtype]
    width = columns * bits // 8
    span = next(span for span in (128, 64, 32) if width % span == 0)
    return str(gl.NVMMASharedLayout(swizzle_byte_width=span, element_bitwidth=bits, rank=2, **options))


def tile_argument(dtype: str, rows: int, columns: int, box: tuple[int, int], **options: Any) -> Spec:
    return tensor(dtype, rows, columns, box=box, layout=shared_layout(dtype, box[1]), **options)


def _product(
    fn: Any, name: str, target: int, dtype: str, size: Any, block: Any, result: str = "", **constants: Any
) -> Request:
    """Return the request for a product A B^T through tensor maps. `size` and `block` are (M, N, K)."""
    (m, n, k), (bm, bn, bk) = size, block
    result = result or ("fp16" if dtype.startswith("fp8") else dtype)
    args = {
        "ad": tile_argument(dtype, m, k, (bm, bk)), "bd": tile_argument(dtype, n, k, (bn, bk)),
        "cd": tile_argument(result, m, n, (bm, bn), fill="zeros", checked=True), "K": scalar("i32", k),
    }  # fmt: skip
    grid = m // bm, n // bn
    if "tiles" in fn.arg_names:
        args |= {"tiles": scalar("i32", grid[0] * grid[1]), "tiles_n": scalar("i32", grid[1])}
        grid = (2,)
    case = Case(
        f"tensor_memory_{fn.__name__}_{name}",
        "matmul",
        args,
        grid,
        kind="gluon",
        tolerance=(1e-2, 2e-2),
        parameters={"layout": "nt"},
    )
    return request(fn, target, case, **constants)


def _paired(name: str, target: int, dtype: str, size: Any, block: Any, stages: int, result: str = "") -> Request:
    """Return the request for a product that pairs of CTAs compute. A CTA holds half of the rows of a tile."""
    made = _product(pair, name, target, dtype, size, block, result, STAGES=stages)
    for word, spec in made["case"].args.items():
        if spec["kind"] == "tensor":
            rows, columns = spec["box"]
            spec["layout"] = shared_layout(spec["dtype"], columns, cga_layout=[[1, 0]])
            spec["part"] = [rows // 2, columns]
            assert word in ("ad", "bd", "cd")
    made["options"]["num_ctas"] = 2
    return made


def _tiles() -> Iterator[Request]:
    for name, target, ta, td, (m, n, k), left, variant, warps in (
        ("f16_ss", 100, "fp16", "fp32", (128, 64, 64), "shared", "32x32b", 4), ("bf16_ts", 100, "bf16", "fp32", (128, 64, 64), "tensor", "32x32b", 4),
        ("f16_m64", 100, "fp16", "fp32", (64, 128, 32), "shared", "32x32b", 4), ("e4m3_ss", 103, "fp8e4nv", "fp32", (128, 32, 64), "shared", "32x32b", 4),
        ("f16_8w", 100, "fp16", "fp16", (128, 128, 64), "shared", "32x32b", 8), ("f16_16x64b", 100, "fp16", "fp32", (128, 64, 32), "shared", "16x64b", 4),
        ("f16_16x128b", 103, "fp16", "fp32", (128, 64, 32), "shared", "16x128b", 4), ("f16_16x256b", 100, "fp16", "fp32", (128, 64, 32), "shared", "16x256b", 4),
        ("f16_ts_n256", 103, "fp16", "bf16", (128, 256, 32), "tensor", "32x32b", 4),
    ):  # fmt: skip
        case = Case(
            f"tensor_memory_tile_{name}", "matmul", {"a": buffer(ta, m, k), "b": buffer(ta, k, n), "d": out(td, m, n)}, kind="gluon",
            tolerance=(1e-2, 5e-2 if td != "fp32" else 1e-3), parameters={"layout": "nn", "result": "d"},
        )  # fmt: skip
        yield request(tile, target, case, warps, M=m, N=n, K=k, LEFT=left, VARIANT=variant)
    for name, target, dtype, n, parts in (("f16", 100, "fp16", 64, 2), ("bf16_n128", 103, "bf16", 128, 4)):
        case = Case(
            f"tensor_memory_added_{name}", "matmul_added",
            {"a": buffer(dtype, 128, 64), "b": buffer(dtype, n, 64), "c": buffer("fp32", 128, n), "d": out("fp32", 128, n)}, kind="gluon",
            tolerance=(1e-4, 1e-3),
        )  # fmt: skip
        yield request(added, target, case, M=128, N=n, K=64, PARTS=parts)


def _instructions() -> Iterator[Request]:
    for target, dtype, n, d in ((100, "fp16", 64, 64), (103, "bf16", 128, 64)):
        case = Case(
            f"tensor_memory_attention_{dtype}", "attention_step",
            {"q": buffer(dtype, 128, d), "k": buffer(dtype, n, d), "v": buffer(dtype, n, d), "o": out(dtype, 128, d), "scale": scalar("fp32", d**-0.5)},
            kind="gluon", tolerance=(1e-2, 3e-3) if dtype == "fp16" else (2e-2, 2e-2),
        )  # fmt: skip
        yield request(attention_step, target, case, M=128, N=n, D=d)
    for least in (False, True):
        case = Case(
            f"tensor_memory_{'least' if least else 'greatest'}", "reduced_rows", {"x": buffer("fp32", 128, 64), "y": out("fp32", 128, 64), "best": out("fp32", 128)},
            kind="gluon", parameters={"least": least},
        )  # fmt: skip
        yield request(reduced, 103, case, M=128, N=64, LEAST=least)
    for target, dtype in ((100, "fp16"), (103, "fp32")):
        order = [
            3,
            17,
            29,
            1,
            8,
            9,
            10,
            30,
            2,
            5,
            4,
            31,
            7,
            0,
            11,
            19,
            20,
            21,
            22,
            6,
            12,
            13,
            14,
            15,
            16,
            18,
            23,
            24,
            25,
            26,
            27,
            28,
        ]
        case = Case(
            f"gathered_rows_{dtype}", "gathered_rows",
            {"xd": tensor(dtype, 48, 128, box=(1, 32), layout=shared_layout(dtype, 32)),
             "yd": tensor(dtype, 32, 128, box=(1, 32), layout=shared_layout(dtype, 32), fill="zeros", checked=True),
             "rows": buffer("i32", 32, fill="integers", low=0, high=48), "target": buffer("i32", 32, fill="values", values=order), "N": scalar("i32", 128)},
            kind="gluon",
        )  # fmt: skip
        yield request(gathered, target, case, ROWS=32, BN=32)
    case = Case(
        "cluster_softmax", "softmax", {"x": buffer("fp32", 3, 1000), "y": out("fp32", 3, 1000), "n": scalar("i32", 1000)}, (3,), kind="gluon", tolerance=(1e-5, 1e-6)
    )  # fmt: skip
    made = request(cluster_softmax, 100, case, B=1024)
    made["options"]["num_ctas"] = 2
    yield made


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    yield from _tiles()
    for target in (100, 103):
        yield _product(pipelined, "f16", target, "fp16", (256, 128, 256), (128, 64, 64), STAGES=3)
        yield _product(specialised, "f16", target, "fp16", (384, 128, 192), (128, 64, 64), STAGES=3)
        yield _product(cancelling, "f16", target, "fp16", (384, 128, 128), (128, 64, 64))
        yield _paired("f16", target, "fp16", (256, 128, 256), (256, 128, 64), 2)
    yield _product(pipelined, "bf16_m64", 100, "bf16", (64, 128, 192), (64, 128, 64), STAGES=2)
    yield _product(pipelined, "e5m2_n256", 100, "fp8e5", (128, 256, 256), (128, 256, 128), STAGES=2)
    yield _product(pipelined, "tf32", 103, "fp32", (128, 64, 128), (128, 64, 32), STAGES=2)
    yield _product(specialised, "bf16_n128", 100, "bf16", (256, 256, 128), (128, 128, 64), STAGES=2)
    yield _product(cancelling, "bf16", 100, "bf16", (256, 256, 64), (128, 64, 64))
    yield _paired("bf16_m128", 100, "bf16", (256, 128, 192), (128, 64, 64), 3)
    yield _paired("e4m3_n256", 103, "fp8e4nv", (256, 256, 256), (256, 256, 128), 2)
    yield from _instructions()
