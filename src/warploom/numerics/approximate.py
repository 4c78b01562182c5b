"""The approximate functions.

Each is a table look-up of the machine's special function unit (`unit`), framed by the scalings that the
assembler emits (ptxas of CUDA 13.0 for sm_90): results are those of an H200, bit for bit.
``ftz`` leaves the framing out.  f16 and bf16 are uint16 patterns, their pairs uint32.
Source: the approx and full forms of the PTX ISA.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from warploom.numerics import convert, floats, packed, unit
from warploom.numerics.formats import Array, Format
from warploom.numerics.quiet import quietly

_TINY = np.float32(2.0**-126)
_HUGE = np.float32(2.0**126)
_UP = np.float32(2.0**24)
_NAN64 = np.uint64(0xFFF8000000000000).view(np.float64)


def _small(x: Array) -> Array:
    return quietly(np.less, np.abs(x), _TINY)


def _raised(x: Array, small: Array) -> Array:
    """Subnormals times 2**24."""
    return floats.mul(x, np.where(small, _UP, np.float32(1)))


def _unusual(magnitude: Array) -> Array:
    """A divisor that needs scaling."""
    return ~((magnitude >= _TINY) & (magnitude <= _HUGE))


def ex2(x: Array, ftz: bool = False) -> Array:
    """2 to the power of f32.  Below -126 the machine squares the half power, which reaches the subnormals."""
    if ftz:
        return unit.ex2(x)
    low = quietly(np.less, x, np.float32(-126))
    if not low.any():
        return unit.ex2(x)
    result = unit.ex2(np.where(low, quietly(np.multiply, x, np.float32(0.5)), x))
    return floats.mul(result, np.where(low, result, np.float32(1)))


def lg2(x: Array, ftz: bool = False) -> Array:
    """Binary logarithm of f32; a subnormal operand is scaled unless ``ftz``."""
    if ftz:
        return unit.lg2(x)
    small = _small(x)
    result = unit.lg2(_raised(x, small))
    return np.where(small, floats.add(result, np.full_like(result, -24)), result)


def sin(x: Array, ftz: bool = False) -> Array:
    """Sine of f32 radians; a subnormal angle has the sine 0 with ``ftz`` and without."""
    return unit.sin(x)


def cos(x: Array, ftz: bool = False) -> Array:
    """Cosine of f32 radians, ``ftz`` as for `sin`."""
    return unit.cos(x)


def tanh(x: Array) -> Array:
    """Hyperbolic tangent of f32; subnormals pass."""
    return unit.tanh(x)


def rcp(x: Array, ftz: bool = False) -> Array:
    """Reciprocal of f32; very small and very large operands are scaled unless ``ftz``."""
    if ftz:
        return unit.rcp(x)
    magnitude = np.abs(x)
    if not quietly(_unusual, magnitude).any():
        return unit.rcp(x)
    scale = np.where(magnitude > _HUGE, np.float32(0.25), np.where(magnitude < _TINY, _UP, np.float32(1)))
    return floats.mul(scale, unit.rcp(floats.mul(x, scale)))


def sqrt(x: Array, ftz: bool = False) -> Array:
    """Square root of f32."""
    if ftz:
        return unit.sqrt(x)
    small = _small(x)
    result = unit.sqrt(_raised(x, small))
    return floats.mul(result, np.where(small, np.float32(2.0**-12), np.float32(1)))


def rsqrt(x: Array, ftz: bool = False) -> Array:
    """Reciprocal square root of f32 or f64.

    f64 with ``ftz`` reads the upper 32 bits of its operand and leaves the lower 32 of its result zero.
    """
    if x.dtype.itemsize == 8:
        return _upper_word(unit.rsqrt_upper, x) if ftz else _reciprocal_root(x)
    if ftz:
        return unit.rsqrt(x)
    small = _small(x)
    result = unit.rsqrt(_raised(x, small))
    return floats.mul(result, np.where(small, np.float32(2.0**12), np.float32(1)))


def _reciprocal_root(x: Array) -> Array:
    """The assembler's expansion of rsqrt of f64: a gross root and one step of third order."""
    small = quietly(np.less, np.abs(x), 2.0**-1022)
    scaled = floats.mul(x, np.where(small, 2.0**54, 1.0))
    gross = _upper_word(unit.rsqrt_upper, scaled)
    error = floats.fma(scaled, -floats.mul(gross, gross), np.ones_like(x))
    factor = floats.fma(error, np.full_like(x, 0.375), np.full_like(x, 0.5))
    root = floats.fma(factor, floats.mul(error, gross), gross) * np.where(small, 2.0**27, 1.0)
    # Zeros, infinities and what has no root take the gross result; a NaN stays, made quiet.
    regular = quietly(np.greater, x, 0.0) & np.isfinite(x)
    rest = np.where(np.isnan(x), floats.add(x, x), np.where(np.isnan(gross), _NAN64, gross))
    return np.where(regular, root, rest)


def _upper_word(function: Callable[[Array], Array], x: Array) -> Array:
    """A look-up on upper words; lower words are ignored and become zero."""
    upper = function((x.view(np.uint64) >> np.uint64(32)).astype(np.uint32))
    return (upper.astype(np.uint64) << np.uint64(32)).view(np.float64)


def rcp64(x: Array) -> Array:
    """Gross reciprocal of f64: upper words alone, subnormals flushed."""
    return _upper_word(unit.rcp_upper, x)


def div(a: Array, b: Array, ftz: bool = False) -> Array:
    """The approx quotient of f32: the reciprocal of the divisor times the dividend.

    A divisor above 2**126 has a reciprocal that is flushed, hence 0, or NaN where the dividend is infinite.
    """
    if ftz:
        return floats.mul(a, unit.rcp(b), ftz=True)
    scale = np.where(_small(b), _UP, np.float32(1))
    return floats.mul(unit.rcp(floats.mul(b, scale)), floats.mul(a, scale))


def div_full(a: Array, b: Array, ftz: bool = False) -> Array:
    """The full-range quotient of f32: as `div`, with a large divisor scaled as well."""
    magnitude = np.abs(b)
    if not quietly(_unusual, magnitude).any():
        return floats.mul(unit.rcp(b), a, ftz=ftz)
    scale = np.where(magnitude > _HUGE, np.float32(0.25), np.float32(1))
    if not ftz:
        scale = np.where(magnitude < _TINY, _UP, scale)
    reciprocal = unit.rcp(floats.mul(b, scale, ftz=ftz))
    return floats.mul(reciprocal, floats.mul(a, scale, ftz=ftz), ftz=ftz)


def _ex2_half(patterns: Array, fmt: Format) -> Array:
    """The single result cut to the format; above it infinity, and below the normals of bf16 zero."""
    result = unit.ex2(convert.float_from_half(patterns, fmt))
    cut = convert.half_from_float(result, fmt, "rz")
    return np.where(result > fmt.max_finite, np.uint16(fmt.inf_code), cut)


def _tanh_half(patterns: Array, fmt: Format) -> Array:
    return convert.half_from_float(unit.tanh(convert.float_from_half(patterns, fmt)), fmt, "rz")


@cache
def _half_table(function: Callable[[Array, Format], Array], fmt: Format) -> Array:
    """The result for every pattern."""
    with np.errstate(all="ignore"):
        return function(np.arange(1 << 16, dtype=np.uint16), fmt).astype(np.uint16)


def _half_or_pair(function: Callable[[Array, Format], Array], patterns: Array, fmt: Format) -> Array:
    table = _half_table(function, fmt)
    if patterns.dtype.itemsize == 2:
        return table[patterns]
    return packed.pair(table[patterns & np.uint32(0xFFFF)], table[patterns >> np.uint32(16)])


def ex2_half(patterns: Array, fmt: Format, ftz: bool = False) -> Array:
    """2 to the power of f16, bf16 or pairs; ``ftz``, which bf16 always has, flushes subnormal results."""
    result = _half_or_pair(_ex2_half, patterns, fmt)
    return packed.flush(result.astype(np.uint32), fmt).astype(result.dtype) if ftz else result


def tanh_half(patterns: Array, fmt: Format) -> Array:
    """Hyperbolic tangent of f16, bf16 or pairs of them; subnormals are kept."""
    return _half_or_pair(_tanh_half, patterns, fmt)
