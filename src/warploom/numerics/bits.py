"""Bit counts, bit fields, permutations, logic and shifts over arrays.

Shapes: operands have at least one dimension and are broadcast together.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from warploom.numerics.formats import Array
from warploom.numerics.integers import as_signed, as_unsigned
from warploom.numerics.lanes import lookup
from warploom.numerics.lazy_module import LazyModule

bit_kernels = LazyModule("warploom.numerics.bit_kernels")
permute = LazyModule("warploom.numerics.permute")
Mode = Literal["wrap", "clamp"]


def _bits(a: Array) -> int:
    return a.dtype.itemsize * 8


def popc(a: Array) -> Array:
    """Return the number of one bits in each element, as u32.  Source: popc."""
    return np.bitwise_count(as_unsigned(a)).astype(np.uint32)


def clz(a: Array) -> Array:
    """Return the number of leading zero bits of each element, as u32.  Source: clz."""
    return bit_kernels.leading_zeros(as_unsigned(a))


def bfind(a: Array, shiftamt: bool = False) -> Array:
    """Return the position of the highest bit that differs from the sign, as u32.

    The sign of an unsigned number is 0. If all bits equal the sign, the result is 0xFFFFFFFF. If `shiftamt` is set, the
    result is the left shift that moves the found bit to the top. Source: bfind.
    """
    x = as_unsigned(np.where(a < 0, ~a, a)) if a.dtype.kind == "i" else a
    shift = clz(x)
    position = np.uint32(_bits(a) - 1) - shift  # 0xFFFFFFFF if there is no such bit
    return np.where(position == ~np.uint32(0), position, shift) if shiftamt else position


def brev(a: Array) -> Array:
    """Return the bits of each element in reverse order.  Source: brev."""
    return (bit_kernels.reversed32 if _bits(a) == 32 else bit_kernels.reversed64)(as_unsigned(a)).view(a.dtype)


def _ones_below(count: Array, dtype: np.dtype[Any]) -> Array:
    width = dtype.itemsize * 8
    kept = np.minimum(count, width - 1).astype(dtype)
    masks: Array = (dtype.type(1) << kept) - dtype.type(1)
    return np.where(count >= width, ~dtype.type(0), masks)


def _field(count: Array, width: int) -> Array:
    """Return `count`, a position or a length, as the GPU reads it for `width`-bit numbers."""
    return count.astype(np.int64) & 0xFF if width == 32 else np.minimum(as_unsigned(count), 64).astype(np.int64)


def bfe(a: Array, position: Array, length: Array) -> Array:
    """Return `length` bits of a from bit `position` up, sign-extended if a is signed.  Source: bfe."""
    width = _bits(a)
    x = as_unsigned(a)
    dtype = x.dtype
    start, count = _field(position, width), _field(length, width)
    field = np.where(start < width, x >> np.minimum(start, width - 1).astype(dtype), dtype.type(0))
    mask = _ones_below(count, dtype)
    field = field & mask
    if a.dtype.kind == "i":
        top = np.minimum(start + count - 1, width - 1)
        sign = (x >> np.maximum(top, 0).astype(dtype)) & dtype.type(1)
        filled = np.minimum(count, np.maximum(width - start, 0))
        field = np.where((count > 0) & (sign != 0), field | ~_ones_below(filled, dtype), field)
    return field.view(a.dtype)


def bfi(a: Array, b: Array, position: Array, length: Array) -> Array:
    """Return b with the low `length` bits of a inserted at `position`.  Source: bfi."""
    x, y = as_unsigned(a), as_unsigned(b)
    width, dtype = _bits(a), x.dtype
    start, count = _field(position, width), _field(length, width)
    shift = np.minimum(start, width - 1).astype(dtype)
    mask = np.where(start < width, _ones_below(count, dtype) << shift, dtype.type(0))
    return ((y & ~mask) | ((x << shift) & mask)).view(b.dtype)


def bmsk(position: Array, width: Array, mode: Mode) -> Array:
    """Return a mask with `width` one bits from bit `position` up, as u32.  Source: bmsk."""
    a, b = as_unsigned(position).astype(np.int64), as_unsigned(width).astype(np.int64)
    limit = 32
    start, count = (a & 31, b & 31) if mode == "wrap" else (np.minimum(a, limit), np.minimum(b, limit))
    dtype = np.dtype(np.uint32)
    return _ones_below(start + count, dtype) & ~_ones_below(start, dtype)


def szext(a: Array, width: Array, mode: Mode) -> Array:
    """Return the low `width` bits of a, sign-extended if a is signed.  Source: szext."""
    x = as_unsigned(a)
    count = as_unsigned(width).astype(np.int64)
    count = count & 31 if mode == "wrap" else np.minimum(count, 32)
    mask = _ones_below(count, x.dtype)
    kept = x & mask
    if a.dtype.kind == "i":
        sign = (x >> np.maximum(count - 1, 0).astype(np.uint32)) & np.uint32(1)
        kept = np.where((count > 0) & (sign != 0), kept | ~mask, kept)
    return kept.view(a.dtype)


def fns(mask: Array, base: Array, offset: Array) -> Array:
    """Return the position of the n-th one bit of `mask`, searched from bit `base`, as u32.

    `offset` is n. A negative n searches downward. If n is 0, only bit `base` is tested. The result is 0xFFFFFFFF if no
    bit is found or if `base` exceeds 31. Source: fns.
    """
    return bit_kernels.nth_one(as_unsigned(mask), as_unsigned(base), as_signed(offset))


def _zero(b: Array, c: Array) -> Any:
    return b.dtype.type(0)


_TWO_INPUTS: tuple[Callable[[Array, Array], Any], ...] = (
    _zero,
    lambda b, c: ~(b | c),
    lambda b, c: ~b & c,
    lambda b, c: ~b,
    lambda b, c: b & ~c,
    lambda b, c: ~c,
    lambda b, c: b ^ c,
    lambda b, c: ~(b & c),
    lambda b, c: b & c,
    lambda b, c: ~(b ^ c),
    lambda b, c: c,
    lambda b, c: ~b | c,
    lambda b, c: b,
    lambda b, c: b | ~c,
    lambda b, c: b | c,
    lambda b, c: ~_zero(b, c),
)
"""Bitwise functions of b and c. Bit 2*b + c of the index is the value of the function."""


def lop3(a: Array, b: Array, c: Array, lut: int) -> Array:
    """Return the bitwise function of a, b and c with the truth table `lut`.  Source: lop3.

    Bit 4*a + 2*b + c of `lut` is the result for the bits a, b and c.
    """
    low, high = lut & 15, (lut >> 4) & 15
    if_set, if_clear = _TWO_INPUTS[high](b, c), _TWO_INPUTS[low](b, c)
    if low == high:
        result = if_set
    elif low == 0:
        result = a & if_set
    elif low == 15:
        result = ~a | if_set
    elif high == 0:
        result = ~a & if_clear
    elif high == 15:
        result = a | if_clear
    else:
        result = if_clear ^ (a & (if_set ^ if_clear))
    # If the function ignores an input, the result may lack the shape of that input.
    shape = a.shape if a.shape == b.shape == c.shape else np.broadcast_shapes(a.shape, b.shape, c.shape)
    return result if np.shape(result) == shape else np.broadcast_to(result, shape)


_PERMUTATIONS: dict[str, tuple[tuple[int, int, int, int], ...]] = {
    # Numbers of the source bytes for each value of the selector, the lowest byte of the result first.
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


def _selectors(mode: str) -> Array:
    """Return the four selectors of the default mode that act like the selectors 0 to 3 of `mode`."""
    rows = _PERMUTATIONS[mode]
    return np.array([sum(byte << (4 * i) for i, byte in enumerate(row)) for row in rows], dtype=np.uint32)


def prmt(a: Array, b: Array, selector: Array, mode: str = "") -> Array:
    """Return four bytes, selected from the eight bytes of b:a (a is low).  Source: prmt.

    In the default mode "", each nibble of the selector selects one byte. If bit 3 of the nibble is set, every bit of
    the result byte is the sign of the selected byte. The other modes are "f4e", "b4e", "rc8", "ecl", "ecr" and "rc16".
    """
    chosen = as_unsigned(selector)
    if mode:
        chosen = lookup(_selectors(mode), chosen & np.uint32(3))
    x, y = as_unsigned(a), as_unsigned(b)
    if chosen.size == 1:
        # NumPy broadcasts one selector faster than `permuted` does.
        chosen = np.full(np.broadcast_shapes(x.shape, y.shape), chosen)
    return permute.permuted(x, y, chosen)


def shl(a: Array, count: Array) -> Array:
    """Return a shifted left. A count of at least the width gives 0.  Source: shl."""
    return _shifted(np.left_shift, a, count, a.dtype.type(0))


def shr(a: Array, count: Array) -> Array:
    """Return a shifted right, filled with copies of the sign if a is signed.  Source: shr."""
    width = _bits(a)
    if a.dtype.kind == "i":
        return np.right_shift(a, np.minimum(as_unsigned(count), width - 1).astype(a.dtype))
    return _shifted(np.right_shift, a, count, a.dtype.type(0))


def _shifted(function: Callable[..., Array], a: Array, count: Array, beyond: np.generic) -> Array:
    amount = as_unsigned(count)
    width = _bits(a)
    large = amount >= width
    if large.any():
        kept = np.minimum(amount, width - 1).astype(a.dtype)
        return np.where(large, beyond, function(a, kept))
    return function(a, amount.astype(a.dtype))


def shf(low: Array, high: Array, count: Array, direction: Literal["l", "r"], mode: Mode) -> Array:
    """Return the upper half of `high:low` shifted left, or its lower half shifted right.  Source: shf."""
    amount = as_unsigned(count).astype(np.uint64)
    amount = amount & np.uint64(31) if mode == "wrap" else np.minimum(amount, np.uint64(32))
    both = as_unsigned(low).astype(np.uint64) | (as_unsigned(high).astype(np.uint64) << np.uint64(32))
    if direction == "r":
        return (both >> amount).astype(np.uint32)
    return ((both << amount) >> np.uint64(32)).astype(np.uint32)
