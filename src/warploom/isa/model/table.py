"""Parser of the text tables of Forms.

A table row allows every combination of the words in its cells.
"""

import re
from collections.abc import Mapping
from functools import cache

from warploom.lazy_dataclass import dataclass

AVAILABILITY = ("ptx", "target", "gone")
_LATTICE = re.compile(r"(\d+)\.\.(\d+)(?:/(\d+))?")


class FormError(Exception):
    """Contradiction in the declaration of a Form, raised at import."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a Form's table: the words that the row allows in each column, and its availability."""

    cells: dict[str, tuple[str, ...]]
    ptx: tuple[int, int]
    targets: tuple[str, ...]
    gone: tuple[tuple[int, int], int] | None = None

    def allows(self, column: str, word: str) -> bool:
        """Return True if the row allows `word` in `column`. An omitted modifier has the word ""."""
        return word in self.cells[column]

    def holds(self, slots: Mapping[str, str]) -> bool:
        """Return True if the row allows a combination of words, given by column."""
        for column, words in self.cells.items():  # noqa: SIM110 -- twice as fast as a generator
            if slots.get(column, "") not in words:
                return False
        return True


def read_rows(form: str, text: str) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Return the columns and the rows of a text table.

    A cell is one word (`f32`), alternatives (`f16,bf16`), `-` for an omitted modifier, or a range (`8..256/8`). The
    columns `ptx` and `target` are the availability of the row. A cell of the column `gone`, such as `6.4@sm_70`, is the
    PTX version that removed the row, and the lowest target on which the row was removed.

    Errors: FormError for a row that does not fit its columns.
    """
    lines = [line for line in (raw.strip() for raw in text.splitlines()) if line]
    if not lines:
        return (), (Row({}, (1, 0), ()),)
    columns = tuple(lines[0].split())
    if len(set(columns)) != len(columns):
        raise FormError(f"form {form}: a column is named twice in {columns}")
    rows = tuple(_read_row(form, columns, line) for line in lines[1:])
    if not rows:
        raise FormError(f"form {form}: a table with columns and no rows")
    return tuple(column for column in columns if column not in AVAILABILITY), rows


def _read_row(form: str, columns: tuple[str, ...], line: str) -> Row:
    cells = line.split()
    if len(cells) != len(columns):
        raise FormError(f"form {form}: row {line!r} has {len(cells)} cells; expected {len(columns)}: {columns}")
    by_column = dict(zip(columns, cells, strict=True))
    ptx = by_column.pop("ptx", "1.0")
    targets = by_column.pop("target", "-")
    version, _, number = by_column.pop("gone", "-").partition("@sm_")
    return Row(
        {column: _read_cell(form, cell) for column, cell in by_column.items()},
        _version(ptx),
        () if targets == "-" else tuple(targets.split(",")),
        (_version(version), int(number)) if number else None,
    )


def _version(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


@cache
def _read_cell(form: str, cell: str) -> tuple[str, ...]:
    words: list[str] = []
    for part in cell.split(","):
        if part == "":
            raise FormError(f"form {form}: empty alternative in cell {cell!r}")
        lattice = _LATTICE.fullmatch(part)
        if lattice is None:
            words.append("" if part == "-" else part)
        else:
            first, last, step = int(lattice[1]), int(lattice[2]), int(lattice[3] or 1)
            words.extend(str(value) for value in range(first, last + 1, step))
    if len(set(words)) != len(words):
        raise FormError(f"form {form}: cell {cell!r} names a word twice")
    return tuple(words)
