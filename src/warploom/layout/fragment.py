"""Fragment maps: which lane holds which matrix element, and the fast road between registers and matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.display import Displayed

if TYPE_CHECKING:
    from collections.abc import Sequence

Bits = NDArray[Any]
_UNSIGNED: dict[int, type[np.unsignedinteger[Any]]] = {
    8: np.uint8,
    16: np.uint16,
    32: np.uint32,
    64: np.uint64,
}


@dataclass(frozen=True, eq=False)
class Order:
    """Where the units of a warp's registers stand in its matrix, row by row: what moves without being taken apart.

    A unit is an element, or a whole register where that holds neighbours. A warpgroup's matrix is those of its
    ``warps``, one upon the other, each in this order.

    Shapes: ``target`` is (registers, units of a register across the warp, lane by lane).
    """

    dtype: np.dtype[np.unsignedinteger[Any]]
    warps: int
    target: NDArray[np.uint64]


@dataclass(frozen=True, eq=False, repr=False)
class FragmentMap(Displayed):
    """The map (lane, item) -> (row, col) of one operand of one matrix instruction.

    Items are numbered as the manual numbers them: a0, a1, ... from the low bits of the first register up.
    An instruction that works on several matrices at once (``tiles`` > 1) has them stacked along the rows.

    Where the bits of a lane stand for nothing, as those of most lanes' metadata do, row and column are -1; what
    such a map describes is no matrix that could be gathered.

    Shapes: ``row`` and ``col`` are (lanes, items); registers are (batch, registers, lanes); matrices are
        (batch, rows, cols), or (batch, cols, rows) where ``transposed`` is asked for.
    Units: ``bits`` is the width of an element's container, ``register_bits`` that of a register.
    Source: PTX ISA 9.7.14.5, 9.7.14.6, 9.7.15.
    """

    display_kind: ClassVar[str] = "layout"

    name: str
    legend: str
    rows: int
    cols: int
    bits: int
    row: NDArray[np.int32]
    col: NDArray[np.int32]
    register_bits: int = 32
    tiles: int = 1
    packed_along: str = ""

    @property
    def lanes(self) -> int:
        """Lanes that hold the fragment: 32, or 128 for a warpgroup."""
        return self.row.shape[0]

    @property
    def items(self) -> int:
        """Elements that one lane holds."""
        return self.row.shape[1]

    @property
    def registers(self) -> int:
        """Registers that one lane holds."""
        return self.items * self.bits // self.register_bits

    @property
    def is_partial(self) -> bool:
        """Whether there are items that stand for nothing."""
        return bool((self.row < 0).any())

    def register_of(self, item: int) -> tuple[int, int]:
        """The register of an item and the bit at which the item begins in it."""
        if not 0 <= item < self.items:
            raise UsageError(f"{self.name}: there is no item {item}; expected 0 to {self.items - 1}")
        return divmod(item * self.bits, self.register_bits)

    def element(self, lane: int, item: int) -> tuple[int, int]:
        """The (row, col) that an item of a lane stands for.

        Errors: UsageError where there is no such lane or item, and where it stands for nothing.
        """
        if not 0 <= lane < self.lanes:
            raise UsageError(f"{self.name}: there is no lane {lane}; expected 0 to {self.lanes - 1}")
        self.register_of(item)
        if self.row[lane, item] < 0:
            raise UsageError(f"{self.name}: item {item} of lane {lane} stands for nothing")
        return int(self.row[lane, item]), int(self.col[lane, item])

    def owners(self, row: int, col: int) -> tuple[tuple[int, int], ...]:
        """Every (lane, item) that holds an element, in order."""
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            raise UsageError(
                f"{self.name}: there is no element ({row}, {col}) in a matrix of {self.rows} by {self.cols}"
            )
        found = np.argwhere((self.row == row) & (self.col == col))
        return tuple((int(lane), int(item)) for lane, item in found)

    def gather(
        self, registers: Bits | Sequence[Bits], *, signed: bool = False, transposed: bool = False
    ) -> Bits:
        """The matrix that a batch of fragments holds, as raw element bits.

        Where several lanes hold an element, the lowest register of the lowest lane is read.

        Shapes: registers (batch, registers, lanes), or one (batch, lanes) array for each register. The matrix
            is (batch, rows, cols): uint8 for elements of 8 bits and fewer, else unsigned of the element's
            width; an element as wide as its register keeps the register's dtype. Single bits stay packed,
            32 of them along k in one uint32.
        Units: ``signed`` extends the sign of 4-bit elements to the byte.
        """
        stacked = self._registers(registers)
        batch = stacked.shape[0]
        flat = stacked.reshape(batch, self.registers * self.lanes)
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
        """The registers of a batch of fragments that hold a matrix: the inverse of ``gather``.

        Shapes: matrix (batch, rows, cols), or (batch, cols, rows) when ``transposed``; the result is
            (batch, registers, lanes).
        """
        rows, cols = self.matrix_shape
        expected = (cols, rows) if transposed else (rows, cols)
        unit = self._unit_bits
        if matrix.ndim != 3 or matrix.shape[1:] != expected or matrix.dtype.itemsize * 8 != max(unit, 8):
            raise UsageError(
                f"{self.name}: a matrix of shape {matrix.shape} and dtype {matrix.dtype} does not scatter;"
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
        """The order of units of each matrix, or of each transposed.

        None where elements are parts of bytes, or in two places.
        """
        return self._orders[transposed]

    def __repr__(self) -> str:
        return f"<FragmentMap {self.name}: {self.legend}>"

    def __str__(self) -> str:
        """The map as a table, each cell the items that hold the element: ``T0:0`` is item 0 of lane 0."""
        cells = [["" for _ in range(self.cols)] for _ in range(self.rows)]
        for lane in range(self.lanes):
            for item in np.flatnonzero(self.row[lane] >= 0).tolist():
                row, col = self.element(lane, item)
                cells[row][col] += f"{' ' if cells[row][col] else ''}T{lane}:{item}"
        width = max(len(cell) for line in cells for cell in line)
        margin = len(str(self.rows - 1))
        lines = [f"{self.name}  {self.legend}"]
        lines.append(" " * margin + "".join(f" {col:>{width}}" for col in range(self.cols)).rstrip())
        for row, line in enumerate(cells):
            lines.append(f"{row:>{margin}}" + "".join(f" {cell:>{width}}" for cell in line).rstrip())
        return "\n".join(lines)

    def _registers(self, registers: Bits | Sequence[Bits]) -> Bits:
        stacked = registers if isinstance(registers, np.ndarray) else np.stack(list(registers), axis=1)
        if (
            stacked.ndim != 3
            or stacked.shape[1:] != (self.registers, self.lanes)
            or stacked.dtype.itemsize * 8 != self.register_bits
        ):
            raise UsageError(
                f"{self.name}: registers of shape {stacked.shape} and dtype {stacked.dtype} do not gather;"
                f" expected (batch, {self.registers}, {self.lanes}) of {self.register_bits} bits each"
            )
        return np.ascontiguousarray(stacked)

    @property
    def _unit_bits(self) -> int:
        return 32 if self.packed_along else self.bits

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Rows and columns of what ``gather`` returns: single bits are packed by 32."""
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
            units, dtype = whole, _UNSIGNED[self.register_bits]
        return Order(np.dtype(dtype), warps, np.ascontiguousarray(units, np.uint64))

    @cached_property
    def _indices(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Flat positions: matrix for every register unit; register unit for every element, and transposed.

        A register unit is what np.take moves: an element, or 32 packed bits.
        """
        if self.is_partial:
            raise UsageError(f"{self.name}: some lanes hold nothing of it; expected a map of a whole matrix")
        row, col = self.row, self.col
        if self.packed_along == "col":
            row, col = row[:, ::32], col[:, ::32] // 32
        elif self.packed_along == "row":
            row, col = row[:, ::32] // 32, col[:, ::32]
        rows, cols = self.matrix_shape
        per_register = self.register_bits // self._unit_bits
        # (lane, item) -> (register, lane, place in the register), the order in which memory holds the units.
        split = (self.lanes, self.registers, per_register)
        matrix = (row * cols + col).reshape(split).transpose(1, 0, 2).reshape(-1).astype(np.intp)
        units = np.arange(matrix.size, dtype=np.intp)
        owner = np.zeros(rows * cols, np.intp)
        owner[matrix[::-1]] = units[::-1]
        transposed = np.ascontiguousarray(owner.reshape(rows, cols).T).reshape(-1)
        return matrix, owner, transposed
