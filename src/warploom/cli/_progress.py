"""Progress of work that goes from one named thing to the next."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """Told what is begun and what came of it."""

    def begin(self, what: str) -> None: ...
    def end(self, found: str) -> None: ...


class _Lines:
    """Where there is no terminal: a line for each thing that is done."""

    def begin(self, what: str) -> None:
        return

    def end(self, found: str) -> None:
        print(found, file=sys.stderr, flush=True)


@contextmanager
def progress(total: int) -> Generator[Progress]:
    """A bar that names what is at work, on the terminal; lines of what is done where there is none."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)

        class OnTerminal:
            def begin(self, what: str) -> None:
                bar.update(task, description=escape(what))

            def end(self, found: str) -> None:
                bar.advance(task)

        yield OnTerminal()


@contextmanager
def bar(what: str) -> Generator[Callable[[str, int, int], None]]:
    """A bar for one thing in several steps, told each step and how many are done of how many.

    Without a terminal it is a line that says what is begun.
    """
    if not sys.stderr.isatty():
        print(what, file=sys.stderr, flush=True)
        yield lambda step, done, total: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(escape(what))
        yield lambda step, done, total: shown.update(
            task, description=escape(f"{what}: {step}"), completed=done, total=total
        )


class Counting(Protocol):
    """Told how many things are done, and of how many where that was not known."""

    def __call__(self, done: int, total: int | None = None, /) -> None: ...


@contextmanager
def counting(what: str, total: int | None = None) -> Generator[Counting]:
    """A bar of things that are alike; nothing where there is no terminal."""
    if not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(escape(what), total=total)

        def tell(done: int, of: int | None = None, /) -> None:
            shown.update(task, completed=done, total=total if of is None else of)

        yield tell


def _unseen(_done: int, _total: int | None = None, /) -> None:
    return
