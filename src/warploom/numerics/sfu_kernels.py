"""Compiled functions of the special function unit (see `sfu`).

Each function converts a uint32 pattern to a uint32 pattern. `table` has the constant coefficient of each interval,
`slopes` the coefficients of the offset into the interval and of its square. `squares` has the truncated square of every
offset. Other modules import this module on first use, because Numba loads slowly.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false
# pyright: reportUnknownLambdaType=false, reportMissingParameterType=false, reportUnknownArgumentType=false

from collections.abc import Callable
from typing import Any

import numpy as np

from warploom.numerics._compile import Elementwise, inlined, scalar

_NAN = np.uint32(0x7FFFFFFF)
_INF = np.uint32(0x7F800000)
_MINUS = np.uint32(0x80000000)
_ONE = np.uint32(0x3F800000)
_ZERO = np.uint32(0)
_FRACTION = np.int64(0x7FFFFF)
_EXTRA_BITS = np.int64(18)
"""Number of bits of an interpolated sum below the last bit of an f32 pattern."""
_UNIT = np.int64(1) << np.int64(40)
"""Number 1 in the fixed-point format of logarithms and sines."""
_INVERSE_TURN = np.int64(0xA2F983)
"""Significand of the f32 number nearest to 1 / (2 pi), in units of 2**-26."""
_LAST = np.int64(~15)
"""Mask of the bits that a logarithm keeps: those down to 2**-36."""


def _loop(x: Any, out: Any, table: Any, slopes: Any, squares: Any, more: Any) -> None:
    for i in range(x.size):
        out[i] = scalar(x[i], table, slopes, squares, more)


def _function(function: Callable[..., Any]) -> Elementwise:
    # A loop over a tuple of tables would be five times as slow.
    return Elementwise(function, np.uint32, uniform=4, loops=(_loop,))


@inlined
def _sum(table, slopes, squares, row, offset):
    # Numba tests signed indices for negative values.
    interval, square = np.uint64(row), np.int64(squares[np.uint64(offset)])
    return table[interval] + np.int64(slopes[0, interval]) * offset + np.int64(slopes[1, interval]) * square


@inlined
def _at(table, slopes, squares, fraction):
    """Return the interpolated sum for a 23-bit fraction. Its top 6 bits select the interval."""
    return _sum(table, slopes, squares, fraction >> 17, fraction & 0x1FFFF)


@inlined
def _float(magnitude, sign):
    """Return the f32 pattern of magnitude * 2**-40, truncated, with the sign bit `sign`."""
    if magnitude == np.int64(0):
        return sign
    length = np.int64(64)
    rest = np.uint64(magnitude)
    for step in (32, 16, 8, 4, 2, 1):
        if rest >> np.uint64(64 - step) == np.uint64(0):
            rest <<= np.uint64(step)
            length -= step
    return sign | np.uint32((np.int64(rest >> np.uint64(40)) & _FRACTION) | ((length + 86) << np.int64(23)))


@inlined
def _reciprocal_sum(table, slopes, squares, fraction):
    """Return the interpolated sum for a 23-bit fraction. Its top 7 bits select the interval."""
    return _sum(table, slopes, squares, fraction >> np.int64(16), (fraction & np.int64(0xFFFF)) << np.int64(1))


@inlined
def _root_sum(table, slopes, squares, fraction, odd):
    """Return the interpolated sum of a root. `odd` is 1 for an odd exponent, else 0."""
    return _sum(table, slopes, squares, (fraction >> np.int64(17)) + 64 * odd, fraction & np.int64(0x1FFFF))


@inlined
def _reciprocal(bits, table, slopes, squares, mantissa, bias):
    infinity = np.int64((2 * bias + 1) << mantissa)
    sign = bits & _MINUS
    magnitude = np.int64(bits & ~_MINUS)
    field = magnitude >> mantissa
    if field == 0:
        return sign | np.uint32(infinity)
    if magnitude >= infinity:
        return sign if magnitude == infinity else _NAN
    fraction = (magnitude << (23 - mantissa)) & _FRACTION
    code = _reciprocal_sum(table, slopes, squares, fraction) >> (_EXTRA_BITS + 23 - mantissa)
    # The sum has the exponent bias of f32.
    code += (2 * bias - 127 - field) << mantissa
    return sign | np.uint32(code) if code >= 1 << mantissa else sign


@inlined
def _reciprocal_root(bits, table, slopes, squares, mantissa, bias):
    infinity = np.int64((2 * bias + 1) << mantissa)
    magnitude = np.int64(bits & ~_MINUS)
    field = magnitude >> mantissa
    if field == 0:
        return (bits & _MINUS) | np.uint32(infinity)
    if bits == infinity:
        return _ZERO
    if magnitude > infinity or bits & _MINUS:
        return _NAN
    fraction, odd = (magnitude << (23 - mantissa)) & _FRACTION, (field + 1) & 1
    code = _root_sum(table, slopes, squares, fraction, odd) >> (_EXTRA_BITS + 23 - mantissa)
    code = code if fraction or odd else np.int64(127 << mantissa)
    return np.uint32(code + ((bias - 127 - ((field - bias) >> 1)) << mantissa))


rcp = _function(lambda bits, table, slopes, squares, _: _reciprocal(bits, table, slopes, squares, 23, 127))
rcp_upper = _function(lambda bits, table, slopes, squares, _: _reciprocal(bits, table, slopes, squares, 20, 1023))
rsqrt = _function(lambda bits, table, slopes, squares, _: _reciprocal_root(bits, table, slopes, squares, 23, 127))
rsqrt_upper = _function(
    lambda bits, table, slopes, squares, _: _reciprocal_root(bits, table, slopes, squares, 20, 1023)
)


@_function
def sqrt(bits, table, slopes, squares, _):
    magnitude = np.int64(bits & ~_MINUS)
    field = magnitude >> np.int64(23)
    if field == 0:
        return bits & _MINUS
    if bits == _INF:
        return _INF
    if field == 255 or bits & _MINUS:
        return _NAN
    code = _root_sum(table, slopes, squares, magnitude & _FRACTION, (field + 1) & 1) >> _EXTRA_BITS
    return np.uint32(code + (((field - 127) >> 1) << np.int64(23)))


@_function
def ex2(bits, table, slopes, squares, _):
    magnitude = np.int64(bits & ~_MINUS)
    shift = (magnitude >> np.int64(23)) - 127
    if magnitude > np.int64(_INF):
        return _NAN
    if shift >= 8:
        return _ZERO if bits & _MINUS else _INF
    if shift < -23:
        return _ONE
    # Fixed-point argument with 23 bits below the point. A negative one is complemented unless it is an integer.
    fixed = (magnitude & _FRACTION) | np.int64(0x800000)
    fixed = fixed << shift if shift >= 0 else fixed >> -shift
    if bits & _MINUS:
        fixed = ~fixed if fixed & _FRACTION else -fixed
    code = _at(table, slopes, squares, fixed & _FRACTION) >> _EXTRA_BITS
    code += ((fixed >> 23) + 127) << np.int64(23)
    if code < 0x800000:
        return _ZERO
    return np.uint32(code) if code < np.int64(_INF) else _INF


@_function
def lg2(bits, table, slopes, squares, _):
    magnitude = np.int64(bits & ~_MINUS)
    field = magnitude >> np.int64(23)
    if field == 0:
        return _MINUS | _INF
    if bits == _INF:
        return _INF
    if field == 255 or bits & _MINUS:
        return _NAN
    if bits == _ONE:
        return _ZERO
    fixed = (_at(table, slopes, squares, magnitude & _FRACTION) + (field - 127) * _UNIT) & _LAST
    if fixed < 0:
        return _float(~fixed & _LAST, _MINUS)
    return _float(fixed, _ZERO)


@_function
def sine(bits, table, slopes, squares, quarter):
    """Return the sine of an angle in radians, or its cosine if `quarter` is 1."""
    magnitude = np.int64(bits & ~_MINUS)
    field = magnitude >> np.int64(23)
    if field == 255:
        return _NAN
    # The angle in turns is truncated to a 24-bit significand, and then to 25 bits after the point.
    product = ((magnitude & _FRACTION) | np.int64(0x800000)) * _INVERSE_TURN
    length = np.int64(24) if product >> np.int64(47) else np.int64(23)
    fixed = product >> length
    shift = field - 151 + length
    if shift >= 25 or shift < -24:
        fixed = np.int64(0)
    else:
        fixed = fixed << shift if shift >= 0 else fixed >> -shift
    quadrant = (fixed >> np.int64(23)) + quarter
    fraction = fixed & _FRACTION
    if quadrant & 1:
        fraction = ~fraction & _FRACTION
    # The cosine ignores the sign of its argument.
    sign = _ZERO if quarter else bits & _MINUS
    sign = sign ^ _MINUS if quadrant & 2 else sign
    return _float(_at(table, slopes, squares, fraction), sign)


@_function
def tanh(bits, table, slopes, squares, rows):
    """Return the hyperbolic tangent.

    rows[e + 8] contains two numbers for the exponent e: the first row of `table`, and the number of fraction bits that
    select a row from there on.
    """
    magnitude = np.int64(bits & ~_MINUS)
    exponent = (magnitude >> np.int64(23)) - 127
    if magnitude > np.int64(_INF):
        return _NAN
    if exponent < -8:
        return bits
    if exponent > 2:
        return (bits & _MINUS) | _ONE
    fraction = magnitude & _FRACTION
    selecting = rows[exponent + 8, 1]
    row = rows[exponent + 8, 0] + (fraction >> (23 - selecting))
    offset = (fraction >> (6 - selecting)) & np.int64(0x1FFFF)
    # Table values of an exponent below 0 are relative to that exponent.
    scale = np.uint32((exponent if exponent < 0 else 0) << 23)
    return _float(_sum(table, slopes, squares, row, offset), bits & _MINUS) + scale
