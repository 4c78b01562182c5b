"""Compiled f32 and f64 arithmetic. Only functions import this module, because it imports Numba.

A NaN result of f32 is 0x7FFFFFFF. A NaN result of f64 is the first NaN operand in the order b, c, a (in a division a,
b), made quiet, or 0xFFF8000000000000 if no operand is a NaN. All hosts therefore return the same bits.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false, reportCallIssue=false

from __future__ import annotations

import numpy as np

from warploom.numerics._compile import directed, elementwise, inlined, njit
from warploom.numerics.intrinsics import directed_div, directed_fma, directed_sqrt, fma

NAN32 = np.uint32(0x7FFFFFFF).view(np.float32)
NAN64 = np.uint64(0xFFF8000000000000).view(np.float64)
_TINY32 = np.float32(2.0**-126)
_SCALE = np.float32(2.0**64)
_SCALED_TINY = np.float32(2.0**-62)
_QUIET64 = np.uint64(0x0008000000000000)


@inlined
def canonical(x):
    """Return an f32 number, with 0x7FFFFFFF for every NaN."""
    return x if x == x else NAN32


@inlined
def flush(x):
    """Return an f32 number, with a zero of the same sign for a subnormal number."""
    return np.copysign(np.float32(0.0), x) if abs(x) < _TINY32 else x


@njit
def quiet64(x):
    return np.uint64(np.float64(x).view(np.uint64) | _QUIET64).view(np.float64)


@njit
def nan64(a, b, c):
    """Return the first NaN of three f64 operands, made quiet, or 0xFFF8000000000000 if there is none."""
    if a != a:
        return quiet64(a)
    if b != b:
        return quiet64(b)
    if c != c:
        return quiet64(c)
    return NAN64


@elementwise(np.float32)
def canonical32(x):
    return canonical(x)


@elementwise(np.float32)
def flush32(x):
    return flush(x)


@elementwise(np.float32)
def saturate32(x):
    low = x if x > np.float32(0.0) else np.float32(0.0)
    return low if low < np.float32(1.0) else np.float32(1.0)


@elementwise(np.float32)
def add32(a, b):
    return canonical(a + b)


@elementwise(np.float32)
def add32_ftz(a, b):
    return canonical(flush(flush(a) + flush(b)))


@elementwise(np.float32)
def sub32(a, b):
    return canonical(a - b)


@elementwise(np.float32)
def sub32_ftz(a, b):
    return canonical(flush(flush(a) - flush(b)))


@elementwise(np.float32)
def mul32(a, b):
    return canonical(a * b)


@elementwise(np.float32)
def mul32_ftz(a, b):
    a, b = flush(a), flush(b)
    # The result is flushed if it is subnormal after rounding to 24 bits. The scaled product keeps all 24 bits.
    is_tiny = abs((a * _SCALE) * b) < _SCALED_TINY
    return canonical(np.copysign(np.float32(0.0), a * b) if is_tiny else a * b)


@elementwise(np.float32)
def fma32(a, b, c):
    return canonical(fma(a, b, c))


@elementwise(np.float32)
def fma32_ftz(a, b, c):
    a, b, c = flush(a), flush(b), flush(c)
    r = fma(a, b, c)
    is_tiny = abs(fma(a * _SCALE, b, c * _SCALE)) < _SCALED_TINY
    return canonical(np.copysign(np.float32(0.0), r) if is_tiny else r)


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
    r = fma(a, b, c)
    return r if r == r else nan64(b, c, a)


@elementwise(np.float64)
def div64(a, b):
    r = a / b
    return r if r == r else nan64(a, b, b)


@elementwise(np.float64)
def sqrt64(a):
    r = np.sqrt(a)
    return r if r == r else nan64(a, a, a)


@directed
def fma64_directed(a, b, c):
    r = directed_fma(a, b, c)
    return r if r == r else nan64(b, c, a)


@directed
def mul64_directed(a, b):
    # Adding a zero of the product's sign does not change the product.
    r = directed_fma(a, b, -0.0 if np.signbit(a) != np.signbit(b) else 0.0)
    return r if r == r else nan64(b, a, a)


@directed
def div64_directed(a, b):
    r = directed_div(a, b)
    return r if r == r else nan64(a, b, b)


@directed
def sqrt64_directed(a):
    r = directed_sqrt(a)
    return r if r == r else nan64(a, a, a)


@elementwise(np.float64)
def abs64(a):
    return abs(a) if a == a else quiet64(a)


@elementwise(np.float64)
def neg64(a):
    return -a if a == a else quiet64(a)


@inlined
def ordered32(x):
    """Return an integer that orders f32 numbers by value, with -0 below +0."""
    u = np.float32(x).view(np.int32)
    return u ^ ((u >> 31) & 0x7FFFFFFF)


@inlined
def ordered64(x):
    """Return an integer that orders f64 numbers by value, with -0 below +0."""
    u = np.float64(x).view(np.int64)
    return u ^ ((u >> 63) & 0x7FFFFFFFFFFFFFFF)


@elementwise(np.float32)
def max32(a, b):
    larger = a if ordered32(a) > ordered32(b) else b
    return canonical(b if a != a else (a if b != b else larger))


@elementwise(np.float32)
def min32(a, b):
    smaller = a if ordered32(a) < ordered32(b) else b
    return canonical(b if a != a else (a if b != b else smaller))


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


@inlined
def odd_sum(p, c):
    """Return the f64 sum p + c, rounded to odd.

    An inexact sum becomes the neighbour whose last bit is set. If the result is rounded again to a format at least two
    bits narrower, it equals the exact sum rounded once.
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
    """Return a * b + c of f32 operands as f64, rounded once to odd."""
    return odd_sum(np.float64(a) * np.float64(b), np.float64(c))
