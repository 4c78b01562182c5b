"""Fused dot products (T-FDPA) of matrices, tile by tile, with the vector steps of `fused_steps`."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportCallIssue=false
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics import fused_steps
from warploom.numerics._compile import copied, inlined, njit, njit_if, renamed
from warploom.numerics._numba import binding
from warploom.numerics.copies import DECODED, address, transpose, widen
from warploom.numerics.formats import E8M13, F16, F32, FORMATS, Array, Format, decode
from warploom.numerics.fused_steps import (
    NAN_SCALE,
    PART,
    Parameters,
    Tile,
    add_narrow,
    add_wide,
    decode_a,
    decode_a_masks,
    decode_b,
    load_addends,
    raise_tops,
    store_results,
)
from warploom.numerics.grouped_steps import add_groups, decode_scales
from warploom.numerics.models import Model, Sum

Numbers = NDArray[np.int64]

_NO_EMIN = -2000
"""Exponent below all exponents of products."""
LENGTH = Parameters._fields.index("length")
"""Position of L in the parameters."""


@cache
def parameters(
    model: Model, negate_a: bool = False, negate_b: bool = False, *, divisor: int = 0, padded: bool = False
) -> Numbers:
    """Return the argument `parameters` of `run` for a model: `Parameters`, and the `Layout` of A and of B.

    C is divided by 2**`divisor`. If `padded`, a 4-bit element is in the middle of a byte.
    """
    least = F16.min_exponent if model.sum is Sum.T_FDPA_SPLIT else None
    result = E8M13 if model.result == "e8m13" else F32
    sums = Parameters(
        length=model.length,
        fraction=model.fraction,
        emin_c=FORMATS[model.c_type].min_exponent,
        emin_d=FORMATS[model.d_type].min_exponent,
        emin=_NO_EMIN if model.emin is None else model.emin,
        mask=-1 << (52 - result.mantissa_bits),
        places=result.mantissa_bits - result.min_exponent,
        divisor=divisor,
    )
    layouts = (
        fused_steps.layout(_stored(FORMATS[name], padded), negate, least)
        for name, negate in ((model.a_type, negate_a), (model.b_type, negate_b))
    )
    return np.array([number for fields in (sums, *layouts) for number in fields], np.int64)


def _stored(fmt: Format, padded: bool) -> Format:
    return replace(fmt, padding=2) if padded and fmt.bits == 4 else fmt


@cache
def scale_table(name: str) -> NDArray[np.float32]:
    """Return the exponents and the significands of all bytes that may be block scales of type `name`.

    The significand of a NaN is NaN, and its exponent is `NAN_SCALE`. The sign bit has no effect.

    Shapes: (2, 256).
    """
    fmt = FORMATS[name]
    codes = np.arange(256) & fmt.magnitude_mask
    field = codes >> fmt.mantissa_bits
    exponents = np.maximum(field - fmt.bias, fmt.min_exponent)
    significands = decode(codes, fmt) * 2.0**-exponents
    return np.array([np.where(codes > fmt.max_code, NAN_SCALE, exponents), significands], np.float32)


@cache
def _strips() -> dict[int, Array]:
    """Return the argument `strip` of `run` for each strip width that this host supports, the widest first.

    The argument is an empty array. Numba compiles `run` for its dtype, which has one bit for each column of the strip.
    """
    widths = (32, 16, 8) if binding.get_host_cpu_features().get("avx512bw") else (16, 8)
    return {width: np.empty(0, f"u{width // 8}") for width in widths}


@cache
def strip(columns: int) -> Array:
    """Return the argument `strip` of `run` for the widest strip that divides `columns`, or for 8 columns."""
    return next((kind for width, kind in _strips().items() if columns % width == 0), _strips()[8])


def enclosing_strip(columns: int) -> Array:
    """Return the argument `strip` for the narrowest strip that has `columns` columns, else for the widest."""
    wide = [kind for width, kind in _strips().items() if width >= columns]
    return wide[-1] if wide else next(iter(_strips().values()))


def rounded_up(rows: int, columns: int, depth: int, length: int) -> tuple[int, int, int]:
    """Return M, N and K, rounded up to sizes that `run` accepts. `length` is L."""
    step = 4 if depth <= length else length
    return -(-rows // 8) * 8, -(-columns // 8) * 8, -(-depth // step) * step


@inlined
def _tile(c: Any, d: Any, base: Tile, m: int) -> Tile:
    """Return the tile whose first row is row `m` of the strip of `base`. `c` and `d` only give types."""
    depth, columns = base.depth, base.columns
    return Tile(
        base.parameters,
        base.a + 4 * m * depth,
        base.a_wide + 8 * m * depth,
        base.a_exponents + 4 * m * depth,
        base.b,
        base.b_exponents,
        base.b_wide,
        base.index + 4 * m * depth,
        base.c + c.itemsize * m * columns if base.c else 0,
        base.d + d.itemsize * m * columns,
        base.sums,
        base.tops,
        depth,
        columns,
        base.a_scales + 2 * m,
        base.b_scales,
        base.a_factors + 4 * m,
        base.b_factors,
        base.a_step,
        base.block,
    )


@inlined
def multiply_rows(
    strip: Array, index: Any, scales: Any, c: Any, d: Any, base: Tile, rows: int, length: int, a_size: int, b_size: int
) -> None:  # fmt: skip
    """Compute the tiles of one strip. `base` contains the operands of the first tile.

    `c` and `d` only give types. `a_size` and `b_size` are the sizes of A and B of all tiles.
    """
    width = 8 * strip.itemsize
    part = min(width, PART)
    depth = base.depth
    is_widened = False
    for m in range(0, rows, 4 if width > 8 else 8):
        tile = _tile(c, d, base, m)
        load_addends(strip, index, scales, c, tile, 0, 0, 0)
        first = 0
        while first < depth:
            last = min(first + length, depth)
            far = raise_tops(strip, index, scales, d, tile, first, last, 0)
            for column in range(0, width, part):
                if not far >> column & 0xFFFF and add_narrow(strip, index, scales, d, tile, first, last, column):
                    continue
                if not is_widened:
                    widen(base.a, base.a_wide, a_size)
                    widen(base.b, base.b_wide, b_size)
                    is_widened = True
                add_wide(strip, index, scales, d, tile, first, last, column)
            first = last
        store_results(strip, index, scales, d, tile, 0, 0, 0)


def _multiply_groups(
    strip: Array, index: Any, scales: Any, c: Any, d: Any, base: Tile, rows: int, length: int, a_size: int, b_size: int
) -> None:  # fmt: skip
    """Compute the tiles of one strip as `multiply_rows` does, but with exact sums of 16 products as terms."""
    width = 8 * strip.itemsize
    for m in range(0, rows, 4 if width > 8 else 8):
        tile = _tile(c, d, base, m)
        load_addends(strip, index, scales, c, tile, 0, 0, 0)
        first = 0
        while first < base.depth:
            last = min(first + length, base.depth)
            for column in range(0, width, min(width, PART)):
                add_groups(strip, index, scales, d, tile, first, last, column)
            first = last
        store_results(strip, index, scales, d, tile, 0, 0, 0)


multiply_groups = inlined(_multiply_groups)


def _are_plain(a: Array, b: Array, c: Array, d: Array, *_: object) -> bool:
    """Return True if arguments of `run` are arrays with three axes, C-contiguous and writeable."""
    has_axes = a.ndim == b.ndim == c.ndim == d.ndim == 3
    return has_axes and a.flags.carray and b.flags.carray and c.flags.carray and d.flags.carray


def _run(
    a: Any, b: Any, c: Any, d: Any, index: Any, scale_a: Any, scale_b: Any, scale_table: Any, strip: Array,
    parameters: Numbers,
) -> bool:  # fmt: skip
    """Compute D = A B + C for G independent instructions.

    Return False if the shapes do not suit this function, or if an array is not C-contiguous or not writeable. The
    arrays contain raw bits as unsigned integers. `d` may be the array `c`. If `c` is empty, C is zero. `index` is None
    for a dense A. For a sparse A, it has the index along K of each element. `scale_a` and `scale_b` are block scales,
    and `scale_table` is the result of the function of this name for their type. All three are None without scales.

    M must be a multiple of 8, and N a multiple of the number of columns of a strip. K must be a multiple of 4 if it is
    at most L, else a multiple of L. L is the parameter `length`: the number of products of one fused sum. Shapes: a (G,
    M, K); b (G, N, K), or (G, N, K of the dense matrix) for a sparse A; index (G, M, K) of i32; c and d (G, M, N);
    scale_a (G, M, S) and scale_b (G, N, S) of u8, where each of the S scales of a row belongs to K/S elements.
    """
    groups, rows, depth = a.shape
    columns, b_depth = b.shape[1], b.shape[2]
    width = 8 * strip.itemsize
    tile_rows = 4 if width > 8 else 8
    length = parameters[LENGTH]
    if (
        len(b) != groups
        or d.shape != (groups, rows, columns)
        or (len(c) and c.shape != d.shape)
        or (index is None and b_depth != depth)
        or rows % tile_rows
        or columns % width
        or b_depth % 4
        or depth % (4 if depth <= length else length)
    ):
        return False
    a_size, b_size = rows * depth, (b_depth * width + DECODED - 1) // DECODED * DECODED
    scales = 0
    if scale_a is not None:
        scales = scale_a.shape[2]
    scratch = np.empty(2 * a_size + 3 * b_size + (tile_rows + scales) * width + scales * rows, np.float64)
    # The order keeps the vectors aligned.
    b_wide = address(scratch)
    b_values = b_wide + 8 * b_size
    sums = b_values + 4 * b_size
    a_wide = sums + 4 * tile_rows * width
    a_values = a_wide + 8 * a_size
    a_exponents = a_values + 4 * a_size
    tops = a_exponents + 4 * a_size
    b_exponents = tops + 2 * tile_rows * width
    b_factors = b_exponents + 2 * b_size
    b_scales = b_factors + 4 * scales * width
    a_factors = b_scales + 2 * scales * width
    a_scales = a_factors + 4 * scales * rows
    words = a_scales + 2 * scales * rows
    block = depth // scales if scales else depth
    fields = address(parameters)
    for g in range(groups):
        _decode_a(a, address(a) + a.itemsize * g * a_size, a_values, a_exponents, a_size, fields)
        decode_scales(
            address(scale_a) + scales * g * rows, address(scale_table), rows, scales, rows, a_scales, a_factors
        )
        for first_column in range(0, columns, width):
            column_of_b = address(b) + b.itemsize * (g * columns + first_column) * b_depth
            transpose(b, column_of_b, width, b_depth, words)
            decode_b(b, words, b_values, b_exponents, b_size, fields)
            codes = address(scale_b) + scales * (g * columns + first_column)
            decode_scales(codes, address(scale_table), width, scales, width, b_scales, b_factors)
            base = Tile(
                fields,
                a_values,
                a_wide,
                a_exponents,
                b_values,
                b_exponents,
                b_wide,
                address(index) + 4 * g * a_size,
                address(c) + c.itemsize * (g * rows * columns + first_column) if len(c) else 0,
                address(d) + d.itemsize * (g * rows * columns + first_column),
                sums,
                tops,
                depth,
                columns,
                a_scales,
                b_scales,
                a_factors,
                b_factors,
                rows,
                block,
            )
            _multiply_strip(strip, index, scale_a, c, d, base, rows, length, a_size, b_size)
    return scratch.size > 0  # true; this use keeps the memory allocated up to here


_decode_a: Any = None
_multiply_strip: Any = None
"""Functions that the copies of `_run` replace."""

run: Any = njit_if(_are_plain)(renamed(_run, _run, _decode_a=decode_a, _multiply_strip=multiply_rows))
grouped: Any = copied(_run, _multiply_groups, _decode_a=decode_a_masks, _multiply_strip=multiply_groups)
"""Compute D as `run` does, but with exact sums of 16 products as terms. K/S must be a multiple of 16."""


@njit
def _choose(words: Any, order: Any, chosen: Any) -> None:
    for row in range(len(words)):
        for k in range(len(order)):
            chosen[row, k] = words[row, order[k]]


def chosen(words: Array, order: Numbers) -> Array:
    """Return `words[..., order]`. Shapes: words (..., K), C-contiguous; order (count,)."""
    result = np.empty((*words.shape[:-1], len(order)), words.dtype)
    _choose(words.reshape(-1, words.shape[-1]), order, result.reshape(-1, len(order)))
    return result
