"""An independent model of rounding: exact fractions in, the nearest number of a format out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Grid:
    """Numbers of ``digits`` bits with exponents from ``low`` to ``high``, and the subnormals below."""

    digits: int
    low: int
    high: int

    @property
    def largest(self) -> Fraction:
        return (2 - Fraction(2) ** (1 - self.digits)) * Fraction(2) ** self.high


HALF = Grid(11, -14, 15)
BRAIN = Grid(8, -126, 127)
SINGLE = Grid(24, -126, 127)
DOUBLE = Grid(53, -1022, 1023)


def rounded(x: Fraction, grid: Grid, mode: str, zero: float = 0.0) -> float:
    """``zero`` is the result for an exact zero, whose sign the fraction cannot tell."""
    if x == 0:
        return zero
    negative, size = x < 0, abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, grid.low) - grid.digits + 1)
    whole = size // step
    rest = size / step - whole
    away = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        "rna": rest >= Fraction(1, 2),
        "rz": False,
        "rm": rest > 0 and negative,
        "rp": rest > 0 and not negative,
    }[mode]
    result = (whole + away) * step
    if result > grid.largest:
        to_infinity = mode in ("rn", "rna") or (mode == "rm" and negative) or (mode == "rp" and not negative)
        value = math.inf if to_infinity else float(grid.largest)
    else:
        value = float(result)
    return -value if negative else value


def sum_of_zeros(p: float, c: float, mode: str) -> float:
    """The zero that an exact zero sum of ``p`` and ``c`` is."""
    if p == 0 and c == 0 and math.copysign(1, p) == math.copysign(1, c):
        return p
    return -0.0 if mode == "rm" else 0.0


def columns(exponent_bits: int, mantissa_bits: int, count: int, size: int = 32) -> st.SearchStrategy[list[Any]]:
    """Arrays of bit patterns; close exponents, extreme ones and short significands are likely."""
    bias, top = (1 << (exponent_bits - 1)) - 1, (1 << exponent_bits) - 1
    ones = (1 << mantissa_bits) - 1
    fields = np.array([0, 0, 1, 2, bias // 2, top - 2, top - 1, top], dtype=np.uint64)
    fractions = np.array([0, 1, 2, ones, ones - 1, ones >> 1, (ones >> 1) + 1, (ones >> 1) + 2], dtype=np.uint64)
    width = exponent_bits + mantissa_bits + 1

    def build(data: bytes) -> list[Any]:
        raw = np.frombuffer(data[: 8 * count * size], dtype=np.uint64)
        kind = np.frombuffer(data[8 * count * size :], dtype=np.uint8)
        sign, field, fraction = (raw >> np.uint64(63), (raw >> np.uint64(52)) & np.uint64(top), raw & np.uint64(ones))
        near = np.uint64(bias - 3) + field % np.uint64(7)
        field = np.choose(kind % 4, [field, near, near, fields[field % np.uint64(8)]])
        fraction = np.where(kind & 16, fractions[fraction % np.uint64(8)], fraction)
        code = (sign << np.uint64(width - 1)) | (field << np.uint64(mantissa_bits)) | fraction
        return list(code.astype(f"u{width // 8}").reshape(count, size))

    length = 9 * count * size
    return st.binary(min_size=length, max_size=length).map(build)


def same(a: float, b: float) -> bool:
    """Equal, zeros by sign; every NaN is alike."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)
