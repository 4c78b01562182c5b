"""Arithmetic of the video instructions on bytes, halves and words of 32-bit registers.

The dtype of an operand (int32 or uint32) gives the sign of its parts. Selectors are as in PTX: "b2" is a byte, "h1" a
half, "b7640" four bytes and "h31" two halves, the highest first. Intermediate results are int64.

Shapes: any, broadcast together. Source: PTX ISA 9.7.18.
"""

from collections.abc import Sequence

import numpy as np

from warploom.numerics.lanes import Lane, select

_WIDTHS = {"b": 8, "h": 16}


def _part(a: Lane, width: int, number: int, signed: bool) -> Lane:
    """Return part `number` of a register, of `width` bits, as int64."""
    wide = a.astype(np.int64)
    if width == 32:
        return wide
    if signed:
        return wide << (64 - width * (number + 1)) >> (64 - width)
    return wide >> (width * number) & ((1 << width) - 1)


def part(a: Lane, selector: str) -> Lane:
    """Return the byte or half that a selector names, or the whole register for "", as int64."""
    width = _WIDTHS[selector[0]] if selector else 32
    return _part(a, width, int(selector[1:] or 0), a.dtype.kind == "i")


def parts(a: Lane, b: Lane, selector: str, signed: bool) -> list[Lane]:
    """Return the bytes or halves of a and b that a selector names, the lowest first, as int64.

    The parts of a have the numbers from 0, and those of b follow.
    """
    width = _WIDTHS[selector[0]]
    count = 32 // width
    numbers = [int(digit) for digit in reversed(selector[1:])]
    return [_part(a if k < count else b, width, k % count, signed) for k in numbers]


def operate(op: str, x: Lane, y: Lane) -> Lane:
    """Return the result of add, sub, absdiff, min, max, avrg, shl or shr.

    Averages are rounded away from zero. A shift by y is at most 32.
    """
    match op:
        case "add":
            return x + y
        case "sub":
            return x - y
        case "absdiff":
            return np.abs(x - y)
        case "min":
            return np.minimum(x, y)
        case "max":
            return np.maximum(x, y)
        case "shl":
            return x << y
        case "shr":
            return x >> y
        case _:
            total = x + y
            return select(total >= 0, total + 1, total) >> 1


def shift_count(b: Lane, mode: str) -> Lane:
    """Return a shift count for the mode "clamp" (at most 32) or "wrap" (the low 5 bits)."""
    return np.minimum(b, 32) if mode == "clamp" else b & 31


def saturate(x: Lane, selector: str, signed: bool) -> Lane:
    """Return x, clamped to the range of the byte, half or word that a selector names."""
    width = _WIDTHS[selector[0]] if selector else 32
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    return np.clip(x, low, high)


def merge(x: Lane, selector: str, c: Lane) -> Lane:
    """Return c as uint32, with x in the byte or half that a selector names."""
    width, number = _WIDTHS[selector[0]], int(selector[1:])
    mask = np.uint32(((1 << width) - 1) << width * number)
    return x.astype(np.uint32) << np.uint32(width * number) & mask | c.view(np.uint32) & ~mask


def combine(results: Sequence[Lane], selector: str, c: Lane, add: bool) -> Lane:
    """Return c with the parts of a SIMD result that `selector` names, or their sum with c if `add` is set."""
    chosen = [int(digit) for digit in selector[1:]]
    total = c.view(np.uint32)
    for k in chosen:
        total = total + results[k].astype(np.uint32) if add else merge(results[k], f"{selector[0]}{k}", total)
    return total


def multiply_add(
    x: Lane, y: Lane, c: Lane, signed: bool, negate: str, po: bool, shift: int, sat: bool
) -> Lane:  # fmt: skip
    """Return `x*y + c`, shifted to the right by `shift` bits, as uint32.

    x and y are int64 values of 32 bits. c and the result are s32 if `signed` is set, else u32. `negate` is "product",
    "c" or "". `po` adds one. `sat` clamps the result.
    """
    product = x * y
    addend = c.view(np.int32 if signed else np.uint32).astype(np.int64)
    total = addend - product if negate == "product" else product - addend if negate else product + addend
    if po:
        total = total + 1
    if signed:
        return (np.clip(total >> shift, -(1 << 31), (1 << 31) - 1) if sat else total >> shift).astype(np.uint32)
    wide = total.view(np.uint64) >> np.uint64(shift)  # the sum of u32 products may exceed the range of s64
    return (np.minimum(wide, np.uint64((1 << 32) - 1)) if sat else wide).astype(np.uint32)
