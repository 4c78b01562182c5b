"""Triton matrix multiplications: types, layouts, tiles, masks, split K, batches, epilogues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import triton
import triton.language as tl

from warploom_lab.compiled.description import Case, buffer, out, scalar, table, tensor

Request = dict[str, Any]


@triton.jit
def gemm(
    a, b, c, bias, M, N, K, sam, sak, sbk, sbn, scm, sab, sbb, scb,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, PREC: tl.constexpr,
    MASK: tl.constexpr, GROUP: tl.constexpr, SPLIT: tl.constexpr, EPILOGUE: tl.constexpr, IMPRECISE: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    z = tl.program_id(1)
    tiles_m = tl.cdiv(M, BM)
    tiles_n = tl.cdiv(N, BN)
    if GROUP > 1:
        width = GROUP * tiles_n
        first = pid // width * GROUP
        size = min(tiles_m - first, GROUP)
        pm = first + (pid % width) % size
        pn = (pid % width) // size
    else:
        pm = pid // tiles_n
        pn = pid % tiles_n
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    if SPLIT == 1:
        a += z * sab
        b += z * sbb
        c += z * scb
    else:
        rk += z * BK
    pa = a + rm[:, None] * sam + rk[None, :] * sak
    pb = b + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(0, K, BK * SPLIT):
        if MASK:
            ta = tl.load(pa, mask=(rm[:, None] < M) & (rk[None, :] + k < K), other=0)
            tb = tl.load(pb, mask=(rk[:, None] + k < K) & (rn[None, :] < N), other=0)
        else:
            ta = tl.load(pa)
            tb = tl.load(pb)
        if IMPRECISE >= 0:
            acc = tl.dot(ta, tb, acc, input_precision=PREC, out_dtype=ACC, max_num_imprecise_acc=IMPRECISE)
        else:
            acc = tl.dot(ta, tb, acc, input_precision=PREC, out_dtype=ACC)
        pa += BK * SPLIT * sak
        pb += BK * SPLIT * sbk
    keep = (rm[:, None] < M) & (rn[None, :] < N)
    if EPILOGUE == "bias_relu":
        acc = tl.maximum(acc + tl.load(bias + rn, mask=rn < N, other=0).to(tl.float32)[None, :], 0)
    if EPILOGUE == "gelu":
        acc = 0.5 * acc * (1 + tl.erf(acc * 0.7071067811865476))
    if EPILOGUE == "scale":
        acc = acc * tl.load(bias + rm, mask=rm < M, other=0).to(tl.float32)[:, None]
    if EPILOGUE == "silu":
        acc = acc * tl.sigmoid(acc)
    pc = c + rm[:, None] * scm + rn[None, :]
    if SPLIT > 1:
        tl.atomic_add(pc, acc.to(c.dtype.element_ty), mask=keep)
    else:
        tl.store(pc, acc.to(c.dtype.element_ty), mask=keep)


@triton.jit
def gemm_tensor(
    ad, bd, cd, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PERSIST: tl.constexpr, WS: tl.constexpr
):
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    if PERSIST:
        for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=WS, flatten=not WS):
            pm = tile // tiles_n
            pn = tile % tiles_n
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, BK):
                acc = tl.dot(ad.load([pm * BM, k]), bd.load([pn * BN, k]).T, acc)
            cd.store([pm * BM, pn * BN], acc.to(cd.dtype))
    else:
        pm = tl.program_id(0) // tiles_n
        pn = tl.program_id(0) % tiles_n
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in tl.range(0, K, BK, warp_specialize=WS):
            acc = tl.dot(ad.load([pm * BM, k]), bd.load([pn * BN, k]).T, acc)
        cd.store([pm * BM, pn * BN], acc.to(cd.dtype))


@triton.jit
def gemm_device_tensor(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    ad = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    bd = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    cd = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(ad.load([pm * BM, k]), bd.load([k, pn * BN]), acc)
    cd.store([pm * BM, pn * BN], acc.to(c.dtype.element_ty))


@triton.jit
def tensor_reduce(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr, OP: tl.constexpr):
    xd = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    yd = tl.make_tensor_descriptor(y, [BM, N], [N, 1], [BM, BN])
    v = xd.load([tl.program_id(0) * BM, tl.program_id(1) * BN])
    at = tl.program_id(1) * BN
    if OP == "add":
        yd.atomic_add([0, at], v)
    if OP == "min":
        yd.atomic_min([0, at], v)
    if OP == "max":
        yd.atomic_max([0, at], v)
    if OP == "xor":
        yd.atomic_xor([0, at], v)


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


F16, BF16, F32 = ("fp16",) * 3, ("bf16",) * 3, ("fp32",) * 3  # types of A, B and the result
ACCUMULATORS = {"i8": tl.int32, "fp64": tl.float64}
TOLERANCES = {"fp16": 2e-3, "bf16": 1e-2, "fp32": 2e-5, "fp64": 1e-12, "i32": 0.0}


def request(fn: Any, target: int, case: Case, warps: int = 4, stages: int = 2, **constants: Any) -> Request:
    """Return the request to compile a Triton function and to run it as `case` describes.

    `target` is a number such as 90. `warps` and `stages` are the options `num_warps` and `num_stages` of Triton.
    `constants` are the values of the constexpr parameters.
    """
    case.name = f"{case.name}_sm{target}"
    return {
        "fn": fn, "target": target, "case": case, "constants": constants,
        "options": {"num_warps": warps, "num_stages": stages},
    }  # fmt: skip


def for_blackwell(requests: Iterable[Request]) -> Iterator[Request]:
    """Yield the requests with the prefix of the kernels for Blackwell, which has kernels of the same names."""
    for made in requests:
        made["case"].name = f"blackwell_{made['case'].name}"
        yield made


def multiply(
    name: str, target: int, ta: str, tb: str, tc: str, size: tuple[int, int, int], tile: tuple[int, int, int],
    *, layout: str = "nn", warps: int = 4, stages: int = 2, batch: int = 1, group: int = 1, split: int = 1,
    mask: bool = False, epilogue: str = "none", precision: str = "ieee", accumulate: Any = None, imprecise: int = -1,
    tolerance: float | None = None,
) -> Request:  # fmt: skip
    """Return the request for a matrix multiplication, or for `batch` multiplications.

    `ta`, `tb` and `tc` are the types of A, B and the result. `size` and `tile` are (M, N, K). `layout` has one letter
    for each of A and B: n for row-major and t for transposed. `group` is the number of tile rows that neighbouring
    programs compute, and `split` the number of programs that share the sum of a tile. `mask` bounds the loads.
    `accumulate` is the accumulator type. `imprecise` is `max_num_imprecise_acc` of `tl.dot`, or -1 for the default.
    """
    m, n, k = size
    accumulator = accumulate or ACCUMULATORS.get(ta, tl.float32)
    shape_a = (m, k) if layout[0] == "n" else (k, m)
    shape_b = (k, n) if layout[1] == "n" else (n, k)
    strides_a = (k, 1) if layout[0] == "n" else (1, m)
    strides_b = (n, 1) if layout[1] == "n" else (1, k)
    integers = {"fill": "bits"} if ta == "i8" else {}
    constants: dict[str, Any] = {}
    args: dict[str, Any] = {
        "a": buffer(ta, batch, *shape_a, **integers),
        "b": buffer(tb, batch, *shape_b, **integers),
        "c": out(tc, batch, m, n),
        "bias": buffer("fp32", max(m, n)),
    }
    numbers = {
        "M": m, "N": n, "K": k, "sam": strides_a[0], "sak": strides_a[1], "sbk": strides_b[0], "sbn": strides_b[1],
        "scm": n, "sab": m * k, "sbb": k * n, "scb": m * n,
    }  # fmt: skip
    for word, value in numbers.items():
        if value == 1:
            constants[word] = 1
        else:
            args[word] = scalar("i32", value)
    tiles = -(-m // tile[0]) * -(-n // tile[1])
    bound = TOLERANCES[tc] if tolerance is None else tolerance
    case = Case(
        f"gemm_{name}", "matmul", args, (tiles, max(batch, split)), kind="gemm", tolerance=(bound, bound * k**0.5),
        parameters={"layout": layout, "epilogue": epilogue, "unwaited": imprecise >= 0},  # Triton 3.9 reads the sums too early
    )  # fmt: skip
    return request(
        gemm, target, case, warps, stages, **constants, BM=tile[0], BN=tile[1], BK=tile[2], ACC=accumulator,
        PREC=precision, MASK=mask, GROUP=group, SPLIT=split, EPILOGUE=epilogue, IMPRECISE=imprecise,
    )  # fmt: skip


def through_tensors(
    name: str, target: int, dtype: str, size: tuple[int, int, int], tile: tuple[int, int, int],
    *, warps: int = 4, stages: int = 3, persist: int = 0, special: bool = False,
) -> Request:  # fmt: skip
    """Return the request for a product A B^T that reads A and B through tensor maps.

    `size` and `tile` are (M, N, K). `persist` is the number of programs of a persistent kernel, or 0 for one program
    for each tile. `special` selects warp specialisation.
    """
    m, n, k = size
    tc = dtype if dtype in ("fp16", "bf16", "fp32") else "fp16"
    case = Case(
        f"gemm_{name}", "matmul",
        {
            "ad": tensor(dtype, m, k, box=(tile[0], tile[2])),
            "bd": tensor(dtype, n, k, box=(tile[1], tile[2])),
            "cd": tensor(tc, m, n, box=(tile[0], tile[1]), fill="zeros", checked=True),
            "M": scalar("i32", m), "N": scalar("i32", n), "K": scalar("i32", k),
        },
        (persist or -(-m // tile[0]) * -(-n // tile[1]),), kind="gemm",
        tolerance=(1e-2, 2e-2 * k**0.5 if dtype == "fp32" or dtype.startswith("fp8") else 5e-3), parameters={"layout": "nt"},
    )  # fmt: skip
    return request(
        gemm_tensor, target, case, warps, stages, BM=tile[0], BN=tile[1], BK=tile[2], PERSIST=persist > 0, WS=special
    )


def _device_tensor(target: int, dtype: str, bm: int) -> Request:
    """Return the request for a product of two tiles of `bm` rows, whose kernel makes the tensor maps."""
    m = 2 * bm
    case = Case(
        f"gemm_device_tensor_{dtype}", "matmul",
        {"a": buffer(dtype, m, 64), "b": buffer(dtype, 64, 64), "c": out(dtype, m, 64),
         "M": scalar("i32", m), "N": scalar("i32", 64), "K": scalar("i32", 64)},
        (2, 1), kind="gemm", tolerance=(1e-2, 2e-2), parameters={"layout": "nn"},
    )  # fmt: skip
    return request(gemm_device_tensor, target, case, BM=bm, BN=64, BK=32)


def _blackwell() -> Iterator[Request]:
    tile = (128, 64, 64)
    yield multiply("f16_nn", 100, "fp16", "fp16", "fp32", (128, 128, 128), tile)
    yield multiply("f16_tt", 100, *F16, (128, 64, 128), tile, layout="tt", stages=3)
    yield multiply("bf16_nt_8w", 100, *BF16, (128, 128, 128), (128, 128, 32), layout="nt", warps=8)
    yield multiply("f16_m64", 100, "fp16", "fp16", "fp32", (64, 64, 64), (64, 64, 64))
    yield multiply("f16_mask_odd", 100, "fp16", "fp16", "fp32", (117, 93, 71), tile, mask=True)
    yield multiply("f16_n256", 103, *F16, (128, 256, 64), (128, 256, 64))
    yield multiply("bf16_tn", 103, "bf16", "bf16", "fp32", (128, 64, 128), tile, layout="tn", stages=4)
    yield multiply("f16_splitk", 100, "fp16", "fp16", "fp32", (128, 64, 256), tile, split=2)
    yield multiply("f16_bias_relu", 103, *F16, (128, 64, 64), tile, epilogue="bias_relu")
    yield multiply("bf16_gelu", 100, *BF16, (128, 64, 64), tile, epilogue="gelu")
    yield multiply("tf32", 100, *F32, (128, 64, 64), (128, 64, 32), layout="nt", precision="tf32", tolerance=3e-3)
    yield multiply("tf32x3", 100, *F32, (128, 64, 64), (128, 64, 32), layout="nt", precision="tf32x3", tolerance=1e-4)
    yield multiply("e4m3", 100, "fp8e4nv", "fp8e4nv", "fp32", (128, 64, 128), tile, layout="nt", tolerance=3e-2)
    yield multiply("e5m2_e4m3", 103, "fp8e5", "fp8e4nv", "bf16", (128, 64, 128), tile, layout="nt", tolerance=3e-2)
    yield multiply("e5m2_nn", 100, "fp8e5", "fp8e5", "fp16", (128, 64, 128), tile, tolerance=3e-2)
    yield multiply("s8", 100, "i8", "i8", "i32", (128, 64, 128), tile, layout="nt")
    yield multiply("f16_f16acc", 100, *F16, (128, 64, 64), tile, accumulate=tl.float16, tolerance=2e-2)
    yield multiply("bf16_batched", 103, *BF16, (128, 64, 64), tile, batch=2)
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
        yield _device_tensor(target, dtype, 128)
    rows = [200, 128, 77]
    for target in (100, 103):
        case = Case(
            "grouped_gemm", "grouped_matmul",
            {"ap": table("fp16", *((m, 64) for m in rows)), "bp": table("fp16", *[(128, 64)] * 3),
             "cp": table("fp16", *((m, 128) for m in rows), fill="zeros", checked=True),
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


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    yield from for_blackwell(_blackwell())
    half = (64, 64, 64)
    yield multiply("f16_nn_16x16_1w", 80, "fp16", "fp16", "fp32", (32, 32, 48), (16, 16, 16), warps=1, stages=1)
    yield multiply("f16_tt_32x64_2w", 80, *F16, (64, 64, 96), (32, 64, 32), layout="tt", warps=2, stages=3)
    yield multiply("f16_tn_f16acc", 80, *F16, half, (32, 32, 32), layout="tn", accumulate=tl.float16, tolerance=2e-2)
    yield multiply("bf16_nt_128x64_8w_s4", 90, *BF16, (128, 128, 128), (128, 64, 32), layout="nt", warps=8, stages=4)
    yield multiply("bf16_nn_mask_odd", 89, "bf16", "bf16", "fp32", (61, 45, 53), (32, 32, 16), mask=True)
    yield multiply("f16_nn_mask_odd_sm90", 90, *F16, (77, 93, 71), (64, 64, 32), mask=True, stages=3)
    yield multiply("f16_tn_256x64_8w_s5", 90, *F16, (256, 64, 128), (256, 64, 32), layout="tn", warps=8, stages=5)
    yield multiply("f16_nn_64x256_4w", 90, "fp16", "fp16", "fp32", (64, 256, 64), (64, 256, 64), stages=1)
    yield multiply("tf32_nn", 80, *F32, half, (32, 32, 32), precision="tf32", tolerance=3e-3)
    yield multiply("tf32_tn_wgmma", 90, *F32, half, (64, 64, 32), layout="nt", precision="tf32", tolerance=3e-3)
    yield multiply("tf32x3", 80, *F32, half, (32, 32, 16), precision="tf32x3", tolerance=1e-5)
    yield multiply("bf16x3", 80, *F32, half, (32, 32, 32), precision="bf16x3", tolerance=1e-3)
    yield multiply("ieee_f32", 89, *F32, half, (32, 32, 16))
    yield multiply("ieee_f32_tt_90", 90, *F32, half, (64, 32, 16), layout="tt")
    yield multiply("e4m3", 89, "fp8e4nv", "fp8e4nv", "fp16", half, (32, 64, 32), layout="nt", tolerance=3e-2)
    yield multiply("e5m2_e4m3", 89, "fp8e5", "fp8e4nv", "fp32", half, (32, 64, 64), layout="nt", tolerance=3e-2)
    yield multiply("e5m2_sm80", 80, "fp8e5", "fp8e5", "fp32", half, (32, 32, 32), layout="nt", tolerance=3e-2)
    yield multiply(
        "e5m2_wgmma", 90, "fp8e5", "fp8e5", "fp32", (128, 64, 128), (64, 64, 64), layout="nt", tolerance=3e-2
    )
    yield multiply(
        "e4m3_e5m2_wgmma_imprecise", 90, "fp8e4nv", "fp8e5", "bf16", (64, 64, 128), half, layout="nt", imprecise=32, tolerance=3e-2
    )  # fmt: skip
    yield multiply("e4m3_wgmma_nn", 90, "fp8e4nv", "fp8e4nv", "fp32", half, half, tolerance=3e-2)
    yield multiply("e4m3_sm120", 120, "fp8e4nv", "fp8e4nv", "fp32", half, (32, 64, 64), layout="nt", tolerance=3e-2)
    yield multiply("s8_nn", 80, "i8", "i8", "i32", half, (32, 32, 32))
    yield multiply("s8_nt_wgmma", 90, "i8", "i8", "i32", (64, 128, 128), (64, 128, 64), layout="nt", stages=3)
    yield multiply("s8_tt_mask", 120, "i8", "i8", "i32", (50, 70, 96), (32, 32, 32), layout="tt", mask=True)
    yield multiply("f64_nn", 80, "fp64", "fp64", "fp64", (32, 32, 32), (16, 16, 16))
    yield multiply("f64_nt_90", 90, "fp64", "fp64", "fp64", (32, 64, 32), (32, 32, 16), layout="nt", warps=8)
    yield multiply("f16_splitk", 80, "fp16", "fp16", "fp32", (64, 64, 192), (32, 32, 32), split=3)
    yield multiply("f16_splitk_f16", 90, *F16, (64, 64, 128), (64, 64, 32), split=2)
    yield multiply("bf16_splitk_bf16", 90, *BF16, (64, 64, 128), (64, 64, 32), split=2, tolerance=3e-2)
    yield multiply("bf16_batched", 80, *BF16, (32, 64, 64), (32, 32, 32), batch=3)
    yield multiply("f16_grouped", 89, *F16, (160, 96, 32), (32, 32, 32), group=2, warps=2)
    yield multiply("f16_bias_relu", 80, *F16, half, (32, 64, 32), epilogue="bias_relu")
    yield multiply("bf16_gelu", 90, *BF16, half, (64, 64, 32), epilogue="gelu")
    yield multiply("f16_rowscale", 120, "fp16", "fp16", "fp32", half, (64, 64, 32), epilogue="scale")
    yield multiply("f16_silu", 90, *F16, half, (64, 64, 32), epilogue="silu")
    yield multiply("f16_to_e5m2", 90, "fp16", "fp16", "fp8e5", half, (64, 64, 32), tolerance=0.26)
    yield multiply("f16_to_e4m3", 89, "fp16", "fp16", "fp8e4nv", half, (64, 64, 32), tolerance=0.13)
    yield through_tensors("tma_f16", 90, "fp16", (128, 128, 128), (64, 64, 64))
    yield through_tensors("tma_bf16_ragged", 90, "bf16", (104, 72, 96), (64, 64, 64), stages=4)
    yield through_tensors("tma_f32", 90, "fp32", (64, 64, 64), (64, 64, 32))
    yield through_tensors("tma_e5m2", 90, "fp8e5", (64, 64, 128), (64, 64, 64))
    yield through_tensors("tma_persistent", 90, "fp16", (256, 128, 128), (64, 64, 64), persist=3)
    yield through_tensors("tma_persistent_ws", 90, "fp16", (256, 128, 128), (64, 64, 64), persist=3, special=True)
    yield through_tensors("tma_ws", 90, "fp16", (128, 128, 192), (64, 64, 64), special=True)
    yield through_tensors("tma_8w", 90, "bf16", (128, 256, 128), (128, 256, 64), warps=8)
    yield through_tensors("tma_sm120", 120, "fp16", (64, 64, 128), (64, 64, 64))
    for dtype, target in (("fp16", 90), ("bf16", 90), ("fp16", 120)):
        yield _device_tensor(target, dtype, 64)
    for op, dtype in (("add", "fp32"), ("add", "fp16"), ("min", "i32"), ("max", "i32"), ("xor", "i32")):
        fill = {"fill": "integers", "low": -100, "high": 100}
        case = Case(
            f"tensor_reduce_{op}_{dtype}", "tensor_reduce",
            {"x": buffer(dtype, 64, 64, **fill), "y": out(dtype, 16, 64, **fill), "M": scalar("i32", 64), "N": scalar("i32", 64)},
            (4, 2), kind="gemm", parameters={"op": op},
        )  # fmt: skip
        yield request(tensor_reduce, 90, case, BM=16, BN=32, OP=op)
