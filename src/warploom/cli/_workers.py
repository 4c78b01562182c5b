"""The option `--workers`, and tables about the workers of a Dask cluster."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.runtime.distribution import Distribution, WorkReport

_NUMBER = re.compile(r"-?\d{1,6}")


def declare(
    add: argparse.ArgumentParser | argparse._ArgumentGroup,  # pyright: ignore[reportPrivateUsage]
    what: str,
    default: int | None = 0,
) -> None:
    """Add the option --workers to a parser.

    `what` begins the help text, such as "processes (one for each core)". `default` is the value of an absent option.
    """
    add.add_argument(
        "--workers",
        type=chosen,
        default=default,
        metavar="N",
        help=f"{what}; or 'dask', 'dask:N' for N local Dask workers, or a Dask scheduler's address",
    )


def chosen(text: str) -> int | str:
    """Return the number of workers in `text`, or `text` itself if it names a Dask cluster."""
    if _NUMBER.fullmatch(text):
        return int(text)
    from warploom.integrations.dask.worker_pool import parse_workers

    try:
        parse_workers(text)
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def say(what: str) -> None:
    """Print a message about workers on standard error."""
    print(what, file=sys.stderr, flush=True)


def spread(found: Distribution | None) -> None:
    """Print the work of each worker of a launch.

    `found` is None for a launch without a Dask cluster, which prints nothing.
    """
    if found is None:
        return
    if found.single_worker_reason:
        say(f"on one worker, because {found.single_worker_reason}")
    table(found.report)


def table(report: WorkReport) -> None:
    """Print a table with the work of each worker on standard error."""
    from rich.console import Console
    from rich.table import Table

    from warploom.runtime.distribution import WorkerShare

    if not report.workers:
        return
    shown = Table("worker", box=None)
    shares = sorted(report.workers.values(), key=lambda share: share.name)
    counted = list(dict.fromkeys(what for share in shares for what in share.counts))
    for title in ("tasks", "seconds", "lost", *counted):
        shown.add_column(title, justify="right")
    if len(shares) > 1:
        whole = WorkerShare("all")
        for share in shares:
            whole.tasks += share.tasks
            whole.seconds += share.seconds
            whole.lost += share.lost
            whole.counts.update(share.counts)
        shares.append(whole)
    for share in shares:
        cells = (f"{share.tasks:,}", f"{share.seconds:,.1f}", f"{share.lost:,}")
        shown.add_row(share.name, *cells, *(f"{share.counts[what]:,}" for what in counted))
    Console(stderr=True, width=None if sys.stderr.isatty() else 120).print(shown)
