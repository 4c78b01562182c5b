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

from warploom.numerics._compile import copied, inlined, renamed
from warploom.numerics.copies import Registers, address, gather, gather_groups, number_at, scatter_groups
from warploom.numerics.formats import Array
from warploom.numerics.fused_fast import LENGTH, multiply_groups, multiply_rows
from warploom.numerics.fused_steps import Tile, decode_a, decode_a_masks
from warploom.numerics.grouped_steps import decode_scales
from warploom.numerics.register_steps import (
    add_chains,
    add_pairs,
    decode_rows,
    expand_rows,
    expand_words,
    gather_bytes,
    widen_bytes,
)

Numbers = NDArray[np.int64]

_ALIGNMENT = 64
"""Alignment of scratch memory. Units: bytes."""
_LANES = 32


class Blocks(NamedTuple):
    """Blocks of multiplications of one kind, with their registers.

    `registers` concatenates the register indices of all blocks. A block has the indices of each A, of each B, and of C
    and D for each pair (A, B), in the order of A. `a[r, lane]` is the position of the word of a lane, in register r, in
    a row-major matrix A of shape (M, K). `b` is the same for a matrix B of shape (K, strip). `c[r, group]` is the same
    for C and D of shape (M, strip), and a group of four lanes. With block scales, the indices of each A and of each B
    end with the index of the register of its scales. `a_scales[row, s]` and `b_scales[column, s]` are the positions of
    the bytes of scales in a register. The columns have the order of the strip.

    Shapes: counts (blocks, 2), the numbers of matrices A and B; registers (all,); a and b (registers of a matrix, 32);
    c (registers of a matrix, 8); a_scales (M, S) and b_scales (N, S), where S is 0 without scales. All are i64.
    """

    counts: Any
    registers: Any
    a: Any
    b: Any
    c: Any
    a_scales: Any
    b_scales: Any


class Sizes(NamedTuple):
    """M, N and K of one multiplication, and the numbers of words in K elements and in a row of C.

    `most` is the greatest number of matrices A in a block, and `scales` the number of block scales of a row of A.
    """

    rows: Any
    columns: Any
    depth: Any
    words: Any
    c_words: Any
    most: Any
    scales: Any


def scratch(sizes: Sizes, strip: Array) -> Array:
    """Return an array of zeros for the argument `scratch` of the functions below. Each call needs its own."""
    width = 8 * strip.itemsize
    a, b = sizes.most * sizes.rows * sizes.depth, sizes.depth * width
    scales = sizes.scales * (sizes.most * sizes.rows + 2 * width)
    return np.zeros(3 * (a + b) + 2 * sizes.rows * width + scales + _ALIGNMENT, np.float64)


# The loop over warps and blocks ------------------------------------------------------------------------------


_places: Any = None
_prepare_a: Any = None
_prepare_b: Any = None
_read_scales: Any = None
_multiply: Any = None


class _Scales(NamedTuple):
    """Registers with the block scales of matrices side by side.

    The fields up to `period` have the same meaning as in `copies.Registers`, and `table` has positions of bytes. `rows`
    is the extent M or N of a matrix. The scales of a matrix start `step` elements after those of the matrix before, and
    its scales along K are `pitch` elements apart. `of_b` is True for matrices B.
    """

    registers: Any
    stride: Any
    numbers: Any
    count: Any
    period: Any
    table: Any
    rows: Any
    step: Any
    pitch: Any
    of_b: Any


def _product(
    file: Array, warps: Numbers, blocks: Blocks, sizes: Sizes, elements: Any, strip: Array, scratch: Array,
    options: Any,
) -> None:  # fmt: skip
    """Compute D = A B + C for each warp.

    This function is the template of the functions below, which replace five functions. `_places` divides the scratch
    memory. `_prepare_a` and `_prepare_b` convert the words of matrices. `_read_scales` decodes block scales.
    `_multiply` adds the products of one matrix A and a strip of matrices B to the words of C.
    """
    per_strip = 8 * strip.itemsize // sizes.columns
    place = _places(sizes, strip, (address(scratch) + _ALIGNMENT - 1) & -_ALIGNMENT)
    word = file.itemsize
    stride = _LANES * word * file.shape[1]
    a_step, b_step, c_step = word * sizes.rows * sizes.words, word * sizes.columns, word * sizes.c_words
    counts, numbers = blocks.counts, address(blocks.registers)
    a_count, b_count, c_count = len(blocks.a), len(blocks.b), len(blocks.c)
    has_scales = sizes.scales > 0
    a_period, b_period = a_count + has_scales, b_count + has_scales
    a_table, b_table, c_table = address(blocks.a), address(blocks.b), address(blocks.c)
    for warp in warps:
        registers = address(file) + _LANES * word * warp
        at = numbers
        for n in range(len(counts)):
            count, others = counts[n, 0], counts[n, 1]
            b_at = at + 8 * count * a_period
            c_at = b_at + 8 * others * b_period
            gather(
                file, Registers(registers, stride, at, count, a_period, a_count, a_table, place.a_words, a_step)
            )  # fmt: skip
            _prepare_a(elements, place, sizes, count, options)
            _read_scales(
                _Scales(
                    registers, stride, at + 8 * a_count, count, a_period, address(blocks.a_scales), sizes.rows,
                    sizes.scales * sizes.rows, sizes.rows, False,
                ),
                place, sizes, options,
            )  # fmt: skip
            for first in range(0, others, per_strip):
                here = per_strip if first + per_strip < others else others - first
                b = b_at + 8 * first * b_period
                gather(
                    file, Registers(registers, stride, b, here, b_period, b_count, b_table, place.b_words, b_step)
                )  # fmt: skip
                _prepare_b(elements, place, sizes, strip, options)
                _read_scales(
                    _Scales(
                        registers, stride, b + 8 * b_count, here, b_period, address(blocks.b_scales), sizes.columns,
                        sizes.columns, 8 * strip.itemsize, True,
                    ),
                    place, sizes, options,
                )  # fmt: skip
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
    """Addresses in the scratch memory of `fused`, `scaled` and `grouped`."""

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
    a_scales: Any
    a_factors: Any
    b_scales: Any
    b_factors: Any
    codes: Any


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
    b_words = b_exponents + 4 * b_size
    a_factors = b_words + 4 * b_size
    b_factors = a_factors + 4 * sizes.scales * sizes.most * sizes.rows
    a_scales = b_factors + 4 * sizes.scales * width
    b_scales = a_scales + 2 * sizes.scales * sizes.most * sizes.rows
    codes = b_scales + 2 * sizes.scales * width
    return _FusedPlaces(
        a_words, a, a_wide, a_exponents, b_words, b, start, b_exponents, c_words, sums, tops, a_scales, a_factors,
        b_scales, b_factors, codes,
    )  # fmt: skip


def _decode_a(elements: Any, place: Any, sizes: Any, count: Any, options: Any) -> None:
    decode_a(
        elements[0], place.a_words, place.a, place.a_exponents, count * sizes.rows * sizes.depth, address(options[0])
    )


def _decode_b(elements: Any, place: Any, sizes: Any, strip: Any, options: Any) -> None:
    decode_rows(strip, elements[1], place.b_words, place.b, place.b_exponents, sizes.words, address(options[0]))


def _add_fused(elements: Any, place: Any, sizes: Any, strip: Any, m: Any, count: Any, options: Any) -> None:
    parameters, scale_table = options
    row = m * sizes.rows * sizes.depth
    scale = m * sizes.rows * sizes.scales
    first = Tile(
        address(parameters), place.a + 4 * row, place.a_wide + 8 * row, place.a_exponents + 4 * row, place.b,
        place.b_exponents, place.b_wide, 0, place.c_words, place.c_words, place.sums, place.tops, sizes.depth,
        8 * strip.itemsize, place.a_scales + 2 * scale, place.b_scales, place.a_factors + 4 * scale, place.b_factors,
        sizes.rows, sizes.depth // max(sizes.scales, 1),
    )  # fmt: skip
    multiply_rows(
        strip, None, scale_table, elements[2], elements[2], first, sizes.rows, parameters[LENGTH],
        sizes.rows * sizes.depth, sizes.depth * 8 * strip.itemsize,
    )  # fmt: skip


def _ignore_scales(of: Any, place: Any, sizes: Any, options: Any) -> None:
    """Do nothing, because there are no block scales."""


fused: Any = copied(
    _product,
    _add_fused,
    _places=inlined(_fused_places),
    _prepare_a=inlined(_decode_a),
    _prepare_b=inlined(_decode_b),
    _read_scales=inlined(_ignore_scales),
    _multiply=inlined(_add_fused),
)
"""Compute D = A B + C with fused sums for each warp.

The arguments are those of `_product`. `elements` contains three arrays, whose dtypes are those of the elements of A, of
B, and of C and D. `strip` is the argument of `fused_fast.run`, and `options` contains its arguments `parameters` and
`scale_table`, which is None. N must divide the columns of the strip.

Shapes: file (registers, all warps, 32) of u32, warps (count,) of i64.
"""


# Block-scaled sums -------------------------------------------------------------------------------------------


def _decode_scales(of: Any, place: Any, sizes: Any, options: Any) -> None:
    exponents = place.b_scales if of.of_b else place.a_scales
    factors = place.b_factors if of.of_b else place.a_factors
    for j in range(of.count):
        register = of.registers + of.stride * number_at(of.numbers + 8 * j * of.period)
        gather_bytes(register, of.table, of.rows * sizes.scales, place.codes)
        decode_scales(
            place.codes, address(options[1]), of.rows, sizes.scales, of.pitch, exponents + 2 * j * of.step,
            factors + 4 * j * of.step,
        )  # fmt: skip


scaled: Any = copied(
    _product,
    _decode_scales,
    _places=inlined(_fused_places),
    _prepare_a=inlined(_decode_a),
    _prepare_b=inlined(_decode_b),
    _read_scales=inlined(_decode_scales),
    _multiply=inlined(_add_fused),
)
"""Compute D = A B + C with fused sums of block-scaled products for each warp.

The arguments are those of `fused`, but the scale table is not None.
"""


def _decode_grouped_a(elements: Any, place: Any, sizes: Any, count: Any, options: Any) -> None:
    expand_words(place.a_words, place.a_wide, count * sizes.rows * sizes.words)
    decode_a_masks(
        elements[0], place.a_wide, place.a, place.a_exponents, count * sizes.rows * sizes.depth, address(options[0])
    )


def _decode_grouped_b(elements: Any, place: Any, sizes: Any, strip: Any, options: Any) -> None:
    expand_rows(strip, place.b_words, place.b_wide, sizes.words)
    decode_rows(strip, elements[1], place.b_wide, place.b, place.b_exponents, 2 * sizes.words, address(options[0]))


grouped: Any = copied(
    _product,
    _decode_grouped_a,
    _places=inlined(_fused_places),
    _prepare_a=inlined(_decode_grouped_a),
    _prepare_b=inlined(_decode_grouped_b),
    _read_scales=inlined(_decode_scales),
    _multiply=inlined(renamed(_add_fused, _add_fused, multiply_rows=multiply_groups)),
)
"""Compute D = A B + C of 4-bit elements for each warp, with exact sums of 16 products as terms.

The arguments are those of `scaled`.
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
    _read_scales=inlined(_ignore_scales),
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
    _read_scales=inlined(_ignore_scales),
    _multiply=inlined(_add_doubles),
)
"""Compute D = A B + C of f64 numbers for each warp by fused multiply-adds to nearest even.

`elements` and `options` have no effect. The other arguments are those of `fused`.

Shapes: file (registers, all warps, 32) of u64, warps (count,) of i64.
"""
