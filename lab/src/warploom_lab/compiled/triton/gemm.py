"""Triton matrix multiplications: types, layouts, tiles, masks, split K, batches, epilogues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import triton
import triton.language as tl

from warploom_lab.compiled.description import Case, buffer, out, scalar, tensor

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
def scaled(
    a, sa, b, sb, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr
):
    rm = tl.arange(0, BM)
    rn = tl.arange(0, BN)
    da: tl.constexpr = 2 if FA == "e2m1" else 1
    db: tl.constexpr = 2 if FB == "e2m1" else 1
    ka = tl.arange(0, BK // da)
    kb = tl.arange(0, BK // db)
    ks = tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        ta = tl.load(a + rm[:, None] * (K // da) + k // da + ka[None, :])
        tb = tl.load(b + rn[None, :] * (K // db) + k // db + kb[:, None])
        xa = tl.load(sa + rm[:, None] * (K // 32) + k // 32 + ks[None, :])
        xb = tl.load(sb + rn[:, None] * (K // 32) + k // 32 + ks[None, :])
        acc = tl.dot_scaled(ta, xa, FA, tb, xb, FB, acc)
    tl.store(c + rm[:, None] * BN + rn[None, :], acc)


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


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    half = (64, 64, 64)
    yield multiply("f16_nn_16x16_1w", 80, "fp16", "fp16", "fp32", (32, 32, 48), (16, 16, 16), warps=1, stages=1)
    yield multiply(
        "f16_tt_32x64_2w", 80, "fp16", "fp16", "fp16", (64, 64, 96), (32, 64, 32), layout="tt", warps=2, stages=3
    )
    yield multiply(
        "f16_tn_f16acc",
        80,
        "fp16",
        "fp16",
        "fp16",
        half,
        (32, 32, 32),
        layout="tn",
        accumulate=tl.float16,
        tolerance=2e-2,
    )
    yield multiply(
        "bf16_nt_128x64_8w_s4",
        90,
        "bf16",
        "bf16",
        "bf16",
        (128, 128, 128),
        (128, 64, 32),
        layout="nt",
        warps=8,
        stages=4,
    )
    yield multiply("bf16_nn_mask_odd", 89, "bf16", "bf16", "fp32", (61, 45, 53), (32, 32, 16), mask=True)
    yield multiply("f16_nn_mask_odd_sm90", 90, "fp16", "fp16", "fp16", (77, 93, 71), (64, 64, 32), mask=True, stages=3)
    yield multiply(
        "f16_tn_256x64_8w_s5", 90, "fp16", "fp16", "fp16", (256, 64, 128), (256, 64, 32), layout="tn", warps=8, stages=5
    )
    yield multiply("f16_nn_64x256_4w", 90, "fp16", "fp16", "fp32", (64, 256, 64), (64, 256, 64), stages=1)
    yield multiply("tf32_nn", 80, "fp32", "fp32", "fp32", half, (32, 32, 32), precision="tf32", tolerance=3e-3)
    yield multiply(
        "tf32_tn_wgmma", 90, "fp32", "fp32", "fp32", half, (64, 64, 32), layout="nt", precision="tf32", tolerance=3e-3
    )
    yield multiply("tf32x3", 80, "fp32", "fp32", "fp32", half, (32, 32, 16), precision="tf32x3", tolerance=1e-5)
    yield multiply("bf16x3", 80, "fp32", "fp32", "fp32", half, (32, 32, 32), precision="bf16x3", tolerance=1e-3)
    yield multiply("ieee_f32", 89, "fp32", "fp32", "fp32", half, (32, 32, 16))
    yield multiply("ieee_f32_tt_90", 90, "fp32", "fp32", "fp32", half, (64, 32, 16), layout="tt")
    yield multiply("e4m3", 89, "fp8e4nv", "fp8e4nv", "fp16", half, (32, 64, 32), layout="nt", tolerance=3e-2)
    yield multiply("e5m2_e4m3", 89, "fp8e5", "fp8e4nv", "fp32", half, (32, 64, 64), layout="nt", tolerance=3e-2)
    yield multiply("e5m2_sm80", 80, "fp8e5", "fp8e5", "fp32", half, (32, 32, 32), layout="nt", tolerance=3e-2)
    yield multiply(
        "e5m2_wgmma", 90, "fp8e5", "fp8e5", "fp32", (128, 64, 128), (64, 64, 64), layout="nt", tolerance=3e-2
    )
    yield multiply(
        "e4m3_e5m2_wgmma_imprecise",
        90,
        "fp8e4nv",
        "fp8e5",
        "bf16",
        (64, 64, 128),
        (64, 64, 64),
        layout="nt",
        imprecise=32,
        tolerance=3e-2,
    )
    yield multiply(
        "e4m3_wgmma_nn", 90, "fp8e4nv", "fp8e4nv", "fp32", (64, 64, 64), (64, 64, 64), layout="nn", tolerance=3e-2
    )
    yield multiply("e4m3_sm120", 120, "fp8e4nv", "fp8e4nv", "fp32", half, (32, 64, 64), layout="nt", tolerance=3e-2)
    yield multiply("s8_nn", 80, "i8", "i8", "i32", half, (32, 32, 32))
    yield multiply("s8_nt_wgmma", 90, "i8", "i8", "i32", (64, 128, 128), (64, 128, 64), layout="nt", stages=3)
    yield multiply("s8_tt_mask", 120, "i8", "i8", "i32", (50, 70, 96), (32, 32, 32), layout="tt", mask=True)
    yield multiply("f64_nn", 80, "fp64", "fp64", "fp64", (32, 32, 32), (16, 16, 16))
    yield multiply("f64_nt_90", 90, "fp64", "fp64", "fp64", (32, 64, 32), (32, 32, 16), layout="nt", warps=8)
    yield multiply("f16_splitk", 80, "fp16", "fp16", "fp32", (64, 64, 192), (32, 32, 32), split=3)
    yield multiply("f16_splitk_f16", 90, "fp16", "fp16", "fp16", (64, 64, 128), (64, 64, 32), split=2)
    yield multiply("bf16_splitk_bf16", 90, "bf16", "bf16", "bf16", (64, 64, 128), (64, 64, 32), split=2, tolerance=3e-2)
    yield multiply("bf16_batched", 80, "bf16", "bf16", "bf16", (32, 64, 64), (32, 32, 32), batch=3)
    yield multiply("f16_grouped", 89, "fp16", "fp16", "fp16", (160, 96, 32), (32, 32, 32), group=2, warps=2)
    yield multiply("f16_bias_relu", 80, "fp16", "fp16", "fp16", half, (32, 64, 32), epilogue="bias_relu")
    yield multiply("bf16_gelu", 90, "bf16", "bf16", "bf16", half, (64, 64, 32), epilogue="gelu")
    yield multiply("f16_rowscale", 120, "fp16", "fp16", "fp32", half, (64, 64, 32), epilogue="scale")
    yield multiply("f16_silu", 90, "fp16", "fp16", "fp16", half, (64, 64, 32), epilogue="silu")
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
        case = Case(
            f"gemm_device_tensor_{dtype}", "matmul",
            {"a": buffer(dtype, 128, 64), "b": buffer(dtype, 64, 64), "c": out(dtype, 128, 64),
             "M": scalar("i32", 128), "N": scalar("i32", 64), "K": scalar("i32", 64)},
            (2, 1), kind="gemm", tolerance=(1e-2, 2e-2), parameters={"layout": "nn"},
        )  # fmt: skip
        yield request(gemm_device_tensor, target, case, BM=64, BN=64, BK=32)
    for op, dtype in (("add", "fp32"), ("add", "fp16"), ("min", "i32"), ("max", "i32"), ("xor", "i32")):
        fill = {"fill": "integers", "low": -100, "high": 100}
        case = Case(
            f"tensor_reduce_{op}_{dtype}", "tensor_reduce",
            {"x": buffer(dtype, 64, 64, **fill), "y": out(dtype, 16, 64, **fill), "M": scalar("i32", 64), "N": scalar("i32", 64)},
            (4, 2), kind="gemm", parameters={"op": op},
        )  # fmt: skip
        yield request(tensor_reduce, 90, case, BM=16, BN=32, OP=op)
    for fa, fb, target in (
        ("e4m3", "e4m3", 120), ("e5m2", "e4m3", 120), ("e2m1", "e2m1", 120), ("e4m3", "e2m1", 120),
        ("e4m3", "e4m3", 90), ("e2m1", "e2m1", 90), ("e2m1", "bf16", 80),
    ):  # fmt: skip
        if fb == "bf16":
            continue
        types = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "e2m1": "u8"}
        sizes = {"e4m3": 128, "e5m2": 128, "e2m1": 64}
        operands = [
            buffer(types[f], 64 if f is fa else 32, sizes[f], fill="bits" if f == "e2m1" else "normal")
            for f in (fa, fb)
        ]
        operands[0]["shape"][0], operands[1]["shape"][0] = 64, 32
        case = Case(
            f"scaled_{fa}_{fb}", "scaled_matmul",
            {"a": operands[0], "sa": buffer("u8", 64, 4, fill="integers", low=120, high=131), "b": operands[1],
             "sb": buffer("u8", 32, 4, fill="integers", low=120, high=131), "c": out("fp32", 64, 32), "K": scalar("i32", 128)},
            kind="scaled", tolerance=(1e-4, 1e-3) if target == 120 else (2e-2, 2.0), parameters={"a": fa, "b": fb},
        )  # fmt: skip
        yield request(scaled, target, case, BM=64, BN=32, BK=128 if "e2m1" in (fa, fb) else 64, FA=fa, FB=fb)
