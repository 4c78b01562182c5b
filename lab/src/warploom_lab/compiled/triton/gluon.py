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

from warploom_lab.compiled.description import Case, buffer, out, scalar, tensor
from warploom_lab.compiled.triton.gemm import Request, request


@gluon.jit
def products(a, b, d, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, REGISTERS: gl.constexpr, ACC: gl.constexpr):
    blocked: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [gl.num_warps(), 1], [1, 0])
    layout_a: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, K], a.dtype.element_ty)
    layout_b: gl.constexpr = gl.NVMMASharedLayout.get_default_for([K, N], b.dtype.element_ty)
    accumulator: gl.constexpr = gl.NVMMADistributedLayout(
        [3, 0], [gl.num_warps(), 1], [16, N, 256 // a.dtype.element_ty.primitive_bitwidth]
    )
    rm = gl.arange(0, M, gl.SliceLayout(1, blocked))
    rk = gl.arange(0, K, gl.SliceLayout(0, blocked))
    kk = gl.arange(0, K, gl.SliceLayout(1, blocked))
    rn = gl.arange(0, N, gl.SliceLayout(0, blocked))
    ta = gl.load(a + rm[:, None] * K + rk[None, :])
    tb = gl.load(b + kk[:, None] * N + rn[None, :])
    sb = gl.allocate_shared_memory(b.dtype.element_ty, [K, N], layout_b, tb)
    acc = gl.zeros([M, N], ACC, accumulator)
    if REGISTERS:
        left: gl.constexpr = gl.DotOperandLayout(0, accumulator, 32 // a.dtype.element_ty.primitive_bitwidth)
        fence_async_shared()
        acc = warpgroup_mma(gl.convert_layout(ta, left), sb, acc)
    else:
        sa = gl.allocate_shared_memory(a.dtype.element_ty, [M, K], layout_a, ta)
        fence_async_shared()
        token = warpgroup_mma(sa, sb, acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[token])
    om = gl.arange(0, M, gl.SliceLayout(1, accumulator))
    on = gl.arange(0, N, gl.SliceLayout(0, accumulator))
    gl.store(d + om[:, None] * N + on[None, :], acc.to(d.dtype.element_ty))


@gluon.jit
def pipelined(ad, bd, cd, K, STAGES: gl.constexpr):
    BM: gl.constexpr = ad.block_type.shape[0]
    BK: gl.constexpr = ad.block_type.shape[1]
    BN: gl.constexpr = bd.block_type.shape[0]
    sa = gl.allocate_shared_memory(ad.dtype, [STAGES, BM, BK], ad.layout)
    sb = gl.allocate_shared_memory(bd.dtype, [STAGES, BN, BK], bd.layout)
    bars = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for s in gl.static_range(STAGES):
        mbarrier.init(bars.index(s), count=1)
    fence_async_shared()
    pm = gl.program_id(0) * BM
    pn = gl.program_id(1) * BN
    accumulator: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN, 16])
    for s in gl.static_range(STAGES - 1):
        mbarrier.expect(bars.index(s), ad.block_type.nbytes + bd.block_type.nbytes)
        tma.async_copy_global_to_shared(ad, [pm, s * BK], bars.index(s), sa.index(s))
        tma.async_copy_global_to_shared(bd, [pn, s * BK], bars.index(s), sb.index(s))
    acc = gl.zeros([BM, BN], gl.float32, accumulator)
    steps = K // BK
    for i in range(steps):
        now = i % STAGES
        mbarrier.wait(bars.index(now), i // STAGES & 1)
        token = warpgroup_mma(sa.index(now), sb.index(now).permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[token])
        ahead = i + STAGES - 1
        t = ahead % STAGES
        more = ahead < steps
        mbarrier.expect(bars.index(t), ad.block_type.nbytes + bd.block_type.nbytes, pred=more)
        tma.async_copy_global_to_shared(ad, [pm, ahead * BK], bars.index(t), sa.index(t), pred=more)
        tma.async_copy_global_to_shared(bd, [pn, ahead * BK], bars.index(t), sb.index(t), pred=more)
    sc = gl.allocate_shared_memory(cd.dtype, cd.block_type.shape, cd.layout)
    sc.store(acc.to(cd.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(cd, [pm, pn], sc)
    tma.store_wait(0)


@gluon.jit
def producer(ad, bd, sa, sb, ready, empty, pm, pn, steps, STAGES: gl.constexpr):
    BK: gl.constexpr = ad.block_type.shape[1]
    for i in range(steps):
        s = i % STAGES
        mbarrier.wait(empty.index(s), (i // STAGES & 1) ^ 1)
        mbarrier.expect(ready.index(s), ad.block_type.nbytes + bd.block_type.nbytes)
        tma.async_copy_global_to_shared(ad, [pm, i * BK], ready.index(s), sa.index(s))
        tma.async_copy_global_to_shared(bd, [pn, i * BK], ready.index(s), sb.index(s))


@gluon.jit
def epilogue(cd, sc, done, pm, pn):
    mbarrier.wait(done, 0)
    tma.async_copy_shared_to_global(cd, [pm, pn], sc)
    tma.store_wait(0)


@gluon.jit
def consumer(cd, sa, sb, sc, ready, empty, done, steps, STAGES: gl.constexpr):
    BM: gl.constexpr = sc.shape[0]
    BN: gl.constexpr = sc.shape[1]
    accumulator: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [gl.num_warps(), 1], [16, BN, 16])
    acc = gl.zeros([BM, BN], gl.float32, accumulator)
    for i in range(steps):
        s = i % STAGES
        mbarrier.wait(ready.index(s), i // STAGES & 1)
        token = warpgroup_mma(sa.index(s), sb.index(s).permute((1, 0)), acc, is_async=True)
        acc = warpgroup_mma_wait(0, deps=[token])
        mbarrier.arrive(empty.index(s), count=1)
    sc.store(acc.to(cd.dtype))
    fence_async_shared()
    mbarrier.arrive(done, count=1)


@gluon.jit
def specialised(ad, bd, cd, K, STAGES: gl.constexpr):
    BM: gl.constexpr = ad.block_type.shape[0]
    BK: gl.constexpr = ad.block_type.shape[1]
    BN: gl.constexpr = bd.block_type.shape[0]
    sa = gl.allocate_shared_memory(ad.dtype, [STAGES, BM, BK], ad.layout)
    sb = gl.allocate_shared_memory(bd.dtype, [STAGES, BN, BK], bd.layout)
    sc = gl.allocate_shared_memory(cd.dtype, cd.block_type.shape, cd.layout)
    ready = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    done = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    mbarrier.init(done, count=1)
    fence_async_shared()
    pm = gl.program_id(0) * BM
    pn = gl.program_id(1) * BN
    steps = K // BK
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
    async_copy.async_copy_global_to_shared(stage.index(0), x + i)
    async_copy.commit_group()
    for k in range(n):
        async_copy.async_copy_global_to_shared(
            stage.index((k + 1) % 2), x + (k + 1) * B + i, mask=(i >= 0) & (k + 1 < n)
        )
        async_copy.commit_group()
        async_copy.wait_group(1)
        total = total * 0.5 + stage.index(k % 2).load(layout)
    gl.store(y + i, total)


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file.

    Kernels with f16 accumulators have the option `unwaited`, which limits their runs to the eager schedule.
    """
    # Triton 3.9 reads f16 accumulators of wgmma too early. Only ptxas inserts the missing wait.
    for name, ta, td, shape, registers, warps in (
        ("f16_ss_64x32", "fp16", "fp32", (64, 32, 64), False, 4), ("bf16_rs_64x128", "bf16", "fp32", (64, 128, 32), True, 4),
        ("f16_rs_128x64_8w", "fp16", "fp16", (128, 64, 64), True, 8), ("f16_ss_128x256_8w", "fp16", "bf16", (128, 256, 16), False, 8),
        ("f16_f16_64x64", "fp16", "fp16", (64, 64, 32), False, 4),
    ):  # fmt: skip
        m, n, k = shape
        case = Case(
            f"gluon_products_{name}", "matmul", {"a": buffer(ta, m, k), "b": buffer(ta, k, n), "d": out(td, m, n)}, kind="gluon",
            tolerance=(1e-2, 5e-2 if td != "fp32" else 1e-3), parameters={"layout": "nn", "result": "d", "unwaited": name.startswith("f16_f16")},
        )  # fmt: skip
        acc = gl.float16 if name.startswith("f16_f16") else gl.float32
        yield request(products, 90, case, warps, M=m, N=n, K=k, REGISTERS=registers, ACC=acc)

    def swizzled(bits: int, span: int = 128) -> str:
        return str(gl.NVMMASharedLayout(swizzle_byte_width=span, element_bitwidth=bits, rank=2))

    for fn, name, dtype, size, tile, stages, warps in (
        (pipelined, "64x64", "fp16", (128, 128, 256), (64, 64, 64), 3, 4), (pipelined, "128x64_8w", "bf16", (128, 64, 192), (128, 64, 64), 2, 8),
        (pipelined, "swizzle64", "fp16", (64, 64, 128), (64, 64, 32), 4, 4), (specialised, "64x64", "fp16", (128, 64, 256), (64, 64, 64), 2, 4),
        (specialised, "128x128_8w", "bf16", (128, 128, 192), (128, 128, 64), 3, 8),
    ):  # fmt: skip
        (m, n, k), (bm, bn, bk) = size, tile
        inner = swizzled(16, min(128, 2 * bk))
        case = Case(
            f"gluon_{fn.__name__}_{name}", "matmul",
            {"ad": tensor(dtype, m, k, box=(bm, bk), layout=inner), "bd": tensor(dtype, n, k, box=(bn, bk), layout=inner),
             "cd": tensor(dtype, m, n, box=(bm, bn), layout=swizzled(16), fill="zeros", checked=True), "K": scalar("i32", k)},
            (m // bm, n // bn), kind="gluon", tolerance=(1e-2, 2e-2), parameters={"layout": "nt"},
        )  # fmt: skip
        yield request(fn, 90, case, warps, STAGES=stages)
    for target in (80, 90):
        case = Case(
            "gluon_async_sum", "pipelines", {"x": buffer("fp32", 5, 512), "y": out("fp32", 512), "n": scalar("i32", 5)}, kind="gluon",
            tolerance=(1e-5, 1e-5),
        )  # fmt: skip
        yield request(async_sum, target, case, B=512)
