"""Compiled f32 and f64 arithmetic, imported on first use because Numba loads slowly.

An f32 NaN result is 0x7FFFFFFF. `nan64` selects an f64 NaN result from the operands.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportCallIssue=false

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
    """Return an f32 number unchanged, or 0x7FFFFFFF for a NaN."""
    return x if x == x else NAN32


@inlined
def flush(x):
    """Return an f32 number unchanged, or a zero of the same sign for a subnormal number."""
    return np.copysign(np.float32(0.0), x) if abs(x) < _TINY32 else x


@njit
def quiet64(x):
    return np.uint64(np.float64(x).view(np.uint64) | _QUIET64).view(np.float64)


@njit
def nan64(a, b, c):
    """Return the first NaN among a, b and c, made quiet, or 0xFFF8000000000000 if none is a NaN."""
    if a != a:
        return quiet64(a)
    if b != b:
        return quiet64(b)
    if c != c:
        return quiet64(c)
    return NAN64


@inlined
def _or_nan64(result, a, b, c):
    return result if result == result else nan64(a, b, c)


@inlined
def _number(a, b, chosen):
    return b if a != a else (a if b != b else chosen)


@inlined
def ordered32(x):
    """Map an f32 number to an integer with the same order, where -0 is below +0."""
    u = np.float32(x).view(np.int32)
    return np.int32(u ^ np.int32(np.int32(u >> np.int32(31)) & np.int32(0x7FFFFFFF)))


@inlined
def ordered64(x):
    """Map an f64 number to an integer with the same order, where -0 is below +0."""
    u = np.float64(x).view(np.int64)
    return u ^ ((u >> 63) & 0x7FFFFFFFFFFFFFFF)


@inlined
def odd_sum(p, c):
    """Return the f64 sum p + c, rounded to odd.

    A second rounding, to a format at least two bits narrower, then equals a single rounding of the exact sum.
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


@inlined
def directed_step(pattern, back, x, mode):
    """Return the bits of x, rounded in a directed mode.

    `mode` is an index of `formats.MODES` other than that of "rn". `pattern` contains the bits of the number nearest to
    x. `back` is this number.
    """
    inward = abs(back) > abs(x)
    outward = abs(back) < abs(x)
    negative = x < 0.0
    if mode == 1 or negative == (mode == 3):
        return pattern - np.uint32(1) if inward else pattern
    return pattern + np.uint32(1) if outward else pattern


_single, _double = elementwise(np.float32), elementwise(np.float64)

canonical32 = _single(lambda x: x if x == x else NAN32)
flush32 = _single(lambda x: np.copysign(np.float32(0.0), x) if abs(x) < _TINY32 else x)
add32 = _single(lambda a, b: canonical(a + b))
add32_ftz = _single(lambda a, b: canonical(flush(flush(a) + flush(b))))
sub32 = _single(lambda a, b: canonical(a - b))
sub32_ftz = _single(lambda a, b: canonical(flush(flush(a) - flush(b))))
mul32 = _single(lambda a, b: canonical(a * b))
fma32 = _single(lambda a, b, c: canonical(fma(a, b, c)))
div32 = _single(lambda a, b: canonical(a / b))
sqrt32 = _single(lambda a: canonical(np.sqrt(a)))
max32 = _single(lambda a, b: canonical(_number(a, b, a if ordered32(a) > ordered32(b) else b)))
min32 = _single(lambda a, b: canonical(_number(a, b, a if ordered32(a) < ordered32(b) else b)))

add64 = _double(lambda a, b: _or_nan64(a + b, b, a, a))
sub64 = _double(lambda a, b: _or_nan64(a - b, b, a, a))
mul64 = _double(lambda a, b: _or_nan64(a * b, b, a, a))
fma64 = _double(lambda a, b, c: _or_nan64(fma(a, b, c), b, c, a))
div64 = _double(lambda a, b: _or_nan64(a / b, a, b, b))
sqrt64 = _double(lambda a: _or_nan64(np.sqrt(a), a, a, a))
abs64 = _double(lambda a: abs(a) if a == a else quiet64(a))
neg64 = _double(lambda a: -a if a == a else quiet64(a))
max64 = _double(lambda a, b: _or_nan64(_number(a, b, a if ordered64(a) > ordered64(b) else b), b, a, a))
min64 = _double(lambda a, b: _or_nan64(_number(a, b, a if ordered64(a) < ordered64(b) else b), b, a, a))

fma64_directed = directed(lambda a, b, c: _or_nan64(directed_fma(a, b, c), b, c, a))
div64_directed = directed(lambda a, b: _or_nan64(directed_div(a, b), a, b, b))
sqrt64_directed = directed(lambda a: _or_nan64(directed_sqrt(a), a, a, a))


@directed
def mul64_directed(a, b):
    # Adding a zero of the product's sign does not change the product.
    return _or_nan64(directed_fma(a, b, -0.0 if np.signbit(a) != np.signbit(b) else 0.0), b, a, a)


@_single
def saturate32(x):
    low = x if x > np.float32(0.0) else np.float32(0.0)
    return low if low < np.float32(1.0) else np.float32(1.0)


@elementwise(np.float32, uniform=1)
def narrow32_directed(x, mode):
    """Return an f64 number rounded to f32 by `mode` (see `directed_step`)."""
    nearest = np.float32(x)
    pattern = directed_step(nearest.view(np.uint32), np.float64(nearest), x, mode)
    return canonical(np.uint32(pattern).view(np.float32))


@_single
def mul32_ftz(a, b):
    a, b = flush(a), flush(b)
    # The result is flushed if it is subnormal after rounding to 24 bits. The scaled product keeps all 24 bits.
    is_tiny = abs((a * _SCALE) * b) < _SCALED_TINY
    return canonical(np.copysign(np.float32(0.0), a * b) if is_tiny else a * b)


@_single
def fma32_ftz(a, b, c):
    a, b, c = flush(a), flush(b), flush(c)
    r = fma(a, b, c)
    is_tiny = abs(fma(a * _SCALE, b, c * _SCALE)) < _SCALED_TINY
    return canonical(np.copysign(np.float32(0.0), r) if is_tiny else r)


@_double
def fma_odd(a, b, c):
    """Return a * b + c of f32 operands as f64, rounded once to odd (see `odd_sum`)."""
    return odd_sum(np.float64(a) * np.float64(b), np.float64(c))
