"""Conversions among integers, floats, halves and the narrow formats.

Types are named as in PTX: s8 … u64, f16, bf16, f32, f64, tf32 and the narrow formats of `formats`.
Integers, f32 and f64 travel as natural NumPy types; f16 and bf16 as uint16 patterns, tf32 as uint32, pairs
of halves as uint32.
Shapes: any, broadcast together.
Source: the conversion instruction of the PTX ISA.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from warploom.num import floats, formats, packed
from warploom.num.formats import BF16, E2M1, F16, FORMATS, TF32, Array, Format, Rounding
from warploom.num.quiet import quietly

IntegralRounding = Literal["rni", "rzi", "rmi", "rpi"]

INTEGERS: dict[str, np.dtype[Any]] = {
    f"{sign}{bits}": np.dtype(f"{'i' if sign == 's' else 'u'}{bits // 8}")
    for sign in "su"
    for bits in (8, 16, 32, 64)
}
_ROUNDINGS: dict[str, Rounding] = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


@cache
def _compiled() -> Any:
    from warploom.num import half_kernels

    return half_kernels


@cache
def _widened(fmt: Format, target: Format) -> NDArray[Any]:
    """The pattern in ``target`` of every pattern of a format of at most 16 bits."""
    values = formats.decode(np.arange(1 << (8 if fmt.bits <= 8 else 16)), fmt)
    return formats.encode(values, target)


def float_from_half(patterns: Array, fmt: Format) -> Array:
    """f32 values of f16 or bf16 patterns.  The machine shifts a bf16, so that its NaN keeps its bits."""
    if fmt is BF16:
        return (patterns.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _widened(fmt, formats.F32)[patterns].view(np.float32)


def half_from_float(
    x: Array,
    fmt: Format,
    rounding: Rounding = "rn",
    relu: bool = False,
    satfinite: bool = False,
) -> Array:
    """f16 or bf16 patterns of f32 or f64 values, rounded once."""
    if rounding == "rn" and not satfinite and x.dtype.itemsize == 4:
        kernels = _compiled()
        result = quietly(kernels.f16_from_f32 if fmt is F16 else kernels.bf16_from_f32, x)
        # A NaN is canonical by now, so the sign alone marks what relu removes.
        return np.where(result & np.uint16(0x8000), np.uint16(0), result) if relu else result
    return formats.encode(x, fmt, rounding, satfinite, relu)


def pair_from_floats(
    high: Array,
    low: Array,
    fmt: Format,
    rounding: Rounding = "rn",
    relu: bool = False,
    satfinite: bool = False,
) -> Array:
    """f16x2 or bf16x2 patterns; the first operand goes to the upper half."""
    if rounding == "rn" and not satfinite:
        kernels = _compiled()
        result = quietly(kernels.pack_f16x2 if fmt is F16 else kernels.pack_bf16x2, high, low)
        return packed.rectify(result) if relu else result
    return packed.pair(
        half_from_float(low, fmt, rounding, relu, satfinite),
        half_from_float(high, fmt, rounding, relu, satfinite),
    )


def tf32_from_float(
    x: Array, rounding: Rounding = "rna", relu: bool = False, satfinite: bool = False
) -> Array:
    """tf32 patterns (uint32, low 13 bits zero) of f32 values.

    rna is the machine's own sequence: it adds half a unit to the pattern of a finite number and cuts, so
    that a NaN whose upper bits are zero becomes infinity.
    """
    if rounding != "rna":
        return formats.encode(x, TF32, rounding, satfinite, relu)
    bits = x.view(np.uint32)
    finite = np.isfinite(x)
    result = np.where(finite, bits + np.uint32(0x1000), bits) & np.uint32(0xFFFFE000)
    if satfinite:
        special = ~np.isfinite(result.view(np.float32))
        result = np.where(special, result - np.uint32(0x2000), result)
    return np.where(np.signbit(x) & ~np.isnan(x), np.uint32(0), result) if relu else result


def narrow_pair(high: Array, low: Array, fmt: Format, rounding: Rounding = "rn", relu: bool = False) -> Array:
    """Two narrow numbers of f32 or f64 values, always saturating; the first operand goes to the upper part.

    uint16 with one number a byte; uint8 with one number a nibble for e2m1.
    """
    upper = formats.encode(high, fmt, rounding, True, relu)
    lower = formats.encode(low, fmt, rounding, True, relu)
    if fmt is E2M1:
        return (upper << np.uint8(4)) | lower
    return (upper.astype(np.uint16) << np.uint16(8)) | lower


def narrow_pair_from_halves(
    pair: Array, source: Format, fmt: Format, rounding: Rounding = "rn", relu: bool = False
) -> Array:
    """Two narrow numbers of one f16x2 or bf16x2 pattern, halves in place."""
    high, low = packed.high_half(pair), packed.low_half(pair)
    return narrow_pair(formats.decode(high, source), formats.decode(low, source), fmt, rounding, relu)


def halves_from_narrow_pair(patterns: Array, fmt: Format, target: Format = F16, relu: bool = False) -> Array:
    """f16x2 or bf16x2 patterns of two narrow numbers.  Every narrow number is exact in its target."""
    width = 4 if fmt is E2M1 else 8
    whole = patterns.astype(np.uint16)
    table = _widened(fmt, target)
    result = packed.pair(table[whole & ((1 << width) - 1)], table[(whole >> width) & ((1 << width) - 1)])
    return packed.rectify(result) if relu else result


def integer_from_integer(x: Array, target: str, sat: bool = False) -> Array:
    """Extend or cut, or with ``sat`` clamp to the range of the target."""
    dtype = INTEGERS[target]
    if sat:
        source, wanted = np.iinfo(x.dtype), np.iinfo(dtype)
        x = np.clip(x, max(source.min, wanted.min), min(source.max, wanted.max))
    return x.astype(dtype)


def integer_from_float(x: Array, target: str, rounding: IntegralRounding, ftz: bool = False) -> Array:
    """Round f32 or f64 to an integer, clamped to its range.

    NaN gives 0 where neither side has 64 bits, else only the highest bit of the target set.
    """
    dtype = INTEGERS[target]
    if ftz:
        x = floats.flush(x)
    with np.errstate(all="ignore"):
        whole = formats.round_to_integer(x.astype(np.float64), _ROUNDINGS[rounding])
        limits = np.iinfo(dtype)
        low, high = float(limits.min), float(limits.max)
        inside = (whole >= low) & (whole <= high) & (whole < 2.0 ** (dtype.itemsize * 8))
        if dtype == np.int64:
            inside &= whole < 2.0**63
        result = np.where(inside, whole, 0.0).astype(dtype)
    result = np.where(whole > 0, np.where(inside, result, limits.max), np.where(inside, result, limits.min))
    wide = x.dtype.itemsize == 8 or dtype.itemsize == 8
    bits = dtype.itemsize * 8
    nan_value = (limits.min if dtype.kind == "i" else 1 << (bits - 1)) if wide else 0
    return np.where(np.isnan(whole), dtype.type(nan_value), result).astype(dtype, copy=False)


def _jammed(x: Array) -> Array:
    """f64 values of integers, exact or rounded to odd at 42 bits or more: enough to round again to f32."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64)
    negative = x < 0
    magnitude = np.where(negative, np.negative(x), x).view(np.uint64)
    low = magnitude & np.uint64(0x7FF)
    sticky = (low != 0).astype(np.uint64) << np.uint64(11)
    large = magnitude >> np.uint64(53) != 0
    value = np.where(large, (magnitude ^ low) | sticky, magnitude).astype(np.float64)
    return np.where(negative, -value, value)


def float_from_integer(x: Array, target: str, rounding: Rounding = "rn") -> Array:
    """f16, bf16 (patterns), f32 or f64 of integers, rounded once."""
    match target:
        case "f32":
            return x.astype(np.float32) if rounding == "rn" else floats.narrow(_jammed(x), rounding)
        case "f64":
            if rounding == "rn" or x.dtype.itemsize < 8:
                return x.astype(np.float64)
            low = x & x.dtype.type(0xFFFFFFFF)
            return floats.add((x - low).astype(np.float64), low.astype(np.float64), rounding)
        case _:
            return formats.encode(_jammed(x), FORMATS[target], rounding)


def integral(x: Array, rounding: IntegralRounding) -> Array:
    """Round f32 or f64 to a whole number of the same type; -0 stays."""
    with np.errstate(all="ignore"):
        whole = formats.round_to_integer(cast("NDArray[np.float64]", x), _ROUNDINGS[rounding])
    return floats.canonical(whole) if x.dtype.itemsize == 4 else whole


def _as_float(x: Array, source: str) -> Array:
    return float_from_half(x, FORMATS[source]) if source in ("f16", "bf16") else x


def convert(
    x: Array,
    source: str,
    target: str,
    rounding: str = "",
    ftz: bool = False,
    sat: bool = False,
    satfinite: bool = False,
    relu: bool = False,
) -> Array:
    """One number to one number, types and rounding by their PTX names.

    Without a rounding, integers come toward zero, floats to nearest even, as where the manual needs none.
    """
    if source in INTEGERS:
        if target in INTEGERS:
            return integer_from_integer(x, target, sat)
        result = float_from_integer(x, target, cast(Rounding, rounding or "rn"))
        return _saturated(result, target) if sat else result
    value = _as_float(x, source)
    if target in INTEGERS:
        return integer_from_float(
            value, target, cast(IntegralRounding, rounding or "rzi"), ftz and source == "f32"
        )
    if ftz and source == "f32":
        value = floats.flush(value)
    if rounding in _ROUNDINGS:
        value = integral(value, cast(IntegralRounding, rounding))
        rounding = "rn"
    if sat:
        value = floats.saturate(value)
    mode = cast(Rounding, rounding or "rn")
    if target == "tf32":
        return tf32_from_float(value, mode, relu, satfinite)
    if target in ("f16", "bf16"):
        return half_from_float(value, FORMATS[target], mode, relu, satfinite)
    if target == "f64":
        with np.errstate(all="ignore"):
            return value.astype(np.float64)
    if value.dtype.itemsize == 8:
        value = floats.narrow(value, mode)
        return floats.flush(value) if ftz else value
    # A shifted bf16 keeps its NaN; from f32 the machine adds a zero.
    return value if source == "bf16" else floats.canonical(value)


def _saturated(x: Array, target: str) -> Array:
    if target in ("f16", "bf16"):
        fmt = FORMATS[target]
        return packed.saturate(x.astype(np.uint32), fmt).astype(np.uint16)
    return floats.saturate(x)
