"""Matrix multiplications of swizzled tiles in shared memory, with one compiled call for many warpgroups.

A *chain* is a list of multiplications that add to the same matrix D, one after the other. The tiles of their matrices A
are side by side, and so are the tiles of their matrices B. Chains of one warpgroup that have the same matrix B follow
each other, so that each strip of B is converted once for all of them.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportCallIssue=false
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit
from warploom.numerics.copies import address, copy_chunk, transpose
from warploom.numerics.formats import Array
from warploom.numerics.fused_fast import LENGTH, multiply_rows
from warploom.numerics.fused_steps import Tile, decode_a, decode_b

Numbers = NDArray[np.int64]

DIFFERENT = -2
"""Result of `fused` for descriptors that differ in more than their start addresses."""
_CHUNK = 16
_ALIGNMENT = 64
"""Alignment of scratch memory. Units: bytes."""


class Memory(NamedTuple):
    """Shared memory of all CTAs, and the shared addresses [low, high) of a CTA.

    `origins` has the index of the first byte of the CTA of each warpgroup. Shapes: bytes (size,), origins (groups,).
    """

    bytes: Any
    origins: Any
    low: Any
    high: Any


class Tiles(NamedTuple):
    """Tiles of the matrices A or B of some chains.

    The low 14 bits of a descriptor have the start address of a tile in units of 16 bytes. `offsets` has the distance of
    each 16-byte chunk from the start address, before the swizzle. A line of `offsets` is a row of the tile, or a column
    if `transposed` is set. `mask` is a value of CHUNK_MASK, and `phase` the base offset of the descriptors.

    Shapes: descriptors (groups, chains, tiles) of u64; offsets (lines, chunks) of i64.
    """

    descriptors: Any
    offsets: Any
    mask: Any
    phase: Any
    transposed: Any


@njit
def _chunk(tiles: Tiles, start: Any, line: int, chunk: int) -> Any:
    """Return the shared address of a chunk of the tile that starts at `start`."""
    at = start + tiles.offsets[line, chunk]
    return at ^ ((((at >> 7) - tiles.phase) & tiles.mask) << 4)


@njit
def _start(descriptor: Any) -> Any:
    return np.int64(descriptor & np.uint64(0x3FFF)) << 4


@njit
def _missed(memory: Memory, tiles: Tiles, j: int) -> int:
    """Check the tiles of chain `j`, and return -1 if all are in bounds.

    Otherwise return g * tiles + t for the first tile (g, t) that exceeds the bounds, or DIFFERENT.
    """
    groups, _, count = tiles.descriptors.shape
    lines, chunks = tiles.offsets.shape
    for g in range(groups):
        for t in range(count):
            descriptor = tiles.descriptors[g, j, t]
            if (descriptor ^ tiles.descriptors[0, 0, 0]) >> np.uint64(14):
                return DIFFERENT
            start = _start(descriptor)
            for line in range(lines):
                for chunk in range(chunks):
                    at = _chunk(tiles, start, line, chunk)
                    if at < memory.low or at + _CHUNK > memory.high:
                        return g * count + t
    return -1


class _Part(NamedTuple):
    """Lines and chunks of each tile that `_copy` copies: the first of them, and their number."""

    line: Any
    lines: Any
    chunk: Any
    chunks: Any


@njit
def _copy(memory: Memory, tiles: Tiles, g: int, j: int, part: _Part, target: int, pitch: int, step: int) -> None:
    """Copy a part of the tiles of chain `j` of warpgroup `g` to the address `target`.

    Lines are `pitch` bytes apart, and tiles `step` bytes.
    """
    origin = address(memory.bytes) + memory.origins[g] - memory.low
    for t in range(tiles.descriptors.shape[2]):
        start = _start(tiles.descriptors[g, j, t])
        for line in range(part.lines):
            row = target + t * step + line * pitch
            for chunk in range(part.chunks):
                copy_chunk(origin + _chunk(tiles, start, part.line + line, part.chunk + chunk), row + _CHUNK * chunk)


@njit
def _read_rows(
    memory: Memory, tiles: Tiles, g: int, j: int, elements: Array, first: int, rows: int, depth: int, target: int,
    scratch: int, by_columns: bool,
) -> None:  # fmt: skip
    """Copy the rows [first, first + rows) of the matrix of chain `j` of warpgroup `g` to the address `target`.

    The result has the shape (rows, K), or (K, rows) if `by_columns` is set. `elements` gives the type of an element,
    and `depth` is K. `scratch` is the address of memory for another copy of the rows.
    """
    lines, chunks = tiles.offsets.shape
    item = elements.itemsize
    here = target if tiles.transposed == by_columns else scratch
    if tiles.transposed:
        part, pitch = _Part(0, lines, first * item // _CHUNK, rows * item // _CHUNK), rows * item
        _copy(memory, tiles, g, j, part, here, pitch, lines * pitch)
    else:
        _copy(memory, tiles, g, j, _Part(first, rows, 0, chunks), here, depth * item, _CHUNK * chunks)
    if tiles.transposed and not by_columns:
        transpose(elements, here, depth, rows, target)
    elif by_columns and not tiles.transposed:
        transpose(elements, here, rows, depth, target)


@njit
def _same(descriptors: Array, g: int, one: int, other: int) -> bool:
    """Return True if two chains of a warpgroup have the same tiles."""
    for t in range(descriptors.shape[2]):
        if descriptors[g, one, t] != descriptors[g, other, t]:
            return False
    return True


@njit
def fused(
    memory: Memory, a: Tiles, b: Tiles, registers: Array, sums: Numbers, keeps: Array, elements: Any, strip: Array,
    parameters: Numbers,
) -> int:  # fmt: skip
    """Compute D = A B + D with fused sums for each chain of each warpgroup.

    `registers` contains the matrices A, or is empty if the matrices A are in shared memory. `sums` has the host
    addresses of the matrices D. If `keeps` is False, D = A B. `elements` contains three arrays, whose dtypes are those
    of the elements of A, B and D. `strip` and `parameters` are arguments of `fused_fast.run`; the columns of a strip
    divide N.

    Return -1. If a tile is out of bounds, return 2 * ((j * groups + g) * tiles + t) + m for the first such tile, of
    chain j, warpgroup g, and matrix A (m = 0) or B (m = 1). Then nothing is computed, as for the result DIFFERENT.

    Shapes: registers (groups * chains, M, K); sums and keeps (groups, chains); D is (M, N), row-major.
    """
    groups, chains, tiles = b.descriptors.shape
    in_registers = len(registers) > 0
    for j in range(chains):
        for m in range(in_registers, 2):
            missed = _missed(memory, b if m else a, j)
            if missed == DIFFERENT:
                return DIFFERENT
            if missed >= 0:
                return 2 * (j * groups * tiles + missed) + m
    a_item, b_item, width = elements[0].itemsize, elements[1].itemsize, 8 * strip.itemsize
    lines, chunks = b.offsets.shape
    columns = chunks * _CHUNK // b_item if b.transposed else lines
    depth = tiles * (lines if b.transposed else chunks * _CHUNK // b_item)
    rows = registers.shape[1] if in_registers else a.offsets.shape[1] * _CHUNK // a_item if a.transposed else len(a.offsets)
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
    for g in range(groups):
        for j in range(chains):
            words = a_words
            if in_registers:
                words = address(registers) + a_item * a_size * (g * chains + j)
            else:
                _read_rows(memory, a, g, j, elements[0], 0, rows, depth, words, words + a_item * a_size, False)
            decode_a(elements[0], words, a_values + 4 * j * a_size, a_exponents + 4 * j * a_size, a_size, fields)
        first = 0
        while first < chains:
            last = first + 1
            while last < chains and _same(b.descriptors, g, first, last):
                last += 1
            for column in range(0, columns, width):
                _read_rows(memory, b, g, first, elements[1], column, width, depth, b_words, b_words + 4 * b_size, True)
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
                        columns,
                        0,
                        0,
                    )
                    multiply_rows(
                        strip, None, None, elements[2], elements[2], base, rows, parameters[LENGTH], a_size, b_size
                    )
            first = last
    return -1 if scratch.size else DIFFERENT  # -1; this use keeps the memory allocated up to here
