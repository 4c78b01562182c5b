"""Table of the events of a trace, which grows to a limit, and the arrows between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.observe.trace.data import EVENT, Kind

Array = NDArray[Any]
Ids = NDArray[np.int64]

NOWHERE = 0  # row of events beyond the limit
OPEN = -1  # end of an event that has not ended


class Table:
    """Events by number. Row 0 stands for every event beyond the limit, so that callers need no test."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.total = 0  # events, including those beyond the limit
        self.used = 1
        self.rows = np.zeros(256, EVENT)
        self.arrows: list[tuple[int, int]] = []

    def add(self, kind: Kind, many: int, /, **columns: Array | int) -> Ids:
        """Add `many` events, and return their rows. Columns that are not given are 0."""
        first = self.used
        kept = min(many, self.limit + 1 - first)
        self.total += many
        self.used += kept
        while self.used > len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros(len(self.rows), EVENT)])
        new = self.rows[first : self.used]
        new["kind"] = kind
        for name, values in columns.items():
            new[name] = values if isinstance(values, int) else values[:kept]
        ids = np.full(many, NOWHERE, np.int64)
        ids[:kept] = np.arange(first, self.used)
        return ids

    def end(self, ids: Ids, when: int) -> None:
        """Set the end of the events in some rows."""
        self.rows["end"][ids] = when

    def arrow(self, source: int, target: int) -> None:
        """Add an arrow from one event to another, unless there are as many arrows as the limit of events."""
        if NOWHERE not in (source, target) and len(self.arrows) < self.limit:
            self.arrows.append((source, target))

    def close(self, when: int) -> None:
        """Set the end of all open events."""
        ends = self.rows["end"][: self.used]
        ends[ends == OPEN] = when

    def events(self) -> Array:
        """Return the events without row 0."""
        return self.rows[1 : self.used].copy()

    def pairs(self) -> Ids:
        """Return the arrows as pairs of positions in `events()`. Shapes: (arrows, 2)."""
        return np.array(self.arrows, np.int64).reshape(-1, 2) - 1
