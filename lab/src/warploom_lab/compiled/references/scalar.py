"""Expected results of the kernels in `cuda/scalar.cu` and `cuda/refused.cu`."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from warploom_lab.compiled.references.registry import Array, Arrays, Options, each, erf, reference, wide


def _wrap(value: int, bits: int, signed: bool = True) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@reference
def constants(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `constants`.

    Element i of `y` combines values of three tables. The indices come from the bits of x[i].
    """
    c = [1.0, -0.5, 0.25, 2.0, -3.0, 0.125, 7.0, -1.5]
    p = [3, 1, 4, 15, 9, 2, 6, 5, 8, 7, 0, 11, 10, 13, 12, 14]
    g = [[1, 2, 3], [-4, -5, -6]]
    y: list[float] = []
    for v in map(int, arrays["x"]):
        half = v >> 1
        column = 0 if math.fmod(half, 3) < 0 else (half & 0x7FFF) % 3
        y.append(c[v & 7] * p[v >> 3 & 15] + g[v & 1][column] + 0xEF)
    return {"y": np.array(y)}


@reference
def noinline_call(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `noinline_call`: `y` is 1 + 2 x + x * x^2 + 0.5 x^3."""
    x = wide(arrays["x"])
    return {"y": 1 + 2 * x + x * x**2 + 0.5 * x**3}


@reference
def function_table(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernels `function_table` and `function_pointer`.

    Element i of `y` is x + 2.5, x * 2.5 or x - 2.5 if which[i] modulo 3 is 0, 1 or 2.
    """
    x, which = wide(arrays["x"]), arrays["which"].view(np.uint32) % 3
    return {"y": np.choose(which, [x + 2.5, x * 2.5, x - 2.5])}


def _byte_perm(a: int, b: int, selector: int) -> int:
    data = a & 0xFFFFFFFF | (b & 0xFFFFFFFF) << 32
    return sum((data >> 8 * (selector >> 4 * k & 7) & 0xFF) << 8 * k for k in range(4))


@reference
def switch_table(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `switch_table`.

    The low four bits of an element of x select one of sixteen integer operations.
    """
    y: list[int] = []
    for v in map(int, arrays["x"]):
        u = v & 0xFFFFFFFF
        ways = (
            v + 3, v * v, v ^ 0x55, u.bit_count(), 32 - u.bit_length(), int(format(u, "032b")[::-1], 2), (u & -u).bit_length(),
            _byte_perm(u, ~u, 0x1634), ((v * 3 & 0xFFFFFFFF) << 5 | u >> 27), _quotient(v, 7), v - 11 * _quotient(v, 11),
            v * 0x12345678 >> 32, abs(v), abs(v - 17) + 5, (v + 9 + 1) >> 1, -v,
        )  # fmt: skip
        y.append(ways[v & 15])
    return {"y": np.array(y, object)}


@reference
def local_sort(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `local_sort`: each row of x in ascending order."""
    return {"y": np.sort(arrays["x"], 1)}


@reference
def structs(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `structs`, which passes structures to two functions."""
    x = wide(arrays["x"])
    return {"y": 6 * (5 * x + 10) + np.arange(len(x)) + 5}


@reference
def virtual_call(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `virtual_call`, which calls a virtual function.

    Element t of `y` is t * t for odd t and 2 * t for even t.
    """
    t = np.arange(32)
    return {"y": np.where(t & 1, t * t, 2 * t)}


@reference
def divergent_returns(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `divergent_returns`.

    The threads return at five different statements, and each statement writes a different value.
    """
    y: list[int] = []
    for t, v in enumerate(map(int, arrays["x"])):
        lane = t & 31
        if lane % 3 == 0:
            y.append(-1)
        elif v < 0:
            y.append(-1 if lane & 1 else 2 * v)
        else:
            early = next((k for k in range(min(lane, 21)) if k * k > v), None)
            y.append(v + 1002 if early is None else early)
    return {"y": np.array(y)}


@reference
def blocks_3d(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `blocks_3d`: sums of thread and block indices.

    Shapes: `y` is (4 blocks, 60 threads); a block has 3 x 5 x 4 threads.
    """
    z, y, x = np.indices((4, 5, 3))
    inner = (x + 10 * y + 100 * z).ravel() + (20 << 20)
    return {"y": inner + 1000 * np.arange(4)[:, None]}


@reference
def wide_math(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `wide_math`: sums of 64-bit and 128-bit integer operations."""
    mask, y = (1 << 64) - 1, []
    for a, b in zip(map(int, arrays["x"]), map(int, arrays["z"]), strict=True):
        u, w = a & mask, b & mask
        r = _wrap(a * b, 64) + (a * b >> 64)
        r = _wrap(r, 64) ^ _wrap(u * w >> 64, 64)
        d = b | 1
        r = _wrap(r + _quotient(a, d) - (a - d * _quotient(a, d)), 64)
        r = _wrap(r + u // (w | 1) + u % (w | 1), 64)
        r = _wrap(r ^ (a << (b & 63)) ^ (a >> (b & 63)) ^ (u >> (w & 63)), 64)
        r = _wrap(r + 64 - u.bit_length() + u.bit_count() + (u & -u).bit_length() + int(format(u, "064b")[::-1], 2), 64)
        r = _wrap(r - min(a, b), 64)
        r = _wrap(r + (a * b >> 64) + (a * b >> 13), 64)
        q = (u * 0x123456789ABCDEF + w) & ((1 << 128) - 1)
        y.append(_wrap(r ^ (q // (w | 3)), 64))
    return {"y": np.array(y, object)}


def _lanes(value: int, width: int, signed: bool = False) -> list[int]:
    return [_wrap(value >> k, width, signed) for k in range(0, 32, width)]


def _joined(parts: list[int], width: int) -> int:
    return sum((part & ((1 << width) - 1)) << (k * width) for k, part in enumerate(parts))


@reference
def narrow_math(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `narrow_math`: sums of 8-bit and 16-bit integer operations."""
    y: list[int] = []
    for x, z in zip(map(int, arrays["x"]), map(int, arrays["z"]), strict=True):
        c, s, uc, us = _wrap(x + 7, 8), _wrap(z * 3, 16), (x & 255) >> 2, (z & 0xFFFF) // 5
        a, b = x * 0x01010101 & 0xFFFFFFFF, (z & 0xFFFF) * 0x00010001 & 0xFFFFFFFF
        r = c + s + uc + us + (x < z) + ((uc ^ us) & 255)

        def parts_of(width: int, fn: Callable[[int, int], int], signed: bool = False, a: int = a, b: int = b) -> int:
            return _joined(
                [fn(p, q) for p, q in zip(_lanes(a, width, signed), _lanes(b, width, signed), strict=True)], width
            )

        clip = lambda p, q: max(-128, min(127, p - q))  # noqa: E731
        r += (
            parts_of(8, lambda p, q: p + q) ^ parts_of(16, max, True) ^ parts_of(8, lambda p, q: abs(p - q)) ^ parts_of(8, lambda p, q: -(p > q))
            ^ parts_of(8, clip, True) ^ parts_of(8, lambda p, q: (p + q + 1) >> 1)
        )  # fmt: skip
        r = _wrap(r, 32)
        a8, b8, a16, b16 = _lanes(a, 8, True), _lanes(b, 8, True), _lanes(a, 16, True), _lanes(b, 16, True)
        four = sum(p * q for p, q in zip(a8, b8, strict=True)) + 5
        low = a16[0] * b8[0] + a16[1] * b8[1] + r
        high = b16[0] * a8[2] + b16[1] * a8[3] + 3
        r += four + low + high
        r += abs(a - b) + 7 + _wrap(a, 24) * _wrap(b, 24) + (a * b >> 32) + ((a + b) >> 1)
        y.append(_wrap(r, 32))
    return {"y": np.array(y, object)}


@reference
def doubles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `doubles`: sums of mathematical functions of f64 elements."""
    a = wide(arrays["x"])
    y = (
        np.sin(a) * np.cos(a) + np.exp(-a * a) + np.log1p(a * a) + np.sqrt(np.abs(a)) + np.cbrt(a) + np.arctan(a) + np.tanh(a) + np.rint(a)
        + np.floor(a) + np.fmod(a, 0.7) + (np.abs(a) + 0.5) ** 1.3 + erf(a) + 1 / (a + 10) + a * a + a + np.hypot(a, 2) + np.trunc(a * 1000)
        + np.trunc(np.abs(a) * 10) + 8 * a + np.frexp(a * a + 1)[1] - 1
    )  # fmt: skip
    return {"y": y}


@reference
def singles(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `singles`: sums of mathematical functions of f32 elements."""
    a = wide(arrays["x"])
    m, e = np.frexp(a)
    p = np.abs(a)
    y = (
        m + e + np.sin(a) * np.cos(a) + (p + 0.5) ** 1.3 + erf(a) + np.tanh(a) + np.exp(a) + a / 3 + 1 / np.sqrt(p + 1)
        + np.fmod(arrays["x"], np.float32(0.7)) + np.copysign(np.floor(p + 0.5), a) + np.trunc(a) + np.floor(a) + np.trunc(p) + np.clip(a, 0, 1)
        + np.minimum(a, 1) + np.maximum(a, -1) + np.copysign(2, a) + 1 / (a + 10) + np.log2(p + 1) + 2.0**a + np.sinh(a) + np.log(p + 0.1)
        + np.arctan2(a, 2) + np.cbrt(a) + 2.0**a + np.sin(np.pi * a) + each(math.lgamma)(p + 3) + np.expm1(a)
    )  # fmt: skip
    return {"y": y}


def _rounded(exact: Fraction, mode: str) -> float:
    near = np.float32(float(exact))
    candidates = sorted({np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))})
    below = max(c for c in candidates if Fraction(float(c)) <= exact)
    above = min(c for c in candidates if Fraction(float(c)) >= exact)
    if mode == "n":
        low, high = exact - Fraction(float(below)), Fraction(float(above)) - exact
        even = below if int(below.view(np.uint32)) % 2 == 0 else above
        return float(below if low < high else above if high < low else even)
    return float({"u": above, "d": below, "z": below if exact >= 0 else above}[mode])


@reference
def rounding(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `rounding`.

    Shapes: `y` is (elements, 16). Columns 0 to 3 are x + z, columns 4 to 7 are x * z, and columns 8 to 11 are x / z.
    The four roundings are to nearest, toward zero, up and down. Columns 12 to 15 are a fused multiply-add, a square
    root, a reciprocal square root, and a product.
    """
    rows: list[list[float]] = []
    for p, q in zip(arrays["x"], arrays["z"], strict=True):
        a, b = Fraction(float(p)), Fraction(float(q))
        row = [_rounded(exact, mode) for exact in (a + b, a * b, a / b) for mode in "nzud"]
        root = np.float32(np.sqrt(np.abs(np.float64(p))))
        rows.append(
            [
                *row,
                _rounded(a * b + a, "n"),
                float(root),
                float(np.float32(1 / np.sqrt(np.abs(np.float64(p))))),
                float(np.float32(np.float64(p) * np.float64(q))),
            ]
        )
    return {"y": np.array(rows)}


def _halves(arrays: Arrays) -> tuple[Array, Array]:
    return wide(arrays["x"]), wide(arrays["z"])


@reference
def half_math(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `half_math`: sums of about forty f16 operations on x and z."""
    a, b = _halves(arrays)
    r = a * b + a + np.clip(a + b, 0, 1) + np.abs(b) - a + np.rint(a) + np.floor(b) + np.ceil(a) + np.trunc(b)
    r += (a > b) + 2.0 + 4 * (a < b) + np.maximum(a, b) + np.minimum(a, b)
    r += (a + b) + a * b + (a * b + a) + (b - a)
    r += (np.trunc(a) + np.rint(b) + np.ceil(np.abs(a))) % 2**32 + np.arange(len(a)) + a * b
    r += np.maximum(a, b) + np.maximum(a * b + a, 0) + ((a > b) & (b > a)) + np.floor(b)
    return {"y": r}


@reference
def half_functions(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `half_functions`: sums of mathematical functions of f16."""
    a = wide(arrays["x"])
    p = wide((np.abs(arrays["x"]) + np.float16(0.5)).astype(np.float16))
    y = (
        np.exp(a)
        + np.log(p)
        + np.sqrt(p)
        + 1 / np.sqrt(p)
        + np.sin(a)
        + np.cos(a)
        + 2.0**a
        + np.log2(p)
        + 1 / p
        + np.tanh(a)
        + a / p
        + 10.0**a
    )
    return {"y": y}


@reference
def bf16_math(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `bf16_math`: sums of bf16 operations on x and z."""
    a, b = _halves(arrays)
    i = np.arange(len(a))
    r = (
        a * b
        + a
        + (a + b)
        + a * b
        + np.maximum(a, b)
        + np.minimum(a, b)
        + np.abs(a)
        - b
        + (a < b)
        + (a + b)
        + (a * b + b)
        + np.clip(a * b, 0, 1)
    )
    toward_zero = (np.float32(1.2345) * i.astype(np.float32)).view(np.uint32) & np.uint32(0xFFFF0000)
    r += (
        toward_zero.view(np.float32)
        + np.trunc(b)
        + (i * 77).astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)
        + (a - b)
        + a / (np.abs(b) + 1)
    )
    return {"y": r}


@reference
def fp8_casts(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `fp8_casts`: saturating conversions of x to fp8.

    Shapes: `y` is (elements, 4): bytes of e4m3 from f32, e5m2 from f32, e4m3 from f16, and e4m3 from bf16. `z` is
    (elements, 2): the values of the first two columns of `y`.
    """
    x = arrays["x"]

    def to(values: Array, dtype: Any) -> Array:
        most = float(ml_dtypes.finfo(dtype).max)
        return np.clip(values.astype(np.float32), -most, most).astype(dtype)

    e4, e5 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
    parts = [to(x, e4), to(x, e5), to(x.astype(np.float16), e4), to(x.astype(ml_dtypes.bfloat16), e5)]
    return {
        "y": np.stack([part.view(np.uint8) for part in parts], 1),
        "z": np.stack([part.astype(np.float64) for part in parts[:2]], 1),
    }


@reference
def packed_fp8(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `packed_fp8`.

    `y` has a word of four e4m3 bytes for each row of x, and `z` has the values of the four bytes.
    """
    packed = arrays["x"].astype(ml_dtypes.float8_e4m3fn)
    return {"y": packed.view(np.uint32)[:, 0], "z": packed.astype(np.float64)}


@reference
def unaligned_bytes(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `unaligned_bytes`: a sum over the bytes of each structure."""
    x = arrays["x"].reshape(-1, 3).astype(np.int64)
    return {
        "y": x[:, 0] + (x[:, 1] << 8) + (x[:, 2] << 16) + (x[:, 1] + (x[:, 2] << 8)) + x[:, :1].astype(np.int8)[:, 0]
    }


@reference
def grid_stride(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return the expected result of the kernel `grid_stride`.

    The columns of `y` are 1.5 x, x + 1.5, 1.5 x + 1 and -x, for the columns of x in order.
    """
    x = wide(arrays["x"])
    return {"y": np.stack([x[:, 0] * 1.5, x[:, 1] + 1.5, x[:, 2] * 1.5 + 1, -x[:, 3]], 1)}


@reference
def refused(arrays: Arrays, options: Options) -> dict[str, Any]:
    """Return no arrays, because the emulator refuses the kernels of `cuda/refused.cu` before they run."""
    return {}
