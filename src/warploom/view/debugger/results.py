"""Results of the debugger's commands: as text, as data for programs, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from warploom.observe.debug.values import Matrix
from warploom.view.notebook import html_table
from warploom.view.value_grid import ValueGrid, number_text

_MOST = 64  # rows, and columns, of a matrix in a notebook


class Result:
    """Result of a command. `is_end` is True if the console ends after the command."""

    is_end = False

    def text(self) -> str:
        """Return the lines that the console prints, without a newline at the end."""
        raise NotImplementedError

    def data(self) -> Any:
        """Return the result as dicts, lists, numbers and texts."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"

    def __repr__(self) -> str:
        return self.text()


@dataclass(frozen=True, slots=True, repr=False)
class Message(Result):
    """Text, such as the confirmation of a change. `facts` are the data."""

    message: str
    facts: Mapping[str, Any] | None = None

    def text(self) -> str:
        """Return the text."""
        return self.message

    def data(self) -> Any:
        """Return the facts, or the text."""
        return self.message if self.facts is None else dict(self.facts)


@dataclass(frozen=True, slots=True, repr=False)
class End(Message):
    """Message after which the console ends."""

    is_end = True


@dataclass(frozen=True, slots=True, repr=False)
class Table(Result):
    """Table with one row for each thing, such as a warp. `empty` is the text for a table without rows.

    `title` and `note` are lines above and below the rows. Without `has_heads`, the text has no column headings. Empty
    columns are left out of the text.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    empty: str = ""
    note: str = ""
    has_heads: bool = False

    def text(self) -> str:
        """Return aligned columns."""
        if not self.rows:
            return "\n".join(filter(None, (self.title, self.empty)))
        cells = [tuple(map(str, row)) for row in self.rows]
        if self.has_heads:
            cells.insert(0, self.columns)
        shown = [k for k, column in enumerate(zip(*self.rows, strict=True)) if any(map(str, column))]
        cells = [tuple(row[k] for k in shown) for row in cells]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
        return "\n".join(filter(None, (self.title, *lines, self.note)))

    def data(self) -> Any:
        """Return a list with a dict for each row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def _repr_html_(self) -> str:
        rows = [tuple(escape(str(cell)) for cell in row) for row in self.rows]
        lines = [f"<div>{escape(line)}</div>" for line in (self.title, "" if rows else self.empty) if line]
        return f"<div>{''.join(lines)}{html_table(rows, self.columns) if rows else ''}</div>"


@dataclass(frozen=True, slots=True, repr=False)
class Grid(Result):
    """Matrix of numbers, such as a fragment or a tile. `note` is a line below the matrix."""

    matrix: Matrix
    width: int
    rows: int
    digits: int
    note: str = ""

    def text(self) -> str:
        """Return the rows and columns that fit into the width and height of the settings."""
        lines = ValueGrid(self.matrix, digits=self.digits).text_lines(self.width, self.rows)
        return "\n".join([*lines, *filter(None, (self.note,))])

    def data(self) -> Any:
        """Return the name, the element type and the numbers."""
        return {
            "name": self.matrix.name, "element": self.matrix.element, "first_row": self.matrix.first_row,
            "first_column": self.matrix.first_col, "numbers": self.matrix.numbers.tolist(),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        shown = self.matrix.part(slice(0, _MOST), slice(0, _MOST))
        heads = ["", *(str(shown.first_col + k) for k in range(shown.numbers.shape[1]))]
        rows = [
            [str(shown.first_row + k), *(number_text(each, self.digits) for each in row)]
            for k, row in enumerate(shown.numbers)
        ]
        lines = "".join(f"<div>{escape(line)}</div>" for line in (shown.name, self.note) if line)
        return f"<div>{lines}{html_table(rows, heads)}</div>"


@dataclass(frozen=True, slots=True, repr=False)
class Lines(Result):
    """Lines of a text with their numbers.

    `current` is the number of the marked line, and `notes` has remarks by number.
    """

    name: str
    lines: tuple[tuple[int, str], ...]
    current: int
    notes: Mapping[int, str]

    def text(self) -> str:
        """Return the lines. `>` marks the current line."""
        return "\n".join(self._numbered())

    def _numbered(self) -> Iterable[str]:
        widest = max((len(str(number)) for number, _ in self.lines), default=1)
        for number, line in self.lines:
            note = f"    <- {self.notes[number]}" if number in self.notes else ""
            yield f"{'>' if number == self.current else ' '} {number:>{widest}}  {line.rstrip()}{note}".rstrip()

    def data(self) -> Any:
        """Return the name of the text, and a dict for each line."""
        rows = [{"line": n, "text": t, "note": self.notes.get(n, "")} for n, t in self.lines]
        return {"file": self.name, "current": self.current, "lines": rows}

    def _repr_html_(self) -> str:
        body = "\n".join(
            f"<b>{escape(line)}</b>" if line.startswith(">") else escape(line) for line in self._numbered()
        )  # fmt: skip
        return f"<div><div>{escape(self.name)}</div><pre>{body}</pre></div>"


@dataclass(frozen=True, slots=True, repr=False)
class Several(Result):
    """Several results, one below the other."""

    parts: Sequence[Result]

    def text(self) -> str:
        """Return the texts of all parts."""
        return "\n".join(part.text() for part in self.parts)

    def data(self) -> Any:
        """Return a list with the data of each part."""
        return [part.data() for part in self.parts]

    def _repr_html_(self) -> str:
        return f"<div>{''.join(part._repr_html_() for part in self.parts)}</div>"
