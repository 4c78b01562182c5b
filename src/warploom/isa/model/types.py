"""Scalar types of PTX: width, NumPy dtype and kind.

Values of packed formats, and of floating-point formats narrower than 32 bits, are stored as unsigned bit patterns.
`numerics` implements their arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Type:
    """Scalar type of PTX. `bits` is its width, and `dtype` is the NumPy dtype of its values."""

    name: str
    bits: int
    kind: str  # "bits" | "unsigned" | "signed" | "float" | "packed" | "predicate"
    dtype: np.dtype[Any]

    @property
    def bytes(self) -> int:
        """Width in bytes. It is 0 for types of fewer than 8 bits."""
        return self.bits // 8


def _table() -> dict[str, Type]:
    types: list[Type] = [Type("pred", 1, "predicate", np.dtype(np.bool_))]
    for bits in (8, 16, 32, 64):
        types.append(Type(f"b{bits}", bits, "bits", np.dtype(f"u{bits // 8}")))
        types.append(Type(f"u{bits}", bits, "unsigned", np.dtype(f"u{bits // 8}")))
        types.append(Type(f"s{bits}", bits, "signed", np.dtype(f"i{bits // 8}")))
    types.append(Type("b128", 128, "bits", np.dtype("V16")))
    types.append(Type("f32", 32, "float", np.dtype(np.float32)))
    types.append(Type("f64", 64, "float", np.dtype(np.float64)))
    types.extend(Type(name, 16, "float", np.dtype(np.uint16)) for name in ("f16", "bf16"))
    types.append(Type("tf32", 32, "float", np.dtype(np.uint32)))
    types.extend(Type(name, 8, "float", np.dtype(np.uint8)) for name in ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1"))
    types.extend(Type(name, 8, "float", np.dtype(np.uint8)) for name in ("ue8m0", "ue4m3"))
    types.extend(
        Type(f"{sign}{bits}", bits, kind, np.dtype(f"{dt}1"))
        for bits in (2, 4)
        for sign, kind, dt in (("s", "signed", "i"), ("u", "unsigned", "u"))
    )
    types.append(Type("b1", 1, "bits", np.dtype(np.uint32)))
    packed = {"f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "f32x2": 64, "e2m1x2": 8}
    packed |= {f"{name}x2": 16 for name in ("e4m3", "e5m2", "e3m2", "e2m3", "ue8m0", "s2f6")}
    packed |= {"e4m3x4": 32, "e5m2x4": 32, "e3m2x4": 32, "e2m3x4": 32, "e2m1x4": 16}
    types.extend(Type(name, bits, "packed", np.dtype(f"u{bits // 8}")) for name, bits in packed.items())
    return {entry.name: entry for entry in types}


TYPES: dict[str, Type] = _table()


def bits_of(type_name: str) -> int:
    """Return the width of a PTX type in bits."""
    return TYPES[type_name].bits
