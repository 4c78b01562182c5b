"""Errors that end a run, and the internal exception from which they are built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.diagnostics import Diagnostic, Severity, Source, Span, WarploomError


class Trap(WarploomError):
    """Violation of a rule of the emulator during a run.

    The diagnostic names the kernel, line, CTA, warp and lane. `trace` holds the trace of the run if one was requested.
    """

    trace: Any = None


class Deadlock(WarploomError):
    """Deadlock: no warp can continue. There is one diagnostic for each group of waiting warps.

    `trace` holds the trace of the run if one was requested.
    """

    trace: Any = None


class Unsupported(WarploomError):
    """Use of a feature that is not implemented, found before the kernel starts."""


def diagnostic(
    code: str, message: str, source: Source | None, span: Span | None, hint: str = "", section: str = ""
) -> Diagnostic:
    """Return a diagnostic of severity error."""
    return Diagnostic(code, Severity.ERROR, message, source, span, hint, section)


@dataclass(frozen=True, slots=True)
class Awaited:
    """Event that a warp split waits for.

    `name` and `rest` together form a phrase for messages. `state` has named numbers that show the progress. `kind` is
    "mbarrier", "barrier", "cluster barrier", "registers", "warps" (others of the warpgroup) or "lanes" (others of the
    warp).
    """

    kind: str
    name: str
    rest: str
    state: tuple[tuple[str, int], ...] = ()


class Fault(Exception):
    """Fault inside the emulator, raised by code that does not know the executing instruction.

    `lane` is the flat index warp * 32 + lane in the executing batch, or -1.
    """

    def __init__(self, code: str, message: str, lane: int = -1, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.lane = lane
        self.hint = hint
