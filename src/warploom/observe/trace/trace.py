"""Trace of a run, which can be saved as a file for Perfetto."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warploom.observe.trace import chrome
from warploom.observe.trace.data import TraceData


@dataclass(frozen=True, slots=True, eq=False)
class Trace(TraceData):
    """Trace of a run: the events of some of its CTAs."""

    def save(self, path: str | Path) -> None:
        """Write a file for Perfetto (https://ui.perfetto.dev) and chrome://tracing.

        A failure leaves no partial file. Errors: UsageError launch.trace
        """
        chrome.save(self, Path(path))
