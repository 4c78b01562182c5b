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


def gather(file: Units, registers: Numbers, warps: Numbers, target: Numbers) -> Units:
    """Unit p of register r of a warp becomes unit target[r, p] of the warp's matrix.

    Shapes: file (registers of the file, warps of the file, units), C-contiguous; target (registers, units); the
    result (warps, registers * units).
    """
    matrices = np.empty((len(warps), target.size), file.dtype)
    _gather(file.reshape(-1), *_starts(file, registers, warps), target, matrices)
    return matrices


def scatter(matrices: Units, target: Numbers, file: Units, registers: Numbers, warps: Numbers) -> None:
    """The inverse of `gather`."""
    _scatter(matrices, target, file.reshape(-1), *_starts(file, registers, warps))


def _starts(file: Units, registers: Numbers, warps: Numbers) -> tuple[Numbers, Numbers]:
    """What a register and a warp add to the place of a unit in the file."""
    _, count, units = file.shape
    return registers * np.uint64(count * units), warps * np.uint64(units)


@njit
def _gather(file: Units, registers: Numbers, warps: Numbers, target: Numbers, matrices: Units) -> None:
    units = np.uint64(target.shape[1])
    for first in range(0, len(warps), _BLOCK):
        for r in range(len(registers)):
            for g in range(first, min(first + _BLOCK, len(warps))):
                at = registers[r] + warps[g]
                for p in range(units):
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
