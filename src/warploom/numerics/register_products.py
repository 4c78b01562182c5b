"""Matrix multiplications of warp registers, with one compiled call for many warps.

A *block* is a list of matrices A and a list of matrices B. Each A is multiplied by each B. The columns of the
matrices B are side by side in strips, as in `fused_fast`. The words of each register are copied to scratch memory,
which stays in the cache, and the sums are copied from there to the registers of D.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportCallIssue=false
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import copied, inlined
from warploom.numerics.copies import Registers, address, gather, gather_groups, scatter_groups
from warploom.numerics.formats import Array
from warploom.numerics.fused_fast import LENGTH, multiply_rows
from warploom.numerics.fused_steps import Tile, decode_a
from warploom.numerics.register_steps import add_chains, add_pairs, decode_rows, widen_bytes

Numbers = NDArray[np.int64]

_ALIGNMENT = 64
"""Alignment of scratch memory. Units: bytes."""
_LANES = 32


class Blocks(NamedTuple):
    """Blocks of multiplications of one kind, with their registers.

    `registers` concatenates the register indices of all blocks. A block has the indices of each A, of each B, and of C
    and D for each pair (A, B), in the order of A. `a[r, lane]` is the position of the word of a lane, in register r, in
    a row-major matrix A of shape (M, K). `b` is the same for a matrix B of shape (K, strip). `c[r, group]` is the same
    for C and D of shape (M, strip), and a group of four lanes.

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


# The loop over warps and blocks ------------------------------------------------------------------------------


_places: Any = None
_prepare_a: Any = None
_prepare_b: Any = None
_multiply: Any = None


def _product(
    file: Array, warps: Numbers, blocks: Blocks, sizes: Sizes, elements: Any, strip: Array, scratch: Array,
    options: Any,
) -> None:  # fmt: skip
    """Compute D = A B + C for each warp.

    This function is the template of `fused`, `integer` and `double`, which replace four functions. `_places` divides
    the scratch memory. `_prepare_a` and `_prepare_b` convert the words of matrices. `_multiply` adds the products of
    one matrix A and a strip of matrices B to the words of C.
    """
    per_strip = 8 * strip.itemsize // sizes.columns
    place = _places(sizes, strip, (address(scratch) + _ALIGNMENT - 1) & -_ALIGNMENT)
    word = file.itemsize
    stride = _LANES * word * file.shape[1]
    a_step, b_step, c_step = word * sizes.rows * sizes.words, word * sizes.columns, word * sizes.c_words
    counts, numbers = blocks.counts, address(blocks.registers)
    a_count, b_count, c_count = len(blocks.a), len(blocks.b), len(blocks.c)
    a_table, b_table, c_table = address(blocks.a), address(blocks.b), address(blocks.c)
    for warp in warps:
        registers = address(file) + _LANES * word * warp
        at = numbers
        for n in range(len(counts)):
            count, others = counts[n, 0], counts[n, 1]
            b_at = at + 8 * count * a_count
            c_at = b_at + 8 * others * b_count
            gather(
                file, Registers(registers, stride, at, count, a_count, a_count, a_table, place.a_words, a_step)
            )  # fmt: skip
            _prepare_a(elements, place, sizes, count, options)
            for first in range(0, others, per_strip):
                here = per_strip if first + per_strip < others else others - first
                b = b_at + 8 * first * b_count
                gather(
                    file, Registers(registers, stride, b, here, b_count, b_count, b_table, place.b_words, b_step)
                )  # fmt: skip
                _prepare_b(elements, place, sizes, strip, options)
                for m in range(count):
                    c = c_at + 16 * (m * others + first) * c_count
                    d = c + 8 * c_count
                    gather_groups(
                        file,
                        Registers(registers, stride, c, here, 2 * c_count, c_count, c_table, place.c_words, c_step),
                    )
                    _multiply(elements, place, sizes, strip, m, count, options)
                    scatter_groups(
                        file,
                        Registers(registers, stride, d, here, 2 * c_count, c_count, c_table, place.c_words, c_step),
                    )
            at = c_at + 16 * count * others * c_count


# Fused sums --------------------------------------------------------------------------------------------------


class _FusedPlaces(NamedTuple):
    """Addresses in the scratch memory of `fused`."""

    a_words: Any
    a: Any
    a_wide: Any
    a_exponents: Any
    b_words: Any
    b: Any
    b_wide: Any
    b_exponents: Any
    c_words: Any
    sums: Any
    tops: Any


def _fused_places(sizes: Any, strip: Any, start: Any) -> Any:
    width = 8 * strip.itemsize
    a_size = sizes.most * sizes.rows * sizes.depth
    b_size, tile_size = sizes.depth * width, sizes.rows * width
    # Strips that are not full contain zeros, or numbers of an earlier strip. The order keeps the vectors aligned.
    b = start + 8 * b_size
    sums = b + 4 * b_size
    a_wide = sums + 4 * tile_size
    a = a_wide + 8 * a_size
    a_exponents = a + 4 * a_size
    a_words = a_exponents + 4 * a_size
    c_words = a_words + 4 * a_size
    tops = c_words + 4 * tile_size
    b_exponents = tops + 4 * tile_size
    return _FusedPlaces(
        a_words, a, a_wide, a_exponents, b_exponents + 4 * b_size, b, start, b_exponents, c_words, sums, tops
    )


def _decode_a(elements: Any, place: Any, sizes: Any, count: Any, parameters: Any) -> None:
    decode_a(
        elements[0], place.a_words, place.a, place.a_exponents, count * sizes.rows * sizes.depth, address(parameters)
    )


def _decode_b(elements: Any, place: Any, sizes: Any, strip: Any, parameters: Any) -> None:
    decode_rows(strip, elements[1], place.b_words, place.b, place.b_exponents, sizes.words, address(parameters))


def _add_fused(elements: Any, place: Any, sizes: Any, strip: Any, m: Any, count: Any, parameters: Any) -> None:
    width = 8 * strip.itemsize
    a_size = sizes.rows * sizes.depth
    row = m * a_size
    base = Tile(
        address(parameters), place.a + 4 * row, place.a_wide + 8 * row, place.a_exponents + 4 * row, place.b,
        place.b_exponents, place.b_wide, 0, place.c_words, place.c_words, place.sums, place.tops, sizes.depth, width,
        0, 0,
    )  # fmt: skip
    multiply_rows(
        strip, None, None, elements[2], elements[2], base, sizes.rows, parameters[LENGTH], a_size, sizes.depth * width
    )


fused: Any = copied(
    _product,
    _add_fused,
    _places=inlined(_fused_places),
    _prepare_a=inlined(_decode_a),
    _prepare_b=inlined(_decode_b),
    _multiply=inlined(_add_fused),
)
"""Compute D = A B + C with fused sums for each warp.

The arguments are those of `_product`. `elements` contains three arrays, whose dtypes are those of the elements of A, of
B, and of C and D. `strip` and `options` are the arguments `strip` and `parameters` of `fused_fast.run`. N must divide
the columns of the strip.

Shapes: file (registers, all warps, 32) of u32, warps (count,) of i64.
"""


# Integer sums ------------------------------------------------------------------------------------------------


class _IntegerPlaces(NamedTuple):
    """Addresses in the scratch memory of `integer`."""

    a_words: Any
    a_pairs: Any
    b_words: Any
    b_pairs: Any
    c_words: Any


def _integer_places(sizes: Any, strip: Any, start: Any) -> Any:
    width = 8 * strip.itemsize
    b_size = sizes.words * width
    c_words = start + 8 * b_size
    b_words = c_words + 4 * sizes.rows * width
    a_pairs = b_words + 4 * b_size
    return _IntegerPlaces(a_pairs + 8 * sizes.most * sizes.rows * sizes.words, a_pairs, b_words, start, c_words)


def _widen_a(elements: Any, place: Any, sizes: Any, count: Any, clamp: Any) -> None:
    widen_bytes(elements[0], place.a_words, place.a_pairs, count * sizes.rows * sizes.words)


def _widen_b(elements: Any, place: Any, sizes: Any, strip: Any, clamp: Any) -> None:
    widen_bytes(elements[1], place.b_words, place.b_pairs, sizes.words * 8 * strip.itemsize)


def _add_integers(elements: Any, place: Any, sizes: Any, strip: Any, m: Any, count: Any, clamp: Any) -> None:
    width = 8 * strip.itemsize
    for row in range(sizes.rows):
        add_pairs(
            strip, place.a_pairs + 4 * sizes.words * (m * sizes.rows + row), place.b_pairs,
            count * sizes.rows * sizes.words, sizes.words * width, sizes.words, place.c_words + 4 * width * row, clamp,
        )  # fmt: skip


integer: Any = copied(
    _product,
    _add_integers,
    _places=inlined(_integer_places),
    _prepare_a=inlined(_widen_a),
    _prepare_b=inlined(_widen_b),
    _multiply=inlined(_add_integers),
)
"""Compute D = A B + C of 8-bit integers for each warp.

The sums wrap to 32 bits. If `options` is 1, they are clamped instead. `elements` contains two arrays, whose dtypes are
those of the elements of A and B. The other arguments are those of `fused`.
"""


# Chains of f64 numbers ---------------------------------------------------------------------------------------


class _DoublePlaces(NamedTuple):
    """Addresses in the scratch memory of `double`."""

    a_words: Any
    b_words: Any
    c_words: Any


def _double_places(sizes: Any, strip: Any, start: Any) -> Any:
    width = 8 * strip.itemsize
    c_words = start + 8 * sizes.depth * width
    return _DoublePlaces(c_words + 8 * sizes.rows * width, start, c_words)


def _keep(elements: Any, place: Any, sizes: Any, argument: Any, options: Any) -> None:
    """Do nothing, because f64 operands need no conversion."""


def _add_doubles(elements: Any, place: Any, sizes: Any, strip: Any, m: Any, count: Any, options: Any) -> None:
    width = 8 * strip.itemsize
    for row in range(sizes.rows):
        a = place.a_words + 8 * sizes.depth * (m * sizes.rows + row)
        add_chains(strip, a, place.b_words, sizes.depth, place.c_words + 8 * width * row)


double: Any = copied(
    _product,
    _add_doubles,
    _places=inlined(_double_places),
    _prepare_a=inlined(_keep),
    _prepare_b=inlined(_keep),
    _multiply=inlined(_add_doubles),
)
"""Compute D = A B + C of f64 numbers for each warp by fused multiply-adds to nearest even.

`elements` and `options` have no effect. The other arguments are those of `fused`.

Shapes: file (registers, all warps, 32) of u64, warps (count,) of i64.
"""
