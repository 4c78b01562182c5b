"""Shared parts of the verbs: exit statuses, tables and progress bars."""

import argparse
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Protocol

from warploom.cli._progress import progress_bar

OK = 0
DIFFERENT = 1
SHOWN = 20
"""Number of differences that a report lists."""


def add_verb(
    add: Callable[..., argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    summary: str,
    description: str,
    exit_status: str,
) -> argparse.ArgumentParser:
    """Add a verb to the command line and return the parser of the verb.

    `add` is the method `add_parser` of the subparsers. `run` executes the verb. `summary` is its line in the list of
    verbs.
    """
    parser = add(
        name,
        help=summary,
        description=description,
        epilog=f"exit status: {exit_status}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb=run)
    return parser


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table. All columns except the first are right-aligned."""
    from rich.console import Console
    from rich.table import Table

    table = Table(titles[0], box=None)
    for title in titles[1:]:
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


class Counting(Protocol):
    """Callback that advances a progress bar."""

    def __call__(self, done: int, total: int | None = None, /) -> None:
        """Show the number of finished items. `total` sets the number of all items."""


@contextmanager
def counting(what: str, total: int | None = None) -> Generator[Counting]:
    """Show a progress bar on a terminal, and yield a callback that advances the bar.

    `what` is the bar's title, such as "running", and `total` the number of items, if it is known.
    """
    with progress_bar(
        lambda rich: (rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeRemainingColumn()), what, total=total
    ) as update:

        def tell(done: int, of: int | None = None, /) -> None:
            if update is not None:
                update(completed=done, total=total if of is None else of)

        yield tell
