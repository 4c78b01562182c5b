"""Number formats: one table, from which decoding, encoding, ranges and special codes are derived."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""Any array of the floor; its NumPy type says width and sign."""

Rounding = Literal["rn", "rz", "rm", "rp", "rna"]
"""Nearest even, toward zero, minus infinity, plus infinity, and nearest with ties away from zero."""

NanRule = Literal["ieee", "ones", "none"]
"""``ieee``: every code above infinity; ``ones``: only the code of all ones (sign aside); ``none``: no NaN."""


@dataclass(frozen=True, slots=True)
class Format:
    """A binary number format: sign, exponent and mantissa fields, from the most significant bit down.

    ``padding`` counts unused low bits of the pattern (tf32 lives in the upper 19 bits of 32).
    ``nan_code`` is what a PTX instruction returns for a NaN; -1 where the format has none.
    """

    name: str
    bits: int
    exponent_bits: int
    mantissa_bits: int
    bias: int
    signed: bool = True
    has_inf: bool = True
    nan: NanRule = "ieee"
    nan_code: int = -1
    padding: int = 0

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal number; a format without subnormals starts at field 0."""
        return (1 if self.mantissa_bits else 0) - self.bias

    @property
    def magnitude_mask(self) -> int:
        """The bits of a magnitude, without padding."""
        return (1 << (self.exponent_bits + self.mantissa_bits)) - 1

    @property
    def sign_bit(self) -> int:
        """The bit of the sign, 0 where there is none."""
        return (self.magnitude_mask + 1) if self.signed else 0

    @property
    def inf_code(self) -> int:
        """The magnitude code of infinity, -1 where there is none."""
        return (self.magnitude_mask >> self.mantissa_bits) << self.mantissa_bits if self.has_inf else -1

    @property
    def max_code(self) -> int:
        """The magnitude code of the largest finite number."""
        if self.has_inf:
            return self.inf_code - 1
        return self.magnitude_mask - (1 if self.nan == "ones" else 0)

    @property
    def max_finite(self) -> float:
        """The largest finite number."""
        return float(decode(np.array([self.max_code << self.padding]), self)[0])

    @property
    def smallest(self) -> float:
        """The smallest positive number."""
        return 2.0 ** (self.min_exponent - self.mantissa_bits)

    @property
    def pattern_dtype(self) -> type[np.unsignedinteger[Any]]:
        """The NumPy type that patterns travel in."""
        return np.uint8 if self.bits <= 8 else np.uint16 if self.bits == 16 else np.uint32


F32 = Format("f32", 32, 8, 23, 127, nan_code=0x7FFFFFFF)
TF32 = Format("tf32", 32, 8, 10, 127, nan_code=0x7FFFE000, padding=13)
F16 = Format("f16", 16, 5, 10, 15, nan_code=0x7FFF)
BF16 = Format("bf16", 16, 8, 7, 127, nan_code=0x7FFF)
E5M2 = Format("e5m2", 8, 5, 2, 15, nan_code=0x7F)
E4M3 = Format("e4m3", 8, 4, 3, 7, has_inf=False, nan="ones", nan_code=0x7F)
E3M2 = Format("e3m2", 6, 3, 2, 3, has_inf=False, nan="none")
E2M3 = Format("e2m3", 6, 2, 3, 1, has_inf=False, nan="none")
E2M1 = Format("e2m1", 4, 2, 1, 1, has_inf=False, nan="none")
UE8M0 = Format("ue8m0", 8, 8, 0, 127, signed=False, has_inf=False, nan="ones", nan_code=0xFF)
UE4M3 = Format("ue4m3", 8, 4, 3, 7, signed=False, has_inf=False, nan="ones", nan_code=0x7F)

FORMATS: dict[str, Format] = {
    f.name: f for f in (F32, TF32, F16, BF16, E5M2, E4M3, E3M2, E2M3, E2M1, UE8M0, UE4M3)
}


def _decode_magnitudes(codes: NDArray[np.int64], fmt: Format) -> NDArray[np.float64]:
    field = codes >> fmt.mantissa_bits
    fraction = codes & ((1 << fmt.mantissa_bits) - 1)
    normal = field > 0 if fmt.mantissa_bits else np.ones_like(field, dtype=bool)
    significand = fraction + (normal.astype(np.int64) << fmt.mantissa_bits)
    exponent = np.maximum(field - fmt.bias, fmt.min_exponent) - fmt.mantissa_bits
    values = np.ldexp(significand.astype(np.float64), exponent.astype(np.int32))
    if fmt.has_inf:
        values = np.where(codes == fmt.inf_code, np.inf, values)
    if fmt.nan == "ieee":
        values = np.where(codes > fmt.inf_code, np.nan, values)
    elif fmt.nan == "ones":
        values = np.where(codes == fmt.magnitude_mask, np.nan, values)
    return values


def _decode_codes(patterns: Array, fmt: Format) -> NDArray[np.float64]:
    codes = patterns.astype(np.int64) >> fmt.padding
    values = _decode_magnitudes(codes & fmt.magnitude_mask, fmt)
    if fmt.signed:
        values = np.where(codes & fmt.sign_bit, -values, values)
    return values


@cache
def _table(fmt: Format) -> NDArray[np.float64]:
    """Values of every pattern of the container, bits above the format's width ignored."""
    container = 1 << (8 if fmt.bits <= 8 else 16)
    table = _decode_codes(np.arange(container), fmt)
    table.setflags(write=False)
    return table


def decode(patterns: Array, fmt: Format) -> NDArray[np.float64]:
    """Values of bit patterns, exactly.  Every NaN code gives NaN; bits outside the format are ignored."""
    if fmt.bits <= 16:
        return _table(fmt)[patterns]
    return _decode_codes(patterns, fmt)


def round_to_integer(values: NDArray[np.float64], rounding: Rounding) -> NDArray[np.float64]:
    """Round float64 values to whole numbers."""
    match rounding:
        case "rn":
            return np.rint(values)
        case "rz":
            return np.trunc(values)
        case "rm":
            return np.floor(values)
        case "rp":
            return np.ceil(values)
        case "rna":
            whole = np.trunc(values)
            return whole + np.where(np.abs(values - whole) >= 0.5, np.copysign(1.0, values), 0.0)


def encode(
    values: Array, fmt: Format, rounding: Rounding = "rn", saturate: bool = False, relu: bool = False
) -> Array:
    """Bit patterns of float32 or float64 values, rounded once.

    ``saturate`` turns overflow and infinities into the largest finite number; a format without infinity
    always does so.  ``relu`` turns negative values into +0.  NaN gives ``nan_code``, and +max in a format
    without NaN.  An unsigned format takes the magnitude.
    """
    with np.errstate(all="ignore"):
        x = np.asarray(values, dtype=np.float64)
    if not fmt.signed:
        x = np.abs(x)
    negative = np.signbit(x)
    nan = np.isnan(x)
    if relu:
        x = np.where(negative, 0.0, x)
        negative = np.zeros_like(negative)
    infinite = np.isinf(x)
    finite = np.where(nan | infinite, 0.0, x)
    exponent = np.where(finite == 0, fmt.min_exponent, np.maximum(np.frexp(finite)[1] - 1, fmt.min_exponent))
    # Scaled so that one is the spacing of the format at this magnitude; exact, since tiny values only grow.
    scaled = np.ldexp(np.abs(finite), fmt.mantissa_bits - exponent)
    if rounding in ("rm", "rp"):
        up = negative if rounding == "rm" else ~negative
        significand = np.where(up, np.ceil(scaled), np.floor(scaled))
    else:
        up = np.full(x.shape, rounding != "rz")
        significand = round_to_integer(scaled, rounding)
    # Fields add up: a carry out of the mantissa moves into the exponent field.
    codes = significand.astype(np.int64) + (
        (exponent - fmt.min_exponent).astype(np.int64) << fmt.mantissa_bits
    )
    if not fmt.mantissa_bits:
        codes = np.maximum(codes - 1, 0)
    above = codes > fmt.max_code
    if fmt.has_inf and not saturate:
        codes = np.where(above, np.where(up, fmt.inf_code, fmt.max_code), codes)
        codes = np.where(infinite, fmt.inf_code, codes)
    else:
        codes = np.where(above | infinite, fmt.max_code, codes)
    if fmt.signed:
        codes = np.where(negative, codes | fmt.sign_bit, codes)
    codes <<= fmt.padding
    codes = np.where(nan, fmt.nan_code if fmt.nan_code >= 0 else fmt.max_code, codes)
    return codes.astype(fmt.pattern_dtype)
