"""Grid of the elements of a matrix with their locations, as text, CSV and JSON."""

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
"""Number of colours of cells: lanes of a warp, banks, or lanes of a quarter of tensor memory."""

Piece = tuple[str, int | None]
"""Text and its colour, None for no colour."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Kind of memory that holds the elements.

    `columns` names the numbers of an entry, `owner` the column that colours distinguish, and `caption` the two numbers
    that a cell of a picture shows. `bit` is the first bit of an element in its register, byte or word of tensor memory.
    `tlane` and `tcol` are lane and column of tensor memory.
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
    """Matrix of `rows` x `cols` elements of `bits` bits, with one entry for each location of each element.

    Shapes: `entries` is (entries, memory.columns), sorted by row and column.
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
        """Return a column of the entries. Shapes: (entries,)."""
        return self.entries[:, self.memory.columns.index(name)]

    @cached_property
    def colours(self) -> list[int]:
        """Colour of each entry."""
        return (self.column(self.memory.owner) % COLOURS).tolist()

    def select(self, values: Mapping[str, int]) -> LayoutGrid:
        """Return the grid with only the entries that have the given values of columns."""
        chosen = np.ones(len(self.entries), np.bool_)
        for name, value in values.items():
            chosen &= self.column(name) == value
        return replace(self, entries=self.entries[chosen])

    def cells(self) -> Iterator[tuple[int, int, list[int]]]:
        """Yield row, column and numbers of the entries of every element that has entries."""
        found: dict[tuple[int, int], list[int]] = {}
        for number, (row, col) in enumerate(self.entries[:, :2].tolist()):
            found.setdefault((row, col), []).append(number)
        for (row, col), numbers in found.items():
            yield row, col, numbers

    def _entry(self, number: int) -> dict[str, int]:
        return dict(zip(self.memory.columns, self.entries[number].tolist(), strict=True))

    def describe(self, number: int) -> str:
        """Return an entry in words."""
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
        """Return the location of an entry in one word.

        `T3:1` is item 1 of lane 3, `34.4` is bit 4 of byte 34, and `L3.5:16` is bit 16 of `tcol` 5 in `tlane` 3.
        """
        entry = self._entry(number)
        if self.memory is TENSOR:
            return location_text(entry["cta"], entry["tlane"], entry["tcol"], entry["bit"], self.ctas)
        if self.memory is REGISTERS:
            return f"T{entry['lane']}:{entry['item']}"
        return f"{entry['byte']}.{entry['bit']}" if self.bits < 8 else f"{entry['byte']}"

    def label(self, number: int) -> tuple[str, str]:
        """Return an entry in two short words: lane and register, byte and bank, or lane and column."""
        entry = self._entry(number)
        if self.memory is SHARED:
            return self.location(number), f"b{entry['bank']}"
        bit = f":{entry['bit']}" if self.bits < 32 else ""
        if self.memory is TENSOR:
            cta = f"{entry['cta']}/" if self.ctas > 1 else ""
            return f"{cta}L{entry['tlane']}", f"c{entry['tcol']}{bit}"
        return f"T{entry['lane']}", f"r{entry['register']}{bit}"


def grid_of(operand: str, layout: FragmentMap | SharedMap | TensorMemoryMap) -> LayoutGrid:
    """Return the grid of a layout."""
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
    """Yield the lines of a text table, in panels of columns that fit a width; cells hold locations."""
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
    """Return the RGB of a colour number: a hue for each four numbers, in four lightnesses."""
    bright = 0.95 - 0.12 * (colour % 4)
    red, green, blue = (round(255 * part) for part in hsv_to_rgb(colour // 4 / 8, 0.45, bright))
    return f"#{red:02x}{green:02x}{blue:02x}"


def csv_text(grids: Sequence[LayoutGrid]) -> str:
    """Return the entries as comma-separated values with a header; a column of another memory is empty."""
    written = io.StringIO()
    columns = dict.fromkeys(name for grid in grids for name in grid.memory.columns)
    writer = csv.DictWriter(written, ["operand", *columns], lineterminator="\n")
    writer.writeheader()
    for grid in grids:
        for entry in grid.entries.tolist():
            writer.writerow({"operand": grid.operand, **dict(zip(grid.memory.columns, entry, strict=True))})
    return written.getvalue()


def json_data(grid: LayoutGrid) -> dict[str, object]:
    """Return the grid as JSON data: `entries` is a list of lists of numbers, which `columns` names."""
    fields = ("operand", "name", "legend", "rows", "cols", "bits")
    data: dict[str, object] = {name: getattr(grid, name) for name in fields}
    return {**data, "columns": list(grid.memory.columns), "entries": grid.entries.tolist()}
