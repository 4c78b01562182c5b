"""The approximate functions.

Each is a table look-up of the machine's special function unit, framed by the scalings that the assembler
emits.  The look-up is computed here in f64 and rounded to nearest, which is within the bounds the manual
gives and may differ from the silicon in the last bits; the framing, hence subnormals, overflow and special
values, is the machine's own (ptxas of CUDA 13.0 for sm_90).
``ftz`` leaves the framing out.  f16 and bf16 are uint16 patterns, their pairs uint32.
Source: the approx and full forms of the PTX ISA.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from warploom.num import floats, formats, packed
from warploom.num.formats import Array, Format
from warploom.num.quiet import quietly

_TINY = np.float32(2.0**-126)
_HUGE = np.float32(2.0**126)
_UP = np.float32(2.0**24)
_INVERSE_TURN: Array = np.array(0.15915494, dtype=np.float32)


def _unit(function: Callable[[Array], Array], x: Array) -> Array:
    """One look-up: subnormal operand and result are flushed, the result is rounded to f32."""
    return floats.settle(quietly(function, floats.flush_wide(x)))


def _small(x: Array) -> Array:
    return quietly(np.less, np.abs(x), _TINY)


def _raised(x: Array, small: Array) -> Array:
    """Subnormals times 2**24."""
    return floats.mul(x, np.where(small, _UP, np.float32(1)))


def _unusual(magnitude: Array) -> Array:
    """A divisor that needs scaling."""
    return ~((magnitude >= _TINY) & (magnitude <= _HUGE))


def _reciprocal(x: Array) -> Array:
    return 1.0 / x


def _reciprocal_root(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def _root(x: Array) -> Array:
    return np.sqrt(x)


def ex2(x: Array, ftz: bool = False) -> Array:
    """2 to the power of f32.  Below -126 the machine squares the half power, which reaches the subnormals."""
    if ftz:
        return _unit(np.exp2, x)
    low = quietly(np.less, x, np.float32(-126))
    if not low.any():
        return _unit(np.exp2, x)
    result = _unit(np.exp2, np.where(low, quietly(np.multiply, x, np.float32(0.5)), x))
    return floats.mul(result, np.where(low, result, np.float32(1)))


def lg2(x: Array, ftz: bool = False) -> Array:
    """Binary logarithm of f32; a subnormal operand is scaled unless ``ftz``."""
    if ftz:
        return _unit(np.log2, x)
    small = _small(x)
    result = _unit(np.log2, _raised(x, small))
    return np.where(small, floats.add(result, np.full_like(result, -24)), result)


def _sine_of_turns(t: Array) -> Array:
    part = t - np.rint(t)
    part = np.where(np.abs(part) > 0.25, np.copysign(0.5, part) - part, part)
    return np.where(part == 0, np.copysign(0.0, t), np.sin(2.0 * np.pi * part))


def _cosine_of_turns(t: Array) -> Array:
    return np.sin(2.0 * np.pi * (0.25 - np.abs(t - np.rint(t))))


def _turns(x: Array, ftz: bool) -> Array:
    # The argument becomes turns, cut to f32, before its whole part is dropped.
    return floats.mul(x, _INVERSE_TURN, "rz", ftz=ftz)


def sin(x: Array, ftz: bool = False) -> Array:
    """Sine of f32 radians."""
    return _unit(_sine_of_turns, _turns(x, ftz))


def cos(x: Array, ftz: bool = False) -> Array:
    """Cosine of f32 radians."""
    return _unit(_cosine_of_turns, _turns(x, ftz))


def tanh(x: Array) -> Array:
    """Hyperbolic tangent of f32; subnormals pass."""
    with np.errstate(all="ignore"):
        return floats.canonical(np.tanh(x.astype(np.float64)).astype(np.float32))


def rcp(x: Array, ftz: bool = False) -> Array:
    """Reciprocal of f32; very small and very large operands are scaled unless ``ftz``."""
    if ftz:
        return _unit(_reciprocal, x)
    magnitude = np.abs(x)
    if not quietly(_unusual, magnitude).any():
        return _unit(_reciprocal, x)
    scale = np.where(magnitude > _HUGE, np.float32(0.25), np.where(magnitude < _TINY, _UP, np.float32(1)))
    return floats.mul(scale, _unit(_reciprocal, floats.mul(x, scale)))


def sqrt(x: Array, ftz: bool = False) -> Array:
    """Square root of f32."""
    if ftz:
        return _unit(_root, x)
    small = _small(x)
    result = _unit(_root, _raised(x, small))
    return floats.mul(result, np.where(small, np.float32(2.0**-12), np.float32(1)))


def rsqrt(x: Array, ftz: bool = False) -> Array:
    """Reciprocal square root of f32 or f64.

    f64 with ``ftz`` reads the upper 32 bits of its operand and leaves the lower 32 of its result zero.
    """
    if x.dtype.itemsize == 8:
        return _upper_word(_reciprocal_root, x) if ftz else _double(_reciprocal_root, x)
    if ftz:
        return _unit(_reciprocal_root, x)
    small = _small(x)
    result = _unit(_reciprocal_root, _raised(x, small))
    return floats.mul(result, np.where(small, np.float32(2.0**12), np.float32(1)))


def _double(function: Callable[[Array], Array], x: Array) -> Array:
    with np.errstate(all="ignore"):
        result = function(x)
    return np.where(np.isnan(result), np.uint64(0xFFF8000000000000).view(np.float64), result)


def _upper_word(function: Callable[[Array], Array], x: Array) -> Array:
    """A look-up on upper words: 20 mantissa bits in, 20 out, subnormals flushed on both sides."""
    upper = (x.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
    smallest = 2.0**-1022
    upper = np.where(np.abs(upper) < smallest, np.copysign(0.0, upper), upper)
    with np.errstate(all="ignore"):
        result = function(upper)
    bits = result.view(np.uint64)
    rounded = (bits + np.uint64(0x7FFFFFFF) + ((bits >> np.uint64(32)) & np.uint64(1))) & np.uint64(
        0xFFFFFFFF00000000
    )
    rounded = np.where(np.isnan(result), np.uint64(0x7FFFFFFF00000000), rounded).view(np.float64)
    return np.where(np.abs(rounded) < smallest, np.copysign(0.0, rounded), rounded)


def rcp64(x: Array) -> Array:
    """Gross reciprocal of f64: upper words alone, subnormals flushed."""
    return _upper_word(_reciprocal, x)


def div(a: Array, b: Array, ftz: bool = False) -> Array:
    """The approx quotient of f32: the reciprocal of the divisor times the dividend.

    A divisor above 2**126 has a reciprocal that is flushed, hence 0, or NaN where the dividend is infinite.
    """
    if ftz:
        return floats.mul(a, _unit(_reciprocal, b), ftz=True)
    scale = np.where(_small(b), _UP, np.float32(1))
    return floats.mul(_unit(_reciprocal, floats.mul(b, scale)), floats.mul(a, scale))


def div_full(a: Array, b: Array, ftz: bool = False) -> Array:
    """The full-range quotient of f32: as `div`, with a large divisor scaled as well."""
    magnitude = np.abs(b)
    if not quietly(_unusual, magnitude).any():
        return floats.mul(_unit(_reciprocal, b), a, ftz=ftz)
    scale = np.where(magnitude > _HUGE, np.float32(0.25), np.float32(1))
    if not ftz:
        scale = np.where(magnitude < _TINY, _UP, scale)
    reciprocal = _unit(_reciprocal, floats.mul(b, scale, ftz=ftz))
    return floats.mul(reciprocal, floats.mul(a, scale, ftz=ftz), ftz=ftz)


@cache
def _half_table(function: Callable[[Array], Array], fmt: Format, ftz: bool) -> Array:
    """The result for every pattern."""
    values = formats.decode(np.arange(1 << 16), fmt)
    if ftz:
        values = np.where(np.abs(values) < 2.0**fmt.min_exponent, 0.0 * np.sign(values), values)
    with np.errstate(all="ignore"):
        table = formats.encode(function(values), fmt)
    return packed.flush(table.astype(np.uint32), fmt).astype(np.uint16) if ftz else table


def _half_or_pair(function: Callable[[Array], Array], patterns: Array, fmt: Format, ftz: bool) -> Array:
    table = _half_table(function, fmt, ftz)
    if patterns.dtype.itemsize == 2:
        return table[patterns]
    return packed.pair(table[patterns & np.uint32(0xFFFF)], table[patterns >> np.uint32(16)])


def ex2_half(patterns: Array, fmt: Format, ftz: bool = False) -> Array:
    """2 to the power of f16, bf16 or pairs; subnormals are kept unless ``ftz``, which bf16 always has."""
    return _half_or_pair(np.exp2, patterns, fmt, ftz)


def tanh_half(patterns: Array, fmt: Format) -> Array:
    """Hyperbolic tangent of f16, bf16 or pairs of them; subnormals are kept."""
    return _half_or_pair(np.tanh, patterns, fmt, False)
