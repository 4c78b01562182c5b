"""Register files: one array for each register width. Shapes: (registers, warps, 32)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.model.types import TYPES

# Register width in bits -> dtype of the register file.
_FILES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}


class RegisterFiles:
    """Number of registers of a program in the register file of each width."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(_FILES, 0)

    def declare(self, type: str, count: int) -> tuple[int, int]:
        """Reserve `count` registers of a type. Return their width in bits and the index of the first register.

        Errors: KeyError for a width without a register file.
        """
        width = TYPES[type].bits
        first = self.counts[width]
        self.counts[width] += count
        return width, first

    def bytes_per_warp(self) -> int:
        """Return the size of one warp's registers in bytes."""
        return sum(32 * self.counts[width] * dtype.itemsize for width, dtype in _FILES.items())

    def allocate(self, warps: int) -> dict[int, NDArray[Any]]:
        """Return register files for `warps` warps by width in bits, filled with zeros.

        Shapes: (registers, warps, 32).
        """
        return {width: np.zeros((self.counts[width], warps, 32), dtype) for width, dtype in _FILES.items()}
