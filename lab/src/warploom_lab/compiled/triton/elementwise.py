"""Triton kernels on single elements: mathematics, casts, integers, random numbers, control flow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from warploom_lab.compiled.description import Case, buffer, out, scalar
from warploom_lab.compiled.triton.gemm import Request, request


@triton.jit
def unary(x, y, n, FN: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, FN(tl.load(x + i, mask=i < n)).to(y.dtype.element_ty), mask=i < n)


@triton.jit
def binary(x, z, y, n, FN: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, FN(tl.load(x + i, mask=i < n), tl.load(z + i, mask=i < n)).to(y.dtype.element_ty), mask=i < n)


@triton.jit
def ternary(x, z, w, y, n, FN: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = FN(tl.load(x + i, mask=i < n), tl.load(z + i, mask=i < n), tl.load(w + i, mask=i < n))
    tl.store(y + i, v.to(y.dtype.element_ty), mask=i < n)


@triton.jit
def cast(x, y, n, B: tl.constexpr, RTNE: tl.constexpr, BITS: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    if BITS:
        v = v.to(y.dtype.element_ty, bitcast=True)
    elif RTNE == "rtz":
        v = v.to(y.dtype.element_ty, fp_downcast_rounding="rtz")
    else:
        v = v.to(y.dtype.element_ty)
    tl.store(y + i, v, mask=i < n)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def sub(a, b):
    return a - b


@triton.jit
def mul(a, b):
    return a * b


@triton.jit
def divide(a, b):
    return a / b


@triton.jit
def quotient(a, b):
    return a // b


@triton.jit
def remainder(a, b):
    return a % b


@triton.jit
def left(a, b):
    return a << (b & 7)


@triton.jit
def right(a, b):
    return a >> (b & 7)


@triton.jit
def logic(a, b):
    return (a & b) ^ (a | ~b)


@triton.jit
def least(a, b):
    return tl.minimum(a, b)


@triton.jit
def least_nan(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def clamped(a, b):
    return tl.clamp(a, -0.5, 0.75) + b


@triton.jit
def compared(a, b):
    return (a < b).to(tl.int32) + 2 * (a == b).to(tl.int32) + 4 * (a >= b).to(tl.int32) + 8 * (a != b).to(tl.int32)


@triton.jit
def negated(a):
    return -a


@triton.jit
def absolute(a):
    return tl.abs(a)


@triton.jit
def tanh_inline(a):
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [a], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def packed_asm(a, b):
    return tl.inline_asm_elementwise(
        "vadd4.u32.u32.u32 $0, $1, $2, $1;", "=r,r,r", [a, b], dtype=tl.uint8, is_pure=True, pack=4
    )


@triton.jit
def random_kernel(y, seed, n, B: tl.constexpr, KIND: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if KIND == "rand":
        tl.store(y + i, tl.rand(seed, i), mask=i < n)
    if KIND == "randn":
        tl.store(y + i, tl.randn(seed, i), mask=i < n)
    if KIND == "randint":
        tl.store(y + i, tl.randint(seed, i).to(tl.int32, bitcast=True), mask=i < n)
    if KIND == "randint64":
        tl.store(y + i, tl.randint(seed, i.to(tl.int64)).to(tl.int64), mask=i < n)


@triton.jit
def dropout(x, y, seed, p, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    keep = tl.rand(seed, i) > p
    tl.store(y + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


@triton.jit
def collatz(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=1).to(tl.int64)
    steps = tl.zeros((B,), tl.int32)
    while tl.max((v != 1).to(tl.int32), 0) > 0:
        active = v != 1
        v = tl.where(active, tl.where(v % 2 == 0, v // 2, 3 * v + 1), v)
        steps += active.to(tl.int32)
    tl.store(y + i, steps, mask=i < n)


@triton.jit
def scalar_loop(x, y, n):
    row = tl.program_id(0)
    total = 0.0
    k = tl.load(x + row).to(tl.int32)
    while k > 0:
        if k % 3 == 0:
            total += k * 2.0
        elif k % 3 == 1:
            total -= 1.0
        else:
            for j in range(k % 7):
                total += j
        k -= 1
    tl.store(y + row, total)


@triton.jit(noinline=True)
def polynomial(x, a, b):
    return x * x * a + b


@triton.jit(noinline=True)
def deeper(p, q, a):
    v = polynomial(tl.load(p), a, 1.0)
    tl.store(q, polynomial(v, 0.5, a))


@triton.jit
def calls(x, y, a):
    deeper(x + tl.program_id(0), y + tl.program_id(0), a)


FLOATS = (
    # name, function, range of inputs, tolerance, targets
    ("exp", tl.exp, (-20, 20), 1e-5), ("exp2", tl.exp2, (-130, 120), 1e-6), ("log", tl.log, (1e-6, 100), 1e-5),
    ("log2", tl.log2, (1e-6, 100), 1e-5), ("sin", tl.sin, (-100, 100), 1e-5), ("cos", tl.cos, (-100, 100), 1e-5),
    ("sqrt", tl.sqrt, (0, 100), 1e-6), ("sqrt_rn", tl.sqrt_rn, (0, 100), 0), ("rsqrt", tl.rsqrt, (1e-3, 100), 1e-6),
    ("erf", tl.erf, (-4, 4), 1e-6), ("floor", tl.floor, (-100, 100), 0), ("ceil", tl.ceil, (-100, 100), 0),
    ("abs", tl.abs, (-5, 5), 0), ("sigmoid", tl.sigmoid, (-20, 20), 1e-5),
    *((name, getattr(libdevice, name), extent, near) for name, extent, near in (
        ("tanh", (-5, 5), 1e-6), ("tan", (-3, 3), 1e-5), ("asin", (-1, 1), 1e-6), ("acos", (-1, 1), 1e-6), ("atan", (-9, 9), 1e-6),
        ("sinh", (-5, 5), 1e-6), ("cosh", (-5, 5), 1e-6), ("asinh", (-9, 9), 1e-6), ("acosh", (1, 9), 1e-5),
        ("atanh", (-0.99, 0.99), 1e-6), ("log1p", (-0.9, 9), 1e-6), ("expm1", (-5, 5), 1e-6), ("log10", (1e-3, 100), 1e-6),
        ("exp10", (-9, 9), 1e-5), ("cbrt", (-9, 9), 1e-6), ("rcbrt", (0.1, 9), 1e-6), ("erfc", (-3, 3), 1e-5),
        ("erfinv", (-0.99, 0.99), 1e-5), ("lgamma", (3, 9), 1e-5), ("tgamma", (0.5, 9), 1e-5), ("round", (-9, 9), 0),
        ("rint", (-9, 9), 0), ("trunc", (-9, 9), 0), ("nearbyint", (-9, 9), 0), ("sinpi", (-2, 2), 1e-5), ("cospi", (-2, 2), 1e-5),
        ("j0", (0.1, 20), 1e-5), ("normcdf", (-3, 3), 1e-5), ("cyl_bessel_i0", (-5, 5), 1e-5), ("logb", (0.01, 900), 0),
        ("saturatef", (-1, 2), 0), ("rcp_rz", (0.1, 9), 2e-7), ("sqrt_ru", (0.1, 9), 2e-7), ("fast_expf", (-9, 9), 1e-5),
        ("fast_sinf", (-3, 3), 1e-5), ("fast_logf", (0.1, 9), 1e-5), ("fast_tanf", (-1, 1), 1e-5),
    )),
)  # fmt: skip
PAIRS = (
    ("pow", (0.1, 9), 1e-5), ("fmod", (-9, 9), 0), ("remainder", (-9, 9), 0), ("atan2", (-9, 9), 1e-6), ("hypot", (-9, 9), 1e-6),
    ("copysign", (-9, 9), 0), ("nextafter", (-9, 9), 0), ("fdim", (-9, 9), 1e-6), ("div_rz", (0.1, 9), 2e-7),
    ("add_ru", (-9, 9), 2e-7), ("mul_rd", (-9, 9), 2e-7), ("fast_dividef", (0.1, 9), 1e-6), ("fast_powf", (0.1, 3), 1e-4),
)  # fmt: skip
INTEGERS = (
    ("clz", libdevice.clz, "i32", "i32"), ("clz", libdevice.clz, "i64", "i32"), ("popc", libdevice.popc, "i32", "i32"),
    ("popc", libdevice.popc, "i64", "i32"), ("brev", libdevice.brev, "i32", "i32"), ("brev", libdevice.brev, "i64", "i64"),
    ("ffs", libdevice.ffs, "i32", "i32"), ("ffs", libdevice.ffs, "i64", "i32"), ("negated", negated, "i8", "i8"),
    ("absolute", absolute, "i16", "i16"), ("absolute", absolute, "i64", "i64"),
)  # fmt: skip
N, B = 300, 256
TARGETS = (80, 90, 89, 120)


def _float(dtype: str, extent: tuple[float, float], *shape: int) -> dict[str, Any]:
    return buffer(dtype, *(shape or (N,)), fill="uniform", low=extent[0], high=extent[1])


def _case(kind: str, name: str, arrays: dict[str, Any], near: float, reference: str, **parameters: Any) -> Case:
    args = {**arrays, "n": scalar("i32", N)}
    return Case(
        f"{kind}_{name}", reference, args, (2,), kind="elementwise", tolerance=(near, near), parameters=parameters
    )


def _mathematics() -> Iterator[Request]:
    for number, (name, fn, extent, near) in enumerate(FLOATS):
        case = _case("math", name, {"x": _float("fp32", extent), "y": out("fp32", N)}, near, "unary", op=name)
        yield request(unary, TARGETS[number % 4], case, warps=(4, 1, 8, 2)[number % 4], FN=fn, B=B)
    for name in ("exp", "log", "sin", "erf", "tanh", "rsqrt", "sqrt", "floor", "cbrt", "log1p", "acos"):
        fn, extent = next((fn, extent) for word, fn, extent, _ in FLOATS if word == name)
        fn = getattr(libdevice, name)
        case = _case("math", f"{name}_f64", {"x": _float("fp64", extent), "y": out("fp64", N)}, 1e-12, "unary", op=name)
        yield request(unary, 90, case, FN=fn, B=B)
    for name, extent, near in PAIRS:
        arrays = {"x": _float("fp32", extent), "z": _float("fp32", extent), "y": out("fp32", N)}
        yield request(
            binary, 90, _case("math", name, arrays, near, "binary", op=name), FN=getattr(libdevice, name), B=B
        )
    for name in ("fma_rn", "fma_rz", "norm3d"):
        arrays = {word: _float("fp32", (-3, 3)) for word in "xzw"} | {"y": out("fp32", N)}
        case = _case("math", name, arrays, 3e-7, "ternary", op=name)
        yield request(ternary, 80, case, FN=getattr(libdevice, name), B=B)


def _arithmetic() -> Iterator[Request]:
    integer = {
        "add": add,
        "sub": sub,
        "mul": mul,
        "logic": logic,
        "left": left,
        "right": right,
        "least": least,
        "compared": compared,
    }
    for number, (dtype, ops) in enumerate((
        ("i8", ("add", "mul", "right", "least", "quotient")), ("u8", ("add", "mul", "right", "remainder")),
        ("i16", ("sub", "mul", "left", "quotient", "least")), ("u16", ("add", "remainder", "compared")),
        ("i32", ("mul", "quotient", "remainder", "compared")), ("u32", ("quotient", "least", "right")),
        ("i64", ("mul", "quotient", "remainder", "logic")), ("u64", ("quotient", "remainder", "compared")),
    )):  # fmt: skip
        for op in ops:
            fn = integer.get(op) or {"quotient": quotient, "remainder": remainder}[op]
            divisor = {"fill": "bits", "nonzero": True} if op in ("quotient", "remainder") else {"fill": "bits"}
            arrays = {
                "x": buffer(dtype, N, fill="bits"),
                "z": buffer(dtype, N, **divisor),
                "y": out("i32" if op == "compared" else dtype, N),
            }
            case = _case("integer", f"{op}_{dtype}", arrays, 0, "binary", op=op)
            yield request(binary, TARGETS[number % 4], case, FN=fn, B=B)
    for name, fn, source, result in INTEGERS:
        case = _case(
            "integer",
            f"{name}_{source}",
            {"x": buffer(source, N, fill="bits"), "y": out(result, N)},
            0,
            "unary",
            op=name,
        )
        yield request(unary, 90, case, FN=fn, B=B)
    for dtype in ("u32", "u64"):
        arrays = {"x": buffer(dtype, N, fill="bits"), "z": buffer(dtype, N, fill="bits"), "y": out(dtype, N)}
        yield request(
            binary, 80, _case("integer", f"umulhi_{dtype}", arrays, 0, "binary", op="umulhi"), FN=tl.umulhi, B=B
        )
    for number, dtype in enumerate(("fp16", "bf16", "fp64", "fp32")):
        for name, fn in (
            ("add", add),
            ("mul", mul),
            ("divide", divide),
            ("least_nan", least_nan),
            ("compared", compared),
            ("clamped", clamped),
        ):
            if name == "clamped" and dtype == "fp64":
                continue
            near = {"fp16": 1e-3, "bf16": 8e-3, "fp32": 3e-7, "fp64": 1e-15}[dtype]
            arrays = {"x": buffer(dtype, N), "z": buffer(dtype, N), "y": out("i32" if name == "compared" else dtype, N)}
            case = _case("float", f"{name}_{dtype}", arrays, near, "binary", op=name)
            yield request(binary, TARGETS[(number + len(name)) % 4], case, FN=fn, B=B)
    arrays = {"x": _float("fp32", (-5, 5)), "y": out("fp32", N)}
    yield request(unary, 90, _case("math", "tanh_inline", arrays, 1e-3, "unary", op="tanh"), FN=tanh_inline, B=B)
    arrays = {"x": buffer("u8", N, fill="bits"), "z": buffer("u8", N, fill="bits"), "y": out("u8", N)}
    yield request(binary, 90, _case("integer", "packed_asm", arrays, 0, "binary", op="add"), FN=packed_asm, B=B)


def _casts() -> Iterator[Request]:
    pairs = (
        ("fp32", "fp16"), ("fp32", "bf16"), ("fp32", "fp8e4nv"), ("fp32", "fp8e5"), ("fp16", "fp8e4nv"), ("fp16", "fp8e5"),
        ("bf16", "fp8e4nv"), ("bf16", "fp8e5"), ("fp8e4nv", "fp32"), ("fp8e5", "fp32"), ("fp8e4nv", "fp16"), ("fp8e5", "bf16"),
        ("fp8e4nv", "bf16"), ("fp16", "bf16"), ("bf16", "fp16"), ("fp64", "fp32"), ("fp64", "fp16"), ("fp32", "fp64"), ("fp16", "fp64"),
        ("fp32", "i8"), ("fp32", "i32"), ("fp32", "u32"), ("fp32", "i64"), ("fp64", "i64"), ("fp64", "u64"), ("fp16", "i16"),
        ("bf16", "i32"), ("i8", "fp16"), ("i8", "bf16"), ("u8", "fp32"), ("i16", "fp32"), ("i32", "fp32"), ("u32", "fp64"),
        ("i64", "fp32"), ("u64", "fp32"), ("i64", "fp64"), ("i32", "fp16"), ("i8", "i64"), ("i64", "i8"), ("u8", "i32"), ("i32", "i16"),
        ("u16", "bf16"),
    )  # fmt: skip
    for number, (source, result) in enumerate(pairs):
        fill: dict[str, Any] = {"fill": "bits"} if source[0] in "iu" else {"fill": "normal", "scale": 20.0}
        if result[0] == "u":
            fill = {"fill": "uniform", "low": 0, "high": 1000}
        arrays = {"x": buffer(source, N, **fill), "y": out(result, N)}
        case = _case("cast", f"{source}_{result}", arrays, 0, "cast")
        yield request(
            cast,
            90 if number % 2 or result == "bf16" else 89,
            case,
            warps=(4, 2)[number % 3 // 2],
            RTNE="",
            BITS=False,
            B=B,
        )
    for source, result, target in (
        ("fp32", "fp8e5", 80),
        ("fp8e5", "fp32", 80),
        ("fp8e5", "fp16", 80),
        ("bf16", "fp32", 80),
        ("fp32", "bf16", 80),
    ):
        case = _case("cast", f"{source}_{result}_old", {"x": buffer(source, N), "y": out(result, N)}, 0, "cast")
        yield request(cast, target, case, RTNE="", BITS=False, B=B)
    for source, result in (("fp32", "fp16"), ("fp32", "bf16"), ("fp32", "fp8e5")):
        case = _case(
            "cast", f"{source}_{result}_rtz", {"x": buffer(source, N), "y": out(result, N)}, 0, "cast", toward_zero=True
        )
        yield request(cast, 90, case, RTNE="rtz", BITS=False, B=B)
    case = _case("cast", "fp32_bits", {"x": buffer("fp32", N), "y": out("i32", N)}, 0, "cast", bits=True)
    yield request(cast, 90, case, RTNE="", BITS=True, B=B)


def requests() -> Iterator[Request]:
    """Yield all compilation requests for the kernels of this file."""
    yield from _mathematics()
    yield from _arithmetic()
    yield from _casts()
    for kind, dtype, target in (
        ("rand", "fp32", 80),
        ("randn", "fp32", 90),
        ("randint", "i32", 80),
        ("randint64", "i64", 90),
    ):
        args = {"y": out(dtype, N), "seed": scalar("i32", 12345), "n": scalar("i32", N)}
        case = Case(
            f"random_{kind}",
            "random",
            args,
            (2,),
            kind="elementwise",
            tolerance=(1e-5, 1e-6),
            parameters={"kind": kind},
        )
        yield request(random_kernel, target, case, B=B, KIND=kind)
    args = {
        "x": buffer("fp32", N),
        "y": out("fp32", N),
        "seed": scalar("i32", 7),
        "p": scalar("fp32", 0.3),
        "n": scalar("i32", N),
    }
    yield request(
        dropout, 90, Case("random_dropout", "dropout", args, (2,), kind="elementwise", tolerance=(1e-6, 0)), B=B
    )
    args = {"x": buffer("i32", N, fill="integers", low=1, high=200), "y": out("i32", N), "n": scalar("i32", N)}
    yield request(collatz, 80, Case("control_collatz", "collatz", args, (2,), kind="control"), B=B)
    args = {"x": buffer("fp32", 8, fill="integers", low=0, high=40), "y": out("fp32", 8), "n": scalar("i32", 8)}
    yield request(scalar_loop, 90, Case("control_scalar_loop", "scalar_loop", args, (8,), kind="control"))
    args = {"x": buffer("fp32", 512), "y": out("fp32", 512), "a": scalar("fp32", 1.5)}
    for target in (80, 90):
        yield request(
            calls,
            target,
            Case("control_noinline", "calls", dict(args), (512,), kind="control", tolerance=(1e-5, 1e-5)),
            warps=1,
        )
