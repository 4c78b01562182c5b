"""Schedules: the points in time at which asynchronous operations take effect."""

# Callers may pass anything as a schedule, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from dataclasses import dataclass

from warploom.diagnostics import UsageError


@dataclass(frozen=True, slots=True)
class Schedule:
    """Schedule of asynchronous operations: "eager", "lazy", or "random" with a seed.

    With "eager", an operation takes effect when it is issued. With "lazy", it takes effect when a wait covers it, when
    nothing else can run, or when its issuer is far ahead. With "random", the seed decides. A correct kernel returns the
    same bits under every schedule.
    """

    kind: str
    seed: int = 0

    def __str__(self) -> str:
        return f"random:{self.seed}" if self.kind == "random" else self.kind

    @staticmethod
    def parse(text: str) -> Schedule:
        """Read `eager`, `lazy` or `random:SEED`. Errors: UsageError."""
        if text in ("eager", "lazy"):
            return Schedule(text)
        kind, _, seed = text.partition(":") if isinstance(text, str) else ("", "", "")
        if kind == "random" and seed.isdecimal():
            return Schedule("random", int(seed))
        raise UsageError(
            f"unknown schedule {text!r}; expected 'eager', 'lazy' or 'random:SEED'", code="launch.schedule"
        )
