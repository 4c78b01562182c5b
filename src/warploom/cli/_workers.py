"""`--workers`: how many threads or processes here, or which workers of Dask; and who they are and what they did."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING

from warploom.diag import UsageError

if TYPE_CHECKING:
    from warploom.farm.crew import Crew
    from warploom.farm.work import Ledger

_NUMBER = re.compile(r"-?\d{1,6}")


def declare(
    add: argparse.ArgumentParser | argparse._ArgumentGroup,  # pyright: ignore[reportPrivateUsage]
    what: str,
    default: int = 0,
) -> None:
    """Add the option; `what` says what a number is of, and the default: `processes (one for each core)`."""
    add.add_argument(
        "--workers",
        type=chosen,
        default=default,
        metavar="N",
        help=f"{what}; or 'dask', 'dask:N' for N workers of Dask here, or a Dask scheduler's address",
    )


def chosen(text: str) -> int | str:
    """A number of threads or processes, or what a crew is made of, as `farm.crew.parse` reads it."""
    if _NUMBER.fullmatch(text):
        return int(text)
    from warploom.farm.crew import parse

    try:
        parse(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def announce(crew: Crew) -> None:
    """Say who does the work, and where it can be watched."""
    count = len(crew.workers())
    where = f"at {crew.address}" if crew.address else "here"
    watched = f", watched at {crew.dashboard}" if crew.dashboard else ""
    print(f"{count} worker{'s' * (count > 1)} {where}{watched}", file=sys.stderr, flush=True)


def table(ledger: Ledger) -> None:
    """Say who did what; beside the report, which is the same whoever did it."""
    from rich.console import Console
    from rich.table import Table

    if not ledger.shares:
        return
    shown = Table("worker", box=None)
    for title in ("tasks", "seconds", "lost"):
        shown.add_column(title, justify="right")
    shares = sorted(ledger.shares.values(), key=lambda share: share.name)
    for share in shares:
        shown.add_row(share.name, f"{share.tasks:,}", f"{share.seconds:,.1f}", f"{share.lost:,}")
    if len(shares) > 1:
        tasks, seconds = sum(each.tasks for each in shares), sum(each.seconds for each in shares)
        shown.add_row("all", f"{tasks:,}", f"{seconds:,.1f}", f"{sum(each.lost for each in shares):,}")
    Console(stderr=True, width=None if sys.stderr.isatty() else 120).print(shown)
