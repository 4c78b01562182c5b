"""Cost of memory accesses: wavefronts of shared memory, and sectors and lines of global memory.

Shared memory has 32 banks of 4 bytes. An access of at most 4 bytes for each lane has one phase for the whole warp. An
access of 8 bytes has two phases, and one of 16 bytes has four. In each phase, a bank delivers one word to all lanes
that request it; each further word takes a further wavefront. Global memory has sectors of 32 bytes and lines of 128.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.events import READ_KINDS, Reads
from warploom.layout import BANKS
from warploom.numerics._compile import njit

Array = NDArray[Any]

WORD, SECTOR, LINE = 4, 32, 128  # bytes
_LANES = 32
_FROM_GLOBAL, _FROM_SHARED, _COPY = (READ_KINDS.index(kind) for kind in ("global", "shared", "copy"))


def count_wavefronts(totals: Array, index: Array, lanes: Array, size: int) -> None:
    """Add the wavefronts of one access by each warp to shared memory to `totals`.

    `totals` has four numbers: the warps with active lanes, the wavefronts without bank conflicts, the actual
    wavefronts, and the most wavefronts of a phase. `index` has byte offsets from bank 0, and `lanes` marks the active
    lanes. Each lane accesses `size` bytes. Shapes: index and lanes (warps, 32).
    """
    _count_wavefronts(totals, uniform(index), uniform(lanes), size)


def count_sectors(totals: Array, index: Array, lanes: Array, size: int) -> None:
    """Add the sectors and lines of one access by each warp to global memory to `totals`.

    `totals` has four numbers: the warps with active lanes, the sectors if the bytes were contiguous, the actual
    sectors, and the lines. `index` has byte offsets from the start of a sector, and `lanes` marks the active lanes.
    Each lane accesses `size` bytes. Shapes: index and lanes (warps, 32).
    """
    _count_sectors(totals, uniform(index), uniform(lanes), size)


def count_reads(columns: Array, shared: int, in_global: int, counted: Array, reads: Reads) -> None:
    """Add the costs of several reads to the rows of their instructions in `columns`.

    The numbers of `count_wavefronts` start at the column `shared`, and those of `count_sectors` at `in_global`. A load
    counts if its instruction is set in `counted`. Shapes: columns (instructions, columns), counted (instructions,).
    """
    _count_reads(
        columns, shared, in_global, counted, reads.pcs, reads.kinds, reads.sizes, reads.firsts, reads.counts,
        reads.index, reads.lanes,
    )  # fmt: skip


@njit
def _count_reads(
    columns: Array, shared: int, in_global: int, counted: Array, pcs: Array, kinds: Array, sizes: Array, firsts: Array,
    counts: Array, index: Array, lanes: Array,
) -> None:  # fmt: skip
    for k in range(len(pcs)):
        kind, first, end, row = kinds[k], firsts[k], firsts[k] + counts[k], columns[pcs[k]]
        if kind == _COPY:
            target = end + counts[k]
            _count_wavefronts(row[shared:], index[end:target], lanes[end:target], sizes[k])
        elif kind == _FROM_SHARED and counted[pcs[k]]:
            _count_wavefronts(row[shared:], index[first:end], lanes[first:end], sizes[k])
        if kind == _COPY or (kind == _FROM_GLOBAL and counted[pcs[k]]):
            _count_sectors(row[in_global:], index[first:end], lanes[first:end], sizes[k])


@njit
def _moves(index: Array, lanes: Array, warp: int, unit: int) -> bool:
    """Return True if a warp accesses the addresses of the warp before it plus a constant.

    The constant is the same for all lanes, and a multiple of `unit` bytes. The costs of both warps are then equal.
    """
    if warp == 0:
        return False
    distance = index[warp, 0] - index[warp - 1, 0]
    same = distance % unit == 0
    for lane in range(_LANES):
        same &= lanes[warp, lane] and lanes[warp - 1, lane] and index[warp, lane] >= 0 and index[warp - 1, lane] >= 0
        same &= index[warp, lane] - index[warp - 1, lane] == distance
    return same


@njit
def _count_wavefronts(totals: Array, index: Array, lanes: Array, size: int) -> None:
    words = max(1, size // WORD)
    members = _LANES // words  # lanes of a phase
    held = np.empty((BANKS, BANKS), np.int64)  # distinct words that each bank delivers in a phase
    counts = np.zeros(BANKS, np.int64)
    phases, wavefronts = 0, 0
    for warp in range(len(index)):
        if _moves(index, lanes, warp, WORD):
            totals[0] += phases > 0
            totals[1] += phases
            totals[2] += wavefronts
            continue
        phases, wavefronts = 0, 0
        for first in range(0, _LANES, members):
            most = 0
            counts[:] = 0
            for lane in range(first, first + members):
                start = index[warp, lane] // WORD
                for word in range(start, start + words if lanes[warp, lane] else start):
                    bank = word % BANKS
                    known = 0
                    while known < counts[bank] and held[bank, known] != word:
                        known += 1
                    if known == counts[bank]:
                        held[bank, known] = word
                        counts[bank] += 1
                        most = max(most, counts[bank])
            phases += most > 0
            wavefronts += most
            totals[3] = max(totals[3], most)
        totals[0] += phases > 0
        totals[1] += phases
        totals[2] += wavefronts


@njit
def _count_sectors(totals: Array, index: Array, lanes: Array, size: int) -> None:
    found = np.empty(_LANES, np.int64)
    places, sectors, lines = 0, 0, 0
    for warp in range(len(index)):
        if not _moves(index, lanes, warp, LINE):
            places = _distinct(index[warp], lanes[warp], size, found)
            sectors = _distinct(index[warp], lanes[warp], SECTOR, found)
            lines = _distinct(index[warp], lanes[warp], LINE, found)
        totals[0] += places > 0
        totals[1] += (places * size + SECTOR - 1) // SECTOR
        totals[2] += sectors
        totals[3] += lines


@njit
def _distinct(index: Array, lanes: Array, unit: int, found: Array) -> int:
    """Return the number of different aligned units of `unit` bytes that the lanes of a warp reach.

    `found` is a buffer with an element for each lane.
    """
    count = 0
    for lane in range(_LANES):
        if lanes[lane] and index[lane] >= 0:
            reached = index[lane] // unit
            known = count - 1
            while known >= 0 and found[known] != reached:
                known -= 1
            if known < 0:
                found[count] = reached
                count += 1
    return count
