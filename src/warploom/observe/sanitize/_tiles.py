"""Tiles of shared memory that multiplications read, for compiled functions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import CHUNK_MASK
from warploom.isa.model.multiplication import SharedMatrix
from warploom.numerics._compile import njit
from warploom.observe.sanitize._shared_shadow import (
    BLOCK,
    LANE_BITS,
    READ_WRITE,
    UNWRITTEN,
    SharedArrays,
    add_conflict,
    check_async,
    is_visible,
)
from warploom.observe.sanitize.clock_arrays import ASYNC, MANY, ClockArrays

Array = NDArray[Any]


class Tiles(NamedTuple):
    """Shapes of the tiles that matrix descriptors select.

    Tile m consists of the 16-byte chunks at the offsets chunks[first[m] : first[m + 1]] from its start address. `masks`
    has the bits of the swizzle (see `CHUNK_MASK`), and `base_offsets` the base offset of the descriptor. Shapes: masks
    and base_offsets (tiles,), first (tiles + 1,).
    """

    first: Array
    chunks: Array
    masks: Array
    base_offsets: Array


def tiles_of(matrices: Sequence[SharedMatrix], fields: Sequence[int]) -> Tiles:
    """Return the tiles of matrices. fields[m] is the descriptor of matrix m without its start address."""
    return make_tiles([matrix.chunks(each) for matrix, each in zip(matrices, fields, strict=True)])


def make_tiles(parts: Sequence[tuple[Array, int, int]]) -> Tiles:
    """Return the tiles with the given chunks, swizzles (in bytes) and base offsets."""
    return Tiles(
        np.cumsum([0, *(chunks.size for chunks, _, _ in parts)]),
        np.concatenate([chunks.reshape(-1) for chunks, _, _ in parts]),
        np.array([CHUNK_MASK[swizzle] for _, swizzle, _ in parts], np.int64),
        np.array([base_offset for _, _, base_offset in parts], np.int64),
    )


@njit
def read_tiles(
    c: ClockArrays, s: SharedArrays, groups: Array, origins: Array, starts: Array, tiles: Tiles, low: int, pcs: Array,
    clocks: Array,
) -> int:  # fmt: skip
    """Record the reads of tiles by each warpgroup. Return the number of conflicts with earlier writes.

    Row g of `groups` has the four warps of a warpgroup. The instruction pcs[m] reads 16-byte chunks. The address of a
    chunk is the swizzled sum of the shared address starts[m, g] and the offset of the chunk in tile m. The shared
    memory of a CTA begins at the shared address `low`, and at the byte offset origins[g] of the shared memory of all
    CTAs. clocks[g] is the number of the wgmma group. Shapes: groups (warpgroups, 4); starts (tiles, warpgroups); pcs
    (tiles,); origins and clocks (warpgroups,).
    """
    V, records, reads, last_reads = c.vectors, s.records, s.async_reads, s.last_reads
    found = 0
    for m in range(len(pcs)):
        chunk_mask, base_offset = tiles.masks[m], tiles.base_offsets[m]
        for i in range(len(groups)):
            slot = groups[i, 0] // c.ctas
            entry = (np.int64(clocks[i]) << 32) | (np.int64(pcs[m]) << 10) | (MANY << 4)
            good = common = np.int64(-1)
            for k in range(tiles.first[m], tiles.first[m + 1]):
                address = starts[m, i] + tiles.chunks[k]
                address ^= (((address >> 7) - base_offset) & chunk_mask) << 4
                chunk = (origins[i] + address - low) >> 4
                reads[slot, chunk] = entry
                last_reads[chunk << (4 - s.shift) >> BLOCK, slot, 1] = clocks[i]
                for granule in range(chunk << (4 - s.shift), (chunk + 1) << (4 - s.shift)):
                    record = records[granule]
                    if record == good or record & ~LANE_BITS == common:
                        continue
                    good = record
                    if record == 0:
                        found = add_conflict(s.out, found, UNWRITTEN, i * 4, -1, granule, 0, -1)
                        continue
                    # True if all four warps know the write, whichever lane made it.
                    whole = (record >> 10) & 63 != ASYNC
                    for member in range(4):
                        w = groups[i, member]
                        if is_visible(V, w, record, s.fences_copies):
                            continue
                        whole = False
                        before = found
                        found = check_async(c, s, w, -1, granule, READ_WRITE, s.fences_copies, i * 4 + member, found)
                        if found > before:
                            break
                    if whole:
                        common = record & ~LANE_BITS
    return found
