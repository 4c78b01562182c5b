"""Compiled arithmetic on pairs of f16 or bf16 patterns (uint32), as NumPy ufuncs made by Numba on first use.

Every operation is one fused multiply-add rounded to odd in f64, then to odd in f32, then once to the format: the
earlier roundings keep more than two extra bits, so the result is the exact value rounded once.
This module imports Numba: only functions import it.
"""

# pyright: reportUntypedFunctionDecorator=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import numpy as np
from numba import njit, vectorize

from warploom.num.float_kernels import odd_sum

_SCALE = np.float32(2.0**112)
_HALF = np.float32(0.5)
_NAN = np.uint32(0x7FFF)


@njit(cache=True, inline="always")
def from_f16(h):
    """The f32 value of the low 16 bits."""
    magnitude = h & np.uint32(0x7FFF)
    # The multiplication moves the exponent from bias 15 to bias 127, and normalises subnormals.
    finite = np.uint32(magnitude << np.uint32(13)).view(np.float32) * _SCALE
    special = np.uint32((magnitude << np.uint32(13)) | np.uint32(0x7F800000)).view(np.float32)
    value = special if magnitude >= np.uint32(0x7C00) else finite
    return -value if h & np.uint32(0x8000) else value


@njit(cache=True, inline="always")
def to_f16(x):
    """The f16 pattern nearest to an f32 value."""
    bits = np.float32(x).view(np.uint32)
    sign = (bits >> np.uint32(16)) & np.uint32(0x8000)
    magnitude = bits & np.uint32(0x7FFFFFFF)
    odd = (magnitude >> np.uint32(13)) & np.uint32(1)
    normal = (magnitude + np.uint32(0xFFF) + odd - np.uint32(0x38000000)) >> np.uint32(13)
    # One half has the spacing of f16's subnormals: the addition rounds to it.
    small = np.float32(np.uint32(magnitude).view(np.float32) + _HALF).view(np.uint32) - np.uint32(0x3F000000)
    code = small if magnitude < np.uint32(0x38800000) else normal
    code = np.uint32(0x7C00) if magnitude >= np.uint32(0x47800000) else code
    return _NAN if magnitude > np.uint32(0x7F800000) else sign | code


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
def _fma(a, b, c):
    return odd_f32(odd_sum(np.float64(a) * np.float64(b), np.float64(c)))


@njit(cache=True, inline="always")
def _low(x):
    return x & np.uint32(0xFFFF)


@njit(cache=True, inline="always")
def _high(x):
    return x >> np.uint32(16)


@njit(cache=True, inline="always")
def _pair(low, high):
    return np.uint32(low | (high << np.uint32(16)))


_ONE = np.float32(1.0)
_MINUS_ZERO = np.float32(-0.0)


@vectorize(cache=True)
def add_f16x2(a, b):
    low = to_f16(_fma(from_f16(_low(a)), _ONE, from_f16(_low(b))))
    high = to_f16(_fma(from_f16(_high(a)), _ONE, from_f16(_high(b))))
    return _pair(low, high)


@vectorize(cache=True)
def mul_f16x2(a, b):
    low = to_f16(_fma(from_f16(_low(a)), from_f16(_low(b)), _MINUS_ZERO))
    high = to_f16(_fma(from_f16(_high(a)), from_f16(_high(b)), _MINUS_ZERO))
    return _pair(low, high)


@vectorize(cache=True)
def fma_f16x2(a, b, c):
    low = to_f16(_fma(from_f16(_low(a)), from_f16(_low(b)), from_f16(_low(c))))
    high = to_f16(_fma(from_f16(_high(a)), from_f16(_high(b)), from_f16(_high(c))))
    return _pair(low, high)


@vectorize(cache=True)
def add_bf16x2(a, b):
    low = to_bf16(_fma(from_bf16(_low(a)), _ONE, from_bf16(_low(b))))
    high = to_bf16(_fma(from_bf16(_high(a)), _ONE, from_bf16(_high(b))))
    return _pair(low, high)


@vectorize(cache=True)
def mul_bf16x2(a, b):
    low = to_bf16(_fma(from_bf16(_low(a)), from_bf16(_low(b)), _MINUS_ZERO))
    high = to_bf16(_fma(from_bf16(_high(a)), from_bf16(_high(b)), _MINUS_ZERO))
    return _pair(low, high)


@vectorize(cache=True)
def fma_bf16x2(a, b, c):
    low = to_bf16(_fma(from_bf16(_low(a)), from_bf16(_low(b)), from_bf16(_low(c))))
    high = to_bf16(_fma(from_bf16(_high(a)), from_bf16(_high(b)), from_bf16(_high(c))))
    return _pair(low, high)


@vectorize(cache=True)
def pack_f16x2(high, low):
    return _pair(to_f16(low), to_f16(high))


@vectorize(cache=True)
def pack_bf16x2(high, low):
    return _pair(to_bf16(low), to_bf16(high))


@vectorize(cache=True)
def f16_from_f32(x):
    return np.uint16(to_f16(x))


@vectorize(cache=True)
def bf16_from_f32(x):
    return np.uint16(to_bf16(x))


@njit(cache=True, inline="always")
def _ordered(h):
    """An integer with the order of the 16-bit patterns, -0 below +0."""
    magnitude = np.int32(h & np.uint32(0x7FFF))
    return ~magnitude if h & np.uint32(0x8000) else magnitude


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


@vectorize(cache=True)
def max_x2(a, b, infinity):
    return _pair(_larger(_low(a), _low(b), infinity), _larger(_high(a), _high(b), infinity))


@vectorize(cache=True)
def min_x2(a, b, infinity):
    return _pair(_smaller(_low(a), _low(b), infinity), _smaller(_high(a), _high(b), infinity))
