"""f16 and bf16 arithmetic on patterns: uint16 for a number, uint32 for a pair; f32x2 on uint64.

Shapes: any, broadcast together; the NumPy type of the first operand says whether numbers or pairs are meant.
A NaN result is 0x7FFF.  ``ftz`` (f16 alone) replaces subnormal operands and results by zeros of their sign,
the result once rounded to 11 bits.  ``sat`` clamps to [0, 1] with NaN to +0; ``relu`` turns negative results
into +0, NaN stays.
Source: half-precision and mixed-precision instructions of the PTX ISA.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from warploom.numerics import floats
from warploom.numerics.formats import F16, Array, Format, Rounding

_SIGNS = np.uint32(0x80008000)
_BOTH = np.uint32(0x00010001)
_SHIFT = np.uint32(16)


@cache
def _compiled() -> Any:
    from warploom.numerics import half_kernels

    return half_kernels


def low_half(x: Array) -> Array:
    """The lower 16 bits of uint32 patterns."""
    return x.astype(np.uint16)


def high_half(x: Array) -> Array:
    """The upper 16 bits of uint32 patterns."""
    return (x >> _SHIFT).astype(np.uint16)


def pair(low: Array, high: Array) -> Array:
    """Two uint16 patterns as one uint32."""
    return low.astype(np.uint32) | (high.astype(np.uint32) << _SHIFT)


def _spread(mask: Array) -> Array:
    """All ones in each half whose lowest bit is set."""
    return (mask & _BOTH) * np.uint32(0xFFFF)


def _above(x: Array, limit: int) -> Array:
    """All ones in each half whose magnitude exceeds ``limit``."""
    # A half is at most 0x7FFF, so the sum carries into its sign bit and no further.
    total = (x & ~_SIGNS) + _BOTH * np.uint32(0x7FFF - limit)
    return _spread(total >> np.uint32(15))


def flush(x: Array, fmt: Format) -> Array:
    """Pairs with subnormals made zeros of their sign."""
    return x & (_above(x, (1 << fmt.mantissa_bits) - 1) | _SIGNS)


def rectify(x: Array) -> Array:
    """Pairs with negative numbers made +0.  A NaN must be canonical."""
    return x & ~_spread(x >> np.uint32(15))


def saturate(x: Array, fmt: Format) -> Array:
    """Pairs clamped to [0, 1]; a NaN, which must be canonical, gives +0."""
    one = fmt.bias << fmt.mantissa_bits
    x = rectify(x) & ~_above(x, fmt.inf_code)
    large = _above(x, one)
    return (x & ~large) | (_BOTH * np.uint32(one) & large)


def canonical(x: Array, fmt: Format) -> Array:
    """Pairs with every NaN made 0x7FFF."""
    nan = _above(x, fmt.inf_code)
    return (x & ~nan) | (nan & ~_SIGNS)


def _finish(x: Array, fmt: Format, ftz: bool, sat: bool, relu: bool) -> Array:
    if ftz:
        x = flush(x, fmt)
    if relu:
        x = rectify(x)
    return saturate(x, fmt) if sat else x


def _apply(
    kernel: Callable[..., Array],
    operands: tuple[Array, ...],
    fmt: Format,
    ftz: bool = False,
    sat: bool = False,
    relu: bool = False,
) -> Array:
    """Run a kernel of pairs; single numbers ride in the lower half."""
    single = operands[0].dtype.itemsize == 2
    if single:
        operands = tuple(x.astype(np.uint32) for x in operands)
    if ftz:
        operands = tuple(flush(x, fmt) for x in operands)
    result = kernel(*operands)
    if ftz or sat or relu:
        result = _finish(result, fmt, ftz, sat, relu)
    return result.astype(np.uint16) if single else result


def add(a: Array, b: Array, fmt: Format, ftz: bool = False, sat: bool = False) -> Array:
    """Source: add (half precision)."""
    kernels = _compiled()
    return _apply(kernels.add_f16x2 if fmt is F16 else kernels.add_bf16x2, (a, b), fmt, ftz, sat)


def sub(a: Array, b: Array, fmt: Format, ftz: bool = False, sat: bool = False) -> Array:
    """Source: sub (half precision)."""
    flipped = b ^ (np.uint16(0x8000) if b.dtype.itemsize == 2 else _SIGNS)
    return add(a, flipped, fmt, ftz, sat)


def mul(a: Array, b: Array, fmt: Format, ftz: bool = False, sat: bool = False) -> Array:
    """Source: mul (half precision)."""
    kernels = _compiled()
    kernel = (kernels.mul_f16x2_ftz if ftz else kernels.mul_f16x2) if fmt is F16 else kernels.mul_bf16x2
    return _apply(kernel, (a, b), fmt, ftz, sat)


def fma(
    a: Array, b: Array, c: Array, fmt: Format, ftz: bool = False, sat: bool = False, relu: bool = False
) -> Array:
    """Multiply-add rounded once.  Source: fma (half precision)."""
    kernels = _compiled()
    kernel = (kernels.fma_f16x2_ftz if ftz else kernels.fma_f16x2) if fmt is F16 else kernels.fma_bf16x2
    return _apply(kernel, (a, b, c), fmt, ftz, sat, relu)


def _extreme(
    kernel: Callable[..., Array], a: Array, b: Array, fmt: Format, ftz: bool, nan: bool, xorsign_abs: bool
) -> Array:
    single = a.dtype.itemsize == 2
    if single:
        a, b = a.astype(np.uint32), b.astype(np.uint32)
    if ftz:
        a, b = flush(a, fmt), flush(b, fmt)
    either = _above(a, fmt.inf_code) | _above(b, fmt.inf_code)
    sign = (a ^ b) & _SIGNS
    if xorsign_abs:
        a, b = a & ~_SIGNS, b & ~_SIGNS
    result = kernel(a, b)
    if xorsign_abs:
        result = result | (sign & ~_above(result, fmt.inf_code))
    if nan:
        result = (result & ~either) | (either & ~_SIGNS)
    return result.astype(np.uint16) if single else result


def minimum(
    a: Array, b: Array, fmt: Format, ftz: bool = False, nan: bool = False, xorsign_abs: bool = False
) -> Array:
    """The smaller; -0 is below +0; a NaN operand gives the other one, or NaN where ``nan``.  Source: min."""
    kernels = _compiled()
    kernel = kernels.min_f16x2 if fmt is F16 else kernels.min_bf16x2
    return _extreme(kernel, a, b, fmt, ftz, nan, xorsign_abs)


def maximum(
    a: Array, b: Array, fmt: Format, ftz: bool = False, nan: bool = False, xorsign_abs: bool = False
) -> Array:
    """The larger, by the rules of `minimum`.  Source: max."""
    kernels = _compiled()
    kernel = kernels.max_f16x2 if fmt is F16 else kernels.max_bf16x2
    return _extreme(kernel, a, b, fmt, ftz, nan, xorsign_abs)


def _unary(x: Array, change: Callable[[Array], Array], fmt: Format, ftz: bool) -> Array:
    single = x.dtype.itemsize == 2
    result = canonical(change(x.astype(np.uint32) if single else x), fmt)
    if ftz:
        result = flush(result, fmt)
    return result.astype(np.uint16) if single else result


def negate(a: Array, fmt: Format, ftz: bool = False) -> Array:
    """Source: neg (half precision).  A NaN becomes canonical: the machine subtracts from zero."""
    return _unary(a, lambda x: x ^ _SIGNS, fmt, ftz)


def absolute(a: Array, fmt: Format, ftz: bool = False) -> Array:
    """Source: abs (half precision)."""
    return _unary(a, lambda x: x & ~_SIGNS, fmt, ftz)


def _f32_pair(x: Array) -> tuple[Array, Array]:
    low = x.astype(np.uint32).view(np.float32)
    high = (x >> np.uint64(32)).astype(np.uint32).view(np.float32)
    return low, high


def f32x2(
    operation: Callable[..., Array], *operands: Array, rounding: Rounding = "rn", ftz: bool = False
) -> Array:
    """An operation of `floats` on both halves of uint64 patterns.  Source: the f32x2 forms."""
    parts = [_f32_pair(x) for x in operands]
    low = operation(*(p[0] for p in parts), rounding=rounding, ftz=ftz)
    high = operation(*(p[1] for p in parts), rounding=rounding, ftz=ftz)
    return low.view(np.uint32).astype(np.uint64) | (high.view(np.uint32).astype(np.uint64) << np.uint64(32))


def fma_mixed(
    a: Array, b: Array, c: Array, fmt: Format, rounding: Rounding = "rn", sat: bool = False
) -> Array:
    """f16 or bf16 factors, f32 addend and result.  Source: fma with types f32.f16 and f32.bf16."""
    from warploom.numerics.convert import float_from_half

    return floats.fma(float_from_half(a, fmt), float_from_half(b, fmt), c, rounding, sat=sat)
