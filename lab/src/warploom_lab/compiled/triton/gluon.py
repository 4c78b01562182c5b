"""Gluon kernels: wgmma, TMA, mbarriers and warp specialisation for Hopper, async copies for Ampere."""

from __future__ import annotations

from collections.abc import Iterator

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)

from warploom_lab.compiled.description import Case, buffer, out, scalar
from warploom_lab.compiled.triton.gemm import Request, request
from warploom_lab.compiled.triton.gluon_tiles import (
    barrier,
    barriers,
    copied,
    load_stage,
    matrix,
    one_tile,
    product,
    shared_tile,
    staged,
    stages,
)


@gluon.jit
def products(a, b, d, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, REGISTERS: gl.constexpr, ACC: gl.constexpr):
    bits: gl.constexpr = a.dtype.element_ty.primitive_bitwidth
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, N, 256 // bits])
    ta = gl.load(matrix(a, M, K))
    sb = copied(b, K, N)
    acc = gl.zeros([M, N], ACC, layout)
    if REGISTERS:
        fence_async_shared()
        acc = warpgroup_mma(gl.convert_layout(ta, gl.DotOperandLayout(0, layout, 32 // bits)), sb, acc)
    else:
        sa = gl.allocate_shared_memory(
            a.dtype.element_ty, [M, K], gl.NVMMASharedLayout.get_default_for([M, K], a.dtype.element_ty), ta
        )
        fence_async_shared()
        token = warpgroup_mma(sa, sb, acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[token])
    om = gl.arange(0, M, gl.SliceLayout(1, layout))
    on = gl.arange(0, N, gl.SliceLayout(0, layout))
    gl.store(d + om[:, None] * N + on[None, :], acc.to(d.dtype.element_ty))


@gluon.jit
def sums(BM: gl.constexpr, BN: gl.constexpr):
    return gl.zeros([BM, BN], gl.float32, gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN, 16]))


@gluon.jit
def multiplied(sa, sb, acc):
    token = warpgroup_mma(sa, sb.permute((1, 0)), acc, is_async=True)
    return warpgroup_mma_wait(0, deps=[token])


@gluon.jit
def pipelined(ad, bd, cd, K, STAGES: gl.constexpr):
    sa = stages(ad, STAGES)
    sb = stages(bd, STAGES)
    bars = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(bars.index(s), count=1)
    fence_async_shared()
    pm = gl.program_id(0) * cd.block_type.shape[0]
    pn = gl.program_id(1) * cd.block_type.shape[1]
    for s in gl.static_range(STAGES - 1):
        load_stage(ad, bd, pm, pn, s, bars, sa, sb, s)
    acc = sums(cd.block_type.shape[0], cd.block_type.shape[1])
    steps = K // ad.block_type.shape[1]
    for i in range(steps):
        now = i % STAGES
        mbarrier.wait(bars.index(now), i // STAGES & 1)
        acc = multiplied(sa.index(now), sb.index(now), acc)
        ahead = i + STAGES - 1
        t = ahead % STAGES
        load_stage(ad, bd, pm, pn, ahead, bars, sa, sb, t, pred=ahead < steps)
    tma.async_store(cd, [pm, pn], staged(cd, acc))
    tma.store_wait(0)


@gluon.jit
def producer(ad, bd, sa, sb, ready, empty, pm, pn, steps, STAGES: gl.constexpr):
    for i in range(steps):
        s = i % STAGES
        mbarrier.wait(empty.index(s), (i // STAGES & 1) ^ 1)
        load_stage(ad, bd, pm, pn, i, ready, sa, sb, s)


@gluon.jit
def epilogue(cd, sc, done, pm, pn):
    mbarrier.wait(done, 0)
    tma.async_store(cd, [pm, pn], sc)
    tma.store_wait(0)


@gluon.jit
def consumer(cd, sa, sb, sc, ready, empty, done, steps, STAGES: gl.constexpr):
    acc = sums(sc.shape[0], sc.shape[1])
    for i in range(steps):
        s = i % STAGES
        mbarrier.wait(ready.index(s), i // STAGES & 1)
        acc = multiplied(sa.index(s), sb.index(s), acc)
        mbarrier.arrive(empty.index(s), count=1)
    sc.store(acc.to(cd.dtype))
    fence_async_shared()
    mbarrier.arrive(done, count=1)


@gluon.jit
def specialised(ad, bd, cd, K, STAGES: gl.constexpr):
    sa = stages(ad, STAGES)
    sb = stages(bd, STAGES)
    sc = shared_tile(cd)
    ready, empty = barriers(STAGES)
    done = barrier()
    fence_async_shared()
    pm = gl.program_id(0) * cd.block_type.shape[0]
    pn = gl.program_id(1) * cd.block_type.shape[1]
    steps = K // ad.block_type.shape[1]
    gl.warp_specialize(
        [
            (consumer, (cd, sa, sb, sc, ready, empty, done, steps, STAGES)),
            (producer, (ad, bd, sa, sb, ready, empty, pm, pn, steps, STAGES)),
            (epilogue, (cd, sc, done, pm, pn)),
        ],
        [1, 1],
        [24, 24],
    )


@gluon.jit
def async_sum(x, y, n, B: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [gl.num_warps()], [0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    i = gl.arange(0, B, layout)
    stage = gl.allocate_shared_memory(gl.float32, [2, B], shared)
    total = gl.zeros([B], gl.float32, layout)
    async_copy.async_load(stage.index(0), x + i)
    async_copy.commit_group()
    for k in range(n):
        async_copy.async_load(stage.index((k + 1) % 2), x + (k + 1) * B + i, mask=(i >= 0) & (k + 1 < n))
        async_copy.commit_group()
        async_copy.wait_group(1)
        total = total * 0.5 + stage.index(k % 2).load(layout)
    gl.store(y + i, total)


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file.

    Kernels with f16 accumulators have the option `unwaited`, which limits their runs to the eager schedule.
    """
    # Triton 3.9 reads f16 accumulators of wgmma too early. Only ptxas inserts the missing wait.
    for name, ta, td, (m, n, k), registers, warps in (
        ("f16_ss_64x32", "fp16", "fp32", (64, 32, 64), False, 4), ("bf16_rs_64x128", "bf16", "fp32", (64, 128, 32), True, 4),
        ("f16_rs_128x64_8w", "fp16", "fp16", (128, 64, 64), True, 8), ("f16_ss_128x256_8w", "fp16", "bf16", (128, 256, 16), False, 8),
        ("f16_f16_64x64", "fp16", "fp16", (64, 64, 32), False, 4),
    ):  # fmt: skip
        unwaited = name.startswith("f16_f16")
        case = one_tile(f"gluon_products_{name}", ta, td, (m, n, k), unwaited=unwaited)
        acc = gl.float16 if unwaited else gl.float32
        yield request(products, 90, case, warps, M=m, N=n, K=k, REGISTERS=registers, ACC=acc)
    for fn, name, dtype, size, block, count, warps in (
        (pipelined, "64x64", "fp16", (128, 128, 256), (64, 64, 64), 3, 4), (pipelined, "128x64_8w", "bf16", (128, 64, 192), (128, 64, 64), 2, 8),
        (pipelined, "swizzle64", "fp16", (64, 64, 128), (64, 64, 32), 4, 4), (specialised, "64x64", "fp16", (128, 64, 256), (64, 64, 64), 2, 4),
        (specialised, "128x128_8w", "bf16", (128, 128, 192), (128, 128, 64), 3, 8),
    ):  # fmt: skip
        yield product(fn, name, 90, dtype, size, block, warps=warps, STAGES=count)
    for target in (80, 90):
        case = Case(
            "gluon_async_sum", "pipelines", {"x": buffer("fp32", 5, 512), "y": out("fp32", 512), "n": scalar("i32", 5)}, kind="gluon",
            tolerance=(1e-5, 1e-5),
        )  # fmt: skip
        yield request(async_sum, target, case, B=512)
