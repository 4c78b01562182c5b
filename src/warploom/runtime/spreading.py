"""A launch that many workers share: who did what of it, and why where one of them did it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from warploom.diagnostics import Diagnostic, UsageError
from warploom.emulator.arena import Arena
from warploom.emulator.execute import Progress, Request, Stats
from warploom.providers import provider

Announce = Callable[[str], None]


@dataclass(slots=True)
class Share:
    """What one worker did: tasks, and what they count of themselves.

    Units: seconds of work; `lost` tasks were begun there and not brought to an end.
    """

    name: str
    tasks: int = 0
    seconds: float = 0.0
    lost: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])


@dataclass(slots=True)
class Ledger:
    """Who did what. `again` counts tasks that were begun more than once, `losses` how often all was begun anew."""

    done: int = 0
    total: int = 0
    again: int = 0
    losses: int = 0
    shares: dict[str, Share] = field(default_factory=dict[str, Share])

    def share(self, name: str) -> Share:
        """That of a worker."""
        return self.shares.setdefault(name, Share(name))


@dataclass(frozen=True, slots=True)
class Spread:
    """How a launch was spread. `together` says why its CTAs ran together on one worker, and is empty where they did
    not.
    """

    together: str
    ledger: Ledger


def check_workers(workers: object) -> None:
    """Errors: UsageError launch.workers for what is neither a number of threads nor the name of a cluster."""
    if isinstance(workers, str):
        return  # what it names is for the farm to say
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise UsageError(
            f"workers is {workers!r}; expected an integer above 0, 'dask', or the address of a Dask scheduler",
            code="launch.workers",
        )


class Spreader(Protocol):
    """What `farm` does for a launch."""

    def grid(
        self, request: Request, arena: Arena, segments: dict[str, int], sanitize: bool, workers: str,
        progress: Callable[[Progress], None] | None, announce: Announce | None,
    ) -> tuple[Stats, tuple[Diagnostic, ...], Spread]:  # fmt: skip
        """Run a grid: what `machine.execute` does."""
        ...

    def each(
        self, job: Callable[[Any, Any, Callable[[Any], None]], Any], shared: object, tasks: list[Any], workers: str,
        announce: Announce | None,
    ) -> tuple[list[Any], Ledger]:  # fmt: skip
        """What a job makes of each of a list of tasks, in their order."""
        ...


def spreader() -> Spreader:
    """Who spreads work over machines."""
    return cast("Spreader", provider("workers"))
