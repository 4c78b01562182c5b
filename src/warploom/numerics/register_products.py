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

from warploom.numerics._compile import njit
from warploom.numerics.copies import Registers, address, gather, gather_groups, scatter_groups
from warploom.numerics.formats import Array
from warploom.numerics.fused_fast import LENGTH, multiply_rows
from warploom.numerics.fused_steps import Tile, decode_a
from warploom.numerics.register_steps import add_chains, add_pairs, decode_rows, widen_bytes

Numbers = NDArray[np.int64]

_ALIGNMENT = 64
"""Alignment of scratch memory. Units: bytes."""


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
    """M, N and K of one multiplication, and the numbers of words in K elements and in a row of C.

    `most` is the greatest number of matrices A in a block.
    """

    rows: Any
    columns: Any
    depth: Any
    words: Any
    c_words: Any
    most: Any


def scratch(sizes: Sizes, strip: Array) -> Array:
    """Return an array of zeros for the argument `scratch` of the functions below. Each call needs its own."""
    width = 8 * strip.itemsize
    a, b = sizes.most * sizes.rows * sizes.depth, sizes.depth * width
    return np.zeros(3 * (a + b) + 2 * sizes.rows * width + _ALIGNMENT, np.float64)


@njit
def fused(
    file: Array, warps: Numbers, blocks: Blocks, sizes: Sizes, elements: Any, strip: Array, scratch: Array,
    parameters: Numbers,
) -> None:  # fmt: skip
    """Compute D = A B + C with fused sums for each warp.

    `elements` contains three arrays, whose dtypes are those of the elements of A, of B, and of C and D. `strip` and
    `parameters` are arguments of `fused_fast.run`. N must divide the columns of the strip.

    Shapes: file (registers, all warps, 32) of u32, warps (count,) of i64.
    """
    a_kind, b_kind, c_kind = elements
    width = 8 * strip.itemsize
    per_strip = width // sizes.columns
    a_size = sizes.rows * sizes.depth
    most = sizes.most * a_size
    b_size = sizes.depth * width
    tile_size = sizes.rows * width
    # Strips that are not full contain zeros, or numbers of an earlier strip. The order keeps the vectors aligned.
    b_wide = (address(scratch) + _ALIGNMENT - 1) & -_ALIGNMENT
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
    counts, numbers = blocks.counts, address(blocks.registers)
    a_count, b_count, c_count = len(blocks.a), len(blocks.b), len(blocks.c)
    a_table, b_table, c_table = address(blocks.a), address(blocks.b), address(blocks.c)
    stride = 128 * file.shape[1]
    for warp in warps:
        registers = address(file) + 128 * warp
        at = numbers
        for n in range(len(counts)):
            count, others = counts[n, 0], counts[n, 1]
            b_at = at + 8 * count * a_count
            c_at = b_at + 8 * others * b_count
            step = 4 * sizes.rows * sizes.words
            gather(file, Registers(registers, stride, at, count, a_count, a_count, a_table, a_words, step))
            decode_a(a_kind, a_words, a_values, a_exponents, count * a_size, fields)
            for first in range(0, others, per_strip):
                here = per_strip if first + per_strip < others else others - first
                numbers_b = b_at + 8 * first * b_count
                step = 4 * sizes.columns
                gather(file, Registers(registers, stride, numbers_b, here, b_count, b_count, b_table, b_words, step))
                decode_rows(strip, b_kind, b_words, b_values, b_exponents, sizes.words, fields)
                for m in range(count):
                    c = c_at + 16 * (m * others + first) * c_count
                    d = c + 8 * c_count
                    step = 4 * sizes.c_words
                    gather_groups(
                        file, Registers(registers, stride, c, here, 2 * c_count, c_count, c_table, c_words, step)
                    )
                    row = m * a_size
                    base = Tile(
                        fields, a_values + 4 * row, a_wide + 8 * row, a_exponents + 4 * row, b_values, b_exponents,
                        b_wide, 0, c_words, c_words, sums, tops, sizes.depth, width, 0, 0,
                    )  # fmt: skip
                    multiply_rows(
                        strip, None, None, c_kind, c_kind, base, sizes.rows, parameters[LENGTH], a_size, b_size
                    )
                    scatter_groups(
                        file, Registers(registers, stride, d, here, 2 * c_count, c_count, c_table, c_words, step)
                    )
            at = c_at + 16 * count * others * c_count


@njit
def integer(
    file: Array, warps: Numbers, blocks: Blocks, sizes: Sizes, elements: Any, strip: Array, scratch: Array, clamp: int
) -> None:
    """Compute D = A B + C of 8-bit integers for each warp.

    The sums wrap to 32 bits. If `clamp` is 1, they are clamped instead.

    `elements` contains two arrays, whose dtypes are those of the elements of A and B. The other arguments are those of
    `fused`.
    """
    a_kind, b_kind = elements
    width = 8 * strip.itemsize
    per_strip = width // sizes.columns
    a_size, b_size, tile_size = sizes.rows * sizes.words, sizes.words * width, sizes.rows * width
    most = sizes.most * a_size
    b_pairs = (address(scratch) + _ALIGNMENT - 1) & -_ALIGNMENT
    c_words = b_pairs + 8 * b_size
    b_words = c_words + 4 * tile_size
    a_pairs = b_words + 4 * b_size
    a_words = a_pairs + 8 * most
    counts, numbers = blocks.counts, address(blocks.registers)
    a_count, b_count, c_count = len(blocks.a), len(blocks.b), len(blocks.c)
    a_table, b_table, c_table = address(blocks.a), address(blocks.b), address(blocks.c)
    stride = 128 * file.shape[1]
    step = 4 * sizes.columns
    for warp in warps:
        registers = address(file) + 128 * warp
        at = numbers
        for n in range(len(counts)):
            count, others = counts[n, 0], counts[n, 1]
            b_at = at + 8 * count * a_count
            c_at = b_at + 8 * others * b_count
            gather(file, Registers(registers, stride, at, count, a_count, a_count, a_table, a_words, 4 * a_size))
            widen_bytes(a_kind, a_words, a_pairs, count * a_size)
            for first in range(0, others, per_strip):
                here = per_strip if first + per_strip < others else others - first
                numbers_b = b_at + 8 * first * b_count
                gather(file, Registers(registers, stride, numbers_b, here, b_count, b_count, b_table, b_words, step))
                widen_bytes(b_kind, b_words, b_pairs, b_size)
                for m in range(count):
                    c = c_at + 16 * (m * others + first) * c_count
                    d = c + 8 * c_count
                    gather_groups(
                        file, Registers(registers, stride, c, here, 2 * c_count, c_count, c_table, c_words, step)
                    )
                    for row in range(sizes.rows):
                        add_pairs(
                            strip, a_pairs + 4 * sizes.words * (m * sizes.rows + row), b_pairs, count * a_size,
                            b_size, sizes.words, c_words + 4 * width * row, clamp,
                        )  # fmt: skip
                    scatter_groups(
                        file, Registers(registers, stride, d, here, 2 * c_count, c_count, c_table, c_words, step)
                    )
            at = c_at + 16 * count * others * c_count


@njit
def double(file: Array, warps: Numbers, blocks: Blocks, sizes: Sizes, strip: Array, scratch: Array) -> None:
    """Compute D = A B + C of f64 numbers for each warp by fused multiply-adds to nearest even.

    The arguments are those of `fused`.

    Shapes: file (registers, all warps, 32) of u64, warps (count,) of i64.
    """
    width = 8 * strip.itemsize
    per_strip = width // sizes.columns
    a_size = sizes.rows * sizes.depth
    b_words = (address(scratch) + _ALIGNMENT - 1) & -_ALIGNMENT
    c_words = b_words + 8 * sizes.depth * width
    a_words = c_words + 8 * sizes.rows * width
    counts, numbers = blocks.counts, address(blocks.registers)
    a_count, b_count, c_count = len(blocks.a), len(blocks.b), len(blocks.c)
    a_table, b_table, c_table = address(blocks.a), address(blocks.b), address(blocks.c)
    stride = 256 * file.shape[1]
    step = 8 * sizes.columns
    for warp in warps:
        registers = address(file) + 256 * warp
        at = numbers
        for n in range(len(counts)):
            count, others = counts[n, 0], counts[n, 1]
            b_at = at + 8 * count * a_count
            c_at = b_at + 8 * others * b_count
            gather(file, Registers(registers, stride, at, count, a_count, a_count, a_table, a_words, 8 * a_size))
            for first in range(0, others, per_strip):
                here = per_strip if first + per_strip < others else others - first
                numbers_b = b_at + 8 * first * b_count
                gather(file, Registers(registers, stride, numbers_b, here, b_count, b_count, b_table, b_words, step))
                for m in range(count):
                    c = c_at + 16 * (m * others + first) * c_count
                    d = c + 8 * c_count
                    gather_groups(
                        file, Registers(registers, stride, c, here, 2 * c_count, c_count, c_table, c_words, step)
                    )
                    for row in range(sizes.rows):
                        a = a_words + 8 * sizes.depth * (m * sizes.rows + row)
                        add_chains(strip, a, b_words, sizes.depth, c_words + 8 * width * row)
                    scatter_groups(
                        file, Registers(registers, stride, d, here, 2 * c_count, c_count, c_table, c_words, step)
                    )
            at = c_at + 16 * count * others * c_count
