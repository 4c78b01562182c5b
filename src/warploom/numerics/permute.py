"""Compiled copies between the registers of warps and matrices.

A few warps are copied at a time, so that source and destination stay in the cache. Indices are unsigned, because Numba
tests signed indices for negative values, which takes as long as the copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit

Units = NDArray[Any]
Numbers = NDArray[Any]

_BLOCK = 16


@njit
def gather(file: Units, registers: Numbers, warps: Numbers, target: Numbers, matrices: Units) -> None:
    """Copy unit p of register r of each warp to unit target[r, p] of the warp's matrix.

    Shapes: file (registers of the file, warps of the file, units); target (registers, units); matrices (warps,
    registers * units). All are C-contiguous and writeable; registers and target are uint64, warps int64.
    """
    flat = file.reshape(-1)
    units, count = np.uint64(file.shape[2]), np.uint64(file.shape[1])
    for first in range(0, len(warps), _BLOCK):
        for r in range(len(registers)):
            for g in range(first, min(first + _BLOCK, len(warps))):
                at = (registers[r] * count + np.uint64(warps[g])) * units
                for p in range(units):
                    matrices[g, target[r, p]] = flat[at + p]


@njit
def scatter(matrices: Units, target: Numbers, file: Units, registers: Numbers, warps: Numbers) -> None:
    """Copy unit target[r, p] of each warp's matrix to unit p of register r: the inverse of `gather`."""
    flat = file.reshape(-1)
    units, count = np.uint64(file.shape[2]), np.uint64(file.shape[1])
    for first in range(0, len(warps), _BLOCK):
        for r in range(len(registers)):
            for g in range(first, min(first + _BLOCK, len(warps))):
                at = (registers[r] * count + np.uint64(warps[g])) * units
                for p in range(units):
                    flat[at + p] = matrices[g, target[r, p]]
