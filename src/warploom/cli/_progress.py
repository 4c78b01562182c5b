"""Progress bars on the terminal. Without a terminal, no bar is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warploom.emulator.stats import Progress

Update = Callable[..., None]
"""Update function of a progress bar, with the keyword arguments of rich's `Progress.update`."""


@contextmanager
def progress_bar(columns: Callable[[Any], tuple[Any, ...]], description: str, **task: Any) -> Generator[Update | None]:
    """Show a progress bar during a `with` block. Yield its update function, or None without a terminal.

    `columns` returns the columns of the bar, given the module `rich.progress`. `task` has arguments of rich's
    `Progress.add_task`.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    shown = (progress.TextColumn("{task.description}", markup=False), *columns(progress))
    with progress.Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        yield partial(bar.update, bar.add_task(description, **task))


@contextmanager
def step_progress(what: str) -> Generator[Callable[[str, int, int], None]]:
    """Show the progress of the task `what` during a `with` block.

    Yield a function of the name of a step, the number of finished steps, and the number of all steps.
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
    """Show the progress of the launch `name` during a `with` block.

    Yield a callback for the option `progress` of `launch`, or None without a terminal.
    """
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
    """Return the rate of `macs` multiply-accumulates in `seconds` as text, such as `1.23 G MAC/s`."""
    rate = macs / seconds if seconds > 0 else 0.0
    for prefix, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= prefix:
            return f"{rate / prefix:.3g} {unit} MAC/s"
    return f"{rate:.3g} MAC/s"
