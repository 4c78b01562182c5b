"""Scalar types of PTX: width, NumPy dtype and kind.

Values of packed formats, of tf32, and of floating-point formats narrower than 32 bits are stored as unsigned bit
patterns.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """Scalar type of PTX. `bits` is its width, and `dtype` is the NumPy dtype of its values."""

    name: str
    bits: int
    kind: str  # "bits" | "unsigned" | "signed" | "float" | "packed" | "predicate"
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        """Width in bytes, or 0 for types of fewer than 8 bits."""
        return self.bits // 8

    @property
    def element_bytes(self) -> int:
        """Width in bytes of an element of a packed type, and of the whole value for another type."""
        return self.bytes // int(self.name[-1]) if self.kind == "packed" else self.bytes


def _table() -> Iterator[Type]:
    yield Type("pred", 1, "predicate", np.dtype(np.bool_))
    for bits in (8, 16, 32, 64):
        yield Type(f"b{bits}", bits, "bits", np.dtype(f"u{bits // 8}"))
        yield Type(f"u{bits}", bits, "unsigned", np.dtype(f"u{bits // 8}"))
        yield Type(f"s{bits}", bits, "signed", np.dtype(f"i{bits // 8}"))
    yield Type("b128", 128, "bits", np.dtype("V16"))
    floats = {"f32": "f4", "f64": "f8", "f16": "u2", "bf16": "u2", "tf32": "u4"}
    floats |= dict.fromkeys(("e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "ue8m0", "ue4m3"), "u1")
    for name, dtype in floats.items():
        yield Type(name, 8 * int(dtype[1]), "float", np.dtype(dtype))
    for bits in (2, 4):
        yield Type(f"s{bits}", bits, "signed", np.dtype("i1"))
        yield Type(f"u{bits}", bits, "unsigned", np.dtype("u1"))
    yield Type("b1", 1, "bits", np.dtype(np.uint32))
    packed = {"f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "f32x2": 64, "e2m1x2": 8}
    packed |= {f"{name}x2": 16 for name in ("e4m3", "e5m2", "e3m2", "e2m3", "ue8m0", "s2f6")}
    packed |= {"e4m3x4": 32, "e5m2x4": 32, "e3m2x4": 32, "e2m3x4": 32, "e2m1x4": 16}
    for name, bits in packed.items():
        yield Type(name, bits, "packed", np.dtype(f"u{bits // 8}"))


TYPES: dict[str, Type] = {each.name: each for each in _table()}


def bits_of(type_name: str) -> int:
    """Return the width of a PTX type in bits."""
    return TYPES[type_name].bits
