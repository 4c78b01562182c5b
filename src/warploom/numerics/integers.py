"""Integer arithmetic of PTX over arrays. Their dtypes give the widths and signs of the numbers.

Shapes: at least one dimension, broadcast together. Results wrap unless a docstring says otherwise.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from warploom.numerics.formats import Array

_WIDER: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(f"{kind}{size}"): np.dtype(f"{kind}{2 * size}") for kind in "iu" for size in (1, 2, 4)
}


def _bits(a: Array) -> int:
    return a.dtype.itemsize * 8


def _is_signed(a: Array) -> bool:
    return a.dtype.kind == "i"


def as_unsigned(a: Array) -> Array:
    """Return the same bits as an unsigned array."""
    return a if a.dtype.kind == "u" else a.view(f"u{a.dtype.itemsize}")


def as_signed(a: Array) -> Array:
    """Return the same bits as a signed array."""
    return a if a.dtype.kind == "i" else a.view(f"i{a.dtype.itemsize}")


def mul_wide(a: Array, b: Array) -> Array:
    """Return the whole product of a and b, in the type twice as wide.  Source: mul (wide)."""
    return np.multiply(a, b, dtype=_WIDER[a.dtype])


def _mul_hi_u64(a: Array, b: Array) -> Array:
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + ((a0 * b0) >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half)


def mul_hi(a: Array, b: Array) -> Array:
    """Return the upper half of the product of a and b.  Source: mul (hi)."""
    if a.dtype.itemsize < 8:
        return (mul_wide(a, b) >> _bits(a)).astype(a.dtype)
    high = _mul_hi_u64(as_unsigned(a), as_unsigned(b))
    if _is_signed(a):
        # An unsigned view of a negative operand is 2**64 too large.
        high = high.view(np.int64) - np.where(a < 0, b, 0) - np.where(b < 0, a, 0)
    return high


def mul_lo(a: Array, b: Array) -> Array:
    """Return the lower half of the product of a and b.  Source: mul (lo)."""
    return np.multiply(a, b)


def _low24(a: Array) -> Array:
    shift = 8
    return ((a << shift) >> shift).astype(np.int64 if _is_signed(a) else np.uint64)


def mul24(a: Array, b: Array, half: Literal["lo", "hi"] = "lo") -> Array:
    """Return the low or high 32 bits of the product of the low 24 bits of a and b.  Source: mul24."""
    product = _low24(a) * _low24(b)
    return (product >> (16 if half == "hi" else 0)).astype(a.dtype)


def mad24(a: Array, b: Array, c: Array, half: Literal["lo", "hi"] = "lo", sat: bool = False) -> Array:
    """Return `mul24(a, b, half)` + c, clamped to s32 if `sat` is set.  Source: mad24."""
    product = mul24(a, b, half)
    return add_sat(product, c) if sat else np.add(product, c)


def _clamp_s32(wide: Array) -> Array:
    return np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)


def add_sat(a: Array, b: Array) -> Array:
    """Return a + b of s32, clamped to the range of s32.  Source: add (sat)."""
    return _clamp_s32(np.add(a, b, dtype=np.int64))


def sub_sat(a: Array, b: Array) -> Array:
    """Return a - b of s32, clamped to the range of s32.  Source: sub (sat)."""
    return _clamp_s32(np.subtract(a, b, dtype=np.int64))


def add_carry(a: Array, b: Array, carry: Array | None = None) -> tuple[Array, Array]:
    """Return a + b + an optional carry-in, and the carry-out (boolean).  Source: PTX ISA 9.7.2."""
    x, y = as_unsigned(a), as_unsigned(b)
    total = np.add(x, y)
    out = total < x
    if carry is not None:
        with_carry = total + carry.astype(total.dtype)
        out = out | (with_carry < total)
        total = with_carry
    return total.view(a.dtype), out


def sub_borrow(a: Array, b: Array, borrow: Array | None = None) -> tuple[Array, Array]:
    """Return a - b - an optional borrow-in, and the borrow-out (boolean).  Source: PTX ISA 9.7.2."""
    x, y = as_unsigned(a), as_unsigned(b)
    total = np.subtract(x, y)
    out = x < y
    if borrow is not None:
        with_borrow = total - borrow.astype(total.dtype)
        out = out | (with_borrow > total)
        total = with_borrow
    return total.view(a.dtype), out


def mad_carry(
    a: Array, b: Array, c: Array, half: Literal["lo", "hi"], carry: Array | None = None
) -> tuple[Array, Array]:
    """Return (`half` of a * b) + c + an optional carry-in, and the carry-out.  Source: PTX ISA 9.7.2."""
    return add_carry(mul_lo(a, b) if half == "lo" else mul_hi(a, b), c, carry)


def _divmod(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the quotient of a / b, rounded toward zero, and the remainder."""
    zero = b == 0
    quotient: Array
    divisor: Array = np.where(zero, b.dtype.type(1), b)
    if _is_signed(a):
        # A division by -1 is a negation, for which the most negative number wraps to itself.
        minus = b == -1
        divisor = np.where(minus, b.dtype.type(1), divisor)
        quotient = np.floor_divide(a, divisor)
        remainder = a - quotient * divisor
        inexact = (remainder != 0) & ((a < 0) != (divisor < 0))
        quotient = quotient + inexact
        remainder = np.where(inexact, remainder - divisor, remainder)
        quotient = np.where(minus, np.negative(quotient), quotient)
    else:
        quotient = np.floor_divide(a, divisor)
        remainder = a - quotient * divisor
    # The GPU's division sequence ends in `NOT b`: all bits of both results are 1 if b is 0.
    ones = np.invert(b.dtype.type(0))
    return (
        np.where(zero, ones, quotient).astype(a.dtype, copy=False),
        np.where(zero, ones, remainder).astype(a.dtype, copy=False),
    )


def div(a: Array, b: Array) -> Array:
    """Return a / b, rounded toward zero.  Source: div (integer)."""
    return _divmod(a, b)[0]


def rem(a: Array, b: Array) -> Array:
    """Return the remainder of a / b, with the sign of a.  Source: rem."""
    return _divmod(a, b)[1]


def absolute(a: Array) -> Array:
    """Return the magnitude of a. The most negative number is returned unchanged.  Source: abs."""
    return np.abs(a)


def negate(a: Array) -> Array:
    """Return the negation of a.  Source: neg."""
    return np.negative(a)


def _relu(a: Array) -> Array:
    return np.maximum(a, a.dtype.type(0))


def minimum(a: Array, b: Array, relu: bool = False) -> Array:
    """Return the smaller operand. If `relu` is set, a negative result becomes 0.  Source: min."""
    result = np.minimum(a, b)
    return _relu(result) if relu else result


def maximum(a: Array, b: Array, relu: bool = False) -> Array:
    """Return the larger operand. If `relu` is set, a negative result becomes 0.  Source: max."""
    result = np.maximum(a, b)
    return _relu(result) if relu else result


def halves(
    operation: Literal["add", "sub", "min", "max"], a: Array, b: Array, signed: bool, relu: bool = False
) -> Array:
    """Apply an operation to both 16-bit halves of u16x2 or s16x2 words.  Source: add, min, max."""
    result = _OPERATIONS[operation](_parts(a, 16, signed), _parts(b, 16, signed))
    return _words(_relu(result) if relu else result)


_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "min": np.minimum,
    "max": np.maximum,
}


def _parts(a: Array, width: int, signed: bool) -> Array:
    return a[..., np.newaxis].view(f"{'i' if signed else 'u'}{width // 8}")


def _words(parts: Array) -> Array:
    return parts.view(np.uint32)[..., 0]


def quarters(operation: Literal["add", "sub", "min", "max"], a: Array, b: Array, signed: bool) -> Array:
    """Apply an operation to the four bytes of words. Results wrap.  Source: add, sub, min, max."""
    return _words(_OPERATIONS[operation](_parts(a, 8, signed), _parts(b, 8, signed)))


def sad(a: Array, b: Array, c: Array) -> Array:
    """Return c + |a - b|.  Source: sad."""
    distance = np.where(a < b, np.subtract(b, a), np.subtract(a, b))
    return np.add(c, distance)


def _dot(a: Array, b: Array, c: Array, signed: bool) -> Array:
    """Return c plus the sum of the products of a and b along the last axis, in 32 bits."""
    total = c.astype(np.int64)
    for i in range(a.shape[-1]):
        total = total + np.multiply(a[..., i], b[..., i], dtype=np.int64)
    return total.astype(np.int32 if signed else np.uint32).astype(c.dtype, copy=False)


def dp4a(a: Array, b: Array, c: Array, a_signed: bool, b_signed: bool) -> Array:
    """Return c plus the dot product of the four bytes of a and of b.  Source: dp4a."""
    return _dot(_parts(a, 8, a_signed), _parts(b, 8, b_signed), c, a_signed or b_signed)


def dp2a(a: Array, b: Array, c: Array, half: Literal["lo", "hi"], a_signed: bool, b_signed: bool) -> Array:
    """Return c plus the dot product of the two halves of a and two bytes of b.  Source: dp2a.

    `half` selects the lower or the upper two bytes of b.
    """
    first = 2 if half == "hi" else 0
    chosen = _parts(b, 8, b_signed)[..., first : first + 2]
    return _dot(_parts(a, 16, a_signed), chosen, c, a_signed or b_signed)
