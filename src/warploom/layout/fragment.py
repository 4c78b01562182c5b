"""Fragment maps: the matrix element in each lane and register of a warp or a warpgroup."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.layout.element_map import ElementMap
from warploom.lazy_dataclass import dataclass

Bits = NDArray[Any]
_UNSIGNED: dict[int, type[np.unsignedinteger[Any]]] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


@dataclass(frozen=True, eq=False)
class Order:
    """Order of the elements of a fragment in the registers of one warp.

    A unit of type `dtype` is an element, or a whole register. `target` holds the row-major position of each unit in the
    matrix. `warps` is the number of warps with this order: 1, or 4 for a warpgroup. The matrices of the four warps are
    stacked along the rows.

    Shapes: `target` is (registers, units). Each row has the units of lane 0, then those of lane 1, ….
    """

    dtype: np.dtype[np.unsignedinteger[Any]]
    warps: int
    target: NDArray[np.uint64]


@dataclass(frozen=True, eq=False, repr=False)
class FragmentMap(ElementMap):
    """Map (lane, item) -> (row, col) of one operand of a matrix instruction.

    An item is an element in the registers of a lane: a0, a1, … of the manual, from the low bits of the first register
    up. An item without an element has row and column -1. `tiles` is the number of matrices, which the map stacks along
    the rows. `packed_along` is "row" or "col" if a register holds 32 single bits along this axis, and otherwise empty.

    Shapes: `row` and `col` are (lanes, items); registers are (batch, registers, lanes); matrices are
        (batch, rows, cols), or (batch, cols, rows) if `transposed`.
    Units: `bits` is the width of an element's container, `register_bits` the width of a register.
    Source: PTX ISA 9.7.14.5, 9.7.14.6, 9.7.15.
    """

    row: NDArray[np.int32]
    col: NDArray[np.int32]
    register_bits: int = 32
    tiles: int = 1
    packed_along: str = ""

    @property
    def lanes(self) -> int:
        """Number of lanes: 32, or 128 for a warpgroup."""
        return self.row.shape[0]

    @property
    def items(self) -> int:
        """Number of items in one lane."""
        return self.row.shape[1]

    @property
    def registers(self) -> int:
        """Number of registers in one lane."""
        return self.items * self.bits // self.register_bits

    def register_of(self, item: int) -> tuple[int, int]:
        """Return the index of the register with `item`, and the lowest bit of the item in this register."""
        if not 0 <= item < self.items:
            raise UsageError(f"{self.name}: there is no item {item}; expected 0 to {self.items - 1}")
        return divmod(item * self.bits, self.register_bits)

    def element(self, lane: int, item: int) -> tuple[int, int]:
        """Return the (row, col) of the matrix element in one item of one lane.

        Errors: UsageError if the lane or the item does not exist, or if the item has no element.
        """
        if not 0 <= lane < self.lanes:
            raise UsageError(f"{self.name}: there is no lane {lane}; expected 0 to {self.lanes - 1}")
        self.register_of(item)
        if self.row[lane, item] < 0:
            raise UsageError(f"{self.name}: item {item} of lane {lane} has no element")
        return int(self.row[lane, item]), int(self.col[lane, item])

    def owners(self, row: int, col: int) -> tuple[tuple[int, int], ...]:
        """Return every (lane, item) with the element (row, col), in ascending order."""
        self.check_element(row, col)
        found = np.argwhere((self.row == row) & (self.col == col))
        return tuple((int(lane), int(item)) for lane, item in found)

    def gather(self, registers: Bits | Sequence[Bits], *, signed: bool = False, transposed: bool = False) -> Bits:
        """Copy a batch of matrices from registers. The result has raw element bits.

        `signed` sign-extends 4-bit elements to 8 bits. Elements of at most 8 bits are returned as uint8, wider elements
        as unsigned integers of their width. Single bits stay packed: 32 bits along K are one uint32.

        Shapes: registers (batch, registers, lanes), or one (batch, lanes) array for each register. The result is
            (batch, rows, cols), or (batch, cols, rows) if `transposed`.
        Errors: UsageError for another shape, and for a map that has items without an element.
        """
        stacked = registers if isinstance(registers, np.ndarray) else np.stack(list(registers), axis=1)
        width = stacked.dtype.itemsize * 8
        if stacked.shape[1:] != (self.registers, self.lanes) or width != self.register_bits:
            raise UsageError(
                f"{self.name}: cannot gather registers of shape {stacked.shape} and dtype {stacked.dtype};"
                f" expected (batch, {self.registers}, {self.lanes}) of {self.register_bits} bits each"
            )
        batch = stacked.shape[0]
        flat = np.ascontiguousarray(stacked).reshape(batch, self.registers * self.lanes)
        unit = self._unit_bits
        if unit < 8:
            pairs = flat.view(np.uint8)
            nibbles = np.empty((batch, pairs.shape[1], 2), np.uint8)
            np.bitwise_and(pairs, 15, out=nibbles[:, :, 0])
            np.right_shift(pairs, 4, out=nibbles[:, :, 1])
            flat = nibbles.reshape(batch, -1)
        elif unit != self.register_bits:
            flat = flat.view(_UNSIGNED[unit])
        _, from_registers, from_registers_transposed = self._indices
        taken = np.take(flat, from_registers_transposed if transposed else from_registers, axis=1)
        if signed and unit < 8:
            taken ^= 8
            taken -= 8
        rows, cols = self.matrix_shape
        return taken.reshape(batch, cols, rows) if transposed else taken.reshape(batch, rows, cols)

    def scatter(self, matrix: Bits, *, transposed: bool = False) -> Bits:
        """Copy a batch of matrices to registers, as the inverse of `gather`.

        Shapes: matrix (batch, rows, cols), or (batch, cols, rows) if `transposed`; the result is
            (batch, registers, lanes).
        Errors: UsageError for another shape, and for a map that has items without an element.
        """
        rows, cols = self.matrix_shape
        expected = (cols, rows) if transposed else (rows, cols)
        unit = self._unit_bits
        if matrix.ndim != 3 or matrix.shape[1:] != expected or matrix.dtype.itemsize * 8 != max(unit, 8):
            raise UsageError(
                f"{self.name}: cannot scatter a matrix of shape {matrix.shape} and dtype {matrix.dtype};"
                f" expected (batch, {expected[0]}, {expected[1]}) of {max(unit, 8)} bits each"
            )
        batch = matrix.shape[0]
        source = matrix.transpose(0, 2, 1) if transposed else matrix
        flat = np.ascontiguousarray(source).reshape(batch, rows * cols)
        taken = np.take(flat, self._indices[0], axis=1)
        if unit < 8:
            bytes_ = taken.view(np.uint8).reshape(batch, -1, 2)
            taken = (bytes_[:, :, 0] & 15) | (bytes_[:, :, 1] << 4)
        if unit != self.register_bits:
            taken = taken.view(_UNSIGNED[self.register_bits])
        return taken.reshape(batch, self.registers, self.lanes)

    def order(self, *, transposed: bool = False) -> Order | None:
        """Return the order of the matrix elements in the registers, or None.

        The result is None if elements are narrower than a byte, or if several lanes hold one element. With
        `transposed`, the result is for the transposed matrix, and None for a warpgroup.
        """
        return self._orders[transposed]

    def cells(self) -> list[list[str]]:
        """Return the lanes and items of each element as text: `T0:1` is item 1 of lane 0."""
        cells = [["" for _ in range(self.cols)] for _ in range(self.rows)]
        for lane in range(self.lanes):
            for item in np.flatnonzero(self.row[lane] >= 0).tolist():
                row, col = self.element(lane, item)
                cells[row][col] += f"{' ' if cells[row][col] else ''}T{lane}:{item}"
        return cells

    @property
    def _unit_bits(self) -> int:
        return 32 if self.packed_along else self.bits

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Rows and columns of the result of `gather`. 32 packed bits count as one element."""
        if self.packed_along == "col":
            return self.rows, self.cols // 32
        if self.packed_along == "row":
            return self.rows // 32, self.cols
        return self.rows, self.cols

    @cached_property
    def _orders(self) -> tuple[Order | None, Order | None]:
        return self._order(transposed=False), self._order(transposed=True)

    def _order(self, *, transposed: bool) -> Order | None:
        warps = self.lanes // 32
        rows, cols = self.matrix_shape
        matrix = self._indices[0]
        if self._unit_bits < 8 or matrix.size > rows * cols or (transposed and warps > 1):
            return None
        if transposed:
            tile, row, col = np.unravel_index(matrix, (self.tiles, rows // self.tiles, cols))
            matrix = np.ravel_multi_index((tile, col, row), (self.tiles, cols, rows // self.tiles))
        units = matrix.reshape(self.registers, warps, -1)[:, 0].astype(np.int64)
        dtype, per_register = _UNSIGNED[self._unit_bits], self.register_bits // self._unit_bits
        lows = units[:, ::per_register]
        whole, lowest = lows // per_register, lows % per_register
        firsts: NDArray[np.int64] = np.repeat(whole, per_register, axis=1) * per_register
        within: NDArray[np.int64] = np.arange(units.shape[1], dtype=np.int64) % per_register
        neighbours: NDArray[np.int64] = firsts + within
        if not lowest.any() and np.array_equal(units, neighbours):
            # Every register holds neighbouring elements.
            units, dtype = whole, _UNSIGNED[self.register_bits]
        return Order(np.dtype(dtype), warps, np.ascontiguousarray(units, np.uint64))

    @cached_property
    def _indices(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Index arrays for `scatter`, for `gather`, and for a transposed `gather`.

        A unit is an element, or 32 packed bits. The first array has the row-major matrix position of each unit in the
        registers. The others have the unit at each position of the matrix, or of its transpose.
        """
        if (self.row < 0).any():
            raise UsageError(f"{self.name}: some items have no element; expected a map of a whole matrix")
        row, col = self.row, self.col
        if self.packed_along == "col":
            row, col = row[:, ::32], col[:, ::32] // 32
        elif self.packed_along == "row":
            row, col = row[:, ::32] // 32, col[:, ::32]
        rows, cols = self.matrix_shape
        per_register = self.register_bits // self._unit_bits
        # (lane, item) -> (register, lane, unit of the register), the order of the units in memory.
        split = (self.lanes, self.registers, per_register)
        matrix = (row * cols + col).reshape(split).transpose(1, 0, 2).reshape(-1).astype(np.intp)
        units = np.arange(matrix.size, dtype=np.intp)
        owner = np.zeros(rows * cols, np.intp)
        # The first unit wins if several hold one element.
        owner[matrix[::-1]] = units[::-1]
        transposed = np.ascontiguousarray(owner.reshape(rows, cols).T).reshape(-1)
        return matrix, owner, transposed
