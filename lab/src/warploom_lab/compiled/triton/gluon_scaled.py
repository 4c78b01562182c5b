"""Gluon kernels with block-scaled multiplications in tensor memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_copy,
    tcgen05_mma_scaled,
    tma,
)

from warploom_lab.compiled.description import Case, Spec, buffer, scalar, tensor
from warploom_lab.compiled.triton.gemm import Request, request
from warploom_lab.compiled.triton.gluon_blackwell import shared_layout, tile_argument

_FAMILIES = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "e2m1": "u8"}


@gluon.jit
def scaled(
    ad, sa, bd, sb, cd, K, FA: gl.constexpr, FB: gl.constexpr, BLOCK: gl.constexpr, PA: gl.constexpr, PB: gl.constexpr,
    COPIED: gl.constexpr,
):  # fmt: skip
    BM: gl.constexpr = ad.block_type.shape[0]
    BK: gl.constexpr = ad.block_type.shape[1] * PA
    BN: gl.constexpr = bd.block_type.shape[0]
    S: gl.constexpr = BK // BLOCK
    left = gl.allocate_shared_memory(ad.dtype, ad.block_type.shape, ad.layout)
    right = gl.allocate_shared_memory(bd.dtype, bd.block_type.shape, bd.layout)
    acc = allocate_tensor_memory(gl.float32, [BM, BN], TensorMemoryLayout([BM, BN], col_stride=1))
    ta = allocate_tensor_memory(sa.dtype.element_ty, [BM, S], TensorMemoryScalesLayout())
    tb = allocate_tensor_memory(sb.dtype.element_ty, [BN, S], TensorMemoryScalesLayout())
    ready = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.init(done, count=1)
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
    sc = gl.allocate_shared_memory(cd.dtype, cd.block_type.shape, cd.layout)
    sc.store(acc.load().to(cd.dtype))
    fence_async_shared()
    tma.async_store(cd, [pm * BM, pn * BN], sc)
    tma.store_wait(0)


def _scaled(
    name: str, target: int, fa: str, fb: str, size: Any, block: Any, *, scale: int = 32, copied: bool = False
) -> Request:
    """Return the request for a block-scaled product. `scale` is the number of elements with one scale factor."""
    (m, n, k), (bm, bn, bk) = size, block
    padded = fa != fb

    def operand(kind: str, rows: int, box: int) -> Spec:
        packed = 2 if kind == "e2m1" else 1
        options = {"fill": "bits"} if kind == "e2m1" else {}
        spec = tensor(_FAMILIES[kind], rows, k // packed, box=(box, bk // packed), **options)
        is_padded = padded and kind == "e2m1"
        spec["layout"] = shared_layout(
            "u8", 128 if is_padded else bk // packed, **({"fp4_padded": True} if is_padded else {})
        )
        return spec | ({"padded": True} if is_padded else {})

    def factors(rows: int, box: int) -> Spec:
        shape = (rows // box, k // bk, box // 128, bk // scale // 4, 32, 4, 4) if copied else (rows, k // scale)
        if scale == 32:
            return buffer("u8", *shape, fill="integers", low=123, high=131)
        return buffer("fp8e4nv", *shape, fill="uniform", low=0.25, high=4.0)

    case = Case(
        f"tensor_memory_scaled_{name}", "scaled_matmul",
        {"ad": operand(fa, m, bm), "sa": factors(m, bm), "bd": operand(fb, n, bn), "sb": factors(n, bn),
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
