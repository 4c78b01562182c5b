"""Table of number formats, and conversion between bit patterns and values."""

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warploom.lazy_dataclass import dataclass
from warploom.numerics.quiet import quietly

Array: TypeAlias = NDArray[Any]
"""Array whose dtype gives the width and the sign of its numbers."""

Rounding = Literal["rn", "rz", "rm", "rp", "rna"]
"""Rounding modes: nearest even, toward zero, down, up, and nearest with ties away from zero."""

MODES: dict[str, int] = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}
"""Number of each rounding mode in compiled functions."""

Specials = Literal["ieee", "nan", "none"]
"""Special values that a format encodes.

"ieee" has infinity and NaN. "nan" has one NaN, whose magnitude bits are all ones. "none" has neither.
"""


@dataclass(frozen=True, slots=True)
class Format:
    """Binary floating-point format with sign, exponent and mantissa fields.

    A *code* consists of the three fields, with the sign in the highest bit. A *pattern* is the stored word: the code,
    shifted left by `padding` bits. `nan_code` is the pattern (not the code) of the NaN that PTX instructions return, or
    -1 if the format has no NaN.
    """

    name: str
    bits: int
    exponent_bits: int
    mantissa_bits: int
    specials: Specials = "ieee"
    nan_code: int = -1
    signed: bool = True
    padding: int = 0

    @property
    def bias(self) -> int:
        """Difference between the stored and the true exponent."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal number, and of all subnormal numbers."""
        # Without mantissa bits there are no subnormal numbers, and normal numbers start at the stored exponent 0.
        return (1 if self.mantissa_bits else 0) - self.bias

    @property
    def magnitude_mask(self) -> int:
        """Mask of the exponent and the mantissa in a code."""
        return (1 << (self.exponent_bits + self.mantissa_bits)) - 1

    @property
    def sign_bit(self) -> int:
        """Mask of the sign in a code, 0 for an unsigned format."""
        return (self.magnitude_mask + 1) if self.signed else 0

    @property
    def inf_code(self) -> int:
        """Code of infinity, or -1 if the format has no infinity."""
        if self.specials != "ieee":
            return -1
        return (self.magnitude_mask >> self.mantissa_bits) << self.mantissa_bits

    @property
    def max_code(self) -> int:
        """Code of the largest finite number. Codes of greater magnitude are infinity or NaN."""
        if self.specials == "ieee":
            return self.inf_code - 1
        return self.magnitude_mask - (1 if self.specials == "nan" else 0)

    @property
    def max_finite(self) -> float:
        """Largest finite number."""
        return float(decode(np.array([self.max_code << self.padding]), self)[0])

    @property
    def pattern_dtype(self) -> type[np.unsignedinteger[Any]]:
        """NumPy type of a pattern: the narrowest unsigned type that holds it."""
        return next(t for t in (np.uint8, np.uint16, np.uint32, np.uint64) if self.bits <= 8 * t().itemsize)


F64 = Format("f64", 64, 11, 52, nan_code=0xFFF8 << 48)
F32 = Format("f32", 32, 8, 23, nan_code=0x7FFFFFFF)
TF32 = Format("tf32", 32, 8, 10, nan_code=0x7FFFE000, padding=13)
E8M13 = Format("e8m13", 32, 8, 13, nan_code=0x7FFFFFFF, padding=10)
"""Format of f32 results with 13 mantissa bits, to which Ada and Hopper round sums of fp8 products."""
F16 = Format("f16", 16, 5, 10, nan_code=0x7FFF)
BF16 = Format("bf16", 16, 8, 7, nan_code=0x7FFF)
E5M2 = Format("e5m2", 8, 5, 2, nan_code=0x7F)
E4M3 = Format("e4m3", 8, 4, 3, "nan", nan_code=0x7F)
E3M2 = Format("e3m2", 6, 3, 2, "none")
E2M3 = Format("e2m3", 6, 2, 3, "none")
E2M1 = Format("e2m1", 4, 2, 1, "none")
UE8M0 = Format("ue8m0", 8, 8, 0, "nan", nan_code=0xFF, signed=False)
UE4M3 = Format("ue4m3", 8, 4, 3, "nan", nan_code=0x7F, signed=False)

FORMATS: dict[str, Format] = {f.name: f for f in (F32, TF32, F16, BF16, E5M2, E4M3, E3M2, E2M3, E2M1, UE8M0, UE4M3)}
"""Formats of at most 32 bits by the name of their PTX type."""

FP8 = frozenset({"e4m3", "e5m2"})
F8F6F4 = FP8 | {"e3m2", "e2m3", "e2m1"}
INTEGERS: dict[str, DTypeLike] = {"s8": np.int8, "u8": np.uint8, "s4": np.int8, "u4": np.uint8}
"""NumPy type of an integer matrix element, by PTX type. 4-bit elements are extended to 8 bits."""

STORAGE: dict[str, np.dtype[Any]] = {
    **{name: np.dtype(fmt.pattern_dtype) for name, fmt in FORMATS.items()},
    **{name: np.dtype(dtype) for name, dtype in INTEGERS.items()},
    "b1": np.dtype(np.uint32),
    "f64": np.dtype(np.float64),
    "s32": np.dtype(np.int32),
}
"""NumPy type of a matrix operand, by its PTX element type."""


def element_format(type_word: str) -> Format:
    """Return the format of a PTX type, or of the elements of a pair type such as f16x2."""
    return FORMATS[type_word.removesuffix("x2")]


def _decode_magnitudes(codes: NDArray[np.int64], fmt: Format) -> NDArray[np.float64]:
    field = codes >> fmt.mantissa_bits
    fraction = codes & ((1 << fmt.mantissa_bits) - 1)
    normal = field > 0 if fmt.mantissa_bits else np.ones_like(field, dtype=bool)
    significand = fraction + (normal.astype(np.int64) << fmt.mantissa_bits)
    exponent = np.maximum(field - fmt.bias, fmt.min_exponent) - fmt.mantissa_bits
    values = np.ldexp(significand.astype(np.float64), exponent.astype(np.int32))
    if fmt.specials != "none":
        values = np.where(codes > fmt.max_code, np.nan, values)
    return np.where(codes == fmt.inf_code, np.inf, values)


def _decode_codes(patterns: Array, fmt: Format) -> NDArray[np.float64]:
    codes = patterns.astype(np.int64) >> fmt.padding
    values = _decode_magnitudes(codes & fmt.magnitude_mask, fmt)
    if fmt.signed:
        values = np.where(codes & fmt.sign_bit, -values, values)
    return values


@cache
def _table(fmt: Format) -> NDArray[np.float64]:
    """Return the values of all 8-bit words (16-bit for a wider format), indexed by the word."""
    container = 1 << (8 if fmt.bits <= 8 else 16)
    table = _decode_codes(np.arange(container), fmt)
    table.setflags(write=False)
    return table


def decode(patterns: Array, fmt: Format) -> NDArray[np.float64]:
    """Return the exact values of patterns as f64. Bits outside the format are ignored."""
    if fmt.bits <= 16:
        return _table(fmt)[patterns]
    return _decode_codes(patterns, fmt)


@cache
def translation(fmt: Format, target: Format) -> Array:
    """Return a table that maps every pattern of `fmt` (at most 16 bits) to the nearest `target` pattern."""
    return encode(_table(fmt), target)


_WHOLE: dict[str, Callable[..., Array]] = {"rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}


def round_to_integer(values: NDArray[np.float64], rounding: Rounding) -> NDArray[np.float64]:
    """Round float64 values to integers."""
    if rounding in _WHOLE:
        return _WHOLE[rounding](values)
    whole = np.trunc(values)
    return whole + np.where(np.abs(values - whole) >= 0.5, np.copysign(1.0, values), 0.0)


def encode(values: Array, fmt: Format, rounding: Rounding = "rn", saturate: bool = False, relu: bool = False) -> Array:
    """Return the patterns of f32 or f64 values, rounded once to a format of at most 32 bits.

    `saturate` replaces overflow and infinity by the largest finite number; a format without infinity always saturates.
    `relu` replaces negative values by +0. A NaN becomes `nan_code`, or the largest finite number if the format has no
    NaN. An unsigned format encodes the magnitude.
    """
    x = quietly(values.astype, np.float64)
    if not fmt.signed:
        x = np.abs(x)
    negative = np.signbit(x)
    nan = np.isnan(x)
    if relu:
        x = np.where(negative, 0.0, x)
        negative = np.zeros_like(negative)
    infinite = np.isinf(x)
    finite = np.abs(np.where(nan | infinite, 0.0, x))
    # No format has numbers of 2**1000. The limit keeps the scale in the range of f64.
    exponent = np.clip((finite.view(np.int64) >> 52) - 1023, fmt.min_exponent, 1000)
    # After scaling, neighbouring numbers of the format differ by 1. The scaling is exact because tiny values only grow.
    scaled = finite * ((fmt.mantissa_bits + 1023 - exponent) << 52).view(np.float64)
    up: Any
    if rounding in ("rm", "rp"):
        up = negative if rounding == "rm" else ~negative
        significand = np.where(up, np.ceil(scaled), np.floor(scaled))
    else:
        up = rounding != "rz"
        significand = round_to_integer(scaled, rounding)
    # A carry out of the mantissa increments the exponent field.
    codes = significand.astype(np.int64) + ((exponent - fmt.min_exponent) << fmt.mantissa_bits)
    if not fmt.mantissa_bits:
        codes = np.maximum(codes - 1, 0)
    above = codes > fmt.max_code
    if fmt.specials == "ieee" and not saturate:
        codes = np.where(above, np.where(up, fmt.inf_code, fmt.max_code), codes)
        codes = np.where(infinite, fmt.inf_code, codes)
    else:
        codes = np.where(above | infinite, fmt.max_code, codes)
    if fmt.signed:
        codes = np.where(negative, codes | fmt.sign_bit, codes)
    codes = codes << fmt.padding
    codes = np.where(nan, fmt.nan_code if fmt.nan_code >= 0 else fmt.max_code, codes)
    return codes.astype(fmt.pattern_dtype)
