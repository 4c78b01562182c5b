"""Compiled look-ups of the special function unit; `unit` says what they model.

Each takes and fills flat uint32 patterns.  ``table`` has a row of three coefficients for each interval and
``squares`` the truncated square of every offset into one.
This module imports Numba: only functions import it.
"""

# pyright: reportUntypedFunctionDecorator=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportMissingTypeArgument=false, reportUnknownLambdaType=false

from __future__ import annotations

import numpy as np
from numba import njit

_NAN = np.uint32(0x7FFFFFFF)
_INF = np.uint32(0x7F800000)
_MINUS = np.uint32(0x80000000)
_ONE = np.uint32(0x3F800000)
_ZERO = np.uint32(0)
_FRACTION = np.int64(0x7FFFFF)
_ROOM = np.int64(18)
"""Bits of a sum below the last one of an f32 pattern."""
_UNIT = np.int64(1) << np.int64(40)
"""One, in the fixed point of logarithms and sines."""
_INVERSE_TURN = np.int64(0xA2F983)
"""The significand of the f32 nearest to 1 / (2 pi), its last bit 2**-26."""
_LAST = np.int64(~15)
"""Logarithms end 36 bits below the point."""


@njit(cache=True, inline="always")
def _sum(table, squares, row, offset):
    return table[row, 0] + table[row, 1] * offset + table[row, 2] * np.int64(squares[offset])


@njit(cache=True, inline="always")
def _at(table, squares, fraction):
    """The sum for 23 bits of fraction: 6 choose the interval."""
    return _sum(table, squares, fraction >> np.int64(17), fraction & np.int64(0x1FFFF))


@njit(cache=True, inline="always")
def _float(magnitude, sign):
    """The f32 pattern of a number in fixed point, cut."""
    if magnitude == np.int64(0):
        return sign
    length = np.int64(64)
    rest = np.uint64(magnitude)
    for step in (32, 16, 8, 4, 2, 1):
        if rest >> np.uint64(64 - step) == np.uint64(0):
            rest <<= np.uint64(step)
            length -= step
    return sign | np.uint32((np.int64(rest >> np.uint64(40)) & _FRACTION) | ((length + 86) << np.int64(23)))


@njit(cache=True, inline="always")
def reciprocal_sum(table, squares, fraction):
    return _sum(table, squares, fraction >> np.int64(16), (fraction & np.int64(0xFFFF)) << np.int64(1))


@njit(cache=True, nogil=True)
def rcp(x, result, table, squares):
    for i in range(x.size):
        bits = x[i]
        sign = bits & _MINUS
        magnitude = np.int64(bits & ~_MINUS)
        field = magnitude >> np.int64(23)
        if field == 0:
            result[i] = sign | _INF
        elif field == 255:
            result[i] = sign if magnitude == np.int64(_INF) else _NAN
        else:
            code = reciprocal_sum(table, squares, magnitude & _FRACTION) >> _ROOM
            code -= (field - 127) << np.int64(23)
            result[i] = sign | np.uint32(code) if code >= 0x800000 else sign


@njit(cache=True, nogil=True)
def rsqrt(x, result, table, squares):
    """Rows from 64 on are of even exponents of 2 plus one."""
    for i in range(x.size):
        bits = x[i]
        magnitude = np.int64(bits & ~_MINUS)
        field = magnitude >> np.int64(23)
        if field == 0:
            result[i] = (bits & _MINUS) | _INF
        elif bits == _INF:
            result[i] = _ZERO
        elif field == 255 or bits & _MINUS:
            result[i] = _NAN
        else:
            fraction = magnitude & _FRACTION
            odd = (field + 1) & 1
            code = np.int64(_ONE)
            if fraction or odd:
                offset = fraction & np.int64(0x1FFFF)
                code = _sum(table, squares, (fraction >> np.int64(17)) + 64 * odd, offset) >> _ROOM
            result[i] = np.uint32(code - (((field - 127) >> 1) << np.int64(23)))


@njit(cache=True, nogil=True)
def sqrt(x, result, table, squares):
    """Rows as for `rsqrt`."""
    for i in range(x.size):
        bits = x[i]
        magnitude = np.int64(bits & ~_MINUS)
        field = magnitude >> np.int64(23)
        if field == 0:
            result[i] = bits & _MINUS
        elif bits == _INF:
            result[i] = _INF
        elif field == 255 or bits & _MINUS:
            result[i] = _NAN
        else:
            fraction = magnitude & _FRACTION
            row = (fraction >> np.int64(17)) + 64 * ((field + 1) & 1)
            code = _sum(table, squares, row, fraction & np.int64(0x1FFFF)) >> _ROOM
            result[i] = np.uint32(code + (((field - 127) >> 1) << np.int64(23)))


@njit(cache=True, nogil=True)
def ex2(x, result, table, squares):
    """The argument in fixed point of 23 bits; a negative one is complemented unless it is whole."""
    for i in range(x.size):
        bits = x[i]
        magnitude = np.int64(bits & ~_MINUS)
        shift = (magnitude >> np.int64(23)) - 127
        if magnitude > np.int64(_INF):
            result[i] = _NAN
        elif shift >= 8:
            result[i] = _ZERO if bits & _MINUS else _INF
        elif shift < -23:
            result[i] = _ONE
        else:
            fixed = (magnitude & _FRACTION) | np.int64(0x800000)
            fixed = fixed << shift if shift >= 0 else fixed >> -shift
            if bits & _MINUS:
                fixed = ~fixed if fixed & _FRACTION else -fixed
            code = _at(table, squares, fixed & _FRACTION) >> _ROOM
            code += ((fixed >> 23) + 127) << np.int64(23)
            if code < 0x800000:
                result[i] = _ZERO
            else:
                result[i] = np.uint32(code) if code < np.int64(_INF) else _INF


@njit(cache=True, nogil=True)
def lg2(x, result, table, squares):
    for i in range(x.size):
        bits = x[i]
        magnitude = np.int64(bits & ~_MINUS)
        field = magnitude >> np.int64(23)
        if field == 0:
            result[i] = _MINUS | _INF
        elif bits == _INF:
            result[i] = _INF
        elif field == 255 or bits & _MINUS:
            result[i] = _NAN
        elif bits == _ONE:
            result[i] = _ZERO
        else:
            fixed = (_at(table, squares, magnitude & _FRACTION) + (field - 127) * _UNIT) & _LAST
            if fixed < 0:
                result[i] = _float(~fixed & _LAST, _MINUS)
            else:
                result[i] = _float(fixed, _ZERO)


@njit(cache=True, nogil=True)
def sine(x, result, table, squares, quarter):
    """Of radians; ``quarter`` is 1 for the cosine.

    The argument becomes turns, cut to the 24 bits of f32 and then to 25 bits after the point.
    """
    for i in range(x.size):
        bits = x[i]
        magnitude = np.int64(bits & ~_MINUS)
        field = magnitude >> np.int64(23)
        if field == 255:
            result[i] = _NAN
            continue
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
        # The cosine takes the magnitude of its argument.
        sign = _ZERO if quarter else bits & _MINUS
        sign = sign ^ _MINUS if quadrant & 2 else sign
        result[i] = _float(_at(table, squares, fraction), sign)


@njit(cache=True, nogil=True)
def tanh(x, result, table, squares, rows):
    """``rows`` has, for each exponent from -8 to 2, its first row and how many bits choose one."""
    for i in range(x.size):
        bits = x[i]
        magnitude = np.int64(bits & ~_MINUS)
        exponent = (magnitude >> np.int64(23)) - 127
        if magnitude > np.int64(_INF):
            result[i] = _NAN
        elif exponent < -8:
            result[i] = bits
        elif exponent > 2:
            result[i] = (bits & _MINUS) | _ONE
        else:
            fraction = magnitude & _FRACTION
            chosen = rows[exponent + 8, 1]
            row = rows[exponent + 8, 0] + (fraction >> (23 - chosen))
            offset = (fraction >> (6 - chosen)) & np.int64(0x1FFFF)
            # Small results stand in units of their own exponent.
            scale = np.uint32((exponent if exponent < 0 else 0) << 23)
            result[i] = _float(_sum(table, squares, row, offset), bits & _MINUS) + scale


@njit(cache=True, nogil=True)
def rcp_upper(x, result, table, squares):
    """The upper word of an f64 reciprocal from the upper word of its operand."""
    for i in range(x.size):
        bits = x[i]
        sign = bits & _MINUS
        magnitude = np.int64(bits & ~_MINUS)
        field = magnitude >> np.int64(20)
        if field == 0:
            result[i] = sign | np.uint32(0x7FF00000)
        elif field == 2047:
            result[i] = sign if magnitude == 0x7FF00000 else _NAN
        else:
            fraction = (magnitude & np.int64(0xFFFFF)) << np.int64(3)
            code = reciprocal_sum(table, squares, fraction) >> (_ROOM + np.int64(3))
            code += np.int64(896 << 20) - ((field - 1023) << np.int64(20))
            result[i] = sign | np.uint32(code) if code >= 0x100000 else sign


@njit(cache=True, nogil=True)
def rsqrt_upper(x, result, table, squares):
    """As `rcp_upper`, of the reciprocal square root."""
    for i in range(x.size):
        bits = x[i]
        magnitude = np.int64(bits & ~_MINUS)
        field = magnitude >> np.int64(20)
        if field == 0:
            result[i] = (bits & _MINUS) | np.uint32(0x7FF00000)
        elif bits == np.uint32(0x7FF00000):
            result[i] = _ZERO
        elif field == 2047 or bits & _MINUS:
            result[i] = _NAN
        else:
            fraction = (magnitude & np.int64(0xFFFFF)) << np.int64(3)
            odd = (field + 1) & 1
            code = np.int64(0x3FF00000)
            if fraction or odd:
                row = (fraction >> np.int64(17)) + 64 * odd
                code = _sum(table, squares, row, fraction & np.int64(0x1FFFF)) >> (_ROOM + np.int64(3))
                code += np.int64(896 << 20)
            result[i] = np.uint32(code - (((field - 1023) >> 1) << np.int64(20)))
