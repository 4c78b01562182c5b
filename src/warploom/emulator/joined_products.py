"""Adjacent multiplications with the same registers of A, executed as one with a wider matrix B.

A kernel multiplies each fragment of A by several fragments of B. One wide multiplication takes less time than several
narrow multiplications, and has the same results, because every element of D is a sum of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.values import VectorValue
from warploom.isa.model.multiplication import Multiplication, RegisterMatrix
from warploom.isa.model.semantics import Array, Warps
from warploom.layout import FragmentMap, Order
from warploom.numerics.formats import STORAGE

Matrix = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class JoinedMatrix:
    """Matrices B, C or D of several multiplications, side by side along N."""

    registers: VectorValue
    map: FragmentMap
    element: str
    count: int
    is_factor: bool  # True for matrices B, which are read as (N, K)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the joined matrix: (N, K) for matrices B, else (M, N)."""
        rows, columns = self.map.matrix_shape
        return (self.count * columns, rows) if self.is_factor else (rows, self.count * columns)

    def read(self, warps: Warps) -> Matrix:
        """Return the joined matrix of each warp. Shapes: (warps, *shape)."""
        units = warps.read_fragment(self.registers, self._order())
        return units.view(STORAGE[self.element]).reshape(-1, *self.shape)

    def write(self, warps: Warps, matrix: Array) -> None:
        """Write the joined matrix of each warp to the registers."""
        order = self._order()
        warps.write_fragment(self.registers, order, np.ascontiguousarray(matrix).view(order.dtype))

    def _order(self) -> Order:
        return _joined_order(self.map, self.count, self.is_factor, np.dtype(STORAGE[self.element]).itemsize)


@dataclass(frozen=True, slots=True)
class JoinedProducts:
    """Multiplications with the same matrix A, as one multiplication.

    All have the arithmetic and the options of `first`.
    """

    first: Multiplication
    a: RegisterMatrix
    b: JoinedMatrix
    c: JoinedMatrix
    d: JoinedMatrix


def join(products: Sequence[Multiplication]) -> list[JoinedProducts | Multiplication]:
    """Join the multiplications of a run. Multiplications that cannot be joined remain as they are."""
    groups: dict[object, list[Multiplication]] = {}
    for number, product in enumerate(products):
        is_plain = product.scales is None and product.metadata is None and product.d.map.tiles == 1
        key: object = number
        if is_plain and isinstance(product.a, RegisterMatrix) and _is_joinable(product):
            key = (id(product.a.registers), product.arithmetic)
        groups.setdefault(key, []).append(product)
    return [_joined(each) if len(each) > 1 else each[0] for each in groups.values()]


def _is_joinable(product: Multiplication) -> bool:
    if not isinstance(product.b, RegisterMatrix):
        return False
    others = ((product.b, True), (product.c, False), (product.d, False))
    return not product.b.padded and all(
        matrix.map.order(transposed=is_factor) is not None and getattr(matrix.registers, "file", None) is not None
        for matrix, is_factor in others
    )


def _joined(products: Sequence[Multiplication]) -> JoinedProducts:
    first = products[0]
    assert isinstance(first.a, RegisterMatrix)
    b, c, d = (
        _side_by_side([getattr(product, name) for product in products], is_factor=name == "b")
        for name in ("b", "c", "d")
    )
    return JoinedProducts(first, first.a, b, c, d)


def _side_by_side(matrices: Sequence[RegisterMatrix], is_factor: bool) -> JoinedMatrix:
    first = matrices[0]
    vectors = [matrix.registers for matrix in matrices]
    items = tuple(item for vector in vectors if isinstance(vector, VectorValue) for item in vector.items)
    return JoinedMatrix(VectorValue(first.registers.type, items), first.map, first.element, len(matrices), is_factor)


@lru_cache(maxsize=256)
def _joined_order(fragment_map: FragmentMap, count: int, is_factor: bool, size: int) -> Order:
    """Return the order of the elements of `count` matrices in their registers. Elements have `size` bytes."""
    one = fragment_map.order(transposed=is_factor)
    assert one is not None
    rows, columns = fragment_map.matrix_shape
    if is_factor:
        rows, columns = columns, rows
    row = columns * size // one.dtype.itemsize  # units in a row of one matrix
    matrix = np.arange(count, dtype=np.uint64)[:, None, None]
    if is_factor:
        target = matrix * np.uint64(rows * row) + one.target
    else:
        in_row = one.target % np.uint64(row)
        target = one.target // np.uint64(row) * np.uint64(count * row) + matrix * np.uint64(row) + in_row
    return Order(one.dtype, one.warps, np.ascontiguousarray(target.reshape(-1, one.target.shape[1])))
