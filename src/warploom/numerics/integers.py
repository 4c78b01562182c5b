"""Integer PTX arithmetic over arrays.  The NumPy type of the operands says width and sign.

Shapes: any of one or more dimensions, broadcast together.  Results wrap unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from warploom.numerics.formats import Array

_WIDER: dict[np.dtype[Any], type[np.generic]] = {
    np.dtype(np.int8): np.int16,
    np.dtype(np.uint8): np.uint16,
    np.dtype(np.int16): np.int32,
    np.dtype(np.uint16): np.uint32,
    np.dtype(np.int32): np.int64,
    np.dtype(np.uint32): np.uint64,
}


def _bits(a: Array) -> int:
    return a.dtype.itemsize * 8


def _is_signed(a: Array) -> bool:
    return a.dtype.kind == "i"


def as_unsigned(a: Array) -> Array:
    """The same bits as an unsigned array."""
    return a if a.dtype.kind == "u" else a.view(f"u{a.dtype.itemsize}")


def as_signed(a: Array) -> Array:
    """The same bits as a signed array."""
    return a if a.dtype.kind == "i" else a.view(f"i{a.dtype.itemsize}")


def mul_wide(a: Array, b: Array) -> Array:
    """The whole product, in the type twice as wide.  Source: mul (wide)."""
    wide = _WIDER[a.dtype]
    return np.multiply(a, b, dtype=wide)


def _mul_hi_u64(a: Array, b: Array) -> Array:
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    middle = a1 * b0 + ((a0 * b0) >> half)
    other = a0 * b1 + (middle & low)
    return a1 * b1 + (middle >> half) + (other >> half)


def mul_hi(a: Array, b: Array) -> Array:
    """The upper half of the product.  Source: mul (hi)."""
    if a.dtype.itemsize < 8:
        return (mul_wide(a, b) >> _bits(a)).astype(a.dtype)
    high = _mul_hi_u64(as_unsigned(a), as_unsigned(b))
    if _is_signed(a):
        # A negative operand read as unsigned is 2**64 too large.
        high = high.view(np.int64) - np.where(a < 0, b, 0) - np.where(b < 0, a, 0)
    return high


def mul_lo(a: Array, b: Array) -> Array:
    """The lower half of the product.  Source: mul (lo)."""
    return np.multiply(a, b)


def mad_lo(a: Array, b: Array, c: Array) -> Array:
    """Source: mad (lo)."""
    return np.add(np.multiply(a, b), c)


def mad_hi(a: Array, b: Array, c: Array, sat: bool = False) -> Array:
    """Source: mad (hi); ``sat`` is for s32."""
    return add_sat(mul_hi(a, b), c) if sat else np.add(mul_hi(a, b), c)


def mad_wide(a: Array, b: Array, c: Array) -> Array:
    """``c`` has the wide type.  Source: mad (wide)."""
    return np.add(mul_wide(a, b), c)


def _low24(a: Array) -> Array:
    """The low 24 bits, extended to 64 by the sign of the type."""
    shift = 8
    return ((a << shift) >> shift).astype(np.int64 if _is_signed(a) else np.uint64)


def mul24(a: Array, b: Array, half: Literal["lo", "hi"] = "lo") -> Array:
    """The low or high 32 bits of the 48-bit product of the low 24 bits.  Source: mul24."""
    product = _low24(a) * _low24(b)
    return (product >> (16 if half == "hi" else 0)).astype(a.dtype)


def mad24(a: Array, b: Array, c: Array, half: Literal["lo", "hi"] = "lo", sat: bool = False) -> Array:
    """Source: mad24; ``sat`` is for hi of s32."""
    product = mul24(a, b, half)
    return add_sat(product, c) if sat else np.add(product, c)


def _clamp_s32(wide: Array) -> Array:
    return np.clip(wide, -(2**31), 2**31 - 1).astype(np.int32)


def add_sat(a: Array, b: Array) -> Array:
    """s32 sum clamped to the range of s32.  Source: add (sat)."""
    return _clamp_s32(np.add(a, b, dtype=np.int64))


def sub_sat(a: Array, b: Array) -> Array:
    """s32 difference clamped to the range of s32.  Source: sub (sat)."""
    return _clamp_s32(np.subtract(a, b, dtype=np.int64))


def add_carry(a: Array, b: Array, carry: Array | None = None) -> tuple[Array, Array]:
    """Sum and carry-out (boolean), with a carry-in where given.  Source: add with carry, addc."""
    x, y = as_unsigned(a), as_unsigned(b)
    total = np.add(x, y)
    out = total < x
    if carry is not None:
        with_carry = total + carry.astype(total.dtype)
        out = out | (with_carry < total)
        total = with_carry
    return total.view(a.dtype), out


def sub_borrow(a: Array, b: Array, borrow: Array | None = None) -> tuple[Array, Array]:
    """Difference and borrow-out (boolean), with a borrow-in where given.  Source: sub with borrow, subc."""
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
    """A half of the product plus ``c``, with carry-out.  Source: mad with carry, madc."""
    return add_carry(mul_lo(a, b) if half == "lo" else mul_hi(a, b), c, carry)


def _divmod(a: Array, b: Array) -> tuple[Array, Array]:
    """Quotient toward zero, remainder with the sign of the dividend; all ones in both where the divisor is 0.

    The compiled division ends in ``NOT b`` for a zero divisor, signed or not, quotient and remainder alike.
    """
    zero = b == 0
    quotient: Array
    divisor: Array = np.where(zero, b.dtype.type(1), b)
    if _is_signed(a):
        # -1 is handled apart: the most negative number has no quotient by it, and wraps to itself.
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
    ones = np.invert(b.dtype.type(0))
    return (
        np.where(zero, ones, quotient).astype(a.dtype, copy=False),
        np.where(zero, ones, remainder).astype(a.dtype, copy=False),
    )


def div(a: Array, b: Array) -> Array:
    """Source: div (integer)."""
    return _divmod(a, b)[0]


def rem(a: Array, b: Array) -> Array:
    """Source: rem."""
    return _divmod(a, b)[1]


def absolute(a: Array) -> Array:
    """The most negative number stays as it is.  Source: abs."""
    return np.abs(a)


def negate(a: Array) -> Array:
    """Source: neg."""
    return np.negative(a)


def _relu(a: Array) -> Array:
    return np.maximum(a, a.dtype.type(0))


def minimum(a: Array, b: Array, relu: bool = False) -> Array:
    """Source: min; ``relu`` is for s32."""
    result = np.minimum(a, b)
    return _relu(result) if relu else result


def maximum(a: Array, b: Array, relu: bool = False) -> Array:
    """Source: max; ``relu`` is for s32."""
    result = np.maximum(a, b)
    return _relu(result) if relu else result


def _per_half(a: Array, dtype: type[np.generic]) -> tuple[Array, Array]:
    x = as_unsigned(a)
    low = x.astype(np.uint16).view(dtype)
    high = (x >> np.uint32(16)).astype(np.uint16).view(dtype)
    return low, high


def _joined(low: Array, high: Array) -> Array:
    x = low.view(np.uint16).astype(np.uint32)
    y = high.view(np.uint16).astype(np.uint32)
    return x | (y << np.uint32(16))


def halves(
    operation: Literal["add", "sub", "min", "max"],
    a: Array,
    b: Array,
    signed: bool,
    relu: bool = False,
) -> Array:
    """Two 16-bit lanes of one 32-bit pattern.  Source: add, min, max with types u16x2 and s16x2."""
    dtype = np.int16 if signed else np.uint16
    function = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum}[operation]
    parts: list[Array] = []
    for x, y in zip(_per_half(a, dtype), _per_half(b, dtype), strict=True):
        result: Array = function(x, y)
        parts.append(_relu(result) if relu else result)
    return _joined(parts[0], parts[1])


def _distance(a: Array, b: Array) -> Array:
    return np.abs(a - b)


_QUARTERS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "min": np.minimum,
    "max": np.maximum,
    "absdiff": _distance,
}


def quarters(op: str, a: Array, b: Array, signed: bool, sat: bool) -> Array:
    """`op` on the four bytes of 32-bit words, exact and then clamped to bytes (`sat`) or cut to them.

    The bytes of a and b are signed when their dtypes are, those of the result when `signed`.
    Source: PTX ISA 9.7.18.2.
    """
    wide = _QUARTERS[op](_bytes(a), _bytes(b))
    if sat:
        wide = np.clip(wide, -128 if signed else 0, 127 if signed else 255)
    return wide.astype(np.uint8).view(np.uint32)[..., 0]


def sum_quarters(a: Array, signed: bool) -> Array:
    """The sum of the four bytes of each word, as uint32."""
    return _bytes(a.view(np.int32) if signed else a).sum(axis=-1).astype(np.uint32)


def _bytes(a: Array) -> Array:
    byte = np.int8 if _is_signed(a) else np.uint8
    return np.ascontiguousarray(a).view(byte).reshape(*a.shape, 4).astype(np.int32)


def sad(a: Array, b: Array, c: Array) -> Array:
    """``c + |a - b|``.  Source: sad."""
    distance = np.where(a < b, np.subtract(b, a), np.subtract(a, b))
    return np.add(c, distance)


_DOT_PARTS: dict[tuple[int, bool], type[np.generic]] = {
    (8, True): np.int8,
    (8, False): np.uint8,
    (16, True): np.int16,
    (16, False): np.uint16,
}


def _part(a: Array, index: int, width: int, signed: bool) -> Array:
    shifted = as_unsigned(a) >> np.uint32(index * width)
    return shifted.astype(f"u{width // 8}").view(_DOT_PARTS[width, signed]).astype(np.int64)


def _dot_result(total: Array, c: Array, signed: bool) -> Array:
    return total.astype(np.int32 if signed else np.uint32).astype(c.dtype, copy=False)


def dp4a(a: Array, b: Array, c: Array, a_signed: bool, b_signed: bool) -> Array:
    """Four products of bytes, added to ``c``.  Source: dp4a."""
    total = c.astype(np.int64)
    for i in range(4):
        total = total + _part(a, i, 8, a_signed) * _part(b, i, 8, b_signed)
    return _dot_result(total, c, a_signed or b_signed)


def dp2a(a: Array, b: Array, c: Array, half: Literal["lo", "hi"], a_signed: bool, b_signed: bool) -> Array:
    """Two products of 16-bit parts of ``a`` and bytes of a half of ``b``, added to ``c``.  Source: dp2a."""
    total = c.astype(np.int64)
    for i in range(2):
        byte = i + (2 if half == "hi" else 0)
        total = total + _part(a, i, 16, a_signed) * _part(b, byte, 8, b_signed)
    return _dot_result(total, c, a_signed or b_signed)
