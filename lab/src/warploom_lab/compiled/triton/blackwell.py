"""Triton kernels for Blackwell: tensor memory on sm_100a and sm_103a, block-scaled `mma.sync` on sm_120a."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import triton
import triton.language as tl

from warploom_lab.compiled.description import Case, Spec, buffer, out, scalar, table, tensor
from warploom_lab.compiled.triton.attention import attention, attention_tensor
from warploom_lab.compiled.triton.gemm import Request, gemm_device_tensor, multiply, request, through_tensors
from warploom_lab.compiled.triton.rows import layernorm, rmsnorm, softmax


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


@triton.jit
def grouped_gemm(
    ap, bp, cp, sizes, N, K, GROUPS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    CTAS: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    last = 0
    for g in range(GROUPS):
        m = tl.load(sizes + g)
        tiles_n = tl.cdiv(N, BN)
        tiles = tl.cdiv(m, BM) * tiles_n
        ad = tl.make_tensor_descriptor(tl.load(ap + g).to(tl.pointer_type(tl.float16)), [m, K], [K, 1], [BM, BK])
        bd = tl.make_tensor_descriptor(tl.load(bp + g).to(tl.pointer_type(tl.float16)), [N, K], [K, 1], [BN, BK])
        cd = tl.make_tensor_descriptor(tl.load(cp + g).to(tl.pointer_type(tl.float16)), [m, N], [N, 1], [BM, BN])
        while tile < last + tiles:
            pm = (tile - last) // tiles_n
            pn = (tile - last) % tiles_n
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, BK):
                acc = tl.dot(ad.load([pm * BM, k]), bd.load([pn * BN, k]).T, acc)
            cd.store([pm * BM, pn * BN], acc.to(tl.float16))
            tile += CTAS
        last += tiles


@triton.jit
def stream_k(a, b, c, locks, N, K, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SHARE: tl.constexpr):
    per_tile = K // BK
    tiles_n = N // BN
    now = tl.program_id(0) * SHARE
    end = tl.minimum(now + SHARE, steps)
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rk = tl.arange(0, BK)
    while now < end:
        tile = now // per_tile
        until = tl.minimum((tile + 1) * per_tile, end)
        pm = tile // tiles_n * BM
        pn = tile % tiles_n * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for s in range(now % per_tile, now % per_tile + until - now):
            ta = tl.load(a + (pm + rm)[:, None] * K + s * BK + rk[None, :])
            tb = tl.load(b + (pn + rn)[None, :] * K + s * BK + rk[:, None])
            acc = tl.dot(ta, tb, acc)
        at = c + (pm + rm)[:, None] * N + (pn + rn)[None, :]
        # The first CTA of a tile stores its part. The others add theirs in the order of k.
        if now % per_tile == 0:
            tl.store(at, acc)
            tl.debug_barrier()
            tl.atomic_xchg(locks + tile, until % per_tile, sem="release")
        else:
            while tl.atomic_cas(locks + tile, now % per_tile, now % per_tile, sem="acquire") != now % per_tile:
                pass
            tl.debug_barrier()
            tl.store(at, tl.load(at, cache_modifier=".cg") + acc)
            tl.debug_barrier()
            tl.atomic_xchg(locks + tile, until % per_tile, sem="release")
        now = until


@triton.jit
def gated(x, w, v, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    xd = tl.make_tensor_descriptor(x, [M, K], [K, 1], [BM, BK])
    wd = tl.make_tensor_descriptor(w, [N, K], [K, 1], [BN, BK])
    vd = tl.make_tensor_descriptor(v, [N, K], [K, 1], [BN, BK])
    pm = tl.program_id(0) * BM
    pn = tl.program_id(1) * BN
    gate = tl.zeros((BM, BN), dtype=tl.float32)
    value = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        tx = xd.load([pm, k])
        gate = tl.dot(tx, wd.load([pn, k]).T, gate)
        value = tl.dot(tx, vd.load([pn, k]).T, value)
    rm = pm + tl.arange(0, BM)
    rn = pn + tl.arange(0, BN)
    tl.store(y + rm[:, None] * N + rn[None, :], (gate * tl.sigmoid(gate) * value).to(y.dtype.element_ty))


def _operand(kind: str, rows: int, k: int) -> Spec:
    """Return the description of an operand with elements of `kind`, which is e4m3, e5m2 or e2m1."""
    if kind == "e2m1":
        return buffer("u8", rows, k // 2, fill="bits")
    return buffer({"e4m3": "fp8e4nv", "e5m2": "fp8e5"}[kind], rows, k)


def _scales(block: int, *shape: int) -> Spec:
    """Return the description of scale factors: ue8m0 for blocks of 32 elements, ue4m3 for blocks of 16."""
    if block == 32:
        return buffer("u8", *shape, fill="integers", low=123, high=131)
    return buffer("fp8e4nv", *shape, fill="uniform", low=0.25, high=4.0)


def scaled_product(
    target: int, fa: str, fb: str, size: tuple[int, int, int], tile: tuple[int, int, int], *, block: int = 32,
    result: str = "fp32", stages: int = 2, warps: int = 4, name: str = "",
) -> Request:  # fmt: skip
    """Return the request for a block-scaled product A B^T. `size` and `tile` are (M, N, K)."""
    m, n, k = size
    case = Case(
        f"block_scaled_{fa}_{fb}{'_nv' * (block == 16)}{name}", "scaled_matmul",
        {"a": _operand(fa, m, k), "sa": _scales(block, m, k // block), "b": _operand(fb, n, k), "sb": _scales(block, n, k // block),
         "c": out(result, m, n), "N": scalar("i32", n), "K": scalar("i32", k)},
        (m // tile[0], n // tile[1]), kind="block-scaled", tolerance=(1e-4, 1e-2) if result == "fp32" else (1e-2, 1e-2),
        parameters={"a": fa, "b": fb, "block": block},
    )  # fmt: skip
    return request(
        block_scaled, target, case, warps, BM=tile[0], BN=tile[1], BK=tile[2], FA=fa, FB=fb, BLOCK=block, STAGES=stages
    )


def scaled_through_tensors(
    target: int, kind: str, size: tuple[int, int, int], tile: tuple[int, int, int], *, block: int = 32, stages: int = 2
) -> Request:
    """Return the request for a block-scaled product whose scale factors are in blocks of 128 rows and 4 columns."""
    m, n, k = size
    packed = 2 if kind == "e2m1" else 1

    def operand(rows: int, box: int) -> Spec:
        dtype, fill = {"e4m3": ("fp8e4nv", "normal"), "e5m2": ("fp8e5", "normal"), "e2m1": ("u8", "bits")}[kind]
        return tensor(dtype, rows, k // packed, box=(box, tile[2] // packed), fill=fill)

    case = Case(
        f"block_scaled_tensor_{kind}{'_nv' * (block == 16)}", "scaled_matmul",
        {"ad": operand(m, tile[0]), "sa": _scales(block, m // 128, k // block // 4, 32, 4, 4), "bd": operand(n, tile[1]),
         "sb": _scales(block, n // 128, k // block // 4, 32, 4, 4),
         "cd": tensor("fp16", m, n, box=(tile[0], tile[1]), fill="zeros", checked=True), "K": scalar("i32", k)},
        (m // tile[0], n // tile[1]), kind="block-scaled", tolerance=(1e-2, 1e-2),
        parameters={"a": kind, "b": kind, "block": block, "blocked": True},
    )  # fmt: skip
    return request(
        block_scaled_tensor, target, case, BM=tile[0], BN=tile[1], BK=tile[2], FA=kind, FB=kind, BLOCK=block,
        PACKED=packed, STAGES=stages,
    )  # fmt: skip


def _renamed(made: Request) -> Request:
    """Return the request with a name that no request of another file has."""
    made["case"].name = f"blackwell_{made['case'].name}"
    return made


def _products() -> Iterator[Request]:
    tile = (128, 64, 64)
    yield multiply("f16_nn", 100, "fp16", "fp16", "fp32", (128, 128, 128), tile)
    yield multiply("f16_tt", 100, "fp16", "fp16", "fp16", (128, 64, 128), tile, layout="tt", stages=3)
    yield multiply("bf16_nt_8w", 100, "bf16", "bf16", "bf16", (128, 128, 128), (128, 128, 32), layout="nt", warps=8)
    yield multiply("f16_m64", 100, "fp16", "fp16", "fp32", (64, 64, 64), (64, 64, 64))
    yield multiply("f16_mask_odd", 100, "fp16", "fp16", "fp32", (117, 93, 71), tile, mask=True)
    yield multiply("f16_n256", 103, "fp16", "fp16", "fp16", (128, 256, 64), (128, 256, 64))
    yield multiply("bf16_tn", 103, "bf16", "bf16", "fp32", (128, 64, 128), tile, layout="tn", stages=4)
    yield multiply("f16_splitk", 100, "fp16", "fp16", "fp32", (128, 64, 256), tile, split=2)
    yield multiply("f16_bias_relu", 103, "fp16", "fp16", "fp16", (128, 64, 64), tile, epilogue="bias_relu")
    yield multiply("bf16_gelu", 100, "bf16", "bf16", "bf16", (128, 64, 64), tile, epilogue="gelu")
    yield multiply(
        "tf32", 100, "fp32", "fp32", "fp32", (128, 64, 64), (128, 64, 32), layout="nt", precision="tf32", tolerance=3e-3
    )
    yield multiply(
        "tf32x3",
        100,
        "fp32",
        "fp32",
        "fp32",
        (128, 64, 64),
        (128, 64, 32),
        layout="nt",
        precision="tf32x3",
        tolerance=1e-4,
    )
    yield multiply("e4m3", 100, "fp8e4nv", "fp8e4nv", "fp32", (128, 64, 128), tile, layout="nt", tolerance=3e-2)
    yield multiply("e5m2_e4m3", 103, "fp8e5", "fp8e4nv", "bf16", (128, 64, 128), tile, layout="nt", tolerance=3e-2)
    yield multiply("e5m2_nn", 100, "fp8e5", "fp8e5", "fp16", (128, 64, 128), tile, tolerance=3e-2)
    yield multiply("s8", 100, "i8", "i8", "i32", (128, 64, 128), tile, layout="nt")
    yield multiply(
        "f16_f16acc", 100, "fp16", "fp16", "fp16", (128, 64, 64), tile, accumulate=tl.float16, tolerance=2e-2
    )
    yield multiply("bf16_batched", 103, "bf16", "bf16", "bf16", (128, 64, 64), tile, batch=2)
    for target in (100, 103):
        yield through_tensors("tma_f16", target, "fp16", (256, 128, 128), (128, 64, 64))
        yield through_tensors("tma_bf16_ragged", target, "bf16", (200, 104, 96), (128, 64, 64), stages=4)
        yield through_tensors("tma_persistent", target, "fp16", (384, 128, 128), (128, 128, 64), persist=2)
        yield through_tensors(
            "tma_persistent_ws", target, "fp16", (384, 128, 128), (128, 64, 64), persist=2, special=True
        )
    yield through_tensors("tma_ws", 100, "fp16", (128, 128, 192), (128, 64, 64), special=True)
    yield through_tensors("tma_e5m2", 100, "fp8e5", (128, 64, 128), (128, 64, 64))
    yield through_tensors("tma_f32", 100, "fp32", (128, 64, 64), (128, 64, 32))
    yield through_tensors("tma_8w", 103, "bf16", (256, 256, 128), (256, 128, 64), warps=8)
    for target, dtype in ((100, "fp16"), (103, "bf16")):
        case = Case(
            f"gemm_device_tensor_{dtype}", "matmul",
            {"a": buffer(dtype, 256, 64), "b": buffer(dtype, 64, 64), "c": out(dtype, 256, 64),
             "M": scalar("i32", 256), "N": scalar("i32", 64), "K": scalar("i32", 64)},
            (2, 1), kind="gemm", tolerance=(1e-2, 2e-2), parameters={"layout": "nn"},
        )  # fmt: skip
        yield request(gemm_device_tensor, target, case, BM=128, BN=64, BK=32)


def _scaled() -> Iterator[Request]:
    big, size = (128, 128, 128), (128, 128, 256)
    for target in (100, 103):
        yield scaled_product(target, "e4m3", "e4m3", size, big)
        yield scaled_product(target, "e2m1", "e2m1", size, big)
        yield scaled_product(target, "e2m1", "e2m1", size, big, block=16)
    yield scaled_product(100, "e5m2", "e4m3", size, big, result="bf16")
    yield scaled_product(100, "e4m3", "e2m1", size, big)
    yield scaled_product(
        100, "e2m1", "e2m1", (256, 256, 256), (128, 256, 256), block=16, warps=8, result="fp16", name="_8w"
    )
    for target, kind, block in (
        (100, "e4m3", 32),
        (100, "e2m1", 32),
        (100, "e2m1", 16),
        (103, "e2m1", 16),
        (120, "e4m3", 32),
    ):
        yield scaled_through_tensors(
            target, kind, (128, 128, 512), (128, 128, 256 if kind == "e2m1" else 128), block=block
        )
    small, size = (64, 32, 128), (128, 64, 256)
    for fa, fb, block in (("e4m3", "e4m3", 32), ("e5m2", "e5m2", 32), ("e4m3", "e2m1", 32), ("e2m1", "e5m2", 32),
                          ("e2m1", "e2m1", 32), ("e2m1", "e2m1", 16)):  # fmt: skip
        yield scaled_product(120, fa, fb, size, small, block=block)
    yield scaled_product(
        120, "e2m1", "e2m1", (128, 128, 256), (128, 128, 128), block=16, warps=8, result="fp16", name="_8w"
    )


def _attention() -> Iterator[Request]:
    for target, name, dtype, n, d, bn, causal, warps in (
        (100, "f16_d64", "fp16", 256, 64, 64, False, 4), (100, "bf16_d128_causal", "bf16", 256, 128, 64, True, 8),
        (103, "f16_d64_causal_ragged", "fp16", 201, 64, 64, True, 4), (100, "e5m2_d64", "fp8e5", 256, 64, 64, False, 4),
        (120, "bf16_d64", "bf16", 128, 64, 64, True, 4),
    ):  # fmt: skip
        result = "fp32" if dtype.startswith("fp8") else dtype
        near = {"fp16": (1e-2, 3e-3), "bf16": (2e-2, 2e-2), "fp32": (0.1, 0.1)}[result]
        case = Case(
            f"attention_{name}", "attention",
            {**{word: buffer(dtype, 1, n, d) for word in "qkv"}, "o": out(result, 1, n, d), "lse": out("fp32", 1, n),
             "scale": scalar("fp32", d**-0.5), "N": scalar("i32", n)},
            (-(-n // 128), 1), kind="attention", tolerance=near, parameters={"causal": causal},
        )  # fmt: skip
        yield request(attention, target, case, warps, D=d, BM=128, BN=bn, CAUSAL=causal, WINDOW=0)
    for target, special in ((100, False), (100, True), (103, True)):
        box = {"box": (128, 64)}
        case = Case(
            f"attention_tensor{'_ws' * special}", "attention",
            {"qd": tensor("fp16", 256, 64, **box), "kd": tensor("fp16", 256, 64, box=(64, 64)), "vd": tensor("fp16", 256, 64, box=(64, 64)),
             "od": tensor("fp16", 256, 64, **box, fill="zeros", checked=True), "scale": scalar("fp32", 0.125), "N": scalar("i32", 256)},
            (2, 1), kind="attention", tolerance=(1e-2, 3e-3), parameters={"heads": 1},
        )  # fmt: skip
        yield request(attention_tensor, target, case, D=64, BM=128, BN=64, WS=special)


def _others() -> Iterator[Request]:
    for target in (100, 103):
        rows = [200, 128, 77]
        case = Case(
            "grouped_gemm", "grouped_matmul",
            {"ap": _table(rows, 64), "bp": _table([128] * 3, 64), "cp": _table(rows, 128, fill="zeros", checked=True),
             "sizes": buffer("i32", 3, fill="values", values=rows), "N": scalar("i32", 128), "K": scalar("i32", 64)},
            (3,), kind="gemm", tolerance=(1e-2, 1e-2), parameters={"rows": rows, "n": 128, "k": 64},
        )  # fmt: skip
        yield request(grouped_gemm, target, case, GROUPS=3, BM=128, BN=64, BK=32, CTAS=3)
    for target, dtype in ((100, "fp16"), (103, "bf16"), (120, "fp16")):
        case = Case(
            f"stream_k_{dtype}", "matmul",
            {"a": buffer(dtype, 256, 320), "b": buffer(dtype, 64, 320), "c": out("fp32", 256, 64), "locks": buffer("i32", 2, fill="values", values=[-1, -1]),
             "N": scalar("i32", 64), "K": scalar("i32", 320), "steps": scalar("i32", 10)},
            (4,), kind="gemm", tolerance=(1e-3, 1e-2), parameters={"layout": "nt", "unordered": ["locks"]},
        )  # fmt: skip
        yield request(stream_k, target, case, BM=128, BN=64, BK=64, SHARE=3)
    for target, dtype in ((100, "bf16"), (103, "fp16")):
        case = Case(
            f"gated_{dtype}", "gated",
            {"x": buffer(dtype, 128, 128, scale=0.3), "w": buffer(dtype, 64, 128), "v": buffer(dtype, 64, 128), "y": out(dtype, 128, 64),
             "M": scalar("i32", 128), "N": scalar("i32", 64), "K": scalar("i32", 128)},
            (1, 1), kind="gemm", tolerance=(3e-2, 5e-2),
        )  # fmt: skip
        yield request(gated, target, case, BM=128, BN=64, BK=64)
    for target, dtype, n in ((100, "bf16", 768), (103, "fp16", 300), (120, "fp32", 200)):
        near = {"fp32": 1e-5, "fp16": 2e-3, "bf16": 1e-2}[dtype]
        case = Case(
            f"layernorm_{dtype}", "layernorm",
            {"x": buffer(dtype, 4, n), "w": buffer("fp32", n), "b": buffer("fp32", n), "y": out(dtype, 4, n),
             "mean": out("fp32", 4), "rstd": out("fp32", 4), "n": scalar("i32", n), "eps": scalar("fp32", 1e-5)},
            (4,), kind="rows", tolerance=(near, 10 * near),
        )  # fmt: skip
        yield request(layernorm, target, case, B=1024 if n > 512 else 512)
        case = Case(
            f"rmsnorm_{dtype}", "rmsnorm",
            {"x": buffer(dtype, 8, n), "w": buffer("fp32", n), "y": out(dtype, 8, n), "n": scalar("i32", n), "eps": scalar("fp32", 1e-5)},
            (4,), kind="rows", tolerance=(near, near),
        )  # fmt: skip
        yield request(rmsnorm, target, case, B=1024 if n > 512 else 512, ROWS=2)
        case = Case(
            f"softmax_{dtype}", "softmax", {"x": buffer(dtype, 5, n), "y": out(dtype, 5, n), "n": scalar("i32", n)},
            (5,), kind="rows", tolerance=(near, near),
        )  # fmt: skip
        yield request(softmax, target, case, B=1024)


def _table(rows: list[int], columns: int, **options: Any) -> Spec:
    return table("fp16", *((count, columns) for count in rows), **options)


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    for made in (*_products(), *_scaled(), *_attention(), *_others()):
        yield _renamed(made)
