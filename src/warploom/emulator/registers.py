"""The register files: one array for each width, with the warp as the middle axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.types import TYPES

# Register widths in bits, and the dtype of each file; 8-bit registers have a file of their own.
_FILES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}


class Declared:
    """The registers a program declares: counts by width. `declare` gives each its place in its file."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(_FILES, 0)

    def declare(self, type: str, count: int) -> tuple[int, int]:
        """Width and first index of `count` registers of a type. Errors: KeyError for an unknown width."""
        width = TYPES[type].bits
        first = self.counts[width]
        self.counts[width] += count
        return width, first

    def bytes_per_warp(self) -> int:
        """What one warp's registers take, in bytes."""
        return sum(32 * self.counts[width] * dtype.itemsize for width, dtype in _FILES.items())

    def allocate(self, warps: int) -> dict[int, NDArray[Any]]:
        """The files for `warps` warps, zero-filled. Shapes: (registers, warps, 32)."""
        return {width: np.zeros((self.counts[width], warps, 32), dtype) for width, dtype in _FILES.items()}
