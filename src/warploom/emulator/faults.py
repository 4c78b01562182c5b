"""Errors that end a run."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from warploom.diagnostics import Diagnostic, Severity, Source, Span, WarploomError
from warploom.isa.model.semantics import Array, Lanes


class Trap(WarploomError):
    """Violation of a rule of the emulator during a run.

    The diagnostic names the kernel, line, CTA, warp and lane. `trace` is the trace of the run if one was requested.
    """

    trace: Any = None


class Deadlock(WarploomError):
    """Error for warps that cannot continue, with one diagnostic for each group of waiting warps.

    `trace` is the trace of the run if one was requested.
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

    `name` followed by `rest` is a phrase for messages. `state` contains numbers by name, such as the pending arrivals.
    """

    kind: str  # "mbarrier", "barrier", "cluster barrier", "registers", "warps" or "lanes"
    name: str
    rest: str
    state: tuple[tuple[str, int], ...] = ()


class Fault(Exception):
    """Violation of a rule, without its location. The emulator turns this exception into a Trap.

    `lane` is the flat index warp * 32 + lane in the executing batch, or -1 if no single lane is at fault.
    """

    def __init__(self, code: str, message: str, lane: int = -1, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.lane = lane
        self.hint = hint


def refuse(code: str, lanes: Lanes, message: str, values: Array | None = None) -> None:
    """Raise a Fault for the first lane in the mask `lanes`, if any.

    The lane's element of `values` replaces a format field `{}` in `message`.

    Shapes: values are broadcast to the shape of the mask.
    """
    found = np.flatnonzero(lanes)
    if len(found):
        lane = int(found[0])
        value = 0 if values is None else int(np.broadcast_to(values, lanes.shape).reshape(-1)[lane])
        raise Fault(code, message.format(value), lane)
