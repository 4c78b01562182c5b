"""Cost of the accesses of warps: wavefronts of shared memory, sectors and lines of global memory.

The model is that of NVIDIA's programming guides. Shared memory has 32 banks of 4 bytes. An access has phases: one for
the warp if a lane accesses at most 4 bytes, two half-warps for 8 bytes, four quarters for 16. In a phase, a bank
delivers one word to all lanes that request it; a second word takes a second wavefront. Global memory is accessed in
sectors of 32 bytes, four to a line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.layout import BANKS

Array = NDArray[Any]

WORD = 4
SECTOR = 32
LINE = 128


def wavefronts(index: Array, lanes: Array, size: int) -> tuple[Array, Array, Array]:
    """Return the least wavefronts of each warp, the actual ones, and the most of one phase.

    The least number is one per phase.

    Shapes: index and lanes (warps, 32); the results (warps,).
    Units: `index` and `size`, that of one lane's access, in bytes; bank 0 is at index 0.
    """
    words = max(1, size // WORD)
    warps, phases = len(index), words
    first = np.where(lanes, index // WORD, -words)[..., None]
    asked = np.where(first >= 0, first + np.arange(words), -1).reshape(warps * phases, BANKS)
    asked.sort(axis=1)
    new = _new(asked)
    place = np.arange(len(asked))[:, None] * BANKS + asked % BANKS
    of_banks = np.bincount(place[new], minlength=asked.size).reshape(warps, phases, BANKS)
    taken = of_banks.max(axis=2)
    return np.count_nonzero(taken, axis=1), taken.sum(axis=1), taken.max(axis=1)


def sectors(index: Array, lanes: Array, size: int) -> tuple[Array, Array, Array]:
    """Return the least sectors of each warp's bytes, the accessed sectors, and the accessed lines.

    Shapes: index and lanes (warps, 32); the results (warps,).
    Units: `index` and `size`, that of one lane's access, in bytes; a sector begins at index 0.
    """
    bytes_asked = _distinct(index, lanes, size) * size
    touched = _distinct(index, lanes, SECTOR)
    return -(-bytes_asked // SECTOR), touched, _distinct(index, lanes, LINE)


def _distinct(index: Array, lanes: Array, unit: int) -> Array:
    """Return the number of units of `unit` bytes that the lanes of each warp access."""
    reached = np.where(lanes, index // unit, -1)
    reached.sort(axis=1)
    return np.count_nonzero(_new(reached), axis=1)


def _new(ordered: Array) -> Array:
    """Return True for the first of equal elements in sorted rows; elements below 0 do not count."""
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return new
