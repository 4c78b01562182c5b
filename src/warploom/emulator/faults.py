"""Errors that end a run."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from warploom.diagnostics import Diagnostic, Severity, Source, Span, WarploomError
from warploom.emulator.stats import Stats
from warploom.isa.model.semantics import Array, Lanes
from warploom.lazy_dataclass import dataclass


class RunError(WarploomError):
    """Error that ended a run. The attributes describe the run up to this point.

    `arrays` has the contents of the arrays among the arguments, in parameter order: a NumPy array for an array or a
    TensorMap, a tuple for a list of arrays or a Struct, and None for any other argument. The caller's own arrays keep
    their contents from before the launch. `findings` are those of the sanitizer, `stats` counts what the emulator
    executed, and `trace` and `profile` are set if the launch requested them. `output` has the text that the kernel
    printed.
    """

    arrays: tuple[Any, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    stats: Stats
    trace: Any = None
    profile: Any = None
    output: str = ""

    def __new__(cls, diagnostics: Iterable[Diagnostic]) -> Self:
        """Return an error with its own statistics, also when a worker's error is unpickled."""
        error = super().__new__(cls, diagnostics)
        error.stats = Stats()
        return error


class Trap(RunError):
    """Violation of a rule of the emulator during a run.

    The diagnostic names the kernel, line, CTA, warp and lane.
    """


class Deadlock(RunError):
    """Error for warps that cannot continue, with one diagnostic for each group of waiting warps."""


class Unsupported(WarploomError):
    """Use of a feature that the emulator or the module's target lacks, found before the kernel starts."""


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

    # "mbarrier", "barrier", "cluster barrier", "registers", "tensor memory", "peer CTA", "warps" or "lanes"
    kind: str
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
