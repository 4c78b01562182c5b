"""Compiled byte permutation. Only functions import this module, because it imports Numba."""

# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import numpy as np

from warploom.numerics._compile import elementwise, inlined


@inlined
def _selected(a, b, selector):
    """Return the byte with the number in the low 3 bits of a selector.

    Bit 3 replaces it by eight copies of its sign.
    """
    word = b if selector & np.uint32(4) else a
    byte = (word >> ((selector & np.uint32(3)) << np.uint32(3))) & np.uint32(0xFF)
    sign = np.uint32(0xFF) if byte & np.uint32(0x80) else np.uint32(0)
    return sign if selector & np.uint32(8) else byte


@elementwise(np.uint32)
def permuted(a, b, selectors):
    """Return four bytes of a and b, one for each of the low four nibbles of `selectors`."""
    low = _selected(a, b, selectors) | (_selected(a, b, selectors >> np.uint32(4)) << np.uint32(8))
    high = _selected(a, b, selectors >> np.uint32(8)) | (_selected(a, b, selectors >> np.uint32(12)) << np.uint32(8))
    return np.uint32(low | (high << np.uint32(16)))
