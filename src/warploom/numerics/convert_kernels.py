"""Compiled conversions, compiled by Numba on first use.

``mode`` is 0 for rn, 1 for rz, 2 for rm and 3 for rp, whole numbers or not.
This module imports Numba: only functions import it.
"""

# pyright: reportUntypedFunctionDecorator=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import numpy as np
from numba import njit

from warploom.numerics._compile import elementwise
from warploom.numerics.half_kernels import from_bf16, from_f16, to_bf16, to_f16


@njit(cache=True, inline="always")
def _whole(x, mode):
    if mode == 1:
        return np.trunc(x)
    if mode == 0:
        return np.rint(x)
    return np.floor(x) if mode == 2 else np.ceil(x)


@elementwise(np.int64, uniform=4)
def integer(x, mode, low, high, nan):
    """An int64 between two limits."""
    whole = _whole(np.float64(x), mode)
    if whole != whole:
        return nan
    if whole <= np.float64(low):
        return low
    return high if whole >= np.float64(high) else np.int64(whole)


@elementwise(np.uint64, uniform=1)
def natural(x, mode):
    """A uint64; a NaN gives its highest bit."""
    whole = _whole(np.float64(x), mode)
    if whole != whole:
        return np.uint64(1 << 63)
    if whole <= 0.0:
        return np.uint64(0)
    return np.uint64(0xFFFFFFFFFFFFFFFF) if whole >= 2.0**64 else np.uint64(whole)


@njit(cache=True, inline="always")
def _directed(code, back, x, mode):
    """The pattern nearest to x moved to the one that the mode asks for."""
    inward = abs(back) > abs(x)
    outward = abs(back) < abs(x)
    negative = x < np.float32(0.0)
    if mode == 1 or negative == (mode == 3):
        return code - np.uint32(1) if inward else code
    return code + np.uint32(1) if outward else code


@elementwise(np.uint16, uniform=1)
def f16_directed(x, mode):
    code = np.uint32(to_f16(x))
    return np.uint16(_directed(code, from_f16(code), x, mode))


@elementwise(np.uint16, uniform=1)
def bf16_directed(x, mode):
    code = np.uint32(to_bf16(x))
    return np.uint16(_directed(code, from_bf16(code), x, mode))


@elementwise(np.int64)
def odd_bf16(bits):
    """The bf16 pattern of an f32 one, rounded to odd: enough to round again to any narrow format."""
    sticky = np.int64(1) if bits & np.uint32(0xFFFF) else np.int64(0)
    return np.int64(bits >> np.uint32(16)) | sticky
