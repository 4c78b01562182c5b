"""Errors that end a run, and the internal exception they are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.diagnostics import Diagnostic, Severity, Source, Span, WarploomError


class Trap(WarploomError):
    """Violation of a rule of the emulator while the program runs.

    The diagnostic names kernel, line, CTA, warp and lane. `trace` holds the recorded trace if one was requested.
    """

    trace: Any = None


class Deadlock(WarploomError):
    """Deadlock: no warp can make progress. It has one diagnostic for each group of waiting warps.

    `trace` holds the recorded trace if one was requested.
    """

    trace: Any = None


class Unsupported(WarploomError):
    """Use of something that is not implemented, found before execution starts."""


def diagnostic(
    code: str, message: str, source: Source | None, span: Span | None, hint: str = "", section: str = ""
) -> Diagnostic:
    """Return an error diagnostic of the emulator."""
    return Diagnostic(code, Severity.ERROR, message, source, span, hint, section)


@dataclass(frozen=True, slots=True)
class Awaited:
    """Event that a warp split waits for.

    `name` and `rest` form a phrase; `state` has counts that show the progress. `kind` is "mbarrier", "barrier",
    "cluster barrier", "registers", "warps" (of a warpgroup) or "lanes" (of a warp).
    """

    kind: str
    name: str
    rest: str
    state: tuple[tuple[str, int], ...] = ()


class Fault(Exception):
    """Fault inside the emulator, before its location is known.

    `lane` is the flat index warp * 32 + lane in the executing batch, -1 if no lane is known.
    """

    def __init__(self, code: str, message: str, lane: int = -1, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.lane = lane
        self.hint = hint
