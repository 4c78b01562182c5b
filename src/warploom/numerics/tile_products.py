"""Multiplications of tiles in shared memory, with one compiled call for many warpgroups or CTAs.

A *chain* is a list of multiplications that add to the same matrix D, one after the other. The tiles of their matrices A
are side by side, and so are the tiles of their matrices B. A *group* has the chains of a warpgroup, of a CTA, or of a
pair of CTAs. Chains of one group that have the same matrix B follow each other, so that each strip of B is converted
once for all of them.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportCallIssue=false
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import inlined, njit
from warploom.numerics.copies import Chunks, address, copy_chunks, transpose, within
from warploom.numerics.formats import Array
from warploom.numerics.fused_fast import LENGTH, multiply_rows
from warploom.numerics.fused_steps import Tile, decode_a, decode_b

Numbers = NDArray[np.int64]

COMPUTED = -1
"""Result of `fused` after the computation."""
DIFFERENT = -2
"""Result of `fused` for descriptors that differ in more than their start addresses."""
START_ADDRESS = 0x3FFF
"""Mask of the start address in a descriptor."""
_CHUNK = 16
_LINE = 128
"""Units: bytes."""
_ALIGNMENT = 64
"""Alignment of scratch memory. Units: bytes."""


class Memory(NamedTuple):
    """Shared memory of all CTAs, and the shared addresses [low, high) of a CTA. Shapes: bytes (size,)."""

    bytes: Any
    low: Any
    high: Any


class Tiles(NamedTuple):
    """Tiles of the matrices A or B of some chains.

    The low 14 bits of a descriptor have the start address of a tile in units of 16 bytes. `offsets` has the distance of
    each 16-byte chunk from the start address, before the swizzle. A line of `offsets` is a row of the tile, or a column
    if `transposed` is 1 instead of 0. `mask` is a value of CHUNK_MASK, and `phase` the base offset of the descriptors.
    `origins` has the index of the first byte of the CTA whose shared memory contains a tile. If the tiles of a group
    are in several CTAs, each CTA has an equal part: of the chains for A, and of the columns for B.

    Shapes: descriptors (groups, chains, tiles) of u64; origins (groups, CTAs) and offsets (lines, chunks) of i64.
    """

    descriptors: Any
    origins: Any
    offsets: Any
    mask: Any
    phase: Any
    transposed: Any


@inlined
def _part(tiles: Tiles, descriptor: Any, line: Any, lines: Any, chunk: Any, chunks: Any) -> Any:
    """Return `lines` lines and `chunks` chunks of a tile, from `line` and `chunk` on."""
    pitch = 8 * tiles.offsets.shape[1]
    start = np.int64(descriptor & np.uint64(START_ADDRESS)) << 4
    table = address(tiles.offsets) + pitch * line + 8 * chunk
    return Chunks(start, table, pitch, np.int64(tiles.mask), np.int64(tiles.phase), lines, chunks)


@njit
def _read_rows(
    memory: Memory, tiles: Tiles, g: Any, j: Any, cta: Any, elements: Array, first: Any, rows: Any, depth: Any,
    target: Any, by_columns: Any,
) -> None:  # fmt: skip
    """Copy the rows [first, first + rows) of a matrix to the address `target`.

    The matrix belongs to chain `j` of group `g`. `cta` is the index of its CTA in `tiles.origins`. The result has the
    shape (rows, K), or (K, rows) if `by_columns` is 1. `elements` gives the type of an element, and `depth` is K. There
    must be space for a second copy of the rows after the first one.
    """
    lines, chunks = tiles.offsets.shape
    item = elements.itemsize
    origin = address(memory.bytes) + tiles.origins[g, cta] - memory.low
    is_turned = tiles.transposed != by_columns
    here = target + is_turned * rows * depth * item
    line, chunk, pitch, step = first, 0, depth * item, _CHUNK * chunks
    if tiles.transposed:
        line, chunk, chunks, pitch = 0, first * item // _CHUNK, rows * item // _CHUNK, rows * item
        step = lines * pitch
    else:
        lines = rows
    for t in range(tiles.descriptors.shape[2]):
        part = _part(tiles, tiles.descriptors[g, j, t], line, lines, chunk, chunks)
        copy_chunks(part, origin, here + t * step, pitch)
    if is_turned:
        transpose(elements, here, rows if by_columns else depth, depth if by_columns else rows, target)


@njit
def fused(
    memory: Memory, a: Tiles, b: Tiles, registers: Array, sums: Numbers, keeps: Numbers,
    sizes: tuple[int, int, int, int], elements: Any, strip: Array, parameters: Numbers,
) -> int:  # fmt: skip
    """Compute D = A B + D with fused sums for each chain of each group.

    `registers` contains the matrices A, or is empty if the matrices A are in shared memory. `sums` has the host
    addresses of the matrices D. If `keeps` is 0, D = A B. `sizes` has M, N, K and the length of a row of D in memory,
    where K is the sum of the extents of all tiles of a chain. `elements` contains three arrays, whose dtypes are those
    of the elements of A, B and D. `strip` and `parameters` are arguments of `fused_fast.run`. The columns of B in a CTA
    are a multiple of the number of columns of a strip.

    Return COMPUTED after the computation. If a tile is out of bounds, compute nothing and return 2 * ((j * groups + g)
    * tiles + t) + m for the first such tile. It is tile t along K of chain j, of group g, and of A (m = 0) or B (m =
    1). If the descriptors of a matrix differ in more than their start addresses, compute nothing and return DIFFERENT.

    Shapes: registers (groups * chains, M, K); sums and keeps (groups, chains); D is (M, N), row-major, with gaps
    between its rows if they are longer than N.
    """
    groups, chains, tiles = b.descriptors.shape
    in_registers = len(registers) > 0
    for j in range(chains):
        for m in range(in_registers, 2):
            these = b if m else a
            lines, chunks = these.offsets.shape
            nearest, farthest = these.offsets.min(), these.offsets.max()
            for g in range(groups):
                for t in range(tiles):
                    descriptor = these.descriptors[g, j, t]
                    if (descriptor ^ these.descriptors[0, 0, 0]) >> np.uint64(14):
                        return DIFFERENT
                    # The swizzle keeps a chunk in its line.
                    start = np.int64(descriptor & np.uint64(START_ADDRESS)) << 4
                    if (start + nearest) & -_LINE >= memory.low and (start + farthest) | (_LINE - 1) < memory.high:
                        continue
                    if not within(_part(these, descriptor, 0, lines, 0, chunks), memory.low, memory.high):
                        return 2 * ((j * groups + g) * tiles + t) + m
    a_item, width = elements[0].itemsize, 8 * strip.itemsize
    rows, columns, depth, row_length = sizes
    of_cta = columns // b.origins.shape[1]  # columns of B in the shared memory of a CTA
    tile_rows = 4 if width > 8 else 8
    a_size, b_size = rows * depth, depth * width
    scratch = np.empty((2 + chains) * a_size + 3 * b_size + tile_rows * width + _ALIGNMENT // 8, np.float64)
    # The order keeps the vectors aligned.
    b_wide = (address(scratch) + _ALIGNMENT - 1) & -_ALIGNMENT
    b_values = b_wide + 8 * b_size
    tile_sums = b_values + 4 * b_size
    a_wide = tile_sums + 4 * tile_rows * width
    a_values = a_wide + 8 * a_size
    a_exponents = a_values + 4 * chains * a_size
    a_words = a_exponents + 4 * chains * a_size
    tops = a_words + 8 * a_size
    b_exponents = tops + 2 * tile_rows * width
    b_words = b_exponents + 2 * b_size
    fields = address(parameters)
    zero = np.int64(0)  # Numba would compile a function again for each constant argument
    for g in range(groups):
        for j in range(chains):
            words = a_words
            if in_registers:
                words = address(registers) + a_item * a_size * (g * chains + j)
            else:
                cta = j * a.origins.shape[1] // chains
                _read_rows(memory, a, g, j, cta, elements[0], zero, rows, depth, words, zero)
            decode_a(elements[0], words, a_values + 4 * j * a_size, a_exponents + 4 * j * a_size, a_size, fields)
        first = zero
        while first < chains:
            last, is_same = first, True
            while is_same:
                last += 1
                is_same = last < chains
                for t in range(tiles if is_same else 0):
                    is_same &= b.descriptors[g, last, t] == b.descriptors[g, first, t]
            for column in range(0, columns, width):
                cta = column // of_cta
                line = column - cta * of_cta
                _read_rows(memory, b, g, first, cta, elements[1], line, width, depth, b_words, zero + 1)
                decode_b(elements[1], b_words, b_values, b_exponents, b_size, fields)
                for j in range(first, last):
                    d = sums[g, j] + elements[2].itemsize * column
                    base = Tile(
                        fields,
                        a_values + 4 * j * a_size,
                        a_wide,
                        a_exponents + 4 * j * a_size,
                        b_values,
                        b_exponents,
                        b_wide,
                        0,
                        d if keeps[g, j] else 0,
                        d,
                        tile_sums,
                        tops,
                        depth,
                        row_length,
                        0,
                        0,
                        0,
                        0,
                        0,
                        1,
                    )
                    multiply_rows(
                        strip, None, None, elements[2], elements[2], base, rows, parameters[LENGTH], a_size, b_size
                    )
            first = last
    return COMPUTED if scratch.size else DIFFERENT  # this use keeps the memory allocated up to here
