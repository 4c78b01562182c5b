"""How kernels are to run: what `machine` and `activate` were asked for."""

# A caller may hand over anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warploom.diagnostics import UsageError
from warploom.emulator.schedule import Schedule
from warploom.isa.model.capacity import SHARED_KIB

if TYPE_CHECKING:
    from warploom.integrations.triton.launcher import Launched

_ARCH = re.compile(r"(?:sm_?)?(\d+)[af]?")
_OLDEST = 75  # Triton compiles for nothing older


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a session, and the launches that it has seen. `arch` is a number such as 90."""

    arch: int
    schedule: str
    sanitize: bool
    check: bool
    strict: bool
    trace: bool | Sequence[int]
    workers: int
    runs: list[Launched] = field(default_factory=list["Launched"])

    @staticmethod
    def of(
        arch: int | str,
        schedule: str,
        sanitize: bool,
        check: bool,
        strict: bool,
        trace: bool | Sequence[int],
        workers: int,
    ) -> Settings:
        """The options as given. Errors: UsageError triton.arch, triton.strict, launch.schedule."""
        Schedule.parse(schedule)
        if strict and not (sanitize or check):
            raise UsageError(
                "strict raises what check or sanitize find; expected one of them too", code="triton.strict"
            )
        return Settings(_number(arch), schedule, sanitize, check, strict, trace, workers)


def _number(arch: int | str) -> int:
    known = [number for number in SHARED_KIB if number >= _OLDEST]
    found = _ARCH.fullmatch(str(arch))
    if isinstance(arch, bool) or found is None or int(found[1]) not in known:
        raise UsageError(
            f"arch is {arch!r}; expected {', '.join(map(str, known))}, as a number or as sm_90",
            code="triton.arch",
        )
    return int(found[1])
