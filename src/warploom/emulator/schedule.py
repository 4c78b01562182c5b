"""Schedules, which decide when asynchronous operations take effect."""

# `parse` checks its argument because untyped callers may pass any object.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from warploom.diagnostics import UsageError
from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """Schedule of asynchronous operations: `kind` is "eager", "lazy" or "random".

    Under "eager", an operation takes effect when it is issued. Under "lazy", an operation takes effect when a wait
    requires it, when no warp can continue, or after many loop iterations. In addition, the first wait of a warp for an
    incomplete phase of an mbarrier returns early (see `mbarriers`), or the first 64 waits in a loop that counts. The
    next wait suspends the warp until the phase is complete. The first half of the clusters starts later than the others
    if CTAs communicate. Under "random", an operation takes effect at a time that depends on `seed`.
    """

    kind: str
    seed: int = 0

    def __str__(self) -> str:
        return f"random:{self.seed}" if self.kind == "random" else self.kind

    @staticmethod
    def parse(text: str) -> Schedule:
        """Parse "eager", "lazy" or "random:SEED".

        Errors: UsageError launch.schedule.
        """
        if text in ("eager", "lazy"):
            return Schedule(text)
        kind, _, seed = text.partition(":") if isinstance(text, str) else ("", "", "")
        if kind == "random" and seed.isdecimal():
            return Schedule("random", int(seed))
        raise UsageError(
            f"unknown schedule {text!r}; expected 'eager', 'lazy' or 'random:SEED'", code="launch.schedule"
        )
