"""Element types of the matrix units: how the bits of one matrix element are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike

Specials = Literal["ieee", "nan", "none"]


@dataclass(frozen=True, slots=True)
class Element:
    """A binary floating-point element type.

    `specials` says what the largest exponent means: "ieee" has infinities and NaNs, "nan" has a NaN at
    all-ones only (e4m3), "none" has neither. `ignored` low bits of the stored word take no part (tf32).
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    specials: Specials
    storage: DTypeLike
    ignored: int = 0

    @property
    def bias(self) -> int:
        """What is added to the exponent to store it."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def emin(self) -> int:
        """Exponent of the smallest normal number, which subnormals share."""
        return 1 - self.bias

    @property
    def magnitude_mask(self) -> int:
        """The exponent and mantissa bits, as they stand in the stored word."""
        return ((1 << (self.exponent_bits + self.mantissa_bits)) - 1) << self.ignored

    @property
    def sign_bit(self) -> int:
        """The sign, as it stands in the stored word."""
        return 1 << (self.exponent_bits + self.mantissa_bits + self.ignored)

    @property
    def first_special(self) -> int:
        """Smallest stored magnitude that is not a number; above every magnitude where there is none."""
        if self.specials == "ieee":
            return ((1 << self.exponent_bits) - 1) << (self.mantissa_bits + self.ignored)
        if self.specials == "nan":
            return self.magnitude_mask
        return self.magnitude_mask + 1


FLOATS: dict[str, Element] = {
    element.name: element
    for element in (
        Element("f32", 8, 23, "ieee", np.uint32),
        Element("f16", 5, 10, "ieee", np.uint16),
        Element("bf16", 8, 7, "ieee", np.uint16),
        Element("tf32", 8, 10, "ieee", np.uint32, ignored=13),
        Element("e5m2", 5, 2, "ieee", np.uint8),
        Element("e4m3", 4, 3, "nan", np.uint8),
        Element("e3m2", 3, 2, "none", np.uint8),
        Element("e2m3", 2, 3, "none", np.uint8),
        Element("e2m1", 2, 1, "none", np.uint8),
    )
}

INTEGERS: dict[str, DTypeLike] = {
    "s8": np.int8,
    "u8": np.uint8,
    "s4": np.int8,
    "u4": np.uint8,
}
"""Integer element types and the dtype of one element; four-bit elements stand extended in eight bits."""

FP8 = frozenset({"e4m3", "e5m2"})
F8F6F4 = frozenset({"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"})

STORAGE: dict[str, np.dtype[Any]] = {
    **{name: np.dtype(element.storage) for name, element in FLOATS.items()},
    **{name: np.dtype(dtype) for name, dtype in INTEGERS.items()},
    "b1": np.dtype(np.uint32),
    "f64": np.dtype(np.float64),
    "s32": np.dtype(np.int32),
}
"""The dtype of an operand array, by element type."""
