"""Compiled arithmetic on pairs of f16 or bf16 patterns (uint32), compiled by Numba on first use.

f16: a product is exact in f32, and a sum rounded to f32 and then to f16 is the exact sum rounded once, for
24 >= 2 * 11 + 2 bits.  A multiply-add rounds to odd in f32.
bf16: a product is exact in f64; the sum is rounded to odd in f64, then to odd in f32, then to nearest.
Rounding to odd with two or more extra bits leaves the last rounding as good as one of the exact value.
This module imports Numba: only functions import it.
"""

# pyright: reportUntypedFunctionDecorator=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import numpy as np
from numba import njit

from warploom.numerics._compile import elementwise
from warploom.numerics.float_kernels import odd_sum

_MOVE = np.float32(2.0**112)
_HALF = np.float32(0.5)
_TINY_F16 = np.float32(2.0**-14 * (1 - 2.0**-12))
_NAN = np.uint32(0x7FFF)
_INF_F16 = np.uint32(0x7C00)
_INF_BF16 = np.uint32(0x7F80)


# Every step says its 32 bits: Numba would widen it to 64, which halves the lanes of a vector.
@njit(cache=True, inline="always")
def from_f16(h):
    """The f32 value of 16 bits."""
    magnitude = np.uint32(h & np.uint32(0x7FFF))
    # The exponent is moved by a product, which makes subnormals normal as well.
    moved = np.float32(np.uint32(magnitude << np.uint32(13)).view(np.float32) * _MOVE)
    special = np.uint32(0x7F800000) if magnitude >= _INF_F16 else np.uint32(0)
    sign = np.uint32(np.uint32(h & np.uint32(0x8000)) << np.uint32(16))
    return np.uint32(np.uint32(moved.view(np.uint32) | special) | sign).view(np.float32)


@njit(cache=True, inline="always")
def to_f16(x):
    """The f16 pattern nearest to an f32 value."""
    bits = np.float32(x).view(np.uint32)
    sign = np.uint32(np.uint32(bits >> np.uint32(16)) & np.uint32(0x8000))
    magnitude = np.uint32(bits & np.uint32(0x7FFFFFFF))
    odd = np.uint32(np.uint32(magnitude >> np.uint32(13)) & np.uint32(1))
    # 0xFFF to round, less the difference of the biases.
    normal = np.uint32(np.uint32(magnitude + np.uint32(0xC8000FFF) + odd) >> np.uint32(13))
    # One half has the spacing of f16's subnormals: the addition rounds to it.
    raised = np.float32(magnitude.view(np.float32) + _HALF)
    small = np.uint32(raised.view(np.uint32) - np.uint32(0x3F000000))
    code = small if magnitude < np.uint32(0x38800000) else normal
    code = _INF_F16 if magnitude >= np.uint32(0x47800000) else code
    return _NAN if magnitude > np.uint32(0x7F800000) else np.uint32(sign | code)


@njit(cache=True, inline="always")
def from_bf16(h):
    return np.uint32(h << np.uint32(16)).view(np.float32)


@njit(cache=True, inline="always")
def to_bf16(x):
    """The bf16 pattern nearest to an f32 value."""
    bits = np.float32(x).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    code = (bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)
    return _NAN if (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000) else code


@njit(cache=True, inline="always")
def odd_f32(x):
    """An f64 value rounded to odd in f32."""
    nearest = np.float32(x)
    bits = nearest.view(np.uint32)
    back = np.float64(nearest)
    toward_zero = bits - np.uint32(1) if abs(back) > abs(x) else bits
    inexact = back < x or back > x
    return np.uint32(toward_zero | np.uint32(1) if inexact else bits).view(np.float32)


@njit(cache=True, inline="always")
def _odd_sum32(p, c):
    """``p + c`` of two f32 of moderate size, rounded to odd."""
    s = p + c
    p_part = s - c
    error = (p - p_part) + (c - (s - p_part))
    bits = np.float32(s).view(np.int32)
    inexact = error > np.float32(0.0) or error < np.float32(0.0)
    outward = (error > np.float32(0.0)) == (s > np.float32(0.0))
    step = np.int32(1) if outward else np.int32(-1)
    bits = bits + step if inexact and (bits & np.int32(1)) == np.int32(0) else bits
    return np.int32(bits).view(np.float32)


@njit(cache=True, inline="always")
def _fma_bf16(a, b, c):
    return odd_f32(odd_sum(np.float64(a) * np.float64(b), np.float64(c)))


@njit(cache=True, inline="always")
def _low(x):
    return np.uint32(x & np.uint32(0xFFFF))


@njit(cache=True, inline="always")
def _high(x):
    return np.uint32(x >> np.uint32(16))


@njit(cache=True, inline="always")
def _pair(low, high):
    return np.uint32(low | np.uint32(high << np.uint32(16)))


_ONE = np.float32(1.0)
_MINUS_ZERO = np.float32(-0.0)


@elementwise(np.uint32)
def add_f16x2(a, b):
    low = to_f16(from_f16(_low(a)) + from_f16(_low(b)))
    high = to_f16(from_f16(_high(a)) + from_f16(_high(b)))
    return _pair(low, high)


@elementwise(np.uint32)
def mul_f16x2(a, b):
    low = to_f16(from_f16(_low(a)) * from_f16(_low(b)))
    high = to_f16(from_f16(_high(a)) * from_f16(_high(b)))
    return _pair(low, high)


@elementwise(np.uint32)
def fma_f16x2(a, b, c):
    low = to_f16(_odd_sum32(from_f16(_low(a)) * from_f16(_low(b)), from_f16(_low(c))))
    high = to_f16(_odd_sum32(from_f16(_high(a)) * from_f16(_high(b)), from_f16(_high(c))))
    return _pair(low, high)


@njit(cache=True, inline="always")
def _normal_f16(x):
    """The f16 pattern nearest to an f32 value, zero where it is subnormal once rounded to 11 bits."""
    return to_f16(np.copysign(np.float32(0.0), x) if abs(x) < _TINY_F16 else x)


@elementwise(np.uint32)
def mul_f16x2_ftz(a, b):
    low = _normal_f16(from_f16(_low(a)) * from_f16(_low(b)))
    high = _normal_f16(from_f16(_high(a)) * from_f16(_high(b)))
    return _pair(low, high)


@elementwise(np.uint32)
def fma_f16x2_ftz(a, b, c):
    low = _normal_f16(_odd_sum32(from_f16(_low(a)) * from_f16(_low(b)), from_f16(_low(c))))
    high = _normal_f16(_odd_sum32(from_f16(_high(a)) * from_f16(_high(b)), from_f16(_high(c))))
    return _pair(low, high)


@elementwise(np.uint32)
def add_bf16x2(a, b):
    low = to_bf16(_fma_bf16(from_bf16(_low(a)), _ONE, from_bf16(_low(b))))
    high = to_bf16(_fma_bf16(from_bf16(_high(a)), _ONE, from_bf16(_high(b))))
    return _pair(low, high)


@elementwise(np.uint32)
def mul_bf16x2(a, b):
    low = to_bf16(_fma_bf16(from_bf16(_low(a)), from_bf16(_low(b)), _MINUS_ZERO))
    high = to_bf16(_fma_bf16(from_bf16(_high(a)), from_bf16(_high(b)), _MINUS_ZERO))
    return _pair(low, high)


@elementwise(np.uint32)
def fma_bf16x2(a, b, c):
    low = to_bf16(_fma_bf16(from_bf16(_low(a)), from_bf16(_low(b)), from_bf16(_low(c))))
    high = to_bf16(_fma_bf16(from_bf16(_high(a)), from_bf16(_high(b)), from_bf16(_high(c))))
    return _pair(low, high)


@elementwise(np.uint32)
def pack_f16x2(high, low):
    return _pair(to_f16(low), to_f16(high))


@elementwise(np.uint32)
def pack_bf16x2(high, low):
    return _pair(to_bf16(low), to_bf16(high))


@elementwise(np.uint16)
def f16_from_f32(x):
    return np.uint16(to_f16(x))


@elementwise(np.uint16)
def bf16_from_f32(x):
    return np.uint16(to_bf16(x))


@njit(cache=True, inline="always")
def _ordered(h):
    """An integer with the order of the 16-bit patterns, -0 below +0."""
    pattern = np.int32(h << np.uint32(16))
    return pattern ^ ((pattern >> np.int32(31)) & np.int32(0x7FFFFFFF))


@njit(cache=True, inline="always")
def _larger(a, b, infinity):
    a_nan = (a & np.uint32(0x7FFF)) > infinity
    b_nan = (b & np.uint32(0x7FFF)) > infinity
    larger = a if _ordered(a) > _ordered(b) else b
    result = b if a_nan else (a if b_nan else larger)
    return _NAN if a_nan and b_nan else result


@njit(cache=True, inline="always")
def _smaller(a, b, infinity):
    a_nan = (a & np.uint32(0x7FFF)) > infinity
    b_nan = (b & np.uint32(0x7FFF)) > infinity
    smaller = a if _ordered(a) < _ordered(b) else b
    result = b if a_nan else (a if b_nan else smaller)
    return _NAN if a_nan and b_nan else result


@elementwise(np.uint32)
def max_f16x2(a, b):
    return _pair(_larger(_low(a), _low(b), _INF_F16), _larger(_high(a), _high(b), _INF_F16))


@elementwise(np.uint32)
def max_bf16x2(a, b):
    return _pair(_larger(_low(a), _low(b), _INF_BF16), _larger(_high(a), _high(b), _INF_BF16))


@elementwise(np.uint32)
def min_f16x2(a, b):
    return _pair(_smaller(_low(a), _low(b), _INF_F16), _smaller(_high(a), _high(b), _INF_F16))


@elementwise(np.uint32)
def min_bf16x2(a, b):
    return _pair(_smaller(_low(a), _low(b), _INF_BF16), _smaller(_high(a), _high(b), _INF_BF16))
