"""Progress bars on the terminal.

Without a terminal, some bars are lines on standard error and others are silent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warploom.emulator.stats import Progress

Update = Callable[..., None]
"""`update` of a bar: `total`, `completed`, `advance`, `description`, and the fields of its columns."""


@contextmanager
def progress_bar(columns: Callable[[Any], tuple[Any, ...]], description: str, **task: Any) -> Generator[Update | None]:
    """Show a bar and yield its update function, or None without a terminal.

    `columns` returns the columns after the description, given the module `rich.progress`.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    shown = (progress.TextColumn("{task.description}", markup=False), *columns(progress))
    with progress.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        yield partial(bar.update, bar.add_task(description, **task))


class Items:
    """Progress of work on named items."""

    def __init__(self, update: Update | None) -> None:
        self._update = update

    def begin(self, name: str) -> None:
        """Show the name of the item that begins."""
        if self._update is not None:
            self._update(description=name)

    def end(self, result: str) -> None:
        """Count an item; if there is no terminal, print its result instead."""
        if self._update is not None:
            self._update(advance=1)
        else:
            print(result, file=sys.stderr, flush=True)


@contextmanager
def item_progress(total: int) -> Generator[Items]:
    """Show the progress of work on this number of items."""
    with progress_bar(lambda rich: (rich.BarColumn(), rich.MofNCompleteColumn()), "", total=total) as update:
        yield Items(update)


@contextmanager
def step_progress(what: str) -> Generator[Callable[[str, int, int], None]]:
    """Show the steps of one task. The yielded function takes a step, the steps done and their total.

    Without a terminal, print the name of the task.
    """
    with progress_bar(lambda rich: (rich.BarColumn(), rich.MofNCompleteColumn()), what) as update:
        if update is None:
            print(what, file=sys.stderr, flush=True)

        def tell(step: str, done: int, total: int) -> None:
            if update is not None:
                update(description=f"{what}: {step}", completed=done, total=total)

        yield tell


@contextmanager
def launch_progress(name: str) -> Generator[Callable[[Progress], None] | None]:
    """Show the CTAs done and the rate of a launch. Yield None without a terminal."""
    with progress_bar(
        lambda rich: (
            rich.BarColumn(),
            rich.TextColumn("{task.fields[done]}"),
            rich.TextColumn("{task.fields[rate]}"),
            rich.TimeElapsedColumn(),
        ),
        name, total=None, done="", rate="",
    ) as update:  # fmt: skip
        if update is None:
            yield None
            return

        def advance(at: Progress) -> None:
            done, rate = f"{at.ctas_done}/{at.ctas_total} CTAs", mac_rate(at.macs, at.seconds)
            update(total=at.ctas_total, completed=at.ctas_done, done=done, rate=rate)

        yield advance


def mac_rate(macs: int, seconds: float) -> str:
    """Return multiply-accumulates per second with three digits and a prefix."""
    rate = macs / seconds if seconds > 0 else 0.0
    for prefix, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= prefix:
            return f"{rate / prefix:.3g} {unit} MAC/s"
    return f"{rate:.3g} MAC/s"
