"""Locations of the elements of a matrix, as text, CSV and JSON."""

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

COLOURS = 32
"""Number of cell colours. The colour of a cell is its lane or bank modulo this number."""

Piece = tuple[str, int | None]
"""Text, and the number of its colour or None for uncoloured text."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory that holds the elements of a matrix: registers, shared memory or tensor memory.

    `LayoutGrid.entries` describes each location of an element with several integers. `columns` names these integers.
    "tlane" and "tcol" are a lane and a column of tensor memory. "bit" is the first bit of the element. The integer
    named `owner` determines the colour of a cell. `caption` describes the two numbers in a cell of a picture.
    """

    name: str
    columns: tuple[str, ...]
    owner: str
    caption: str


REGISTERS = Memory("registers", ("row", "col", "lane", "item", "register", "bit"), "lane", "lane and register")
SHARED = Memory("shared memory", ("row", "col", "byte", "bit", "bank"), "bank", "byte and bank of shared memory")
TENSOR = Memory(
    "tensor memory", ("row", "col", "cta", "tlane", "tcol", "bit"), "tlane", "lane and column of tensor memory"
)


@dataclass(frozen=True, eq=False)
class LayoutGrid:
    """Locations of the elements of a matrix with `rows` x `cols` elements of `bits` bits.

    Each row of `entries` is one location of one element. `memory.columns` names the integers of the row. An element may
    have several locations. `operand` is the operand of the instruction, `name` the name of the operand's layout, and
    `legend` the meaning of the layout's coordinates.
    `ctas` is the number of CTAs with a share of the matrix in their tensor memory.

    Shapes: `entries` is (locations, len(memory.columns)), sorted by row and column of the matrix.
    """

    operand: str
    name: str
    legend: str
    rows: int
    cols: int
    bits: int
    memory: Memory
    entries: NDArray[np.int64]
    ctas: int = 1

    def column(self, name: str) -> NDArray[np.int64]:
        """Return the column `name` of `entries`. Shapes: (locations,)."""
        return self.entries[:, self.memory.columns.index(name)]

    @cached_property
    def colours(self) -> list[int]:
        """Colour number of each row of `entries`."""
        return (self.column(self.memory.owner) % COLOURS).tolist()

    def select(self, values: Mapping[str, int]) -> LayoutGrid:
        """Return a grid of the entries that have the given value in each column of `values`."""
        chosen = np.ones(len(self.entries), np.bool_)
        for name, value in values.items():
            chosen &= self.column(name) == value
        return replace(self, entries=self.entries[chosen])

    def corner(self, rows: int, cols: int) -> LayoutGrid:
        """Return a grid of the first rows and columns. The legend of a smaller grid states them."""
        if rows >= self.rows and cols >= self.cols:
            return self
        rows, cols = min(rows, self.rows), min(cols, self.cols)
        chosen = (self.column("row") < rows) & (self.column("col") < cols)
        legend = f"{self.legend}, rows 0 to {rows - 1}, columns 0 to {cols - 1}"
        return replace(self, legend=legend, rows=rows, cols=cols, entries=self.entries[chosen])

    def cells(self) -> Iterator[tuple[int, int, list[int]]]:
        """Yield (row, column, indices in `entries`) for each element that has a location."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, (row, col) in enumerate(self.entries[:, :2].tolist()):
            found.setdefault((row, col), []).append(number)
        for (row, col), numbers in found.items():
            yield row, col, numbers

    def _entry(self, number: int) -> dict[str, int]:
        return dict(zip(self.memory.columns, self.entries[number].tolist(), strict=True))

    def describe(self, number: int) -> str:
        """Return a description of the entry with index `number`."""
        entry = self._entry(number)
        bit = entry["bit"]
        bits = f"bit {bit}" if self.bits == 1 else f"bits {bit} to {bit + self.bits - 1}"
        if self.memory is SHARED:
            words = [f"byte {entry['byte']}", *([bits] if self.bits < 8 else []), f"bank {entry['bank']}"]
        elif self.memory is TENSOR:
            cta = [f"CTA {entry['cta']}"] if self.ctas > 1 else []
            words = [*cta, f"tlane {entry['tlane']}", f"tcol {entry['tcol']}", bits]
        else:
            words = [f"lane {entry['lane']}", f"item {entry['item']}", f"register {entry['register']}", bits]
        return f"row {entry['row']}, column {entry['col']}: {', '.join(words)}"

    def location(self, number: int) -> str:
        """Return the location of the entry with index `number` in short form.

        `T3:1` is item 1 of lane 3. `34.4` is bit 4 of byte 34. `L3.5:16` is bit 16 of `tcol` 5 in `tlane` 3.
        """
        entry = self._entry(number)
        if self.memory is TENSOR:
            return location_text(entry["cta"], entry["tlane"], entry["tcol"], entry["bit"], self.ctas)
        if self.memory is REGISTERS:
            return f"T{entry['lane']}:{entry['item']}"
        return f"{entry['byte']}.{entry['bit']}" if self.bits < 8 else f"{entry['byte']}"

    def label(self, number: int) -> tuple[str, str]:
        """Return the two texts in the cell of entry `number`, such as lane and register."""
        entry = self._entry(number)
        if self.memory is SHARED:
            return self.location(number), f"b{entry['bank']}"
        bit = f":{entry['bit']}" if self.bits < 32 else ""
        if self.memory is TENSOR:
            cta = f"{entry['cta']}/" if self.ctas > 1 else ""
            return f"{cta}L{entry['tlane']}", f"c{entry['tcol']}{bit}"
        return f"T{entry['lane']}", f"r{entry['register']}{bit}"


def grid_of(operand: str, layout: FragmentMap | SharedMap | TensorMemoryMap) -> LayoutGrid:
    """Return the grid of the layout of an operand."""
    ctas = 1
    if isinstance(layout, SharedMap):
        memory = SHARED
        row, col = np.indices(layout.at.shape)
        columns = (row, col, layout.at >> 3, layout.at & 7, layout.bank)
    elif isinstance(layout, TensorMemoryMap):
        memory, ctas = TENSOR, layout.ctas
        _, row, col = np.indices(layout.lane.shape)
        columns = (row, col, layout.cta, layout.lane, layout.column, layout.bit)
    else:
        memory = REGISTERS
        lane, item = np.nonzero(layout.row >= 0)
        register, bit = np.divmod(item * layout.bits, layout.register_bits)
        columns = (layout.row[lane, item], layout.col[lane, item], lane, item, register, bit)
    entries = np.stack([column.reshape(-1).astype(np.int64) for column in columns], axis=1)
    entries = entries[np.lexsort(entries.T[::-1])]
    size = (layout.rows, layout.cols, layout.bits)
    return LayoutGrid(operand, layout.name, layout.legend, *size, memory, entries, ctas)


def text_lines(grid: LayoutGrid, width: int) -> Iterator[list[Piece]]:
    """Yield the lines of a text table with the location of each element.

    A line is a list of coloured texts. A wide matrix is split into parts of at most `width` characters.
    """
    cells: dict[tuple[int, int], Piece] = {}
    for row, col, numbers in grid.cells():
        cells[row, col] = " ".join(map(grid.location, numbers)), grid.colours[numbers[0]]
    longest = max(len(str(grid.cols - 1)), *(len(text) for text, _ in cells.values()), 1)
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
    """Return a colour number as `#rrggbb`. Four consecutive numbers are four lightnesses of one hue."""
    bright = 0.95 - 0.12 * (colour % 4)
    red, green, blue = (round(255 * part) for part in hsv_to_rgb(colour // 4 / 8, 0.45, bright))
    return f"#{red:02x}{green:02x}{blue:02x}"


def csv_text(grids: Sequence[LayoutGrid]) -> str:
    """Return the entries of all grids as comma-separated values with a header.

    The header has the columns of all memories. A row has empty cells for the columns of other memories.
    """
    written = io.StringIO()
    columns = dict.fromkeys(name for grid in grids for name in grid.memory.columns)
    writer = csv.DictWriter(written, ["operand", *columns], lineterminator="\n")
    writer.writeheader()
    for grid in grids:
        for entry in grid.entries.tolist():
            writer.writerow({"operand": grid.operand, **dict(zip(grid.memory.columns, entry, strict=True))})
    return written.getvalue()


def json_data(grid: LayoutGrid) -> dict[str, object]:
    """Return the grid as a dictionary for JSON.

    `entries` has one list of numbers for each location. `columns` names the numbers.
    """
    fields = ("operand", "name", "legend", "rows", "cols", "bits")
    data: dict[str, object] = {name: getattr(grid, name) for name in fields}
    return {**data, "columns": list(grid.memory.columns), "entries": grid.entries.tolist()}
