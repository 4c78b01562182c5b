"""Compiled functions of the bits of integers, imported on first use because Numba loads slowly."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false

import numpy as np

from warploom.numerics._compile import elementwise
from warploom.numerics.intrinsics import count_leading_zeros, reverse_bits

_NONE = np.uint32(0xFFFFFFFF)

leading_zeros = elementwise(np.uint32)(lambda x: np.uint32(count_leading_zeros(x)))
reversed32 = elementwise(np.uint32)(lambda x: np.uint32(reverse_bits(x)))
reversed64 = elementwise(np.uint64)(lambda x: np.uint64(reverse_bits(x)))


@elementwise(np.uint32)
def nth_one(mask, base, offset):
    """Return the position of the |offset|-th set bit of a uint32 mask from bit `base` (see `bits.fns`)."""
    # A downward search is an upward search in the reversed mask.
    word = reverse_bits(mask) if offset < 0 else mask
    start = np.uint32(31) - base if offset < 0 else base
    rank = abs(np.int64(offset))
    ones = np.uint32(word >> start << start)
    ones = ones & (np.uint32(1) << start) if rank == 0 else ones
    for k in range(1, 32):
        ones = np.uint32(ones & (ones - np.uint32(1))) if k < rank else ones
    shift = count_leading_zeros(np.uint32(ones & (~ones + np.uint32(1))))
    position = shift if offset < 0 else np.uint32(31) - shift
    found = _NONE if ones == 0 or base > np.uint32(31) or rank > 32 else np.uint32(position)
    # The GPU returns 0 for the most negative offset.
    return np.uint32(0) if offset == -(2**31) else found
