"""Approximate functions (`.approx` and `.full`) with the bits of an H200.

f16 and bf16 numbers are uint16 patterns. f16x2 and bf16x2 pairs are uint32 patterns.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from warploom.numerics import convert, floats, packed, sfu
from warploom.numerics.formats import Array, Format
from warploom.numerics.lanes import lookup
from warploom.numerics.quiet import quietly

# Operands and results are scaled as in the code that ptxas generates (CUDA 13.0, sm_90), which scales nothing with ftz.
_TINY = np.float32(2.0**-126)
_HUGE = np.float32(2.0**126)
_SCALE = np.float32(2.0**24)
_NAN64 = np.uint64(0xFFF8000000000000).view(np.float64)


def _small(x: Array) -> Array:
    return quietly(np.less, np.abs(x), _TINY)


def _scaled_up(x: Array, small: Array) -> Array:
    return floats.mul(x, np.where(small, _SCALE, np.float32(1)))


def _needs_scaling(magnitude: Array) -> Array:
    return ~((magnitude >= _TINY) & (magnitude <= _HUGE))


def ex2(x: Array, ftz: bool = False) -> Array:
    """Return 2**x of f32 numbers. With `ftz`, subnormal results become zeros."""
    if ftz:
        return sfu.ex2(x)
    low = quietly(np.less, x, np.float32(-126))
    if not low.any():
        return sfu.ex2(x)
    # The GPU squares 2**(x/2) for x below -126.
    result = sfu.ex2(np.where(low, quietly(np.multiply, x, np.float32(0.5)), x))
    return floats.mul(result, np.where(low, result, np.float32(1)))


def lg2(x: Array, ftz: bool = False) -> Array:
    """Return the binary logarithm of f32 numbers. With `ftz`, subnormal operands count as zeros."""
    if ftz:
        return sfu.lg2(x)
    small = _small(x)
    result = sfu.lg2(_scaled_up(x, small))
    return np.where(small, floats.add(result, np.full_like(result, -24)), result)


def sin(x: Array, ftz: bool = False) -> Array:
    """Return the sine of f32 radians. `ftz` has no effect."""
    return sfu.sin(x)


def cos(x: Array, ftz: bool = False) -> Array:
    """Return the cosine of f32 radians. `ftz` has no effect."""
    return sfu.cos(x)


def tanh(x: Array) -> Array:
    """Return the hyperbolic tangent of f32 numbers. Subnormal numbers are returned unchanged."""
    return sfu.tanh(x)


def rcp(x: Array, ftz: bool = False) -> Array:
    """Return the reciprocal of f32 numbers. With `ftz`, subnormal operands and results are zeros."""
    if ftz:
        return sfu.rcp(x)
    magnitude = np.abs(x)
    if not quietly(_needs_scaling, magnitude).any():
        return sfu.rcp(x)
    scale = np.where(magnitude > _HUGE, np.float32(0.25), np.where(magnitude < _TINY, _SCALE, np.float32(1)))
    return floats.mul(scale, sfu.rcp(floats.mul(x, scale)))


def sqrt(x: Array, ftz: bool = False) -> Array:
    """Return the square root of f32 numbers. With `ftz`, subnormal operands count as zeros."""
    if ftz:
        return sfu.sqrt(x)
    small = _small(x)
    result = sfu.sqrt(_scaled_up(x, small))
    return floats.mul(result, np.where(small, np.float32(2.0**-12), np.float32(1)))


def rsqrt(x: Array, ftz: bool = False) -> Array:
    """Return the reciprocal square root of f32 or f64 numbers.

    If `ftz` is set, the lower 32 bits of f64 operands are ignored, and the lower 32 bits of f64 results are zero.
    """
    if x.dtype.itemsize == 8:
        return _upper_word(sfu.rsqrt_upper, x) if ftz else _reciprocal_root(x)
    if ftz:
        return sfu.rsqrt(x)
    small = _small(x)
    result = sfu.rsqrt(_scaled_up(x, small))
    return floats.mul(result, np.where(small, np.float32(2.0**12), np.float32(1)))


def _reciprocal_root(x: Array) -> Array:
    # As ptxas expands the instruction: an estimate and one third-order iteration.
    small = quietly(np.less, np.abs(x), 2.0**-1022)
    scaled = floats.mul(x, np.where(small, 2.0**54, 1.0))
    estimate = _upper_word(sfu.rsqrt_upper, scaled)
    error = floats.fma(scaled, -floats.mul(estimate, estimate), np.ones_like(x))
    factor = floats.fma(error, np.full_like(x, 0.375), np.full_like(x, 0.5))
    root = floats.fma(factor, floats.mul(error, estimate), estimate) * np.where(small, 2.0**27, 1.0)
    # Zeros, infinities and negative numbers take the result of the estimate; a NaN becomes quiet.
    regular = quietly(np.greater, x, 0.0) & np.isfinite(x)
    rest = np.where(np.isnan(x), floats.add(x, x), np.where(np.isnan(estimate), _NAN64, estimate))
    return np.where(regular, root, rest)


def _upper_word(function: Callable[[Array], Array], x: Array) -> Array:
    """Apply a function to the upper 32 bits of f64 numbers. The lower 32 bits of the results are zero."""
    upper = function((x.view(np.uint64) >> np.uint64(32)).astype(np.uint32))
    return (upper.astype(np.uint64) << np.uint64(32)).view(np.float64)


def rcp64(x: Array) -> Array:
    """Return the approximate reciprocal of f64 numbers.

    The lower 32 bits of the operand are ignored, and the lower 32 bits of the result are zero. Subnormal operands and
    results are flushed to zero.
    """
    return _upper_word(sfu.rcp_upper, x)


def div(a: Array, b: Array, ftz: bool = False) -> Array:
    """Return the `.approx` quotient a / b of f32 numbers."""
    if ftz:
        return floats.mul(a, sfu.rcp(b), ftz=True)
    # Large divisors are not scaled: the reciprocal of a divisor above 2**126 is flushed to zero.
    scale = np.where(_small(b), _SCALE, np.float32(1))
    return floats.mul(sfu.rcp(floats.mul(b, scale)), floats.mul(a, scale))


def div_full(a: Array, b: Array, ftz: bool = False) -> Array:
    """Return the `.full` quotient a / b of f32 numbers."""
    magnitude = np.abs(b)
    if not quietly(_needs_scaling, magnitude).any():
        return floats.mul(sfu.rcp(b), a, ftz=ftz)
    scale = np.where(magnitude > _HUGE, np.float32(0.25), np.float32(1))
    if not ftz:
        scale = np.where(magnitude < _TINY, _SCALE, scale)
    reciprocal = sfu.rcp(floats.mul(b, scale, ftz=ftz))
    return floats.mul(reciprocal, floats.mul(a, scale, ftz=ftz), ftz=ftz)


def _ex2_half(patterns: Array, fmt: Format) -> Array:
    result = sfu.ex2(packed.float_from_half(patterns, fmt))
    cut = convert.half_from_float(result, fmt, "rz")
    return np.where(result > fmt.max_finite, np.uint16(fmt.inf_code), cut)


def _tanh_half(patterns: Array, fmt: Format) -> Array:
    return convert.half_from_float(sfu.tanh(packed.float_from_half(patterns, fmt)), fmt, "rz")


@cache
def _half_table(function: Callable[[Array, Format], Array], fmt: Format) -> Array:
    """Return `function(patterns, fmt)` for all 65,536 patterns, indexed by the pattern."""
    with np.errstate(all="ignore"):
        return function(np.arange(1 << 16, dtype=np.uint16), fmt).astype(np.uint16)


def _half_or_pair(function: Callable[[Array, Format], Array], patterns: Array, fmt: Format) -> Array:
    table = _half_table(function, fmt)
    if patterns.dtype.itemsize == 2:
        return lookup(table, patterns)
    return packed.pair(lookup(table, patterns & np.uint32(0xFFFF)), lookup(table, patterns >> np.uint32(16)))


def ex2_half(patterns: Array, fmt: Format, ftz: bool = False) -> Array:
    """Return 2**x of f16 or bf16 numbers or pairs.

    Subnormal bf16 results become 0. Subnormal f16 results become 0 only if `ftz` is set.
    """
    result = _half_or_pair(_ex2_half, patterns, fmt)
    return packed.flush(result.astype(np.uint32), fmt).astype(result.dtype) if ftz else result


def tanh_half(patterns: Array, fmt: Format) -> Array:
    """Return the hyperbolic tangent of f16 or bf16 numbers or pairs. Subnormals are not flushed."""
    return _half_or_pair(_tanh_half, patterns, fmt)
