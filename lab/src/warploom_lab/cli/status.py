"""Exit statuses and tables that several verbs share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

OK = 0
DIFFERENT = 1
SHOWN = 20
"""Number of differences that a report lists."""


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose columns are right-aligned, except the first."""
    from rich.console import Console
    from rich.table import Table

    table = Table(titles[0], box=None)
    for title in titles[1:]:
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
