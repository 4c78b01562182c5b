"""Comparisons over arrays of integers, f32, f64, and f16 or bf16 patterns.

Shapes: any, broadcast together; results are boolean arrays. Source: setp, set.
"""

from collections.abc import Callable

import numpy as np

from warploom.numerics.formats import Array, Format
from warploom.numerics.integers import as_unsigned
from warploom.numerics.packed import float_from_half
from warploom.numerics.quiet import quietly

_ORDERED: dict[str, Callable[..., Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_TINY32 = np.float32(2.0**-126)
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
# An unordered comparison is the negation of the opposite ordered one.
_UNORDERED = {"equ": "ne", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt"}


def integers(comparison: str, a: Array, b: Array) -> Array:
    """Compare integers. "lo", "ls", "hi" and "hs" treat signed numbers as unsigned."""
    if comparison in _UNSIGNED:
        return _ORDERED[_UNSIGNED[comparison]](as_unsigned(a), as_unsigned(b))
    return _ORDERED[comparison](a, b)


def _differ(a: Array, b: Array) -> Array:
    """Return a mask of the elements where a and b differ and neither is a NaN."""
    return quietly(np.less, a, b) | quietly(np.greater, a, b)


def _flush(x: Array, smallest_normal: np.float32) -> Array:
    return np.where(quietly(np.less, np.abs(x), smallest_normal), np.float32(0), x)


def floats(comparison: str, a: Array, b: Array, ftz: bool = False) -> Array:
    """Compare f32 or f64 numbers by a PTX comparison such as "lt" or "ltu"."""
    if ftz:
        a, b = _flush(a, _TINY32), _flush(b, _TINY32)
    match comparison:
        case "ne":
            return _differ(a, b)
        case "neu":
            return quietly(np.not_equal, a, b)
        case "equ":
            return ~_differ(a, b)
        case "num":
            return ~(np.isnan(a) | np.isnan(b))
        case "nan":
            return np.isnan(a) | np.isnan(b)
        case _:
            pass
    if comparison in _UNORDERED:
        return ~quietly(_ORDERED[_UNORDERED[comparison]], a, b)
    return quietly(_ORDERED[comparison], a, b)


def halves(comparison: str, a: Array, b: Array, fmt: Format, ftz: bool = False) -> Array:
    """Compare f16 or bf16 numbers, given as uint16 patterns."""
    x, y = float_from_half(a, fmt), float_from_half(b, fmt)
    if ftz:
        tiny = np.float32(2.0**fmt.min_exponent)
        x, y = _flush(x, tiny), _flush(y, tiny)
    return floats(comparison, x, y)


def pairs(comparison: str, a: Array, b: Array, fmt: Format, ftz: bool = False) -> tuple[Array, Array]:
    """Compare f16x2 or bf16x2 patterns (uint32). Return the results of the lower and the upper halves."""
    shift = np.uint32(16)
    low = halves(comparison, a.astype(np.uint16), b.astype(np.uint16), fmt, ftz)
    high = halves(comparison, (a >> shift).astype(np.uint16), (b >> shift).astype(np.uint16), fmt, ftz)
    return low, high
