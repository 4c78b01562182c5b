"""Compiled f32 and f64 arithmetic, compiled by Numba on first use with a type.

This module imports Numba: only functions import it, never another module's top level.
A NaN result of f32 is 0x7FFFFFFF.  A NaN result of f64 is a NaN operand made quiet, b before c before a (of a
division a before b), or 0xFFF8000000000000 where no operand is a NaN, so that every host gives the same bits.
"""

# pyright: reportUntypedFunctionDecorator=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportMissingTypeArgument=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import intrinsic

from warploom.numerics._compile import elementwise

NAN32 = np.uint32(0x7FFFFFFF).view(np.float32)
NAN64 = np.uint64(0xFFF8000000000000).view(np.float64)
_TINY32 = np.float32(2.0**-126)
_RAISE = np.float32(2.0**64)
_RAISED_TINY = np.float32(2.0**-62)
_QUIET64 = np.uint64(0x0008000000000000)


@intrinsic
def fused(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """The processor's fused multiply-add (or the C library's: exact either way)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return a(a, a, a), generate


@njit(cache=True, inline="always")
def flush(x):
    """A subnormal f32 becomes a zero of its sign."""
    return np.copysign(np.float32(0.0), x) if abs(x) < _TINY32 else x


@njit(cache=True)
def quiet64(x):
    return np.uint64(np.float64(x).view(np.uint64) | _QUIET64).view(np.float64)


@njit(cache=True)
def nan64(a, b, c):
    """The first NaN of the three, made quiet."""
    if a != a:
        return quiet64(a)
    if b != b:
        return quiet64(b)
    if c != c:
        return quiet64(c)
    return NAN64


@elementwise(np.float32)
def canonical32(x):
    return x if x == x else NAN32


@elementwise(np.float32)
def flush32(x):
    return flush(x)


@elementwise(np.float64)
def flush32_wide(x):
    return np.float64(flush(x))


@elementwise(np.float32)
def settle32(x):
    """An f64 value rounded to f32, subnormals flushed."""
    r = flush(np.float32(x))
    return r if r == r else NAN32


@elementwise(np.float32)
def saturate32(x):
    low = x if x > np.float32(0.0) else np.float32(0.0)
    return low if low < np.float32(1.0) else np.float32(1.0)


@elementwise(np.float32)
def add32(a, b):
    r = a + b
    return r if r == r else NAN32


@elementwise(np.float32)
def add32_ftz(a, b):
    r = flush(flush(a) + flush(b))
    return r if r == r else NAN32


@elementwise(np.float32)
def sub32(a, b):
    r = a - b
    return r if r == r else NAN32


@elementwise(np.float32)
def sub32_ftz(a, b):
    r = flush(flush(a) - flush(b))
    return r if r == r else NAN32


@elementwise(np.float32)
def mul32(a, b):
    r = a * b
    return r if r == r else NAN32


@elementwise(np.float32)
def mul32_ftz(a, b):
    a, b = flush(a), flush(b)
    r = a * b
    # The result is tiny if it is once rounded to 24 bits, however small: so it is raised first.
    r = np.copysign(np.float32(0.0), r) if abs((a * _RAISE) * b) < _RAISED_TINY else r
    return r if r == r else NAN32


@elementwise(np.float32)
def fma32(a, b, c):
    r = fused(a, b, c)
    return r if r == r else NAN32


@elementwise(np.float32)
def fma32_ftz(a, b, c):
    a, b, c = flush(a), flush(b), flush(c)
    r = fused(a, b, c)
    r = np.copysign(np.float32(0.0), r) if abs(fused(a * _RAISE, b, c * _RAISE)) < _RAISED_TINY else r
    return r if r == r else NAN32


@elementwise(np.float64)
def add64(a, b):
    r = a + b
    return r if r == r else nan64(b, a, a)


@elementwise(np.float64)
def sub64(a, b):
    r = a - b
    return r if r == r else nan64(b, a, a)


@elementwise(np.float64)
def mul64(a, b):
    r = a * b
    return r if r == r else nan64(b, a, a)


@elementwise(np.float64)
def fma64(a, b, c):
    r = fused(a, b, c)
    return r if r == r else nan64(b, c, a)


@elementwise(np.float64)
def div64(a, b):
    r = a / b
    return r if r == r else nan64(a, b, b)


@elementwise(np.float64)
def sqrt64(a):
    r = np.sqrt(a)
    return r if r == r else nan64(a, a, a)


@elementwise(np.float64)
def abs64(a):
    return abs(a) if a == a else quiet64(a)


@elementwise(np.float64)
def neg64(a):
    return -a if a == a else quiet64(a)


@njit(cache=True, inline="always")
def ordered32(x):
    """An integer with the order of the floats, -0 below +0."""
    u = np.float32(x).view(np.int32)
    return u ^ ((u >> 31) & 0x7FFFFFFF)


@elementwise(np.float32)
def max32(a, b):
    larger = a if ordered32(a) > ordered32(b) else b
    r = b if a != a else (a if b != b else larger)
    return r if r == r else NAN32


@elementwise(np.float32)
def min32(a, b):
    smaller = a if ordered32(a) < ordered32(b) else b
    r = b if a != a else (a if b != b else smaller)
    return r if r == r else NAN32


@njit(cache=True, inline="always")
def ordered64(x):
    u = np.float64(x).view(np.int64)
    return u ^ ((u >> 63) & 0x7FFFFFFFFFFFFFFF)


@elementwise(np.float64)
def max64(a, b):
    larger = a if ordered64(a) > ordered64(b) else b
    r = b if a != a else (a if b != b else larger)
    return r if r == r else nan64(b, a, a)


@elementwise(np.float64)
def min64(a, b):
    smaller = a if ordered64(a) < ordered64(b) else b
    r = b if a != a else (a if b != b else smaller)
    return r if r == r else nan64(b, a, a)


@njit(cache=True, inline="always")
def odd_sum(p, c):
    """``p + c`` of two f64 rounded to odd: an inexact sum takes the neighbour whose last bit is set.

    Rounding the result once more, to any format at least two bits narrower, is rounding the exact sum.
    """
    s = p + c
    p_part = s - c
    error = (p - p_part) + (c - (s - p_part))
    bits = np.float64(s).view(np.int64)
    inexact = error > 0.0 or error < 0.0
    outward = (error > 0.0) == (s > 0.0)
    step = np.int64(1) if outward else np.int64(-1)
    bits = bits + step if inexact and (bits & 1) == 0 else bits
    return np.int64(bits).view(np.float64)


@elementwise(np.float64)
def fma_odd(a, b, c):
    """f32 operands, f64 result: the exact ``a * b + c`` rounded to odd."""
    return odd_sum(np.float64(a) * np.float64(b), np.float64(c))
