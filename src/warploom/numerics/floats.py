"""f32 and f64 arithmetic of PTX over arrays, in every rounding mode.

`ftz` (f32 only) replaces subnormal operands and results by zeros of the same sign. `sat` clamps to [0, 1] and replaces
NaN by +0. An f32 NaN result is 0x7FFFFFFF. An f64 NaN result is the first NaN operand in the order b, c, a (in a
division a, b), made quiet. If no f64 operand is a NaN, the NaN result is 0xFFF8000000000000.

Shapes: any, broadcast together. All operands of one call have one type.

Source: floating-point instructions of the PTX ISA.
"""

from typing import Literal

import numpy as np

from warploom.numerics.formats import MODES, Array, Rounding
from warploom.numerics.lazy_module import LazyModule
from warploom.numerics.quiet import quietly

float_kernels = LazyModule("warploom.numerics.float_kernels")
intrinsics = LazyModule("warploom.numerics.intrinsics")
NAN32 = np.uint32(0x7FFFFFFF).view(np.float32)
_ONE: Array = np.array(1, dtype=np.float32)
_ONE64: Array = np.array(1, dtype=np.float64)


def _is_double(a: Array) -> bool:
    return a.dtype.itemsize == 8


def canonical(x: Array) -> Array:
    """Return f32 numbers with every NaN replaced by 0x7FFFFFFF."""
    return float_kernels.canonical32(x)


def flush(x: Array) -> Array:
    """Return f32 numbers with subnormal numbers replaced by zeros of the same sign."""
    return float_kernels.flush32(x)


def saturate(x: Array) -> Array:
    """Return numbers clamped to [0, 1]. NaN and -0 become +0.  Source: the modifier `.sat`."""
    if x.dtype.itemsize == 4:
        return float_kernels.saturate32(x)
    return np.where(x > 0, np.minimum(x, 1.0), 0.0)


def narrow(x: Array, rounding: Rounding) -> Array:
    """Return f64 numbers rounded to f32. Every NaN becomes 0x7FFFFFFF."""
    if rounding == "rn":
        return canonical(quietly(x.astype, np.float32))
    return float_kernels.narrow32_directed(x, MODES[rounding])


def flush_double(x: Array, rounding: Rounding) -> Array:
    """Replace f64 numbers that are subnormal in f32 by zeros of the same sign.

    A number is subnormal if it is below the normal range of f32 after rounding to 24 bits.
    """
    small = quietly(np.less, np.abs(x), 2.0**-126)
    if not small.any():
        return x
    tiny = np.abs(narrow(np.where(small, x, 1.0) * 2.0**64, rounding)) < 2.0**-62
    return np.where(tiny, np.copysign(0.0, x), x)


def _finish(x: Array, rounding: Rounding, ftz: bool, sat: bool) -> Array:
    x = narrow(flush_double(x, rounding) if ftz else x, rounding)
    return saturate(x) if sat else x


def _fma32_directed(a: Array, b: Array, c: Array, rounding: Rounding, ftz: bool, sat: bool) -> Array:
    if ftz:
        a, b, c = flush(a), flush(b), flush(c)
    if rounding == "rm":
        # To round down, round the negation up and negate. An exact cancellation then gives -0.
        result = canonical(-_finish(float_kernels.fma_odd(-a, b, -c), "rp", ftz, False))
        return saturate(result) if sat else result
    return _finish(float_kernels.fma_odd(a, b, c), rounding, ftz, sat)


def add(a: Array, b: Array, rounding: Rounding = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """Return a + b.  Source: add (floating point)."""
    if _is_double(a):
        if rounding == "rn":
            return float_kernels.add64(a, b)
        return float_kernels.fma64_directed(a, _ONE64, b, intrinsics.ROUNDING[rounding])
    if rounding == "rn":
        result = (float_kernels.add32_ftz if ftz else float_kernels.add32)(a, b)
        return saturate(result) if sat else result
    return _fma32_directed(a, _ONE, b, rounding, ftz, sat)


def sub(a: Array, b: Array, rounding: Rounding = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """Return a - b.  Source: sub (floating point)."""
    if rounding != "rn":
        return add(a, np.where(np.isnan(b), b, -b), rounding, ftz, sat)
    if _is_double(a):
        return float_kernels.sub64(a, b)
    result = (float_kernels.sub32_ftz if ftz else float_kernels.sub32)(a, b)
    return saturate(result) if sat else result


def mul(a: Array, b: Array, rounding: Rounding = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """Return a * b.  Source: mul (floating point)."""
    if _is_double(a):
        if rounding == "rn":
            return float_kernels.mul64(a, b)
        return float_kernels.mul64_directed(a, b, intrinsics.ROUNDING[rounding])
    if rounding == "rn":
        result = (float_kernels.mul32_ftz if ftz else float_kernels.mul32)(a, b)
        return saturate(result) if sat else result
    if ftz:
        a, b = flush(a), flush(b)
    # The product of two 24-bit significands is exact in f64.
    return _finish(quietly(np.multiply, a, b, dtype=np.float64), rounding, ftz, sat)


def fma(a: Array, b: Array, c: Array, rounding: Rounding = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """Return a * b + c, rounded once.  Source: fma (floating point)."""
    if _is_double(a):
        if rounding == "rn":
            return float_kernels.fma64(a, b, c)
        return float_kernels.fma64_directed(a, b, c, intrinsics.ROUNDING[rounding])
    if rounding == "rn":
        result = (float_kernels.fma32_ftz if ftz else float_kernels.fma32)(a, b, c)
        return saturate(result) if sat else result
    return _fma32_directed(a, b, c, rounding, ftz, sat)


def div(a: Array, b: Array, rounding: Rounding = "rn", ftz: bool = False) -> Array:
    """Return a / b, rounded once.  Source: div (IEEE forms)."""
    if _is_double(a):
        if rounding == "rn":
            return float_kernels.div64(a, b)
        return float_kernels.div64_directed(a, b, intrinsics.ROUNDING[rounding])
    if rounding == "rn" and not ftz:
        return float_kernels.div32(a, b)
    if ftz:
        a, b = flush(a), flush(b)
    # A quotient that is neither an f32 number nor halfway between two differs from both by at least 2**-53.
    return _finish(quietly(np.divide, a, b, dtype=np.float64), rounding, ftz, False)


def rcp(a: Array, rounding: Rounding = "rn", ftz: bool = False) -> Array:
    """Return 1 / a, rounded once.  Source: rcp (IEEE forms)."""
    return div(np.ones_like(a), a, rounding, ftz)


def sqrt(a: Array, rounding: Rounding = "rn", ftz: bool = False) -> Array:
    """Return the square root of a, rounded once.  Source: sqrt (IEEE forms)."""
    if _is_double(a):
        if rounding == "rn":
            return float_kernels.sqrt64(a)
        return float_kernels.sqrt64_directed(a, intrinsics.ROUNDING[rounding])
    if rounding == "rn" and not ftz:
        return float_kernels.sqrt32(a)
    if ftz:
        a = flush(a)
    # A root that is neither an f32 number nor halfway between two differs from both by at least 2**-51.
    return _finish(quietly(np.sqrt, a, dtype=np.float64), rounding, ftz, False)


def _extreme(kind: Literal["min", "max"], a: Array, b: Array, ftz: bool, nan: bool, xorsign_abs: bool) -> Array:
    double = _is_double(a)
    if ftz:
        a, b = flush(a), flush(b)
    sign = None
    if xorsign_abs:
        sign = np.signbit(a) != np.signbit(b)
        a, b = np.abs(a), np.abs(b)
    result: Array = getattr(float_kernels, f"{kind}{64 if double else 32}")(a, b)
    if nan:
        result = np.where(np.isnan(a) | np.isnan(b), NAN32, result)
    if sign is not None:
        result = np.where(sign & ~np.isnan(result), -result, result)
    return result


def minimum(a: Array, b: Array, ftz: bool = False, nan: bool = False, xorsign_abs: bool = False) -> Array:
    """Return the smaller operand, where -0 is below +0.  Source: min (floating point).

    A NaN gives the other operand, or NaN if `nan` is set.
    """
    return _extreme("min", a, b, ftz, nan, xorsign_abs)


def maximum(a: Array, b: Array, ftz: bool = False, nan: bool = False, xorsign_abs: bool = False) -> Array:
    """Return the larger operand, by the rules of `minimum`.  Source: max (floating point)."""
    return _extreme("max", a, b, ftz, nan, xorsign_abs)


def absolute(a: Array, ftz: bool = False) -> Array:
    """Return the magnitude of a.  Source: abs (floating point).

    An f32 NaN becomes canonical. An f64 NaN becomes quiet and keeps its sign.
    """
    if _is_double(a):
        return float_kernels.abs64(a)
    result = np.abs(a)
    return canonical(flush(result) if ftz else result)


def negate(a: Array, ftz: bool = False) -> Array:
    """Return the negation of a. A NaN is treated as in `absolute`.  Source: neg (floating point)."""
    if _is_double(a):
        return float_kernels.neg64(a)
    result = np.negative(a)
    return canonical(flush(result) if ftz else result)


def copysign(a: Array, b: Array) -> Array:
    """Return the magnitude of b with the sign of a.  Source: copysign."""
    return np.copysign(b, a)


def testp(property: Literal["finite", "infinite", "number", "notanumber", "normal", "subnormal"], a: Array) -> Array:
    """Return a mask of the numbers that have a property. Zeros count as normal.  Source: testp."""
    if property == "finite":
        return np.isfinite(a)
    if property == "infinite":
        return np.isinf(a)
    if property == "number":
        return ~np.isnan(a)
    if property == "notanumber":
        return np.isnan(a)
    tiny = np.finfo(a.dtype).smallest_normal
    magnitude = np.abs(a)
    if property == "normal":
        return np.isfinite(a) & ((magnitude >= tiny) | (magnitude == 0))
    return (magnitude > 0) & (magnitude < tiny)
