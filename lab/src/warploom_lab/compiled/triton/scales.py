"""Triton matrix multiplications with block-scaled operands, in registers and through tensor maps."""

from __future__ import annotations

from collections.abc import Iterator

import triton
import triton.language as tl

from warploom_lab.compiled.description import Case, operand, out, scalar, scale_factors, tensor
from warploom_lab.compiled.triton.gemm import Request, for_blackwell, request


@triton.jit
def block_scaled(
    a, sa, b, sb, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr,
    BLOCK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    da: tl.constexpr = 2 if FA == "e2m1" else 1
    db: tl.constexpr = 2 if FB == "e2m1" else 1
    ka = tl.arange(0, BK // da)
    kb = tl.arange(0, BK // db)
    ks = tl.arange(0, BK // BLOCK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, num_stages=STAGES):
        ta = tl.load(a + rm[:, None] * (K // da) + k // da + ka[None, :])
        tb = tl.load(b + rn[None, :] * (K // db) + k // db + kb[:, None])
        xa = tl.load(sa + rm[:, None] * (K // BLOCK) + k // BLOCK + ks[None, :])
        xb = tl.load(sb + rn[:, None] * (K // BLOCK) + k // BLOCK + ks[None, :])
        acc = tl.dot_scaled(ta, xa, FA, tb, xb, FB, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def block_scaled_tensor(
    ad, sa, bd, sb, cd, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr,
    BLOCK: tl.constexpr, PACKED: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    tiles = K // BLOCK // 4
    r32 = tl.arange(0, 32)
    r4 = tl.arange(0, 4)
    rt = tl.arange(0, BK // BLOCK // 4)
    rm = tl.arange(0, BM // 128)
    rn = tl.arange(0, BN // 128)
    inner = (
        rt[None, :, None, None, None] * 512 + r32[None, None, :, None, None] * 16 + r4[None, None, None, :, None] * 4
    )
    inner += r4[None, None, None, None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, num_stages=STAGES):
        ta = ad.load([pm * BM, k // PACKED])
        tb = bd.load([pn * BN, k // PACKED])
        first = k // BLOCK // 4
        xa = tl.load(sa + ((pm * (BM // 128) + rm)[:, None, None, None, None] * tiles + first) * 512 + inner)
        xb = tl.load(sb + ((pn * (BN // 128) + rn)[:, None, None, None, None] * tiles + first) * 512 + inner)
        xa = xa.trans(0, 3, 2, 1, 4).reshape(BM, BK // BLOCK)
        xb = xb.trans(0, 3, 2, 1, 4).reshape(BN, BK // BLOCK)
        acc = tl.dot_scaled(ta, xa, FA, tb.T, xb, FB, acc)
    cd.store([pm * BM, pn * BN], acc.to(cd.dtype))


def _product(
    target: int, fa: str, fb: str, size: tuple[int, int, int], tile: tuple[int, int, int], *, block: int = 32,
    result: str = "fp32", warps: int = 4, name: str = "", tolerance: tuple[float, float] | None = None,
) -> Request:  # fmt: skip
    """Return the request for a block-scaled product A B^T. `size` and `tile` are (M, N, K)."""
    m, n, k = size
    tolerance = tolerance or (1e-4 if result == "fp32" else 1e-2, 1e-2)
    case = Case(
        f"block_scaled_{fa}_{fb}{'_nv' * (block == 16)}{name}", "scaled_matmul",
        {"a": operand(fa, m, k), "sa": scale_factors(block, m, k // block), "b": operand(fb, n, k), "sb": scale_factors(block, n, k // block),
         "c": out(result, m, n), "N": scalar("i32", n), "K": scalar("i32", k)},
        (m // tile[0], n // tile[1]), kind="block-scaled", tolerance=tolerance,
        parameters={"a": fa, "b": fb, "block": block},
    )  # fmt: skip
    return request(
        block_scaled, target, case, warps, BM=tile[0], BN=tile[1], BK=tile[2], FA=fa, FB=fb, BLOCK=block, STAGES=2
    )


def _through_tensors(target: int, kind: str, block: int) -> Request:
    """Return the request for a block-scaled product whose scale factors are in blocks of 128 rows and 4 columns."""
    k, packed = 512, 1 + (kind == "e2m1")
    box = (128, 128 * packed)
    matrix, factors = operand(kind, 128, k, box), scale_factors(block, 1, k // block // 4, 32, 4, 4)
    case = Case(
        f"block_scaled_tensor_{kind}{'_nv' * (block == 16)}", "scaled_matmul",
        {"ad": matrix, "sa": factors, "bd": matrix, "sb": factors,
         "cd": tensor("fp16", 128, 128, box=(128, 128), fill="zeros", checked=True), "K": scalar("i32", k)},
        kind="block-scaled", tolerance=(1e-2, 1e-2), parameters={"a": kind, "b": kind, "block": block, "blocked": True},
    )  # fmt: skip
    return request(
        block_scaled_tensor, target, case, BM=128, BN=128, BK=box[1], FA=kind, FB=kind, BLOCK=block, PACKED=packed, STAGES=2
    )  # fmt: skip


def _blackwell() -> Iterator[Request]:
    big, size = (128, 128, 128), (128, 128, 256)
    for target in (100, 103):
        yield _product(target, "e4m3", "e4m3", size, big)
        yield _product(target, "e2m1", "e2m1", size, big)
        yield _product(target, "e2m1", "e2m1", size, big, block=16)
    yield _product(100, "e5m2", "e4m3", size, big, result="bf16")
    yield _product(100, "e4m3", "e2m1", size, big)
    yield _product(100, "e2m1", "e2m1", (256, 256, 256), (128, 256, 256), block=16, warps=8, result="fp16", name="_8w")
    for target, kind, block in ((100, "e4m3", 32), (100, "e2m1", 32), (100, "e2m1", 16), (103, "e2m1", 16), (120, "e4m3", 32)):  # fmt: skip
        yield _through_tensors(target, kind, block)
    small, size = (64, 32, 128), (128, 64, 256)
    for fa, fb, block in (("e4m3", "e4m3", 32), ("e5m2", "e5m2", 32), ("e4m3", "e2m1", 32), ("e2m1", "e5m2", 32),
                          ("e2m1", "e2m1", 32), ("e2m1", "e2m1", 16)):  # fmt: skip
        yield _product(120, fa, fb, size, small, block=block)
    yield _product(120, "e2m1", "e2m1", (128, 128, 256), (128, 128, 128), block=16, warps=8, result="fp16", name="_8w")


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    yield from for_blackwell(_blackwell())
    # Hopper multiplies the scaled values as fp16 or bf16.
    for kind in ("e4m3", "e2m1"):
        yield _product(90, kind, kind, (128, 64, 256), (64, 32, 128), tolerance=(2e-2, 2.0))
