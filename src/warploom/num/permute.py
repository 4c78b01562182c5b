"""Matrices between the registers of warps and arrays: compiled, a few warps at a time so that both stay in cache.

Everything is addressed by unsigned numbers: they need no test for being negative, which would cost as much as
the move.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.num._compile import njit

Units = NDArray[Any]
Numbers = NDArray[np.uint64]

_BLOCK = 16


def gather(file: Units, registers: Numbers, warps: Numbers, target: Numbers, size: int) -> Units:
    """Unit p of register r of a warp becomes unit target[r, p] of the warp's matrix of `size` units.

    Of several units for one place the first counts.

    Shapes: file (registers of the file, warps of the file, units), C-contiguous; target (registers, units); the
    result (warps, size).
    """
    matrices = np.empty((len(warps), size), file.dtype)
    _gather(file.reshape(-1), registers * np.uint64(file[0].size), warps * np.uint64(file.shape[2]), target, matrices)
    return matrices


def scatter(matrices: Units, target: Numbers, file: Units, registers: Numbers, warps: Numbers) -> None:
    """The inverse of `gather`."""
    _scatter(matrices, target, file.reshape(-1), registers * np.uint64(file[0].size), warps * np.uint64(file.shape[2]))


@njit
def _gather(file: Units, registers: Numbers, warps: Numbers, target: Numbers, matrices: Units) -> None:
    units = np.uint64(target.shape[1])
    one = np.uint64(1)
    for first in range(0, len(warps), _BLOCK):
        for r in range(len(registers) - 1, -1, -1):
            for g in range(first, min(first + _BLOCK, len(warps))):
                at = registers[r] + warps[g]
                for done in range(units):
                    p = units - one - done
                    matrices[g, target[r, p]] = file[at + p]


@njit
def _scatter(matrices: Units, target: Numbers, file: Units, registers: Numbers, warps: Numbers) -> None:
    units = np.uint64(target.shape[1])
    for first in range(0, len(warps), _BLOCK):
        for r in range(len(registers)):
            for g in range(first, min(first + _BLOCK, len(warps))):
                at = registers[r] + warps[g]
                for p in range(units):
                    file[at + p] = matrices[g, target[r, p]]
