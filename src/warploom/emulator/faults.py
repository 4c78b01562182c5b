"""What ends a run: a rule the program broke, or no way forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.diagnostics import Diagnostic, Severity, Source, Span, WarploomError


class Trap(WarploomError):
    """The program broke a rule of the machine while it ran. The diagnostic names code, line, CTA, warp, lane.

    `trace` is what was recorded until then, where a trace was asked for.
    """

    trace: Any = None


class Deadlock(WarploomError):
    """No warp can make progress; one diagnostic for each group of waiting warps.

    `trace` is what was recorded until then, where a trace was asked for.
    """

    trace: Any = None


class Unsupported(WarploomError):
    """The program uses something that is not implemented; found before execution starts."""


def diagnostic(
    code: str, message: str, source: Source | None, span: Span | None, hint: str = "", section: str = ""
) -> Diagnostic:
    """An error diagnostic of the machine."""
    return Diagnostic(code, Severity.ERROR, message, source, span, hint, section)


@dataclass(frozen=True, slots=True)
class Awaited:
    """What a strand waits for: its name, the rest of the phrase, and numbers that say how far it is."""

    kind: str  # "mbarrier", "barrier", "cluster barrier", "registers", "warps" of a warpgroup, "lanes" of a warp
    name: str
    rest: str
    state: tuple[tuple[str, int], ...] = ()


class Fault(Exception):
    """A fault seen inside the machine, before it knows where: `lane` is the flat index warp * 32 + lane."""

    def __init__(self, code: str, message: str, lane: int = -1, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.lane = lane
        self.hint = hint
