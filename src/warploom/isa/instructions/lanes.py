"""Copies of operands for operations that take effect after their instruction."""

from __future__ import annotations

import numpy as np

from warploom.isa.model.semantics import Array, Warps


def spread(warps: Warps, operand: Array) -> Array:
    """Return a copy of an operand with one element per lane, which later register writes do not change.

    Shapes: an array that broadcasts to (warps, 32), to (warps, 32).
    """
    return np.array(np.broadcast_to(operand, (warps.count, 32)))
