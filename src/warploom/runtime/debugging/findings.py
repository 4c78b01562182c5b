"""Findings of the sanitizer in a launch that a debugger controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import counted, did_you_mean
from warploom.emulator.faults import RunError
from warploom.runtime import cpu

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warploom.diagnostics import Diagnostic

_PREFIX = "sanitize."
_CODE = "debug.finding"


def sanitized(launch: cpu.EmulatorLaunch) -> tuple[Diagnostic, ...]:
    """Run a launch under the sanitizer, and return its findings with their moments.

    A trap or a deadlock is left out, because it has no moment.

    Errors: UsageError launch.sanitize.
    """
    from warploom.observe.sanitize.sanitizer import Sanitizer  # imported on use, as in `cpu`

    try:
        found = cpu.run(launch, observer=Sanitizer(records_moments=True)).findings
    except RunError as end:
        found = end.findings
    return tuple(each for each in found if each.moment is not None)


def names_findings(where: str | int) -> bool:
    """Return True if a location is "finding", "finding CODE" or "#NUMBER"."""
    return str(where).startswith("#") or str(where).partition(" ")[0] == "finding"


def choose_findings(found: Sequence[Diagnostic], where: str) -> tuple[Diagnostic, ...]:
    """Return the findings at a location of `names_findings`. Findings have numbers from 1.

    Errors: UsageError debug.finding if there is none.
    """
    if not found:
        raise UsageError("the sanitizer finds nothing in this launch", code=_CODE)
    if where.startswith("#"):
        number = where[1:]
        if not number.isdecimal() or not 0 < int(number) <= len(found):
            raise UsageError(f"there is no finding {where}; there are {counted(len(found), 'finding')}", code=_CODE)
        return (found[int(number) - 1],)
    wanted = where.partition(" ")[2].strip()
    chosen = tuple(each for each in found if wanted in ("", each.code, each.code.removeprefix(_PREFIX)))
    if not chosen:
        known = sorted({each.code.removeprefix(_PREFIX) for each in found})
        raise UsageError(
            f"there is no finding of the rule {wanted}; found: {', '.join(known)}", code=_CODE,
            hint=did_you_mean(wanted, known, "'"),
        )  # fmt: skip
    return chosen
