"""Printed output of `warploom run --time`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warploom.emulator.times import Interpreted, Times

_MOST = 10  # instructions in the table
_WIDTH = 24  # letters of the longest bar
_EIGHTHS = " ▏▎▍▌▋▊▉"

Rows = Sequence[tuple[str, ...]]


def show(times: Times, seconds: float) -> None:
    """Print the times of the parts of a launch, and the slowest interpreted instructions.

    Units: `seconds` is the duration of the launch.
    """
    parts = times.parts
    # Threads add their times, so the parts may exceed the duration of the launch.
    parts["rest of the launch"] = max(seconds - sum(parts.values()), 0.0)
    notes = {
        "load native functions": _counted(times.loaded, "function"),
        "compile native functions": _counted(times.compiled, "function"),
        "native code": _counted(times.calls, "call"),
        "interpreter": _counted(sum(each.batches for each in times.instructions), "instruction"),
    }
    whole = sum(parts.values()) or 1.0
    rows = [(part, _milliseconds(time), _bar(time / whole), notes.get(part, "")) for part, time in parts.items()]
    _table("time", ("part", "ms", "share", ""), rows)
    slowest = sorted(times.instructions, key=lambda each: -each.seconds)[:_MOST]
    if slowest:
        _table("interpreted instructions", ("line", "ms", "batches", "instruction"), [_row(each) for each in slowest])


def _row(each: Interpreted) -> tuple[str, ...]:
    place = f"{Path(each.file).name}:{each.line}" if each.line else f"instruction {each.pc}"
    arithmetic = " (compiled arithmetic)" if each.multiplies else ""
    return place, _milliseconds(each.seconds), f"{each.batches:,}", each.opcode + arithmetic


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}" if number else ""


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.2f}"


def _bar(share: float) -> str:
    """Return a share as a percentage and a bar."""
    whole, eighths = divmod(round(share * _WIDTH * 8), 8)
    return f"{share:4.0%} {'█' * whole}{_EIGHTHS[eighths]}".rstrip()


def _table(title: str, headings: tuple[str, ...], rows: Rows) -> None:
    """Print a table whose second column contains numbers."""
    if not sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        print(title)
        for row in (headings, *rows):
            cells = [
                f"{cell:>{width}}" if number == 1 else f"{cell:<{width}}"
                for number, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            print(f"  {'  '.join(cells)}".rstrip())
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number == 1 else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
