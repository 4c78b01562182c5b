"""Compiled bit operations, compiled by Numba on first use.

This module imports Numba: only functions import it.
"""

# pyright: reportUntypedFunctionDecorator=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import numpy as np
from numba import njit

from warploom.numerics._compile import elementwise


@njit(cache=True, inline="always")
def _picked(a, b, pick):
    """One byte of the eight, or its sign eight times."""
    word = b if pick & np.uint32(4) else a
    byte = (word >> ((pick & np.uint32(3)) << np.uint32(3))) & np.uint32(0xFF)
    sign = np.uint32(0xFF) if byte & np.uint32(0x80) else np.uint32(0)
    return sign if pick & np.uint32(8) else byte


@elementwise(np.uint32)
def permuted(a, b, selector):
    """Four bytes, one for each nibble of the selector."""
    low = _picked(a, b, selector) | (_picked(a, b, selector >> np.uint32(4)) << np.uint32(8))
    high = _picked(a, b, selector >> np.uint32(8)) | (
        _picked(a, b, selector >> np.uint32(12)) << np.uint32(8)
    )
    return np.uint32(low | (high << np.uint32(16)))
