"""Observer that keeps the contents of all events of a run."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from warploom.emulator import events
from warploom.emulator.batch import Batch
from warploom.emulator.observers import Observer
from warploom.emulator.shared_memory import Location

KINDS = (
    events.BlockStart, events.BlockEnd, events.Suspend, events.Exit, events.Access, events.Fence, events.Barrier,
    events.WarpBarrier, events.Allocate, events.Arrive, events.PhaseWait, events.PhaseComplete, events.Issue,
    events.ThreadCopyIssue, events.CopyIssue, events.CopyAccess, events.Commit, events.Wait, events.Complete,
)  # fmt: skip
_OPAQUE = frozenset({"operands", "request", "pending", "tensor_maps"})
"""Fields of events with objects that are not compared."""


class EventLog(Observer):
    """Observer that appends the contents of each event to `entries`."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[tuple[Any, ...]] = []

    def attach(self, launch: events.Launch) -> None:
        every = range(len(launch.program.steps))

        def keep(event: events.Event) -> None:
            self.entries.append(contents(event))

        self.handlers = dict.fromkeys(KINDS, keep)
        self.instructions = dict.fromkeys(every, keep)
        self.guards = dict.fromkeys(every, keep)

    def profile(self) -> None:
        """Return no profile, in the place of the profiler."""


class AccessLog(EventLog):
    """Observer that keeps the events for which native code may deliver several reads together."""

    def attach(self, launch: events.Launch) -> None:
        super().attach(launch)
        kept = set(KINDS) - {events.Issue, events.Complete, events.BlockStart, events.BlockEnd}
        self.handlers = {kind: self.handlers[kind] for kind in kept}
        self.instructions, self.guards = {}, {}


def contents(event: events.Event) -> tuple[Any, ...]:
    """Return the name and the fields of an event. Inactive lanes of values count as 0."""
    named = {each.name: getattr(event, each.name) for each in fields(event) if each.name not in _OPAQUE}
    if isinstance(event, events.Access) and event.values is not None:
        shape = (len(event.values), *event.index.shape)
        named["values"] = np.broadcast_to(event.values, shape) * event.lanes.astype(event.values.dtype)
    return type(event).__name__, *((name, _plain(value)) for name, value in named.items())


def _plain(value: Any) -> Any:
    if isinstance(value, Batch):
        lanes = value.active()
        return value.rows.tolist(), value.warp_index.tolist(), lanes.tobytes(), value.state.splits.diverged
    if isinstance(value, Location):
        return value.warp.tolist(), value.cta.tolist(), value.asynchronous
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value
