"""Primitives on lane values that operators of Python do not express.

Lane-wise semantics use operators and these functions, so that an interpreter over arrays and a compiler can both
evaluate them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Lane = Any
"""Value of an operand in every lane.

It is an array of shape (warps, 32), or of shape (1, 1) if all lanes agree.
"""

BITWISE: Mapping[str, Callable[[Lane, Lane], Lane]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""Bitwise operations by their PTX word."""

_where: Callable[[Lane, Lane, Lane], Lane] = np.where


def select(condition: Lane, a: Lane, b: Lane) -> Lane:
    """Return a where the condition holds, else b."""
    return _where(condition, a, b)


def constant(value: int, dtype: np.dtype[Any]) -> Lane:
    """Return a constant of a type. Integers wrap around."""
    return np.array(value).astype(dtype)


def concatenate(parts: Sequence[Lane], bits: int) -> Lane:
    """Return the unsigned integer of `bits` bits that has the parts as its bit fields, the first lowest."""
    dtype = np.dtype(f"u{bits // 8}").type
    width = dtype(bits // len(parts))
    value = parts[-1].astype(dtype)
    for part in parts[-2::-1]:
        value = value << width | part
    return value


def split(value: Lane, bits: int, count: int) -> Lane:
    """Return `count` bit fields of equal width of an unsigned integer of `bits` bits, the lowest first."""
    width = bits // count
    shifts = np.arange(0, bits, width, dtype=value.dtype)
    return (value >> shifts[:, None, None]).astype(f"u{width // 8}")


def clamp(value: Lane, low: int, high: int) -> Lane:
    """Return the value, or the nearer bound if it is outside of [low, high]."""
    return np.clip(value, low, high)
