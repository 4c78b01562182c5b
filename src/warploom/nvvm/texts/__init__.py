"""The tables of the text on cicc's builtins, as they are, and what is wrong in them.

A table is data in `cicc.toml`, not code: rows as the text has them, corrections by row and column, and why. A page
of `docs/nvvm` shows both.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


class TableError(Exception):
    """A table that contradicts itself. Raised where it is read, for its author only."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a text. Corrections are by the row's first cell and the column's head."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    corrections: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    why: str = ""

    def corrected(self) -> list[dict[str, str]]:
        """The rows, by head, with what is right."""
        return [
            {
                head: self.corrections.get((row[0], head), cell)
                for head, cell in zip(self.heads, row, strict=True)
            }
            for row in self.rows
        ]

    def markdown(self) -> str:
        """The table for a page: what is wrong struck out before what is right."""
        lines = [" | ".join(self.heads), " | ".join("---" for _ in self.heads)]
        for row in self.rows:
            shown = [
                f"~~{cell}~~ **{right}**"
                if (right := self.corrections.get((row[0], head))) is not None
                else cell
                for head, cell in zip(self.heads, row, strict=True)
            ]
            lines.append(" | ".join(shown))
        body = "\n".join(f"| {line} |" for line in lines)
        return f"## {self.title}\n\n{body}\n" + (f"\n{self.why}\n" if self.why else "")


@cache
def tables() -> dict[str, Table]:
    """The tables of the text, by name."""
    source = files(__name__).joinpath("cicc.toml").read_text(encoding="utf-8")
    return {name: _table(name, entry) for name, entry in tomllib.loads(source).items()}


def _table(name: str, entry: dict[str, str | dict[str, dict[str, str]]]) -> Table:
    title, rows, why = entry["title"], entry["rows"], entry.get("why", "")
    assert isinstance(title, str)
    assert isinstance(rows, str)
    assert isinstance(why, str)
    lines = [tuple(cell.strip() for cell in line.split("|")) for line in rows.strip().splitlines()]
    heads, body = lines[0], tuple(lines[1:])
    if wrong := [line for line in body if len(line) != len(heads)]:
        raise TableError(f"table {name}: row {wrong[0]} has {len(wrong[0])} cells; expected {len(heads)}")
    corrections: dict[tuple[str, str], str] = {}
    given = entry.get("right", {})
    assert isinstance(given, dict)
    for row, cells in given.items():
        for head, right in cells.items():
            if head not in heads or all(line[0] != row for line in body):
                raise TableError(f"table {name}: there is no {head!r} in a row {row!r} to correct")
            corrections[row, head] = right
    return Table(name, title, heads, body, corrections, why.strip())


def pages() -> dict[str, str]:
    """The pages of `docs/nvvm` that are made from the tables, by their path in `docs`."""
    body = "\n".join(table.markdown() for table in tables().values())
    note = "What the text has wrong is struck out; what the real compiler, the assembler or the Forms have is bold."
    return {"nvvm/cicc.md": f"# The builtin tables of cicc\n\n{note}\n\n{body}", "nvvm/README.md": _INDEX}


_INDEX = """# The compiler's path

- [The builtin tables of cicc](cicc.md), with what is wrong in them
- [The nvvm dialect](dialect/README.md), operation by operation
"""
