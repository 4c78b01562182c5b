"""Gluon kernels that multiply in tensor memory: `tcgen05` in one CTA and in pairs, launch control."""

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

from warploom_lab.compiled.description import Case, buffer, out
from warploom_lab.compiled.triton.gemm import Request, request
from warploom_lab.compiled.triton.gluon_tiles import (
    accumulator,
    barrier,
    barriers,
    copied,
    load_stage,
    matrix,
    one_tile,
    product,
    shared_layout,
    shared_tile,
    staged,
    stages,
)

# Products in one CTA --------------------------------------------------------------------------------------


@gluon.jit
def tile(a, b, d, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, LEFT: gl.constexpr, VARIANT: gl.constexpr):
    dtype: gl.constexpr = a.dtype.element_ty
    ta = gl.load(matrix(a, M, K))
    sb = copied(b, K, N)
    acc = accumulator(M, N)
    done = barrier()
    if LEFT == "tensor":
        left = allocate_tensor_memory(dtype, [M, K], TensorMemoryLayout([M, K], col_stride=1))
        left.store(gl.convert_layout(ta, left.get_reg_layout()))
    else:
        left = gl.allocate_shared_memory(dtype, [M, K], gl.NVMMASharedLayout.get_default_for([M, K], dtype), ta)
    fence_async_shared()
    tcgen05_mma(left, sb, acc, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)  # the conversion of the layout uses shared memory
    result = gl.convert_layout(acc.load(acc.get_reg_layout(instr_variant=VARIANT)), ta.type.layout)
    gl.store(matrix(d, M, N), result.to(d.dtype.element_ty))


@gluon.jit
def added(a, b, c, d, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, PARTS: gl.constexpr):
    sa = copied(a, M, K)
    sb = copied(b, N, K)
    tc = gl.load(matrix(c, M, N))
    acc = accumulator(M, N)
    acc.store(gl.convert_layout(tc, acc.get_reg_layout()))
    done = barrier()
    fence_async_shared()
    tcgen05_mma(sa, sb.permute((1, 0)), acc, mbarriers=[done])
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)
    # The epilogue reads the accumulator in parts.
    W: gl.constexpr = N // PARTS
    layout: gl.constexpr = tc.type.layout
    rm = gl.arange(0, M, gl.SliceLayout(1, layout))
    for p in gl.static_range(PARTS):
        value = gl.convert_layout(acc.slice(p * W, W).load(), layout)
        wn = gl.arange(0, W, gl.SliceLayout(0, layout))
        gl.store(d + rm[:, None] * N + p * W + wn[None, :], value)


@gluon.jit
def pipelined(ad, bd, cd, K, STAGES: gl.constexpr):
    sa = stages(ad, STAGES)
    sb = stages(bd, STAGES)
    ready, free = barriers(STAGES)
    fence_async_shared()
    acc = accumulator(cd.block_type.shape[0], cd.block_type.shape[1])
    pm = gl.program_id(0) * cd.block_type.shape[0]
    pn = gl.program_id(1) * cd.block_type.shape[1]
    steps = K // ad.block_type.shape[1]
    for j in gl.static_range(STAGES - 1):
        load_stage(ad, bd, pm, pn, j, ready, sa, sb, j)
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
        load_stage(ad, bd, pm, pn, ahead, ready, sa, sb, t, pred=more)
    mbarrier.wait(free.index((steps - 1) % STAGES), (steps - 1) // STAGES & 1)
    tma.async_store(cd, [pm, pn], staged(cd, acc.load()))
    tma.store_wait(0)


# Warp specialisation --------------------------------------------------------------------------------------


@gluon.jit
def producer(ad, bd, sa, sb, ready, empty, tiles, tiles_n, steps, STAGES: gl.constexpr):
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
    sc = shared_tile(cd)
    n = 0
    for t in range(gl.program_id(0), tiles, gl.num_programs(0)):
        mbarrier.wait(full.index(n % 2), n // 2 & 1)
        value = acc.index(n % 2).load()
        mbarrier.arrive(drained.index(n % 2), count=1)
        tma.store_wait(0)
        sc.store(value.to(cd.dtype))
        fence_async_shared()
        tma.async_store(cd, [t // tiles_n * cd.block_type.shape[0], t % tiles_n * cd.block_type.shape[1]], sc)
        n += 1  # noqa: SIM113 - Gluon has no `enumerate`
    tma.store_wait(0)


@gluon.jit
def specialised(ad, bd, cd, tiles, tiles_n, K, STAGES: gl.constexpr):
    BM: gl.constexpr = ad.block_type.shape[0]
    BN: gl.constexpr = bd.block_type.shape[0]
    sa = stages(ad, STAGES)
    sb = stages(bd, STAGES)
    acc = allocate_tensor_memory(gl.float32, [2, BM, BN], TensorMemoryLayout([BM, BN], col_stride=1))
    ready, empty = barriers(STAGES)
    full, drained = barriers(2)
    fence_async_shared()
    steps = K // ad.block_type.shape[1]
    gl.warp_specialize(
        [
            (store_tiles, (cd, acc, full, drained, tiles, tiles_n)),
            (producer, (ad, bd, sa, sb, ready, empty, tiles, tiles_n, steps, STAGES)),
            (multiply_tiles, (sa, sb, acc, ready, empty, full, drained, tiles, steps, STAGES)),
        ],
        [1, 1],
        [24, 24],
    )


# Launch control -------------------------------------------------------------------------------------------


@gluon.jit
def cancelling(ad, bd, cd, K):
    BM: gl.constexpr = ad.block_type.shape[0]
    BN: gl.constexpr = bd.block_type.shape[0]
    sa = shared_tile(ad)
    sb = shared_tile(bd)
    sc = shared_tile(cd)
    answer = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready = barrier()
    done = barrier()
    answered = barrier()
    fence_async_shared()
    acc = accumulator(BM, BN)
    pm = gl.program_id(0)
    pn = gl.program_id(1)
    phase = 0
    answers = 0
    has_work = True
    while has_work:
        gl.barrier()
        mbarrier.expect(answered, 16)
        clc.try_cancel(answer, answered)
        for k in range(0, K, ad.block_type.shape[1]):
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
    sa = stages(ad, STAGES)
    sb = stages(bd, STAGES)
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
        load_stage(ad, bd, pm, pn, i, ready, sa, sb, s)
        mbarrier.wait(ready.index(s), i // STAGES & 1)
        tcgen05_mma(sa.index(s), sb.index(s).permute((1, 0)), acc, use_acc=i > 0, mbarriers=[free.index(s)])
    mbarrier.wait(free.index((steps - 1) % STAGES), (steps - 1) // STAGES & 1)
    tma.async_store(cd, [pm, pn], staged(cd, acc.load()))
    tma.store_wait(0)


def _paired(name: str, target: int, dtype: str, size: Any, block: Any, stages: int) -> Request:
    """Return the request for a product that pairs of CTAs compute. A CTA holds half of the rows of a tile."""
    made = product(pair, name, target, dtype, size, block, STAGES=stages)
    for spec in made["case"].args.values():
        if spec["kind"] == "tensor":
            rows, columns = spec["box"]
            spec["layout"] = shared_layout(spec["dtype"], columns, cga_layout=[[1, 0]])
            spec["part"] = [rows // 2, columns]
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
        case = one_tile(f"tensor_memory_tile_{name}", ta, td, (m, n, k))
        yield request(tile, target, case, warps, M=m, N=n, K=k, LEFT=left, VARIANT=variant)
    for name, target, dtype, n, parts in (("f16", 100, "fp16", 64, 2), ("bf16_n128", 103, "bf16", 128, 4)):
        case = Case(
            f"tensor_memory_added_{name}", "matmul_added",
            {"a": buffer(dtype, 128, 64), "b": buffer(dtype, n, 64), "c": buffer("fp32", 128, n), "d": out("fp32", 128, n)}, kind="gluon",
            tolerance=(1e-4, 1e-3),
        )  # fmt: skip
        yield request(added, target, case, M=128, N=n, K=64, PARTS=parts)


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    yield from _tiles()
    for target in (100, 103):
        yield product(pipelined, "f16", target, "fp16", (256, 128, 256), (128, 64, 64), STAGES=3)
        yield product(specialised, "f16", target, "fp16", (384, 128, 192), (128, 64, 64), STAGES=3)
        yield product(cancelling, "f16", target, "fp16", (384, 128, 128), (128, 64, 64))
        yield _paired("f16", target, "fp16", (256, 128, 256), (256, 128, 64), 2)
    yield product(pipelined, "bf16_m64", 100, "bf16", (64, 128, 192), (64, 128, 64), STAGES=2)
    yield product(pipelined, "e5m2_n256", 100, "fp8e5", (128, 256, 256), (128, 256, 128), STAGES=2)
    yield product(pipelined, "tf32", 103, "fp32", (128, 64, 128), (128, 64, 32), STAGES=2)
    yield product(specialised, "bf16_n128", 100, "bf16", (256, 256, 128), (128, 128, 64), STAGES=2)
    yield product(cancelling, "bf16", 100, "bf16", (256, 256, 64), (128, 64, 64))
    yield _paired("bf16_m128", 100, "bf16", (256, 128, 192), (128, 64, 64), 3)
    yield _paired("e4m3_n256", 103, "fp8e4nv", (256, 256, 256), (256, 256, 128), 2)
