"""Groups of adjacent multiplications of matrices in registers that one compiled call executes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.values import Constant, Register, VectorValue, registers_of
from warploom.isa.model.multiplication import BlockScales, Multiplication, RegisterMatrix, SharedMatrix
from warploom.layout import FragmentMap, Order, scale_factors
from warploom.layout.sparse import ScaleMap
from warploom.lazy_dataclass import dataclass
from warploom.numerics import fused_fast, register_products
from warploom.numerics._numba import INSTALLED
from warploom.numerics.copies import GROUP
from warploom.numerics.formats import STORAGE, Array
from warploom.numerics.models import Model, Sum
from warploom.numerics.register_products import Blocks, Sizes
from warploom.numerics.spec import Rounding

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Call:
    """Call of a compiled function that executes multiplications on complete warps.

    `function` is a function of `numerics.register_products`. The other attributes are the arguments of the function.
    """

    function: Any
    file: Array
    blocks: Blocks
    sizes: Sizes
    elements: tuple[Array, ...]
    strip: Array
    options: Any

    def __call__(self, warps: Numbers) -> None:
        """Execute the multiplications on the warps with the indices `warps`."""
        self.function.call(*self.arguments(warps, register_products.scratch(self.sizes, self.strip)))

    def arguments(self, warps: Numbers, scratch: Array) -> tuple[Any, ...]:
        """Return the arguments of the function."""
        return self.file, warps, self.blocks, self.sizes, self.elements, self.strip, scratch, self.options

    @property
    def layout(self) -> tuple[Any, ...]:
        """Key of the layout of scratch memory.

        Calls with equal keys can share scratch memory if one thread executes them.
        """
        return self.function, self.sizes, self.strip.itemsize, *(each.dtype for each in self.elements)


@dataclass(frozen=True, slots=True)
class Group:
    """Multiplications that do not depend on each other.

    `call(warps)` executes the group on complete warps, whose indices are in the array `warps`. It is None if there is
    no compiled function.
    """

    products: tuple[Multiplication, ...]
    call: Call | None = None

    @property
    def macs(self) -> int:
        """Number of multiply-accumulate operations of one warp."""
        return sum(each.d.map.rows * each.d.map.cols * each.k for each in self.products)


def group(products: Sequence[Multiplication], arch: str) -> tuple[Group, ...]:
    """Return the multiplications of a run as groups, which execute in this order.

    No multiplication of a run reads a result of the run as A, B or C.
    """
    found: list[Group] = []
    start, read = 0, set[tuple[int, int]]()
    for number, product in enumerate(products):
        # A multiplication may overwrite an operand of an earlier one.
        if read & registers_of(product.d.registers):
            found += _independent(products[start:number], arch)
            start, read = number, set[tuple[int, int]]()
        read |= _operands(product)
    return (*found, *_independent(products[start:], arch))


def _operands(product: Multiplication) -> frozenset[tuple[int, int]]:
    matrices = (product.a, product.b, product.c)
    values: list[Any] = [each.registers for each in matrices if isinstance(each, RegisterMatrix)]
    if product.metadata is not None:
        values.append(product.metadata.registers)
    for scales in product.scales or ():
        values += [scales.registers, scales.byte_id, scales.thread_id]
    return registers_of(tuple(values))


def _independent(products: Sequence[Multiplication], arch: str) -> list[Group]:
    """Return groups of independent multiplications."""
    others: list[Multiplication] = []
    kinds: dict[_Kind, list[Multiplication]] = {}
    for product in products:
        kind = _kind_of(product, arch)
        (others if kind is None else kinds.setdefault(kind, [])).append(product)
    found = [each for kind, chosen in kinds.items() for each in _calls(kind, chosen)]
    return [*found, Group(tuple(others))] if others else found


# Kinds of multiplications -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """Arithmetic and layout of multiplications that one call can execute together.

    `scales` are the arguments of `layout.scale_factors` for A and for B. If `padded`, each element of A and B occupies
    8 bits.
    """

    a: FragmentMap
    b: FragmentMap
    c: FragmentMap
    d: FragmentMap
    model: Model
    negate_a: bool
    negate_b: bool
    satfinite: bool
    rounding: Rounding
    padded: bool
    scales: tuple[_ScaleKind, ...]


_ScaleKind = tuple[str, int, int, int]


def _kind_of(product: Multiplication, arch: str) -> _Kind | None:
    """Return the kind of a multiplication, or None if only `numerics.fused` executes it."""
    if not INSTALLED:
        return None
    a, b, c, d = product.a, product.b, product.c, product.d
    if not isinstance(a, RegisterMatrix) or not isinstance(b, RegisterMatrix) or product.metadata is not None:
        return None
    scales = [_scale_kind(each) for each in product.scales or ()]
    if not all(isinstance(each.registers, VectorValue) and each.registers.file is not None for each in (a, b, c, d)):
        return None
    known = tuple(each for each in scales if each is not None)
    kind = _Kind(
        a.map, b.map, c.map, d.map, product.model(arch), product.negate_a, product.negate_b, product.satfinite,
        product.rounding, a.padded, known,
    )  # fmt: skip
    return None if len(known) < len(scales) or _lanes(kind) is None else kind


def _scale_kind(scales: BlockScales) -> _ScaleKind | None:
    """Return the arguments of `layout.scale_factors`, or None if no compiled function reads the scales.

    The scales must be in a register, and the selectors must be constants.
    """
    registers, selectors = scales.registers, (scales.byte_id, scales.thread_id)
    if not isinstance(registers, Register) or registers.file.dtype.itemsize != _SCALE_BYTES:
        return None
    byte, thread = (int(each.array[0, 0]) if isinstance(each, Constant) else None for each in selectors)
    return None if byte is None or thread is None else (scales.operand, scales.vectors, byte, thread)


@dataclass(frozen=True, slots=True)
class _Lanes:
    """Positions of the words of all lanes in the matrices of one multiplication.

    The columns of a strip are permuted so that the words of four neighbouring lanes are adjacent.

    Shapes: a, b_row, b_column (registers, 32); c_row, c_column (registers, 8).
    """

    sizes: Sizes
    a: Numbers
    b_row: Numbers
    b_column: Numbers
    c_row: Numbers
    c_column: Numbers
    a_scales: Numbers
    b_scales: Numbers

    def tables(self, width: int) -> tuple[Numbers, ...]:
        """Return the tables of `Blocks` for a strip of `width` columns."""
        row = width * self.sizes.c_words // self.sizes.columns
        return (
            self.a, self.b_row * width + self.b_column, self.c_row * row + self.c_column, self.a_scales, self.b_scales
        )  # fmt: skip


_SUMS = {Sum.T_FDPA: 32, Sum.T_FDPA_SCALED: 32, Sum.T_FDPA_GROUPED: 32, Sum.INTEGER: 32, Sum.FMA_CHAIN: 64}
"""Kinds of sums with a compiled function, and the width of their registers. Units: bits."""
_SCALE_BYTES = 4
"""Size of a register with block scales."""


def _order(matrix: FragmentMap, kind: _Kind, *, transposed: bool = False) -> Order | None:
    """Return the order of the elements of A or B.

    In sums of groups, pairs of 4-bit elements count as elements.
    """
    if kind.model.sum is Sum.T_FDPA_GROUPED and matrix.bits == 4:
        row, col = matrix.row[:, ::2], matrix.col[:, ::2]
        if transposed:
            matrix = replace(matrix, bits=8, rows=matrix.rows // 2, row=row // 2, col=col)
        else:
            matrix = replace(matrix, bits=8, cols=matrix.cols // 2, row=row, col=col // 2)
    return matrix.order(transposed=transposed)


def _bytes(scales: ScaleMap) -> Numbers:
    """Return the position of the byte of each scale in a register of a warp.

    Shapes: (M or N, factors along K).
    """
    return scales.lane.astype(np.int64) * _SCALE_BYTES + scales.byte


@lru_cache(maxsize=256)
def _lanes(kind: _Kind) -> _Lanes | None:
    """Return the positions for a kind of multiplication, or None if no compiled function executes it."""
    bits = _SUMS.get(kind.model.sum)
    orders = _order(kind.a, kind), _order(kind.b, kind, transposed=True), kind.c.order(), kind.d.order()
    if bits is None or kind.rounding != "rn" or kind.model.c_type != kind.model.d_type or kind.c.tiles > 1:
        return None
    if not all(each is not None and each.warps == 1 and each.dtype.itemsize * 8 == bits for each in orders):
        return None
    a, b, c, d = (each.target.astype(np.int64) for each in orders if each is not None)
    rows, columns = kind.c.matrix_shape
    words, c_words = a.size // rows, c.size // rows
    if rows % 8 or columns not in (8, 16) or not np.array_equal(c, d):
        return None
    c_row, c_column = np.divmod(c, c_words)
    order = np.argsort(np.unique(c_column, return_index=True)[1])
    position = np.argsort(order)
    c_column = position[c_column].reshape(len(c), -1, GROUP)
    c_row = c_row.reshape(c_column.shape)
    if (c_row != c_row[:, :, :1]).any() or (c_column != c_column[:, :, :1] + np.arange(GROUP)).any():
        return None
    b_column, b_row = np.divmod(b, words)
    per_word = columns // c_words
    b_column = position[b_column // per_word] * per_word + b_column % per_word
    a_scales, b_scales = np.zeros((2, 0, 0), np.int64)
    if kind.scales:
        a_scales, b_scales = (_bytes(scale_factors(*each)) for each in kind.scales)
        b_scales = b_scales[order]
    return _Lanes(
        Sizes(rows, columns, kind.a.cols, words, c_words, 0, a_scales.shape[1]), a, b_row, b_column,
        np.ascontiguousarray(c_row[:, :, 0]), np.ascontiguousarray(c_column[:, :, 0]), a_scales, b_scales,
    )  # fmt: skip


# Calls ------------------------------------------------------------------------------------------------------


def _calls(kind: _Kind, products: Sequence[Multiplication]) -> list[Group]:
    """Return groups of multiplications of one kind, each with a call."""
    by_a: dict[tuple[int, ...], list[Multiplication]] = {}
    for product in products:
        by_a.setdefault(_operand(product, 0), []).append(product)
    # Matrices A with the same matrices B are rows of one block.
    blocks: dict[tuple[tuple[int, ...], ...], list[list[Multiplication]]] = {}
    for row in by_a.values():
        blocks.setdefault(tuple(_operand(product, 1) for product in row), []).append(row)
    by_strip: dict[int, list[list[list[Multiplication]]]] = {}
    for b, rows in blocks.items():
        width = 8 * fused_fast.enclosing_strip(len(b) * kind.c.cols).itemsize
        by_strip.setdefault(width, []).append(rows)
    return [
        Group(tuple(product for rows in chosen for row in rows for product in row), _call(kind, chosen, width))
        for width, chosen in by_strip.items()
    ]


def _call(kind: _Kind, blocks: Sequence[Sequence[Sequence[Multiplication]]], width: int) -> Call:
    """Return the call that executes blocks of multiplications for warps.

    Each block has a row for each matrix A. A row contains the multiplications by all matrices B of the block.
    """
    lanes = _lanes(kind)
    assert lanes is not None
    counts: list[tuple[int, int]] = []
    registers: list[int] = []
    for rows in blocks:
        counts.append((len(rows), len(rows[0])))
        for row in rows:
            registers += _operand(row[0], 0)
        for product in rows[0]:
            registers += _operand(product, 1)
        for row in rows:
            for product in row:
                registers += (*_numbers(product.c), *_numbers(product.d))
    tables = lanes.tables(width)
    bound = Blocks(np.array(counts, np.int64), np.array(registers, np.int64), *tables)
    strip, model = fused_fast.enclosing_strip(width), kind.model
    sizes = lanes.sizes._replace(most=max(count for count, _ in counts))
    file = _file(blocks[0][0][0].d)
    match model.sum:
        case Sum.T_FDPA | Sum.T_FDPA_SCALED | Sum.T_FDPA_GROUPED:
            parameters = fused_fast.parameters(model, kind.negate_a, kind.negate_b, padded=kind.padded)
            kinds = _empty(model.a_type), _empty(model.b_type), _empty(model.d_type)
            scales = None if model.scale_type is None else fused_fast.scale_table(model.scale_type)
            return Call(_FUNCTIONS[model.sum], file, bound, sizes, kinds, strip, (parameters, scales))
        case Sum.INTEGER:
            signs, clamp = (_empty(model.a_type), _empty(model.b_type)), int(kind.satfinite)
            return Call(register_products.integer, file, bound, sizes, signs, strip, clamp)
        case _:
            return Call(register_products.double, file, bound, sizes, (), strip, 0)


_FUNCTIONS = {
    Sum.T_FDPA: register_products.fused,
    Sum.T_FDPA_SCALED: register_products.scaled,
    Sum.T_FDPA_GROUPED: register_products.grouped,
}


def _operand(product: Multiplication, number: int) -> tuple[int, ...]:
    """Return the numbers of the registers of A (0) or B (1), and of the register of its block scales."""
    numbers = _numbers((product.a, product.b)[number])
    if product.scales is None:
        return numbers
    scales = product.scales[number].registers
    assert isinstance(scales, Register)
    return (*numbers, scales.index)


def _numbers(matrix: RegisterMatrix | SharedMatrix) -> tuple[int, ...]:
    """Return the numbers of the registers of a matrix."""
    assert isinstance(matrix, RegisterMatrix)
    assert isinstance(matrix.registers, VectorValue)
    return tuple(matrix.registers.numbers.tolist())


def _file(matrix: RegisterMatrix) -> Array:
    """Return the register file of a matrix, as unsigned integers."""
    assert isinstance(matrix.registers, VectorValue)
    file = matrix.registers.file
    assert file is not None
    return file.view(f"u{file.dtype.itemsize}")


@cache
def _empty(element: str) -> Array:
    """Return an array without elements, which gives the type of a matrix element to compiled functions."""
    return np.empty(0, STORAGE[element])
