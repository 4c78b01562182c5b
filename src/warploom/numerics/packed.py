"""Arithmetic on bit patterns of f16 and bf16 numbers and of f16x2, bf16x2 and f32x2 pairs.

f16 and bf16 numbers are uint16 patterns, f16x2 and bf16x2 pairs uint32 patterns, and f32x2 pairs uint64 patterns. The
dtype of the first operand decides between numbers and pairs. A NaN result is 0x7FFF. `ftz` (f16 only) replaces
subnormal operands and results by zeros of their sign. `sat` clamps to [0, 1] and replaces NaN by +0. `relu` replaces
negative results by +0 and keeps NaN.

Shapes: any, broadcast together. Source: half-precision and mixed-precision instructions of the PTX ISA.
"""

from collections.abc import Callable

import numpy as np

from warploom.numerics import floats
from warploom.numerics.formats import BF16, F16, Array, Format, Rounding
from warploom.numerics.lazy_module import LazyModule

half_kernels = LazyModule("warploom.numerics.half_kernels")
_SIGNS = np.uint32(0x80008000)
_BOTH = np.uint32(0x00010001)
_SHIFT = np.uint32(16)


def float_from_half(patterns: Array, fmt: Format) -> Array:
    """Return the f32 numbers of f16 or bf16 patterns. The GPU keeps all bits of a bf16 NaN."""
    if fmt is BF16:
        return (patterns.astype(np.uint32) << _SHIFT).view(np.float32)
    return half_kernels.f32_from_f16(patterns)


def pair(low: Array, high: Array) -> Array:
    """Return uint32 patterns with the uint16 patterns `low` and `high` as halves."""
    return low.astype(np.uint32) | (high.astype(np.uint32) << _SHIFT)


def _half_mask(mask: Array) -> Array:
    return (mask & _BOTH) * np.uint32(0xFFFF)


def _above(x: Array, limit: int) -> Array:
    """Return uint32 masks of the 16-bit halves of x whose magnitudes exceed `limit`."""
    # A magnitude is at most 0x7FFF, so the addition never carries out of a half.
    total = (x & ~_SIGNS) + _BOTH * np.uint32(0x7FFF - limit)
    return _half_mask(total >> np.uint32(15))


def flush(x: Array, fmt: Format) -> Array:
    """Return pairs with subnormal numbers replaced by zeros of the same sign."""
    return x & (_above(x, (1 << fmt.mantissa_bits) - 1) | _SIGNS)


def rectify(x: Array) -> Array:
    """Return pairs with negative numbers replaced by +0. NaN operands must be canonical (0x7FFF)."""
    return x & ~_half_mask(x >> np.uint32(15))


def saturate(x: Array, fmt: Format) -> Array:
    """Return pairs clamped to [0, 1]. A NaN becomes +0. NaN operands must be canonical (0x7FFF)."""
    one = fmt.bias << fmt.mantissa_bits
    x = rectify(x) & ~_above(x, fmt.inf_code)
    large = _above(x, one)
    return (x & ~large) | (_BOTH * np.uint32(one) & large)


def canonical(x: Array, fmt: Format) -> Array:
    """Return pairs with every NaN replaced by 0x7FFF."""
    nan = _above(x, fmt.inf_code)
    return (x & ~nan) | (nan & ~_SIGNS)


def _on_pairs(function: Callable[..., Array], *operands: Array) -> Array:
    """Apply a function of uint32 pairs to pairs, or to single uint16 numbers."""
    if operands[0].dtype.itemsize == 4:
        return function(*operands)
    return function(*(x.astype(np.uint32) for x in operands)).astype(np.uint16)


def _apply(
    kernel: Callable[..., Array], operands: tuple[Array, ...], fmt: Format, ftz: bool, sat: bool, relu: bool = False
) -> Array:

    def modified(*pairs: Array) -> Array:
        result = flush(kernel(*(flush(x, fmt) for x in pairs)), fmt) if ftz else kernel(*pairs)
        if relu:
            result = rectify(result)
        return saturate(result, fmt) if sat else result

    return _on_pairs(modified, *operands)


def add(a: Array, b: Array, fmt: Format, ftz: bool = False, sat: bool = False) -> Array:
    """Return a + b.  Source: add (half precision)."""
    return _apply(half_kernels.add_f16x2 if fmt is F16 else half_kernels.add_bf16x2, (a, b), fmt, ftz, sat)


def sub(a: Array, b: Array, fmt: Format, ftz: bool = False, sat: bool = False) -> Array:
    """Return a - b.  Source: sub (half precision)."""
    flipped = b ^ (np.uint16(0x8000) if b.dtype.itemsize == 2 else _SIGNS)
    return add(a, flipped, fmt, ftz, sat)


def mul(a: Array, b: Array, fmt: Format, ftz: bool = False, sat: bool = False) -> Array:
    """Return a * b.  Source: mul (half precision)."""
    kernel = (half_kernels.mul_f16x2_ftz if ftz else half_kernels.mul_f16x2) if fmt is F16 else half_kernels.mul_bf16x2
    return _apply(kernel, (a, b), fmt, ftz, sat)


def fma(a: Array, b: Array, c: Array, fmt: Format, ftz: bool = False, sat: bool = False, relu: bool = False) -> Array:
    """Return a * b + c, rounded once.  Source: fma (half precision)."""
    kernel = (half_kernels.fma_f16x2_ftz if ftz else half_kernels.fma_f16x2) if fmt is F16 else half_kernels.fma_bf16x2
    return _apply(kernel, (a, b, c), fmt, ftz, sat, relu)


_OOB_NAN = _BOTH * np.uint32(0x7FF7)
"""NaN of an element out of bounds in both halves, with which tensor copies fill shared memory."""


def fma_oob(a: Array, b: Array, c: Array, fmt: Format, relu: bool = False) -> Array:
    """Return a * b + c, or +0 where a or b is the NaN of an element out of bounds.  Source: fma (oob)."""

    def modified(a: Array, b: Array, c: Array) -> Array:
        keep = _above((a & ~_SIGNS) ^ _OOB_NAN, 0) & _above((b & ~_SIGNS) ^ _OOB_NAN, 0)
        return fma(a, b, c, fmt, relu=relu) & keep

    return _on_pairs(modified, a, b, c)


def _extreme(
    kernel: Callable[..., Array], a: Array, b: Array, fmt: Format, ftz: bool, nan: bool, xorsign_abs: bool
) -> Array:
    def modified(a: Array, b: Array) -> Array:
        if ftz:
            a, b = flush(a, fmt), flush(b, fmt)
        either = _above(a, fmt.inf_code) | _above(b, fmt.inf_code)
        sign = (a ^ b) & _SIGNS
        if xorsign_abs:
            a, b = a & ~_SIGNS, b & ~_SIGNS
        result = kernel(a, b)
        if xorsign_abs:
            result = result | (sign & ~_above(result, fmt.inf_code))
        return (result & ~either) | (either & ~_SIGNS) if nan else result

    return _on_pairs(modified, a, b)


def minimum(a: Array, b: Array, fmt: Format, ftz: bool = False, nan: bool = False, xorsign_abs: bool = False) -> Array:
    """Return the smaller operand, where -0 is below +0.  Source: min.

    A NaN gives the other operand, or NaN if `nan` is set.
    """
    kernel = half_kernels.min_f16x2 if fmt is F16 else half_kernels.min_bf16x2
    return _extreme(kernel, a, b, fmt, ftz, nan, xorsign_abs)


def maximum(a: Array, b: Array, fmt: Format, ftz: bool = False, nan: bool = False, xorsign_abs: bool = False) -> Array:
    """Return the larger operand, by the rules of `minimum`.  Source: max."""
    kernel = half_kernels.max_f16x2 if fmt is F16 else half_kernels.max_bf16x2
    return _extreme(kernel, a, b, fmt, ftz, nan, xorsign_abs)


def _unary(x: Array, change: Callable[[Array], Array], fmt: Format, ftz: bool) -> Array:
    def changed(pairs: Array) -> Array:
        result = canonical(change(pairs), fmt)
        return flush(result, fmt) if ftz else result

    return _on_pairs(changed, x)


def negate(a: Array, fmt: Format, ftz: bool = False) -> Array:
    """Return the negation of a. A NaN becomes canonical.  Source: neg."""
    return _unary(a, lambda x: x ^ _SIGNS, fmt, ftz)


def absolute(a: Array, fmt: Format, ftz: bool = False) -> Array:
    """Return the magnitude of a. A NaN becomes canonical.  Source: abs (half precision)."""
    return _unary(a, lambda x: x & ~_SIGNS, fmt, ftz)


def f32x2(operation: Callable[..., Array], *operands: Array, rounding: Rounding = "rn", ftz: bool = False) -> Array:
    """Apply an f32 function of `floats` to both halves of f32x2 patterns.  Source: add, mul, fma of f32x2."""
    low, high = (
        operation(*((x >> shift).astype(np.uint32).view(np.float32) for x in operands), rounding=rounding, ftz=ftz)
        for shift in (np.uint64(0), np.uint64(32))
    )
    return low.view(np.uint32).astype(np.uint64) | (high.view(np.uint32).astype(np.uint64) << np.uint64(32))


def fma_mixed(a: Array, b: Array, c: Array, fmt: Format, rounding: Rounding = "rn", sat: bool = False) -> Array:
    """Return a * b + c for f16 or bf16 factors and an f32 addend.  Source: fma of f32.f16 and f32.bf16."""
    return floats.fma(float_from_half(a, fmt), float_from_half(b, fmt), c, rounding, sat=sat)
