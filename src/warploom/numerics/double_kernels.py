"""Compiled f64 arithmetic in the directed rounding modes, on integers alone.

``mode`` is 1 for rz, 2 for rm and 3 for rp.  This module imports Numba: only functions import it.
"""

# pyright: reportUntypedFunctionDecorator=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportMissingTypeArgument=false, reportCallIssue=false

from __future__ import annotations

import numpy as np
from numba import njit

from warploom.numerics._compile import elementwise
from warploom.numerics.float_kernels import fused, nan64

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_HIDDEN = np.uint64(1 << 52)
_FRACTION = np.uint64((1 << 52) - 1)
_LOW32 = np.uint64(0xFFFFFFFF)
_INF = np.uint64(0x7FF << 52)
_TOP = np.uint64(1 << 63)


@njit(cache=True)
def _unpack(x):
    """Exponent of the leading bit and the significand with that bit at 52, of a finite nonzero number."""
    bits = np.float64(x).view(np.uint64)
    field = np.int64((bits >> np.uint64(52)) & np.uint64(0x7FF))
    significand = bits & _FRACTION
    if field:
        return field - 1023, significand | _HIDDEN
    exponent = np.int64(-1022)
    while not significand & _HIDDEN:
        significand <<= _ONE
        exponent -= 1
    return exponent, significand


@njit(cache=True)
def _shift_jam(x, count):
    """Shift right; ones shifted out leave the last bit set."""
    if count == 0:
        return x
    if count >= 64:
        return _ONE if x else _ZERO
    n = np.uint64(count)
    lost = x & ((_ONE << n) - _ONE)
    return (x >> n) | (_ONE if lost else _ZERO)


@njit(cache=True)
def _round_pack(negative, exponent, significand, mode):
    """Round a number whose leading bit is bit 63 of ``significand`` and has weight ``2**exponent``."""
    if exponent < -1022:
        significand = _shift_jam(significand, -1022 - exponent)
        exponent = np.int64(-1022)
    kept = significand >> np.uint64(11)
    rest = significand & np.uint64(0x7FF)
    outward = (mode == 2 and negative) or (mode == 3 and not negative)
    up = outward and rest != _ZERO
    code = kept + (np.uint64(exponent + 1022) << np.uint64(52)) + (_ONE if up else _ZERO)
    if code >= _INF:
        code = _INF if outward else _INF - _ONE
    return np.uint64((_TOP if negative else _ZERO) | code).view(np.float64)


@njit(cache=True)
def _zero(negative):
    return -0.0 if negative else 0.0


@njit(cache=True)
def _multiply(a, b):
    """The 128-bit product of two 53-bit significands."""
    a0, a1, b0, b1 = a & _LOW32, a >> np.uint64(32), b & _LOW32, b >> np.uint64(32)
    low = a0 * b0
    middle = a1 * b0 + (low >> np.uint64(32))
    other = a0 * b1 + (middle & _LOW32)
    high = a1 * b1 + (middle >> np.uint64(32)) + (other >> np.uint64(32))
    return high, (other << np.uint64(32)) | (low & _LOW32)


@njit(cache=True)
def _fma(a, b, c, mode):
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        # A finite product must not overflow before it meets the infinity.
        r = fused(a, b, c)
        return r if r == r else nan64(b, c, a)
    negative = np.signbit(a) != np.signbit(b)
    if a == 0.0 or b == 0.0:
        if c != 0.0 or np.signbit(c) == negative:
            return c
        return _zero(mode == 2)
    ea, ma = _unpack(a)
    eb, mb = _unpack(b)
    high, low = _multiply(ma << np.uint64(10), mb << np.uint64(10))
    exponent = ea + eb + 1
    # The leading bit is brought to 125: 20 zero bits below the product keep every sum exact enough.
    if not high >> np.uint64(61):
        high = (high << _ONE) | (low >> np.uint64(63))
        low <<= _ONE
        exponent -= 1
    if c != 0.0:
        ec, mc = _unpack(c)
        c_high, c_low, c_negative = mc << np.uint64(9), _ZERO, np.signbit(c)
        if ec > exponent or (ec == exponent and c_high > high):
            high, low, c_high, c_low = c_high, c_low, high, low
            exponent, ec = ec, exponent
            negative, c_negative = c_negative, negative
        distance = exponent - ec
        if distance >= 64:
            c_low = _shift_jam(c_high | (_ONE if c_low else _ZERO), distance - 64)
            c_high = _ZERO
        elif distance:
            n = np.uint64(distance)
            c_low = _shift_jam(c_low, distance) | (c_high << (np.uint64(64) - n))
            c_high >>= n
        if negative == c_negative:
            low += c_low
            high += c_high + (_ONE if low < c_low else _ZERO)
        else:
            borrow = _ONE if low < c_low else _ZERO
            low -= c_low
            high = high - c_high - borrow
            if high >> np.uint64(63):
                # Equal leading words: the subtrahend was the larger.
                low = ~low + _ONE
                high = ~high + (_ONE if low == _ZERO else _ZERO)
                negative = not negative
            if high == _ZERO and low == _ZERO:
                return _zero(mode == 2)
    exponent += 2
    while not high >> np.uint64(63):
        high = (high << _ONE) | (low >> np.uint64(63))
        low <<= _ONE
        exponent -= 1
    return _round_pack(negative, exponent, high | (_ONE if low else _ZERO), mode)


@elementwise(np.float64, uniform=1)
def fma(a, b, c, mode):
    return _fma(a, b, c, mode)


@elementwise(np.float64, uniform=1)
def add(a, b, mode):
    if a != a or b != b:
        return nan64(b, a, a)
    return _fma(a, 1.0, b, mode)


@elementwise(np.float64, uniform=1)
def mul(a, b, mode):
    if a != a or b != b:
        return nan64(b, a, a)
    # A zero of the product's own sign leaves the product as it is.
    return _fma(a, b, _zero(np.signbit(a) != np.signbit(b)), mode)


@elementwise(np.float64, uniform=1)
def div(a, b, mode):
    if not (np.isfinite(a) and np.isfinite(b)) or a == 0.0 or b == 0.0:
        r = a / b
        return r if r == r else nan64(a, b, b)
    ea, rest = _unpack(a)
    eb, divisor = _unpack(b)
    exponent = ea - eb
    if rest < divisor:
        rest <<= _ONE
        exponent -= 1
    quotient = _ZERO
    for _ in range(64):
        quotient <<= _ONE
        if rest >= divisor:
            rest -= divisor
            quotient |= _ONE
        rest <<= _ONE
    return _round_pack(np.signbit(a) != np.signbit(b), exponent, quotient | (_ONE if rest else _ZERO), mode)


@elementwise(np.float64, uniform=1)
def sqrt(a, mode):
    if not (a > 0.0 and np.isfinite(a)):
        r = np.sqrt(a)
        return r if r == r else nan64(a, a, a)
    exponent, significand = _unpack(a)
    if exponent & 1:
        significand <<= _ONE
        exponent -= 1
    # Two bits of the radicand a step, from the top: 54 bits, then zeros, for a root of 60 bits.
    root, rest = _ZERO, _ZERO
    for step in range(60):
        position = 52 - 2 * step
        pair = (significand >> np.uint64(position)) & np.uint64(3) if position >= 0 else _ZERO
        rest = (rest << np.uint64(2)) | pair
        trial = (root << np.uint64(2)) | _ONE
        root <<= _ONE
        if rest >= trial:
            rest -= trial
            root |= _ONE
    return _round_pack(False, exponent >> 1, (root << np.uint64(4)) | (_ONE if rest else _ZERO), mode)
