"""Compiled byte permutation.

This module imports Numba: only functions import it.
"""

# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import numpy as np

from warploom.numerics._compile import elementwise, inlined


@inlined
def _selected(a, b, selector):
    """Return one of eight bytes, or eight copies of its sign if bit 3 of the selector is set."""
    word = b if selector & np.uint32(4) else a
    byte = (word >> ((selector & np.uint32(3)) << np.uint32(3))) & np.uint32(0xFF)
    sign = np.uint32(0xFF) if byte & np.uint32(0x80) else np.uint32(0)
    return sign if selector & np.uint32(8) else byte


@elementwise(np.uint32)
def permuted(a, b, selectors):
    """Return four bytes, one for each nibble of `selectors`."""
    low = _selected(a, b, selectors) | (_selected(a, b, selectors >> np.uint32(4)) << np.uint32(8))
    high = _selected(a, b, selectors >> np.uint32(8)) | (
        _selected(a, b, selectors >> np.uint32(12)) << np.uint32(8)
    )
    return np.uint32(low | (high << np.uint32(16)))
