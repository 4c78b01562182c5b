"""Compiled arithmetic on f16 and bf16 patterns, and on pairs of them in 32 bits.

Other modules import this module on first use, because Numba loads slowly.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false
# pyright: reportUnknownLambdaType=false, reportMissingParameterType=false, reportUnknownArgumentType=false

import numpy as np

from warploom.numerics._compile import elementwise, inlined, pairwise
from warploom.numerics.float_kernels import canonical, odd_sum

_SMALLEST_NORMAL_F16 = np.float32(2.0**-14)
_HALF = np.float32(0.5)
_TINY_F16 = np.float32(2.0**-14 * (1 - 2.0**-12))
_NAN = np.uint32(0x7FFF)
_INF_F16 = np.uint32(0x7C00)
_INF_BF16 = np.uint32(0x7F80)
_ONE = np.float32(1.0)
_MINUS_ZERO = np.float32(-0.0)


# Each step converts its result to 32 bits. Numba would widen it to 64 bits and halve the vector lanes.
@inlined
def from_f16(h):
    """Return the value of an f16 pattern as f32."""
    magnitude = np.uint32(h & np.uint32(0x7FFF))
    moved = np.uint32(np.uint32(magnitude << np.uint32(13)) + np.uint32(0x38000000))
    # The subtraction of 2**-14 normalises a subnormal number, whose fraction follows a one here.
    small = np.float32(np.uint32(moved + np.uint32(0x800000)).view(np.float32) - _SMALLEST_NORMAL_F16)
    code = small.view(np.uint32) if magnitude < np.uint32(0x400) else moved
    special = np.uint32(0x7F800000) if magnitude >= _INF_F16 else np.uint32(0)
    sign = np.uint32(np.uint32(h & np.uint32(0x8000)) << np.uint32(16))
    return np.uint32(np.uint32(code | special) | sign).view(np.float32)


@inlined
def to_f16(x):
    """Return the f16 pattern nearest to an f32 number."""
    bits = np.float32(x).view(np.uint32)
    sign = np.uint32(np.uint32(bits >> np.uint32(16)) & np.uint32(0x8000))
    magnitude = np.uint32(bits & np.uint32(0x7FFFFFFF))
    odd = np.uint32(np.uint32(magnitude >> np.uint32(13)) & np.uint32(1))
    # 0xFFF + odd rounds to nearest even; 0xC8000000 subtracts the difference of the biases.
    normal = np.uint32(np.uint32(magnitude + np.uint32(0xC8000FFF) + odd) >> np.uint32(13))
    # Neighbours of 0.5 in f32 are as far apart as subnormal f16 numbers, so the addition rounds to f16.
    raised = np.float32(magnitude.view(np.float32) + _HALF)
    small = np.uint32(raised.view(np.uint32) - np.uint32(0x3F000000))
    code = small if magnitude < np.uint32(0x38800000) else normal
    code = _INF_F16 if magnitude >= np.uint32(0x47800000) else code
    return _NAN if magnitude > np.uint32(0x7F800000) else np.uint32(sign | code)


@inlined
def _to_normal_f16(x):
    """Return the nearest f16 pattern, or a zero if the number is subnormal after rounding to 11 bits."""
    return to_f16(np.copysign(np.float32(0.0), x) if abs(x) < _TINY_F16 else x)


@inlined
def from_bf16(h):
    """Return the value of a bf16 pattern as f32."""
    return np.uint32(h << np.uint32(16)).view(np.float32)


@inlined
def to_bf16(x):
    """Return the bf16 pattern nearest to an f32 number."""
    bits = np.float32(x).view(np.uint32)
    odd = np.uint32(np.uint32(bits >> np.uint32(16)) & np.uint32(1))
    code = np.uint32(np.uint32(bits + np.uint32(0x7FFF) + odd) >> np.uint32(16))
    return _NAN if np.uint32(bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000) else code


@inlined
def _odd_f32(x):
    """Return an f64 number as f32, rounded to odd."""
    nearest = np.float32(x)
    bits = nearest.view(np.uint32)
    back = np.float64(nearest)
    toward_zero = np.uint32(bits - np.uint32(1)) if abs(back) > abs(x) else bits
    inexact = back < x or back > x
    return np.uint32(toward_zero | np.uint32(1) if inexact else bits).view(np.float32)


@inlined
def _odd_sum32(p, c):
    """Return the f32 sum p + c, rounded to odd. No intermediate result may overflow."""
    s = p + c
    p_part = s - c
    error = (p - p_part) + (c - (s - p_part))
    bits = np.float32(s).view(np.int32)
    inexact = error > np.float32(0.0) or error < np.float32(0.0)
    outward = (error > np.float32(0.0)) == (s > np.float32(0.0))
    step = np.int32(1) if outward else np.int32(-1)
    bits = np.int32(bits + step) if inexact and np.int32(bits & np.int32(1)) == np.int32(0) else bits
    return np.int32(bits).view(np.float32)


# The product is exact. Rounding to odd in f64 and f32 makes the last rounding equal to a single rounding.
@inlined
def _multiply_add_bf16(a, b, c):
    return to_bf16(_odd_f32(odd_sum(np.float64(a) * np.float64(b), np.float64(c))))


@inlined
def sum_f16(a, b):
    """Return the sum of two f16 patterns as a pattern."""
    return to_f16(from_f16(a) + from_f16(b))


@inlined
def sum_bf16(a, b):
    """Return the sum of two bf16 patterns as a pattern."""
    return _multiply_add_bf16(from_bf16(a), _ONE, from_bf16(b))


@inlined
def _ordered(h):
    pattern = np.int32(h << np.uint32(16))
    return np.int32(pattern ^ np.int32(np.int32(pattern >> np.int32(31)) & np.int32(0x7FFFFFFF)))


@inlined
def extreme(a, b, infinity, larger):
    """Return the pattern of the larger of two numbers if `larger` is set, else of the smaller.

    `infinity` is the pattern of infinity. If one operand is a NaN, the result is the other operand. If both operands
    are NaN, the result is 0x7FFF.
    """
    a_nan = np.uint32(a & np.uint32(0x7FFF)) > infinity
    b_nan = np.uint32(b & np.uint32(0x7FFF)) > infinity
    number = a if (_ordered(a) > _ordered(b)) == larger else b
    result = b if a_nan else (a if b_nan else number)
    return _NAN if a_nan and b_nan else result


# Products are exact in f32. Rounding a sum to f32 first does no harm, because 24 >= 2 * 11 + 2 bits.
add_f16x2 = pairwise(lambda a, b: to_f16(from_f16(a) + from_f16(b)))
mul_f16x2 = pairwise(lambda a, b: to_f16(from_f16(a) * from_f16(b)))
fma_f16x2 = pairwise(lambda a, b, c: to_f16(_odd_sum32(from_f16(a) * from_f16(b), from_f16(c))))
mul_f16x2_ftz = pairwise(lambda a, b: _to_normal_f16(from_f16(a) * from_f16(b)))
fma_f16x2_ftz = pairwise(lambda a, b, c: _to_normal_f16(_odd_sum32(from_f16(a) * from_f16(b), from_f16(c))))
max_f16x2 = pairwise(lambda a, b: extreme(a, b, _INF_F16, True))
min_f16x2 = pairwise(lambda a, b: extreme(a, b, _INF_F16, False))
pack_f16x2 = elementwise(np.uint32)(lambda high, low: to_f16(low) | np.uint32(to_f16(high) << np.uint32(16)))
f32_from_f16 = elementwise(np.float32)(lambda h: canonical(from_f16(np.uint32(h))))
f16_from_f32 = elementwise(np.uint16)(lambda x: np.uint16(to_f16(x)))

add_bf16x2 = pairwise(lambda a, b: _multiply_add_bf16(from_bf16(a), _ONE, from_bf16(b)))
mul_bf16x2 = pairwise(lambda a, b: _multiply_add_bf16(from_bf16(a), from_bf16(b), _MINUS_ZERO))
fma_bf16x2 = pairwise(lambda a, b, c: _multiply_add_bf16(from_bf16(a), from_bf16(b), from_bf16(c)))
max_bf16x2 = pairwise(lambda a, b: extreme(a, b, _INF_BF16, True))
min_bf16x2 = pairwise(lambda a, b: extreme(a, b, _INF_BF16, False))
pack_bf16x2 = elementwise(np.uint32)(lambda high, low: to_bf16(low) | np.uint32(to_bf16(high) << np.uint32(16)))
bf16_from_f32 = elementwise(np.uint16)(lambda x: np.uint16(to_bf16(x)))
