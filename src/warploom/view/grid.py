"""A matrix and where each of its elements lies: the data of every picture of a layout, as text, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from colorsys import hsv_to_rgb
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warploom.layout import FragmentMap, SharedMap, TensorMemoryMap
from warploom.layout.tensor_memory import location_text

_IN_REGISTERS = ("row", "col", "lane", "item", "register", "bit")
_IN_SHARED = ("row", "col", "byte", "bit", "bank")
_IN_TENSOR = ("row", "col", "cta", "tlane", "tcol", "bit")
_HOLDERS: dict[tuple[str, ...], str] = {_IN_REGISTERS: "lane", _IN_SHARED: "bank", _IN_TENSOR: "tlane"}
_MEMORIES: dict[tuple[str, ...], str] = {
    _IN_REGISTERS: "registers",
    _IN_SHARED: "shared memory",
    _IN_TENSOR: "tensor memory",
}

COLOURS = 32
"""Colours of cells: one for each lane of a warp, for each bank, or for each lane of a quarter of tensor memory."""

Piece = tuple[str, int | None]
"""Text, and the colour that it has; None for none."""


@dataclass(frozen=True, eq=False)
class Grid:
    """A matrix of `rows` x `cols` elements of `bits` bits, and an entry for each place in which one of them lies.

    An entry says, column by column, what `columns` names: in registers row, col, lane, item, register and bit (at
    which the element begins in the register), in shared memory row, col, byte, bit (of the byte) and bank, in
    tensor memory row, col, cta (of `ctas`), tlane and tcol (its lane and column) and bit (of the word there).

    Shapes: `entries` is (entries, columns), in the order of rows and columns.
    """

    operand: str
    name: str
    legend: str
    rows: int
    cols: int
    bits: int
    columns: tuple[str, ...]
    entries: NDArray[np.int64]
    ctas: int = 1

    @property
    def memory(self) -> str:
        """Where the elements lie: registers, shared memory or tensor memory."""
        return _MEMORIES[self.columns]

    @property
    def holder(self) -> str:
        """What elements are told apart by: lane, bank, or tlane for a lane of tensor memory."""
        return _HOLDERS[self.columns]

    def column(self, name: str) -> NDArray[np.int64]:
        """A column of the entries. Shapes: (entries,)."""
        return self.entries[:, self.columns.index(name)]

    @cached_property
    def colours(self) -> list[int]:
        """The colour of each entry."""
        return (self.column(self.holder) % COLOURS).tolist()

    def only(self, wanted: Mapping[str, int]) -> Grid:
        """The same with those entries alone that say something."""
        kept = np.ones(len(self.entries), np.bool_)
        for name, value in wanted.items():
            kept &= self.column(name) == value
        return replace(self, entries=self.entries[kept])

    def cells(self) -> Iterator[tuple[int, int, list[int]]]:
        """Every element with entries: row, column, and the numbers of its entries."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, (row, col) in enumerate(self.entries[:, :2].tolist()):
            found.setdefault((row, col), []).append(number)
        for (row, col), numbers in found.items():
            yield row, col, numbers

    def said(self, number: int) -> str:
        """An entry in words."""
        row, col, *rest = self.entries[number].tolist()
        where = f"row {row}, column {col}: "
        if self.columns == _IN_SHARED:
            byte, bit, bank = rest
            within = f" bits {bit} to {bit + self.bits - 1}," if self.bits < 8 else ""
            return f"{where}byte {byte},{within} bank {bank}"
        bit = rest[-1]
        bits = f"bit {bit}" if self.bits == 1 else f"bits {bit} to {bit + self.bits - 1}"
        if self.columns == _IN_TENSOR:
            cta, lane, column, _ = rest
            return f"{where}{f'CTA {cta}, ' if self.ctas > 1 else ''}tlane {lane}, tcol {column}, {bits}"
        lane, item, register, _ = rest
        return f"{where}lane {lane}, item {item}, register {register}, {bits}"

    def place(self, number: int) -> str:
        """Where an entry has its element, in a word: `T3:1`, item 1 of lane 3; the byte, with the bit if need be;
        `L3.5:16`, bit 16 of column 5 in lane 3 of tensor memory.
        """
        _, _, first, second, *rest = self.entries[number].tolist()
        if self.columns == _IN_TENSOR:
            return location_text(first, second, rest[0], rest[1], self.ctas)
        if self.columns == _IN_REGISTERS:
            return f"T{first}:{second}"
        return f"{first}.{second}" if self.bits < 8 else f"{first}"

    def short(self, number: int) -> tuple[str, str]:
        """An entry in two short words for a cell: lane and register, byte and bank, or lane and column."""
        _, _, *rest = self.entries[number].tolist()
        if self.columns == _IN_SHARED:
            return self.place(number), f"b{rest[-1]}"
        bit = f":{rest[-1]}" if self.bits < 32 else ""
        if self.columns == _IN_TENSOR:
            return (f"{rest[0]}/" if self.ctas > 1 else "") + f"L{rest[1]}", f"c{rest[2]}{bit}"
        return f"T{rest[0]}", f"r{rest[2]}{bit}"


def grid_of(operand: str, found: FragmentMap | SharedMap | TensorMemoryMap) -> Grid:
    """The grid of a map."""
    if isinstance(found, SharedMap):
        row, col = np.indices(found.at.shape).reshape(2, -1)
        at = found.at.reshape(-1)
        said = (row, col, at >> 3, at & 7, found.bank.reshape(-1))
        columns = _IN_SHARED
    elif isinstance(found, TensorMemoryMap):
        _, row, col = np.indices(found.lane.shape)
        parts = (row, col, found.cta, found.lane, found.column, found.bit)
        said = tuple(part.reshape(-1) for part in parts)
        columns = _IN_TENSOR
    else:
        lane, item = np.nonzero(found.row >= 0)
        register, bit = np.divmod(item * found.bits, found.register_bits)
        said = (found.row[lane, item], found.col[lane, item], lane, item, register, bit)
        columns = _IN_REGISTERS
    entries = np.stack([part.astype(np.int64) for part in said], axis=1)
    entries = entries[np.lexsort(entries.T[::-1])]
    ctas = found.ctas if isinstance(found, TensorMemoryMap) else 1
    return Grid(operand, found.name, found.legend, found.rows, found.cols, found.bits, columns, entries, ctas)


def text_of(grid: Grid, width: int) -> Iterator[list[Piece]]:
    """The lines of a table, in panels of columns that fit a width; a cell has the places of an element."""
    cells: dict[tuple[int, int], Piece] = {}
    for row, col, numbers in grid.cells():
        cells[row, col] = " ".join(map(grid.place, numbers)), grid.colours[numbers[0]]
    longest = max((len(text) for text, _ in cells.values()), default=1)
    longest = max(longest, len(str(grid.cols - 1)))
    margin = len(str(grid.rows - 1))
    fit = max((width - margin) // (longest + 1), 1)
    fit -= fit % 8 if fit > 8 else 0
    yield [(f"{grid.operand}: {grid.name}  {grid.legend}", None)]
    for left in range(0, grid.cols, fit):
        panel = range(left, min(left + fit, grid.cols))
        yield [(" " * margin + "".join(f" {col:>{longest}}" for col in panel), None)]
        for row in range(grid.rows):
            line: list[Piece] = [(f"{row:>{margin}}", None)]
            for col in panel:
                text, colour = cells.get((row, col), ("", None))
                line += [(" " * (longest + 1 - len(text)), None), (text, colour)]
            yield line


def terminal_colour(colour: int) -> str:
    """What a terminal calls a cell's colour: a hue for each group of four, and four lightnesses."""
    bright = 0.95 - 0.12 * (colour % 4)
    red, green, blue = (round(255 * part) for part in hsv_to_rgb(colour // 4 / 8, 0.45, bright))
    return f"#{red:02x}{green:02x}{blue:02x}"


def csv_of(grids: Sequence[Grid]) -> str:
    """The entries as comma-separated values, a header first; the operand is the first column.

    The grids are all in one memory, or else what an entry does not say is left empty.
    """
    columns = list(dict.fromkeys(name for grid in grids for name in grid.columns))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(["operand", *columns])
    for grid in grids:
        places = [grid.columns.index(name) if name in grid.columns else None for name in columns]
        for entry in grid.entries.tolist():
            writer.writerow([grid.operand, *("" if place is None else entry[place] for place in places)])
    return written.getvalue()


def data_of(grid: Grid) -> dict[str, object]:
    """The grid as JSON has it: `entries` is a list of lists of numbers, which `columns` names."""
    return {
        "operand": grid.operand,
        "name": grid.name,
        "legend": grid.legend,
        "rows": grid.rows,
        "cols": grid.cols,
        "bits": grid.bits,
        "columns": list(grid.columns),
        "entries": grid.entries.tolist(),
    }
