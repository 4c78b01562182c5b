"""Launches of a whole program, with options that its calls do not state."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warploom.runtime.run import Run


@dataclass(slots=True)
class ProgramLaunches:
    """Options for the launches of a program on the emulator, and the finished runs in `runs`.

    `schedule` replaces the schedule of each launch unless it is None. `sanitize` switches the sanitizer on.
    """

    sanitize: bool
    schedule: str | None
    runs: list[Run]


_observed: list[ProgramLaunches] = []


def observed_program() -> ProgramLaunches | None:
    """Return the innermost program that is observed, or None."""
    return _observed[-1] if _observed else None


@contextmanager
def observe_program(*, sanitize: bool, schedule: str | None) -> Generator[ProgramLaunches]:
    """Apply options to the launches on the emulator in a `with` block, and yield their record."""
    launches = ProgramLaunches(sanitize, schedule, [])
    _observed.append(launches)
    try:
        yield launches
    finally:
        _observed.pop()
