"""Matrix products of operands in warp registers, with one call for all multiplications of many warps.

A *block* is a list of matrices A, and a list of matrices B that multiplies each of them. The columns of the matrices B
are side by side in strips, as in `fused_fast`. The words of each register are copied to scratch memory, which stays in
the cache, and the sums are copied from there to the registers of D.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportCallIssue=false
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import NEAREST, njit
from warploom.numerics.chains import chain_with_nan, directed, nearest
from warploom.numerics.formats import Array
from warploom.numerics.fused_fast import LENGTH, multiply_rows
from warploom.numerics.fused_steps import DECODED, Tile, address, decode_a
from warploom.numerics.intrinsics import set_rounding
from warploom.numerics.register_steps import (
    add_pairs,
    collect_groups,
    decode_rows,
    spread,
    spread_groups,
    widen_bytes,
)

Numbers = NDArray[np.int64]


class Blocks(NamedTuple):
    """Blocks of multiplications of one kind, with their registers.

    `registers` contains, for each block, the numbers of the registers of all A, then those of all B, then those of C
    and D for each pair of A and B. `a`, `b` and `c` contain the positions of the words of a register in a matrix: in A
    as (M, K), in B as (K, strip), in C and D as (M, strip). `c` has one position for each group of four lanes.

    Shapes: counts (blocks, 2), the numbers of matrices A and B; registers (all,); a and b (registers of a matrix, 32);
    c (registers of a matrix, 8). All are i64.
    """

    counts: Any
    registers: Any
    a: Any
    b: Any
    c: Any


class Sizes(NamedTuple):
    """M, N and K of one multiplication, and the numbers of words in K elements and in a row of C."""

    rows: Any
    columns: Any
    depth: Any
    words: Any
    c_words: Any


@njit
def _gather(
    file: Array, warp: int, registers: Numbers, first: int, count: int, table: Numbers, target: int, step: int
) -> None:
    """Copy `count` matrices from the registers that follow number `first` of `registers`.

    The matrices start at the addresses `target`, `target` + `step`, ….
    """
    size = len(table)
    for j in range(count):
        for r in range(size):
            at = registers[first + j * size + r] * file.shape[1] + warp
            spread(file, address(file) + 32 * file.itemsize * at, address(table) + 256 * r, target + step * j)


@njit
def _gather_c(
    file: Array, warp: int, registers: Numbers, first: int, count: int, table: Numbers, target: int, step: int
) -> None:
    """Copy matrices C to a strip (see `_gather`). The registers of each C are followed by those of D."""
    size = len(table)
    for j in range(count):
        for r in range(size):
            at = registers[first + 2 * j * size + r] * file.shape[1] + warp
            spread_groups(file, address(file) + 32 * file.itemsize * at, address(table) + 64 * r, target + step * j)


@njit
def _scatter_d(
    file: Array, warp: int, registers: Numbers, first: int, count: int, table: Numbers, source: int, step: int
) -> None:
    """Copy a strip to matrices D: the inverse of `_gather_c`."""
    size = len(table)
    for j in range(count):
        for r in range(size):
            at = registers[first + (2 * j + 1) * size + r] * file.shape[1] + warp
            collect_groups(file, address(file) + 32 * file.itemsize * at, address(table) + 64 * r, source + step * j)


@njit
def fused(
    file: Array, warps: Numbers, blocks: Blocks, sizes: Sizes, elements: Any, strip: Array, parameters: Numbers
) -> bool:
    """Compute D = A B + C with fused sums for each warp.

    `elements` contains three arrays, whose dtypes are those of the elements of A, of B, and of C and D. `strip` and
    `parameters` are arguments of `fused_fast.run`. N must divide the columns of the strip.

    Shapes: file (registers, all warps, 32) of u32, warps (count,) of i64.
    """
    a_kind, b_kind, c_kind = elements
    width = 8 * strip.itemsize
    per_strip = width // sizes.columns
    a_size = sizes.rows * sizes.depth
    most = (blocks.counts[:, 0].max() * a_size + DECODED - 1) // DECODED * DECODED
    b_size = (sizes.depth * width + DECODED - 1) // DECODED * DECODED
    tile_size = sizes.rows * width
    # Strips that are not full contain zeros, or numbers of an earlier strip.
    scratch = np.zeros(3 * (most + b_size) + 2 * tile_size, np.float64)
    # The order keeps the vectors aligned.
    b_wide = address(scratch)
    b_values = b_wide + 8 * b_size
    sums = b_values + 4 * b_size
    a_wide = sums + 4 * tile_size
    a_values = a_wide + 8 * most
    a_exponents = a_values + 4 * most
    a_words = a_exponents + 4 * most
    c_words = a_words + 4 * most
    tops = c_words + 4 * tile_size
    b_exponents = tops + 4 * tile_size
    b_words = b_exponents + 4 * b_size
    fields = address(parameters)
    for warp in warps:
        at = 0
        for n in range(len(blocks.counts)):
            count, others = blocks.counts[n, 0], blocks.counts[n, 1]
            _gather(file, warp, blocks.registers, at, count, blocks.a, a_words, 4 * sizes.rows * sizes.words)
            decode_a(a_kind, a_words, a_values, a_exponents, count * a_size, fields)
            b_at = at + count * len(blocks.a)
            c_at = b_at + others * len(blocks.b)
            at = c_at + 2 * count * others * len(blocks.c)
            for first in range(0, others, per_strip):
                here = min(per_strip, others - first)
                b_first = b_at + first * len(blocks.b)
                _gather(file, warp, blocks.registers, b_first, here, blocks.b, b_words, 4 * sizes.columns)
                decode_rows(strip, b_kind, b_words, b_values, b_exponents, sizes.words, fields)
                for m in range(count):
                    c_first = c_at + 2 * (m * others + first) * len(blocks.c)
                    _gather_c(file, warp, blocks.registers, c_first, here, blocks.c, c_words, 4 * sizes.c_words)
                    row = m * a_size
                    base = Tile(
                        fields,
                        a_values + 4 * row,
                        a_wide + 8 * row,
                        a_exponents + 4 * row,
                        b_values,
                        b_exponents,
                        b_wide,
                        0,
                        c_words,
                        c_words,
                        sums,
                        tops,
                        sizes.depth,
                        width,
                    )
                    multiply_rows(
                        strip, None, c_kind, c_kind, base, sizes.rows, parameters[LENGTH], a_size, b_size
                    )  # fmt: skip
                    _scatter_d(file, warp, blocks.registers, c_first, here, blocks.c, c_words, 4 * sizes.c_words)
    return scratch.size > 0  # true; this use keeps the memory allocated up to here


@njit
def integer(
    file: Array, warps: Numbers, blocks: Blocks, sizes: Sizes, elements: Any, strip: Array, clamp: int
) -> bool:
    """Compute D = A B + C of 8-bit integers for each warp. The sums wrap to 32 bits, or are clamped if `clamp` is 1.

    `elements` contains two arrays, whose dtypes are those of the elements of A and B. The other arguments are those of
    `fused`.
    """
    a_kind, b_kind = elements
    width = 8 * strip.itemsize
    per_strip = width // sizes.columns
    a_size, b_size, tile_size = sizes.rows * sizes.words, sizes.words * width, sizes.rows * width
    most = blocks.counts[:, 0].max() * a_size
    scratch = np.zeros(3 * (most + b_size) + tile_size, np.int32)
    b_pairs = address(scratch)
    c_words = b_pairs + 8 * b_size
    b_words = c_words + 4 * tile_size
    a_pairs = b_words + 4 * b_size
    a_words = a_pairs + 8 * most
    for warp in warps:
        at = 0
        for n in range(len(blocks.counts)):
            count, others = blocks.counts[n, 0], blocks.counts[n, 1]
            _gather(file, warp, blocks.registers, at, count, blocks.a, a_words, 4 * a_size)
            widen_bytes(a_kind, a_words, a_pairs, count * a_size)
            b_at = at + count * len(blocks.a)
            c_at = b_at + others * len(blocks.b)
            at = c_at + 2 * count * others * len(blocks.c)
            for first in range(0, others, per_strip):
                here = min(per_strip, others - first)
                b_first = b_at + first * len(blocks.b)
                _gather(file, warp, blocks.registers, b_first, here, blocks.b, b_words, 4 * sizes.columns)
                widen_bytes(b_kind, b_words, b_pairs, b_size)
                for m in range(count):
                    c_first = c_at + 2 * (m * others + first) * len(blocks.c)
                    _gather_c(file, warp, blocks.registers, c_first, here, blocks.c, c_words, 4 * sizes.c_words)
                    for row in range(sizes.rows):
                        add_pairs(
                            strip, a_pairs + 4 * sizes.words * (m * sizes.rows + row), b_pairs, count * a_size,
                            b_size, sizes.words, c_words + 4 * width * row, clamp,
                        )  # fmt: skip
                    _scatter_d(file, warp, blocks.registers, c_first, here, blocks.c, c_words, 4 * sizes.c_words)
    return scratch.size > 0  # true; this use keeps the memory allocated up to here


@njit
def double(file: Array, warps: Numbers, blocks: Blocks, sizes: Sizes, strip: Array, mode: int) -> None:
    """Compute D = A B + C of f64 numbers for each warp by fused multiply-adds.

    `mode` is a value of `intrinsics.ROUNDING`. The other arguments are those of `fused`.

    Shapes: file (registers, all warps, 32) of u64, warps (count,) of i64.
    """
    width = 8 * strip.itemsize
    per_strip = width // sizes.columns
    a, b = np.empty((1, sizes.rows, sizes.depth)), np.zeros((1, sizes.depth, width))
    c, d = np.zeros((1, sizes.rows, width)), np.empty((1, sizes.rows, width))
    for warp in warps:
        at = 0
        for n in range(len(blocks.counts)):
            count, others = blocks.counts[n, 0], blocks.counts[n, 1]
            b_at = at + count * len(blocks.a)
            c_at = b_at + others * len(blocks.b)
            for first in range(0, others, per_strip):
                here = min(per_strip, others - first)
                b_first = b_at + first * len(blocks.b)
                _gather(file, warp, blocks.registers, b_first, here, blocks.b, address(b), 8 * sizes.columns)
                for m in range(count):
                    a_first = at + m * len(blocks.a)
                    c_first = c_at + 2 * (m * others + first) * len(blocks.c)
                    _gather(file, warp, blocks.registers, a_first, 1, blocks.a, address(a), 0)
                    _gather_c(file, warp, blocks.registers, c_first, here, blocks.c, address(c), 8 * sizes.columns)
                    d[:] = c
                    _add_chains(a, b, c, d, mode)
                    _scatter_d(file, warp, blocks.registers, c_first, here, blocks.c, address(d), 8 * sizes.columns)
            at = c_at + 2 * count * others * len(blocks.c)


@njit
def _add_chains(a: Array, b: Array, c: Array, d: Array, mode: int) -> None:
    """Add A B to D, which contains C. Shapes: as in `chains.nearest`, with G = 1."""
    if mode == NEAREST:
        nearest(a, b, d)
    else:
        directed(a, b, d, mode)
    set_rounding(mode)
    for m in range(d.shape[1]):
        for n in range(d.shape[2]):
            if d[0, m, n] != d[0, m, n]:
                d[0, m, n] = chain_with_nan(a[0, m], b[0, :, n], c[0, m, n])
    set_rounding(NEAREST)
