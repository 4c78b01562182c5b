"""Gluon kernels with block-scaled multiplications in tensor memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryScalesLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_copy,
    tcgen05_mma_scaled,
    tma,
)

from warploom_lab.compiled.description import Case, Spec, operand, scalar, scale_factors
from warploom_lab.compiled.triton.gemm import Request, request
from warploom_lab.compiled.triton.gluon_tiles import (
    accumulator,
    barrier,
    shared_layout,
    shared_tile,
    staged,
    tile_argument,
)


@gluon.jit
def scaled(
    ad, sa, bd, sb, cd, K, FA: gl.constexpr, FB: gl.constexpr, BLOCK: gl.constexpr, PA: gl.constexpr, PB: gl.constexpr,
    COPIED: gl.constexpr,
):  # fmt: skip
    BM: gl.constexpr = ad.block_type.shape[0]
    BK: gl.constexpr = ad.block_type.shape[1] * PA
    BN: gl.constexpr = bd.block_type.shape[0]
    S: gl.constexpr = BK // BLOCK
    left = shared_tile(ad)
    right = shared_tile(bd)
    acc = accumulator(BM, BN)
    ta = allocate_tensor_memory(sa.dtype.element_ty, [BM, S], TensorMemoryScalesLayout())
    tb = allocate_tensor_memory(sb.dtype.element_ty, [BN, S], TensorMemoryScalesLayout())
    ready = barrier()
    done = barrier()
    fence_async_shared()
    flat: gl.constexpr = gl.BlockedLayout([1, 4], [8, 4], [gl.num_warps(), 1], [1, 0])
    blocked: gl.constexpr = gl.BlockedLayout([1, 4], [32, 1], [gl.num_warps(), 1], [1, 0])
    shared: gl.constexpr = gl.NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=8, rank=2)
    pm = gl.program_id(0)
    pn = gl.program_id(1)
    phase = 0
    for k in range(0, K, BK):
        mbarrier.expect(ready, ad.nbytes_per_cta + bd.nbytes_per_cta)
        tma.async_load(ad, [pm * BM, k // PA], ready, left)
        tma.async_load(bd, [pn * BN, k // PB], ready, right)
        if COPIED:
            # The scale factors of a tile follow each other in global memory, in the order of tensor memory.
            r = gl.arange(0, BM * S // 64, gl.SliceLayout(1, flat))
            c = gl.arange(0, 64, gl.SliceLayout(0, flat))
            at = r[:, None] * 64 + c[None, :]
            step = k // BK
            va = gl.load(sa + (pm * (K // BK) + step) * (BM * S) + at)
            q = gl.arange(0, BN * S // 64, gl.SliceLayout(1, flat))
            vb = gl.load(sb + (pn * (K // BK) + step) * (BN * S) + q[:, None] * 64 + c[None, :])
            ha = gl.allocate_shared_memory(sa.dtype.element_ty, [BM * S // 64, 64], shared, va)
            hb = gl.allocate_shared_memory(sb.dtype.element_ty, [BN * S // 64, 64], shared, vb)
            fence_async_shared()
            wa = ha.reshape((BM // 128, S // 4, 32, 4, 4)).permute((0, 3, 2, 1, 4)).reshape((BM, S))
            wb = hb.reshape((BN // 128, S // 4, 32, 4, 4)).permute((0, 3, 2, 1, 4)).reshape((BN, S))
            tcgen05_copy(wa, ta)
            tcgen05_copy(wb, tb)
        else:
            rm = gl.arange(0, BM, gl.SliceLayout(1, blocked))
            rn = gl.arange(0, BN, gl.SliceLayout(1, blocked))
            rk = gl.arange(0, S, gl.SliceLayout(0, blocked))
            va = gl.load(sa + (pm * BM + rm)[:, None] * (K // BLOCK) + k // BLOCK + rk[None, :])
            vb = gl.load(sb + (pn * BN + rn)[:, None] * (K // BLOCK) + k // BLOCK + rk[None, :])
            ta.store(gl.convert_layout(va, ta.get_reg_layout()))
            tb.store(gl.convert_layout(vb, tb.get_reg_layout()))
        mbarrier.wait(ready, phase)
        tcgen05_mma_scaled(left, right.permute((1, 0)), acc, ta, tb, FA, FB, use_acc=k > 0, mbarriers=[done])
        mbarrier.wait(done, phase)
        phase ^= 1
    sc = staged(cd, acc.load())
    tma.async_store(cd, [pm * BM, pn * BN], sc)
    tma.store_wait(0)


def _scaled(
    name: str, target: int, fa: str, fb: str, size: Any, block: Any, *, scale: int = 32, copied: bool = False
) -> Request:
    """Return the request for a block-scaled product. `scale` is the number of elements with one scale factor."""
    (m, n, k), (bm, bn, bk) = size, block

    def tiles(kind: str, rows: int, box: int) -> Spec:
        # A product of different kinds reads e2m1 elements that are padded to bytes.
        padded = {"padded": True} if fa != fb and kind == "e2m1" else {}
        width = bk // 2 if kind == "e2m1" and not padded else bk
        layout = shared_layout("u8", width, **({"fp4_padded": True} if padded else {}))
        return operand(kind, rows, k, (box, bk), layout=layout, **padded)

    def factors(rows: int, box: int) -> Spec:
        if copied:
            return scale_factors(scale, rows // box, k // bk, box // 128, bk // scale // 4, 32, 4, 4)
        return scale_factors(scale, rows, k // scale)

    case = Case(
        f"tensor_memory_scaled_{name}", "scaled_matmul",
        {"ad": tiles(fa, m, bm), "sa": factors(m, bm), "bd": tiles(fb, n, bn), "sb": factors(n, bn),
         "cd": tile_argument("fp16", m, n, (bm, bn), fill="zeros", checked=True), "K": scalar("i32", k)},
        (m // bm, n // bn), kind="gluon", tolerance=(1e-2, 1e-2), parameters={"a": fa, "b": fb, "block": scale, "blocked": copied},
    )  # fmt: skip
    return request(
        scaled, target, case, FA=fa, FB=fb, BLOCK=scale, PA=1 + (fa == "e2m1"), PB=1 + (fb == "e2m1"), COPIED=copied
    )


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    for target in (100, 103):
        yield _scaled("mxfp8", target, "e4m3", "e4m3", (128, 128, 256), (128, 128, 128))
        yield _scaled("nvfp4_copied", target, "e2m1", "e2m1", (128, 128, 512), (128, 128, 256), scale=16, copied=True)
    yield _scaled("mxfp8_copied", 100, "e4m3", "e5m2", (256, 128, 512), (128, 128, 128), copied=True)
    yield _scaled("mxfp4", 100, "e2m1", "e2m1", (128, 128, 256), (128, 128, 256))
    yield _scaled("mxfp4_copied", 103, "e2m1", "e2m1", (128, 128, 512), (128, 128, 256), copied=True)
    yield _scaled("nvfp4", 100, "e2m1", "e2m1", (128, 64, 256), (128, 64, 256), scale=16)
    yield _scaled("mixed", 100, "e4m3", "e2m1", (128, 128, 256), (128, 128, 128))
    yield _scaled("mixed_copied", 103, "e2m1", "e4m3", (128, 128, 256), (128, 128, 128), copied=True)
