"""Primitives on lane values that Python operators cannot express.

The semantics of lane-wise instructions consist of operators and of these functions.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Lane = Any
"""Value of an operand in all lanes: an array (warps, 32), or (1, 1) if all lanes agree."""

BITWISE: Mapping[str, Callable[[Lane, Lane], Lane]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""Bitwise operations by the word of the PTX opcode."""

_where: Callable[[Lane, Lane, Lane], Lane] = np.where


def select(condition: Lane, a: Lane, b: Lane) -> Lane:
    """Return a where the condition is true, else b."""
    return _where(condition, a, b)


def constant(value: int, dtype: np.dtype[Any]) -> Lane:
    """Return a constant of a dtype. An integer outside the range of the dtype wraps around."""
    return np.array(value).astype(dtype)


def concatenate(parts: Sequence[Lane], bits: int) -> Lane:
    """Return an unsigned integer of `bits` bits. `parts` are its equal bit fields, the lowest first."""
    if len(parts) == 1:
        return parts[0]
    if bits == 128:
        return np.stack(np.broadcast_arrays(*parts), axis=-1).view("V16")[..., 0]
    dtype = np.dtype(f"u{bits // 8}").type
    width = dtype(bits // len(parts))
    value = parts[-1].astype(dtype)
    for part in parts[-2::-1]:
        value = value << width | part
    return value


def split(value: Lane, bits: int, count: int) -> Lane:
    """Return the `count` equal bit fields of an unsigned integer of `bits` bits, the lowest first."""
    if count == 1:
        return value[np.newaxis]
    return np.transpose(value[..., np.newaxis].view(f"u{bits // count // 8}"), (2, 0, 1))


def lookup(table: Lane, indices: Lane) -> Lane:
    """Return the elements of a one-dimensional table at the indices."""
    return table[indices] if isinstance(indices, np.ndarray) else indices.lookup(table)


def clamp(value: Lane, low: int, high: int) -> Lane:
    """Return the value, or the nearer bound if the value is outside [low, high]."""
    return np.clip(value, low, high)
