"""Compiled conversions, imported on first use because Numba loads slowly.

`mode` is a rounding mode, a number of `formats.MODES`.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false

import numpy as np

from warploom.numerics._compile import elementwise, inlined
from warploom.numerics.float_kernels import directed_step
from warploom.numerics.half_kernels import from_bf16, from_f16, to_bf16, to_f16


@inlined
def _to_integer(x, mode):
    if mode == 1:
        return np.trunc(x)
    if mode == 0:
        return np.rint(x)
    return np.floor(x) if mode == 2 else np.ceil(x)


@elementwise(np.int64, uniform=4)
def integer(x, mode, low, high, nan):
    """Return x rounded to an int64 and clamped to [low, high], or `nan` for a NaN."""
    whole = _to_integer(np.float64(x), mode)
    if whole != whole:
        return nan
    if whole <= np.float64(low):
        return low
    return high if whole >= np.float64(high) else np.int64(whole)


@elementwise(np.uint64, uniform=1)
def unsigned_integer(x, mode):
    """Return x rounded to a uint64 and clamped. A NaN gives 2**63."""
    whole = _to_integer(np.float64(x), mode)
    if whole != whole:
        return np.uint64(1 << 63)
    if whole <= 0.0:
        return np.uint64(0)
    return np.uint64(0xFFFFFFFFFFFFFFFF) if whole >= 2.0**64 else np.uint64(whole)


@elementwise(np.uint16, uniform=1)
def f16_directed(x, mode):
    code = np.uint32(to_f16(x))
    return np.uint16(directed_step(code, from_f16(code), x, mode))


@elementwise(np.uint16, uniform=1)
def bf16_directed(x, mode):
    code = np.uint32(to_bf16(x))
    return np.uint16(directed_step(code, from_bf16(code), x, mode))


@elementwise(np.int64)
def odd_bf16(bits):
    """Return the bf16 pattern of an f32 pattern, rounded to odd.

    A second rounding, to a format of at most 8 bits, then equals a single rounding.
    """
    sticky = np.int64(1) if bits & np.uint32(0xFFFF) else np.int64(0)
    return np.int64(bits >> np.uint32(16)) | sticky


@elementwise(np.uint32, uniform=6)
def stochastic(bits, random, width, mantissa, lowest, largest, over, nan):
    """Return the code of an f32 pattern, rounded by the carry of random bits into the kept bits.

    The `width` random bits are added to the upper bits of those that the format discards. The format has `mantissa`
    bits and the smallest normal exponent `lowest`. `over` is the code for magnitudes above the code `largest`, and
    `nan` that of a NaN. The sign of the number is bit 31 of the result.
    """
    magnitude = np.int64(bits & np.uint32(0x7FFFFFFF))
    if magnitude > 0x7F800000:
        return np.uint32(nan)
    sign = bits & np.uint32(0x80000000)
    field = magnitude >> 23
    significand = magnitude & 0x7FFFFF
    if field > 0:
        significand |= 0x800000
    exponent = (field if field > 0 else 1) - 127
    above = exponent - lowest  # negative for a subnormal number
    discarded = 23 - mantissa - (above if above < 0 else 0)
    if discarded > 40:  # too small for a carry
        return sign
    kept = (significand + (np.int64(random) << (discarded - width))) >> discarded
    code = ((above if above > 0 else 0) << mantissa) + kept
    return sign | np.uint32(code if code <= largest else over)
