"""Exit statuses, tables and progress that several verbs share."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Protocol

from warploom.cli._progress import progress_bar

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


class Counting(Protocol):
    """Function that takes the number of items done, and their total if it was unknown before."""

    def __call__(self, done: int, total: int | None = None, /) -> None:
        """Show the number of items done."""


@contextmanager
def counting(what: str, total: int | None = None) -> Generator[Counting]:
    """Show how many items are done. Nothing is printed without a terminal."""
    with progress_bar(
        lambda rich: (rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeRemainingColumn()), what, total=total
    ) as update:

        def tell(done: int, of: int | None = None, /) -> None:
            if update is not None:
                update(completed=done, total=total if of is None else of)

        yield tell
