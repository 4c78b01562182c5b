"""Cost of the memory accesses of warps: wavefronts of shared memory, sectors of global memory.

The model is that of NVIDIA's programming guides. Shared memory has 32 banks of 4 bytes. An access is processed in
phases. It has one phase for the whole warp if a lane accesses at most 4 bytes, two phases of half-warps for 8 bytes,
and four phases of quarter-warps for 16 bytes. In a phase, a bank delivers one word to all lanes that request it. A
second word of the same bank takes a second wavefront. Global memory is accessed in sectors of 32 bytes, four to a line.
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
    """Count the wavefronts of one access by each warp to shared memory.

    Returns three arrays: the least number, one wavefront per phase, which is the cost without bank conflicts; the
    actual number; and the most wavefronts of one phase.

    Shapes: index and lanes (warps, 32); the results (warps,).

    Units: `index` and `size`, the bytes that one lane accesses, in bytes; bank 0 is at index 0.
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
    """Count the sectors and lines of one access by each warp to global memory.

    Returns three arrays: the least number of sectors, as if the bytes were contiguous; the actual number of sectors;
    and the number of lines.

    Shapes: index and lanes (warps, 32); the results (warps,).

    Units: `index` and `size`, the bytes that one lane accesses, in bytes; a sector begins at index 0.
    """
    bytes_asked = _distinct(index, lanes, size) * size
    touched = _distinct(index, lanes, SECTOR)
    return -(-bytes_asked // SECTOR), touched, _distinct(index, lanes, LINE)


def _distinct(index: Array, lanes: Array, unit: int) -> Array:
    """Return the number of blocks of `unit` bytes that the lanes of each warp access."""
    reached = np.where(lanes, index // unit, -1)
    reached.sort(axis=1)
    return np.count_nonzero(_new(reached), axis=1)


def _new(ordered: Array) -> Array:
    """Return True for the first of equal elements in sorted rows. Elements below 0 give False."""
    new = ordered >= 0
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return new
