# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Compiled read-modify-write, lane after lane: each sees what those before it wrote at its address.

`index` holds byte offsets into `words`, of the lanes that `mask` names. The old contents go to `out`. What the
operations compute on numbers is what `add`, `minimum` and the rest of `num` compute; a test compares them.

Shapes: index, mask, values, compares and out are (warps, 32).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit
from warploom.numerics.formats import Format

Array = NDArray[Any]

OPERATIONS = ("add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas")
_NAN32 = np.uint32(0x7FFFFFFF)
_NAN64 = np.uint64(0xFFF8000000000000)
_QUIET64 = np.uint64(0x0008000000000000)
_NAN16 = 0x7FFF


@njit
def _integers(
    words: Array, index: Array, mask: Array, op: int, sign: Any, values: Array, compares: Array, out: Array
) -> None:
    """`sign` is the bit that orders signed numbers as unsigned ones, 0 for unsigned numbers."""
    warps, lanes = mask.shape
    for w in range(warps):
        for lane in range(lanes):
            if not mask[w, lane]:
                continue
            where = index[w, lane] // words.itemsize
            old, value = words[where], values[w, lane]
            out[w, lane] = old
            if op == 0:
                words[where] = old + value
            elif op == 1:
                if (value ^ sign) < (old ^ sign):
                    words[where] = value
            elif op == 2:
                if (value ^ sign) > (old ^ sign):
                    words[where] = value
            elif op == 3:
                words[where] = old & value
            elif op == 4:
                words[where] = old | value
            elif op == 5:
                words[where] = old ^ value
            elif op == 6:
                if old >= value:
                    words[where] = 0
                else:
                    words[where] = old + 1
            elif op == 7:
                if old == 0 or old > value:
                    words[where] = value
                else:
                    words[where] = old - 1
            elif op == 8 or old == compares[w, lane]:
                words[where] = value


@njit
def _flushed(pattern: Any) -> Any:
    """A subnormal f32 becomes a zero of its sign."""
    if pattern & np.uint32(0x7F800000):
        return np.uint32(pattern)
    return np.uint32(pattern & np.uint32(0x80000000))


@njit
def _single_sum(first: Any, second: Any) -> Any:
    total = np.float32(np.uint32(first).view(np.float32) + np.uint32(second).view(np.float32))
    return np.uint32(total.view(np.uint32)) if total == total else _NAN32


@njit
def _singles(words: Array, index: Array, mask: Array, flush: bool, values: Array, out: Array) -> None:
    """Sums of f32, whose patterns `words`, `values` and `out` hold."""
    warps, lanes = mask.shape
    for w in range(warps):
        for lane in range(lanes):
            if not mask[w, lane]:
                continue
            where = index[w, lane] // 4
            out[w, lane] = words[where]
            first, second = np.uint32(words[where]), np.uint32(values[w, lane])
            if flush:
                first, second = _flushed(first), _flushed(second)
            total = _single_sum(first, second)
            words[where] = _flushed(total) if flush else total


@njit
def _doubles(words: Array, index: Array, mask: Array, values: Array, out: Array) -> None:
    """Sums of f64, whose patterns `words`, `values` and `out` hold."""
    warps, lanes = mask.shape
    for w in range(warps):
        for lane in range(lanes):
            if not mask[w, lane]:
                continue
            where = index[w, lane] // 8
            old, value = np.uint64(words[where]), np.uint64(values[w, lane])
            out[w, lane] = old
            a, b = old.view(np.float64), value.view(np.float64)
            total = np.float64(a + b)
            if total == total:
                words[where] = total.view(np.uint64)
            elif b != b:
                words[where] = value | _QUIET64
            elif a != a:
                words[where] = old | _QUIET64
            else:
                words[where] = _NAN64


@njit
def _value(pattern: int, mantissa: int, bias: int) -> float:
    """The number of 16 bits that are no NaN."""
    magnitude = pattern & 0x7FFF
    field = magnitude >> mantissa
    fraction = magnitude & ((1 << mantissa) - 1)
    if field == (0x7FFF >> mantissa):
        size = np.inf
    elif field == 0:
        size = math.ldexp(float(fraction), 1 - bias - mantissa)
    else:
        size = math.ldexp(float(fraction + (1 << mantissa)), field - bias - mantissa)
    return -size if pattern & 0x8000 else size


@njit
def _pattern(x: float, mantissa: int, bias: int) -> int:
    """The 16 bits nearest to a number; f64 has digits enough that a sum rounded to it first is rounded right."""
    if x != x:
        return _NAN16
    sign = 0x8000 if math.copysign(1.0, x) < 0 else 0
    infinity = (0x7FFF >> mantissa) << mantissa
    if math.isinf(x):
        return sign | infinity
    if x == 0:
        return sign
    _, exponent = math.frexp(abs(x))
    field = max(exponent - 1 + bias, 1)
    scaled = math.ldexp(abs(x), bias + mantissa - field)  # the unit is the last bit
    whole = math.floor(scaled)
    rest = scaled - whole
    units = int(whole)
    if rest > 0.5 or (rest == 0.5 and units & 1):
        units += 1
    return sign | min(((field - 1) << mantissa) + units, infinity)


@njit
def _combined(op: int, old: Any, value: Any, mantissa: int, bias: int) -> int:
    infinity = (0x7FFF >> mantissa) << mantissa
    old_nan, value_nan = (old & 0x7FFF) > infinity, (value & 0x7FFF) > infinity
    if op == 0:
        if old_nan or value_nan:
            return _NAN16
        return _pattern(_value(old, mantissa, bias) + _value(value, mantissa, bias), mantissa, bias)
    if old_nan and value_nan:
        return _NAN16
    if old_nan or value_nan:
        return value if old_nan else old
    # Integers with the order of the patterns, -0 below +0.
    first = old if old < 0x8000 else 0x7FFF - old
    second = value if value < 0x8000 else 0x7FFF - value
    return value if (second < first) == (op == 1) else old


@njit
def _halves(
    words: Array, index: Array, mask: Array, op: int, mantissa: int, bias: int, count: int, values: Array,
    out: Array,
) -> None:  # fmt: skip
    """Sums and extremes of `count` 16-bit numbers, that lie beside each other in `values` and `out` as in memory."""
    warps, lanes = mask.shape
    for w in range(warps):
        for lane in range(lanes):
            if not mask[w, lane]:
                continue
            where = index[w, lane] // 2
            for k in range(count):
                old = words[where + k]
                out[w, lane * count + k] = old
                value = values[w, lane * count + k]
                words[where + k] = _combined(op, np.int64(old), np.int64(value), mantissa, bias)


def integers(
    words: Array, index: Array, mask: Array, op: str, signed: bool, values: Array, compares: Array, out: Array
) -> None:
    """Any operation on unsigned patterns of one width; a swap stores `values` where `compares` stands."""
    sign = words.dtype.type(1 << (words.itemsize * 8 - 1) if signed else 0)
    _integers(words, index, mask, OPERATIONS.index(op), sign, values, compares, out)


def sums(words: Array, index: Array, mask: Array, flush: bool, values: Array, out: Array) -> None:
    """Sums of f32 (with subnormals as zeros where `flush`) or of f64, as patterns of 32 or 64 bits."""
    if words.itemsize == 4:
        _singles(words, index, mask, flush, values, out)
    else:
        _doubles(words, index, mask, values, out)


def halves(words: Array, index: Array, mask: Array, op: str, fmt: Format, values: Array, out: Array) -> None:
    """Sums and extremes of 16-bit numbers, or of pairs of them. Shapes: words are of 16 bits."""
    count = values.dtype.itemsize // 2
    parts = values.view(np.uint16), out.view(np.uint16)
    _halves(words, index, mask, OPERATIONS.index(op), fmt.mantissa_bits, fmt.bias, count, *parts)
