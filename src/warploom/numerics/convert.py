"""Conversions among integers, f64, f32, f16, bf16, tf32 and the narrow formats.

Types have their PTX names. f16 and bf16 numbers are uint16 patterns. tf32 numbers are uint32 patterns, and so are f16x2
and bf16x2 pairs. Narrow formats have at most 8 bits.

Shapes: any, broadcast together. Source: the conversion instructions of the PTX ISA.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from warploom.numerics import floats, formats, packed
from warploom.numerics.bits import brev
from warploom.numerics.formats import BF16, E2M1, F16, FORMATS, MODES, TF32, Array, Format, Rounding
from warploom.numerics.lanes import lookup
from warploom.numerics.lazy_module import LazyModule
from warploom.numerics.quiet import quietly

convert_kernels = LazyModule("warploom.numerics.convert_kernels")
half_kernels = LazyModule("warploom.numerics.half_kernels")
IntegralRounding = Literal["rni", "rzi", "rmi", "rpi"]

INTEGERS: dict[str, np.dtype[Any]] = {
    f"{sign}{bits}": np.dtype(f"{'i' if sign == 's' else 'u'}{bits // 8}") for sign in "su" for bits in (8, 16, 32, 64)
}
_ROUNDINGS: dict[str, Rounding] = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


def half_from_float(
    x: Array, fmt: Format, rounding: Rounding = "rn", relu: bool = False, satfinite: bool = False
) -> Array:
    """Return f16 or bf16 patterns of f32 or f64 values, rounded once."""
    if x.dtype.itemsize != 4 or satfinite:
        return formats.encode(x, fmt, rounding, satfinite, relu)
    if rounding == "rn":
        result = (half_kernels.f16_from_f32 if fmt is F16 else half_kernels.bf16_from_f32)(x)
    else:
        kernel = convert_kernels.f16_directed if fmt is F16 else convert_kernels.bf16_directed
        result = kernel(x, MODES[rounding])
    # A NaN is canonical here and has no sign bit, so relu may replace every pattern that has one.
    return np.where(result & np.uint16(0x8000), np.uint16(0), result) if relu else result


def pair_from_floats(
    high: Array, low: Array, fmt: Format, rounding: Rounding = "rn", relu: bool = False, satfinite: bool = False
) -> Array:
    """Return f16x2 or bf16x2 patterns of two f32 values."""
    if rounding == "rn" and not satfinite:
        result = (half_kernels.pack_f16x2 if fmt is F16 else half_kernels.pack_bf16x2)(high, low)
        return packed.rectify(result) if relu else result
    return packed.pair(
        half_from_float(low, fmt, rounding, relu, satfinite), half_from_float(high, fmt, rounding, relu, satfinite)
    )


def tf32_from_float(x: Array, rounding: Rounding = "rna", relu: bool = False, satfinite: bool = False) -> Array:
    """Return tf32 patterns of f32 values, as uint32 with 13 low zero bits."""
    if rounding != "rna":
        return formats.encode(x, TF32, rounding, satfinite, relu)
    # The GPU truncates every pattern, so a NaN whose upper mantissa bits are zero becomes infinity.
    bits = x.view(np.uint32)
    finite = np.isfinite(x)
    result = np.where(finite, bits + np.uint32(0x1000), bits) & np.uint32(0xFFFFE000)
    if satfinite:
        special = ~np.isfinite(result.view(np.float32))
        result = np.where(special, result - np.uint32(0x2000), result)
    return np.where(np.signbit(x) & ~np.isnan(x), np.uint32(0), result) if relu else result


def _stochastic(x: Array, random: Array, width: int, fmt: Format, relu: bool, satfinite: bool) -> Array:
    """Return codes of f32 values, rounded by `width` random bits, as uint32."""
    over = fmt.max_code if satfinite or fmt.inf_code < 0 else fmt.inf_code
    nan = fmt.nan_code if fmt.nan_code >= 0 else fmt.max_code
    found = convert_kernels.stochastic(
        x.view(np.uint32), random, width, fmt.mantissa_bits, fmt.min_exponent, fmt.max_code, over, nan
    )
    code, negative = found & np.uint32(0x7FFFFFFF), found >> np.uint32(31)
    if relu:
        return np.where(negative, np.uint32(0), code)
    return code | negative * np.uint32(fmt.sign_bit)


def stochastic_pair(
    high: Array, low: Array, random: Array, fmt: Format, relu: bool = False, satfinite: bool = False
) -> Array:
    """Return f16x2 or bf16x2 patterns of two f32 values, rounded by random bits (uint32).

    The upper half of `random` has the bits for `high`, and the lower half those for `low`. f16 uses the lowest 13 bits
    of each half.
    """
    width = 23 - fmt.mantissa_bits
    mask = np.uint32((1 << width) - 1)
    upper = _stochastic(high, random >> np.uint32(16) & mask, width, fmt, relu, satfinite)
    return upper << np.uint32(16) | _stochastic(low, random & mask, width, fmt, relu, satfinite)


def stochastic_quadruple(values: Sequence[Array], random: Array, fmt: Format, relu: bool = False) -> Array:
    """Return four 4- to 8-bit numbers of f32 values, rounded by random bits (uint32), with saturation.

    `values` lists the values from the highest number to the lowest. The upper half of `random` has the bits for the
    first two. An e2m1 number uses one byte of `random`. Wider numbers use 16 bits: the second number of a half uses the
    half, and the first number its bits in reverse order. Four e2m1 numbers are a uint16 pattern, others uint32.
    """
    if fmt is E2M1:
        parts = [random >> np.uint32(shift) & np.uint32(0xFF) for shift in (24, 8, 16, 0)]
    else:
        halves = random >> np.uint32(16), random & np.uint32(0xFFFF)
        parts = [part for half in halves for part in (brev(half) >> np.uint32(16), half)]
    step = 4 if fmt is E2M1 else 8
    result = np.zeros_like(random)
    for value, part in zip(values, parts, strict=True):
        result = result << np.uint32(step) | _stochastic(value, part, 8 if fmt is E2M1 else 16, fmt, relu, True)
    return result.astype(np.uint16) if fmt is E2M1 else result


_FIXED_UNITS = np.array([2.0 ** (127 - scale + 6) for scale in range(255)] + [np.nan])
"""Number of s2f6 units in 1, by the ue8m0 scale factor by which a number is divided."""
_SCALES = np.array([2.0 ** (scale - 127 - 6) for scale in range(255)] + [np.nan])
"""Value of an s2f6 unit, by the ue8m0 scale factor with which it is multiplied."""
_ONE = 127
"""Scale factor 1."""


def _factor(table: NDArray[np.float64], scales: Array | None, shift: int) -> Any:
    """Return the entries of a table for one byte of each pattern; without patterns, for the factor 1."""
    return table[_ONE] if scales is None else lookup(table, scales.astype(np.int64) >> shift & 0xFF)


def _fixed(x: Array, factor: Any, relu: bool) -> Array:
    units = np.rint(quietly(x.astype, np.float64) * factor)
    units = np.where(np.isnan(units), np.float64(127), units)
    return np.minimum(np.maximum(units, np.float64(0 if relu else -128)), np.float64(127)).astype(np.int64)


def fixed_pair(high: Array, low: Array, scales: Array | None, relu: bool = False) -> Array:
    """Return s2f6x2 patterns of two f32 values, divided by scale factors.

    The values are rounded to nearest even and clamped. s2f6 numbers are signed bytes that count units of 1/64.
    `scales` are ue8m0x2 patterns. A NaN gives the largest number.
    """
    upper = _fixed(high, _factor(_FIXED_UNITS, scales, 8), relu)
    lower = _fixed(low, _factor(_FIXED_UNITS, scales, 0), relu)
    return ((upper << 8) | (lower & 0xFF)).astype(np.uint16)


def halves_from_fixed_pair(
    patterns: Array, scales: Array | None, relu: bool = False, satfinite: bool = False
) -> Array:  # fmt: skip
    """Return bf16x2 patterns of s2f6x2 patterns, multiplied by scale factors (see `fixed_pair`)."""
    word = patterns.astype(np.int64)
    low, high = (
        quietly(((word << 56 - shift >> 56).astype(np.float64) * _factor(_SCALES, scales, shift)).astype, np.float32)
        for shift in (0, 8)
    )
    return pair_from_floats(high, low, BF16, relu=relu, satfinite=satfinite)


@cache
def _narrowed(source: Format, fmt: Format, rounding: Rounding, relu: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a table of upper and a table of lower narrow numbers, indexed by `source` patterns."""
    table = formats.encode(formats.decode(np.arange(1 << 16), source), fmt, rounding, True, relu)
    if fmt is E2M1:
        return table << np.uint8(4), table
    lower = table.astype(np.uint16)
    return lower << np.uint16(8), lower


def narrow_pair(high: Array, low: Array, fmt: Format, rounding: Rounding = "rn", relu: bool = False) -> Array:
    """Return pairs of 4- to 8-bit numbers, converted with saturation from f32 values.

    A pair is a uint16 pattern. A pair of e2m1 numbers is a uint8 pattern.
    """
    upper, lower = _narrowed(BF16, fmt, rounding, relu)
    index = convert_kernels.odd_bf16
    return lookup(upper, index(high.view(np.uint32))) | lookup(lower, index(low.view(np.uint32)))


def narrow_pair_from_halves(
    pair: Array, source: Format, fmt: Format, rounding: Rounding = "rn", relu: bool = False
) -> Array:
    """Return pairs as `narrow_pair` does, but from f16x2 or bf16x2 patterns of the format `source`."""
    upper, lower = _narrowed(source, fmt, rounding, relu)
    return lookup(upper, pair >> np.uint32(16)) | lookup(lower, pair & np.uint32(0xFFFF))


def halves_from_narrow_pair(patterns: Array, fmt: Format, target: Format = F16, relu: bool = False) -> Array:
    """Return f16x2 or bf16x2 patterns with the values of narrow pairs (see `narrow_pair`)."""
    width = 4 if fmt is E2M1 else 8
    whole = patterns.astype(np.uint16)
    table = formats.translation(fmt, target)
    mask = (1 << width) - 1
    result = packed.pair(lookup(table, whole & mask), lookup(table, (whole >> width) & mask))
    return packed.rectify(result) if relu else result


def integer_from_integer(x: Array, target: str, sat: bool = False) -> Array:
    """Return integers converted to the type `target`. Overflow wraps, or is clamped if `sat` is set."""
    dtype = INTEGERS[target]
    if sat:
        source, wanted = np.iinfo(x.dtype), np.iinfo(dtype)
        x = np.clip(x, max(source.min, wanted.min), min(source.max, wanted.max))
    return x.astype(dtype)


def integer_from_float(x: Array, target: str, rounding: IntegralRounding, ftz: bool = False) -> Array:
    """Return f32 or f64 numbers rounded to integers and clamped to the range of the type `target`.

    A NaN gives 0 if both types have fewer than 64 bits. Otherwise a NaN gives the integer with only its highest bit
    set.
    """
    dtype = INTEGERS[target]
    if ftz:
        x = floats.flush(x)
    mode = MODES[_ROUNDINGS[rounding]]
    if dtype == np.uint64:
        return convert_kernels.unsigned_integer(x, mode)
    limits = np.iinfo(dtype)
    wide = x.dtype.itemsize == 8 or limits.bits == 64
    # After truncation to the target type, this number has only its highest bit set.
    nan = -1 << (limits.bits - 1) if wide else 0
    whole = convert_kernels.integer(x, mode, np.int64(limits.min), np.int64(limits.max), np.int64(nan))
    return whole.astype(dtype, copy=False)


def _odd_double(x: Array) -> Array:
    """Return integers as f64 numbers. Inexact results are rounded to odd."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64)
    # At least 42 bits are kept, so a second rounding to f32 equals a single rounding.
    negative = x < 0
    magnitude = np.where(negative, np.negative(x), x).view(np.uint64)
    low = magnitude & np.uint64(0x7FF)
    sticky = (low != 0).astype(np.uint64) << np.uint64(11)
    large = magnitude >> np.uint64(53) != 0
    value = np.where(large, (magnitude ^ low) | sticky, magnitude).astype(np.float64)
    return np.where(negative, -value, value)


def float_from_integer(x: Array, target: str, rounding: Rounding = "rn") -> Array:
    """Return integers converted to the type `target` (f16, bf16, f32 or f64) and rounded once."""
    match target:
        case "f32":
            return x.astype(np.float32) if rounding == "rn" else floats.narrow(_odd_double(x), rounding)
        case "f64":
            if rounding == "rn" or x.dtype.itemsize < 8:
                return x.astype(np.float64)
            low = x & x.dtype.type(0xFFFFFFFF)
            return floats.add((x - low).astype(np.float64), low.astype(np.float64), rounding)
        case _:
            return formats.encode(_odd_double(x), FORMATS[target], rounding)


def integral(x: Array, rounding: IntegralRounding) -> Array:
    """Return f32 or f64 numbers rounded to integers, in the same type. -0 stays -0."""
    with np.errstate(all="ignore"):
        whole = formats.round_to_integer(cast("NDArray[np.float64]", x), _ROUNDINGS[rounding])
    return floats.canonical(whole) if x.dtype.itemsize == 4 else whole


def convert(
    x: Array, source: str, target: str, rounding: str = "",
    ftz: bool = False, sat: bool = False, satfinite: bool = False, relu: bool = False,
) -> Array:  # fmt: skip
    """Return numbers converted from type `source` to type `target`, with the modifiers of `cvt`.

    Types and roundings have their PTX names. If `rounding` is "", conversions to integers round toward zero, and all
    others to nearest even.
    """
    if source in INTEGERS:
        if target in INTEGERS:
            return integer_from_integer(x, target, sat)
        result = float_from_integer(x, target, cast(Rounding, rounding or "rn"))
        if sat and target in ("f16", "bf16"):
            return packed.saturate(result.astype(np.uint32), FORMATS[target]).astype(np.uint16)
        return floats.saturate(result) if sat else result
    value = packed.float_from_half(x, FORMATS[source]) if source in ("f16", "bf16") else x
    if target in INTEGERS:
        return integer_from_float(value, target, cast(IntegralRounding, rounding or "rzi"), ftz and source == "f32")
    if ftz and source == "f64":
        value = floats.flush_double(value, cast(Rounding, rounding))
    elif ftz and source != "f16":
        # Conversions to f16 do not flush subnormal inputs, even with .ftz.
        value = floats.canonical(value if target == "f16" else floats.flush(value))
    if rounding in _ROUNDINGS:
        value = integral(value, cast(IntegralRounding, rounding))
        rounding = "rn"
    if sat:
        value = floats.saturate(value)
    mode = cast(Rounding, rounding or "rn")
    if target == "tf32":
        return tf32_from_float(value, mode, relu, satfinite)
    if source == "f64" and target != "f64":
        return _narrowed_double(value, FORMATS[target], mode)
    if target in ("f16", "bf16"):
        return half_from_float(value, FORMATS[target], mode, relu, satfinite)
    if target == "f64" and source != "f64":
        return _widened_to_double(x if source == "f16" and not sat else value)
    return value


def _narrowed_double(x: Array, fmt: Format, rounding: Rounding) -> Array:
    """Return f64 numbers in the narrower format `fmt`. A NaN keeps its sign and the upper payload bits."""
    single = fmt.bits == 32
    result = floats.narrow(x, rounding) if single else half_from_float(x, fmt, rounding)
    nan = np.isnan(x)
    if not nan.any():
        return result
    dtype = fmt.pattern_dtype
    bits = x.view(np.uint64)
    sign = (bits >> np.uint64(63)) << np.uint64(fmt.bits - 1)
    payload = (bits >> np.uint64(52 - fmt.mantissa_bits)) & np.uint64((1 << fmt.mantissa_bits) - 1)
    quiet = np.uint64(fmt.inf_code | 1 << (fmt.mantissa_bits - 1))
    kept = (sign | payload | quiet).astype(dtype)
    return np.where(nan, kept, result.view(dtype)).view(result.dtype)


def _widened_to_double(x: Array) -> Array:
    """Return f32 numbers or f16 patterns as f64. A NaN becomes quiet and keeps its sign and payload."""
    if x.dtype == np.uint16:
        result = packed.float_from_half(x, F16).astype(np.float64)
        fraction, pattern = 10, x
    else:
        result = quietly(x.astype, np.float64)
        fraction, pattern = 23, x.view(np.uint32)
    nan = np.isnan(result)
    if not nan.any():
        return result
    bits = pattern.astype(np.uint64)
    sign = (bits >> np.uint64(pattern.dtype.itemsize * 8 - 1)) << np.uint64(63)
    payload = (bits << np.uint64(52 - fraction)) & np.uint64((1 << 52) - 1)
    kept = (sign | payload | np.uint64(0x7FF8 << 48)).view(np.float64)
    return np.where(nan, kept, result)
