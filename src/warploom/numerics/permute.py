"""Compiled copies between warp registers and matrices, and byte permutation (prmt).

A unit is one matrix element. A register of a warp contains one or several units for each lane.
"""

# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportUnknownArgumentType=false

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import elementwise, inlined, njit

Units = NDArray[Any]
Numbers = NDArray[Any]

# Number of warps copied at a time, so that source and destination stay in the cache.
_BLOCK = 16


@njit
def gather(file: Units, registers: Numbers, warps: Numbers, target: Numbers, matrices: Units) -> None:
    """Copy registers of each warp from the register file `file` to the matrix of the warp.

    Element p of register `registers[r]` in warp `warps[g]` becomes element target[r, p] of matrices[g].

    Shapes: file (all registers, all warps, E), for E elements in a register; registers (R,); warps (W,); target (R, E);
        matrices (W, R * E). All arrays are C-contiguous and writeable; registers and target are uint64, warps int64.
    """
    # Numba tests signed indices for negative values, which takes as long as the copy.
    units = np.uint64(file.shape[2])
    for first in range(0, len(warps), _BLOCK):
        for r in range(len(registers)):
            for g in range(first, min(first + _BLOCK, len(warps))):
                row = file[registers[r], np.uint64(warps[g])]
                for p in range(units):
                    matrices[g, target[r, p]] = row[p]


@njit
def scatter(matrices: Units, target: Numbers, file: Units, registers: Numbers, warps: Numbers) -> None:
    """Copy the matrix of each warp to registers: the inverse of `gather`, with the same operands."""
    units = np.uint64(file.shape[2])
    for first in range(0, len(warps), _BLOCK):
        for r in range(len(registers)):
            for g in range(first, min(first + _BLOCK, len(warps))):
                row = file[registers[r], np.uint64(warps[g])]
                for p in range(units):
                    row[p] = matrices[g, target[r, p]]


@inlined
def _selected(a, b, selector):
    """Return byte `selector & 7` of b:a (a is low), or copies of the byte's sign if `selector & 8`."""
    word = b if np.uint32(selector & np.uint32(4)) else a
    shift = np.uint32(np.uint32(selector << np.uint32(3)) & np.uint32(24))
    byte = np.uint32(np.uint32(word >> shift) & np.uint32(0xFF))
    sign = np.uint32(0xFF) if np.uint32(byte & np.uint32(0x80)) else np.uint32(0)
    return sign if np.uint32(selector & np.uint32(8)) else byte


@elementwise(np.uint32)
def permuted(a, b, selectors):
    """Return four bytes of b:a (a is low). The low four nibbles of `selectors` select one byte each."""
    result = np.uint32(0)
    for nibble in range(4):
        byte = _selected(a, b, np.uint32(selectors >> np.uint32(4 * nibble)))
        result = np.uint32(result | np.uint32(byte << np.uint32(8 * nibble)))
    return result
