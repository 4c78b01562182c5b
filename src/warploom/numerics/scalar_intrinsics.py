"""The intrinsics of `intrinsics` for NumPy scalars. Python calls them if Numba is not installed."""

import threading
from fractions import Fraction
from typing import Any

import numpy as np

_RZ, _RN, _RP, _RM = range(4)
_mode = threading.local()


def fma(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c of f32 or f64, rounded once to nearest even."""
    if isinstance(a, np.float64):
        return _fused(float(a), float(b), float(c), _RN)
    product, addend = np.float64(a) * np.float64(b), np.float64(c)
    total = product + addend
    part = total - addend
    error = (product - part) + (addend - (total - part))
    # A sum that is rounded to odd gives the right f32 number.
    if np.isfinite(total) and error != 0 and not total.view(np.int64) & 1:
        total = np.nextafter(total, np.float64(np.copysign(np.inf, error)))
    return np.float32(total)


def set_rounding(mode: int) -> None:
    """Set the rounding mode of this thread to a value of `intrinsics.ROUNDING`."""
    _mode.value = mode


def directed_fma(a: Any, b: Any, c: Any) -> np.float64:
    """Return a * b + c of f64, rounded in the mode of `set_rounding`."""
    return _fused(float(a), float(b), float(c), _mode.value)


def directed_div(a: Any, b: Any) -> np.float64:
    """Return a / b of f64, rounded in the mode of `set_rounding`."""
    nearest = np.float64(a) / np.float64(b)
    if not np.isfinite([a, b]).all() or b == 0 or a == 0:
        return nearest
    return _directed(nearest, _sign(Fraction(float(a)) / Fraction(float(b)), nearest), _mode.value)


def directed_sqrt(a: Any) -> np.float64:
    """Return the square root of f64, rounded in the mode of `set_rounding`."""
    nearest = np.sqrt(np.float64(a))
    if not np.isfinite(nearest):
        return nearest
    return _directed(nearest, _sign(Fraction(float(a)), np.float64(0), Fraction(float(nearest)) ** 2), _mode.value)


def popcount(word: Any) -> Any:
    """Return the number of ones in a 32-bit word."""
    return np.uint32(int(word).bit_count())


def count_leading_zeros(word: Any) -> Any:
    """Return the number of leading zeros of an unsigned integer, in its type."""
    return type(word)(8 * word.itemsize - int(word).bit_length())


def reverse_bits(word: Any) -> Any:
    """Return the bits of an unsigned integer in reverse order."""
    return type(word)(int(f"{int(word):0{8 * word.itemsize}b}"[::-1], 2))


def _fused(a: float, b: float, c: float, mode: int) -> np.float64:
    if not np.isfinite([a, b]).all():
        return np.float64(a) * np.float64(b) + np.float64(c)
    if not np.isfinite(c):
        return np.float64(c)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        if (a == 0 or b == 0) and (np.signbit(a) != np.signbit(b)) == np.signbit(c):
            return np.float64(c)
        return np.float64(-0.0 if mode == _RM else 0.0)
    try:
        nearest = np.float64(float(exact))
    except OverflowError:
        nearest = np.float64(np.inf if exact > 0 else -np.inf)
    return _directed(nearest, _sign(exact, nearest), mode)


def _sign(exact: Fraction, nearest: np.float64, base: Fraction | None = None) -> int:
    """Return the sign of `exact` - `nearest`. `base` replaces `nearest`."""
    if np.isinf(nearest):
        return -1 if nearest > 0 else 1
    difference = exact - (Fraction(float(nearest)) if base is None else base)
    return (difference > 0) - (difference < 0)


def _directed(nearest: np.float64, error: int, mode: int) -> np.float64:
    """Return a number rounded in `mode`. `error` is the sign of the difference between it and `nearest`."""
    is_negative = bool(np.signbit(nearest))
    if error > 0 and (mode == _RP or (mode == _RZ and is_negative)):
        return np.nextafter(nearest, np.float64(np.inf))
    if error < 0 and (mode == _RM or (mode == _RZ and not is_negative)):
        return np.nextafter(nearest, np.float64(-np.inf))
    return nearest
