"""Matrix of numbers with row and column labels and marked cells, as text and as SVG."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from warploom.diagnostics import UsageError
from warploom.observe.debug.values import Matrix
from warploom.view.svg import svg_document, svg_text

_GAP = 2  # characters between two columns
_WIDE, _HIGH = 62, 20  # a cell, in pixels
_LEFT, _TOP, _RIGHT, _BOTTOM = 48, 48, 12, 26
_MOST_CELLS = 1 << 14  # of a picture
_STYLE = """\
  text { font-size: 11px; font-variant-numeric: tabular-nums; } .strong { font-size: 13px; }
  .cell { fill: none; stroke: #d0d7de; } .marked { fill: #ffe3a3; }
"""
_DARK_STYLE = "  .cell { stroke: #30363d; } .marked { fill: #6b4d00; }\n"


def number_text(number: Any, digits: int = 4) -> str:
    """Return a number as text: floating-point numbers with `digits` significant digits, others exactly."""
    kind = getattr(getattr(number, "dtype", None), "kind", "")
    if kind == "b" or isinstance(number, bool):
        return str(int(number))
    return f"{float(number):.{digits}g}" if kind == "f" or isinstance(number, float) else str(int(number))


@dataclass(frozen=True, slots=True, eq=False)
class ValueGrid:
    """Picture of a matrix of numbers.

    `marked` has the rows and columns of marked cells, as indices in the shown part of the matrix. `digits` is the
    number of significant digits of a floating-point number.
    """

    matrix: Matrix
    marked: Collection[tuple[int, int]] = field(default=frozenset[tuple[int, int]]())
    digits: int = 4

    def text_lines(self, width: int, height: int = 32) -> Iterator[str]:
        """Yield the lines of a table of at most `width` characters and `height` rows of the matrix.

        Marked cells are in brackets. A last line counts the rows and columns that are left out.
        """
        matrix, (rows, cols) = self.matrix, self.matrix.numbers.shape
        shown_rows = min(rows, max(height, 1))
        margin = len(str(matrix.first_row + max(shown_rows - 1, 0)))
        cells = [[self._cell(row, col) for col in range(cols)] for row in range(shown_rows)]
        heads = [str(matrix.first_col + col) for col in range(cols)]
        shown, longest = self._fitting(cells, heads, width - margin)
        yield matrix.name
        yield " " * margin + "".join(f"{head:>{longest + _GAP}}" for head in heads[:shown])
        for row, texts in enumerate(cells):
            line = "".join(f"{text:>{longest + _GAP}}" for text in texts[:shown])
            yield f"{matrix.first_row + row:>{margin}}{line}"
        if (left := self._left_out(shown_rows, shown)) != "":
            yield left

    @staticmethod
    def _fitting(cells: Sequence[Sequence[str]], heads: Sequence[str], width: int) -> tuple[int, int]:
        """Return the number of columns that fit, at least 1, and the number of characters of a cell."""
        shown = longest = 0
        for texts in zip(heads, *cells, strict=True):
            wider = max(longest, *map(len, texts))
            if shown and (shown + 1) * (wider + _GAP) > width:
                break
            shown, longest = shown + 1, wider
        return shown, longest

    def _cell(self, row: int, col: int) -> str:
        text = number_text(self.matrix.numbers[row, col], self.digits)
        return f"[{text}]" if (row, col) in self.marked else text

    def _left_out(self, shown_rows: int, shown_cols: int) -> str:
        rows, cols = self.matrix.numbers.shape
        parts = [
            f"{shown} of {whole} {noun}"
            for shown, whole, noun in ((shown_rows, rows, "rows"), (shown_cols, cols, "columns"))
            if shown < whole
        ]
        return f"({' and '.join(parts)} shown)" if parts else ""

    def svg(self) -> str:
        """Return the matrix as an SVG document.

        Each cell is a group with the attributes `data-row` and `data-col`.

        Errors: UsageError for more than 16,384 numbers.
        """
        matrix, (rows, cols) = self.matrix, self.matrix.numbers.shape
        if rows * cols > _MOST_CELLS:
            raise UsageError(
                f"{matrix.name} has {rows * cols:,} numbers; a picture shows at most {_MOST_CELLS:,}",
                code="debug.picture",
            )
        size = (max(_LEFT + _WIDE * cols, _LEFT + 8 * len(matrix.name)) + _RIGHT, _TOP + _HIGH * rows + _BOTTOM)
        heads = ((_LEFT + _WIDE * (col + 0.5), matrix.first_col + col) for col in range(cols))
        body = [
            svg_text(_LEFT, 20, matrix.name, "strong"),
            *(svg_text(x, _TOP - 6, number, "small", "middle") for x, number in heads),
        ]
        for row in range(rows):
            y = _TOP + _HIGH * row
            body.append(svg_text(_LEFT - 8, y + 14, matrix.first_row + row, "small", "end"))
            body += [self._svg_cell(row, col, _LEFT + _WIDE * col, y) for col in range(cols)]
        description = f"{rows} rows by {cols} columns of .{matrix.element}, {len(self.marked)} cells are marked."
        return svg_document(size, matrix.name, description, _STYLE, _DARK_STYLE, body)

    def _svg_cell(self, row: int, col: int, x: int, y: int) -> str:
        style = "cell marked" if (row, col) in self.marked else "cell"
        text = svg_text(x + _WIDE - 6, y + 14, number_text(self.matrix.numbers[row, col], self.digits), "", "end")
        rect = f'<rect class="{style}" x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}"/>'
        at = f'data-row="{self.matrix.first_row + row}" data-col="{self.matrix.first_col + col}"'
        return f"<g {at}>{rect}{text}</g>"
