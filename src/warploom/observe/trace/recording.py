"""State of the recorder: table of events, recorded CTAs, and clock."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Launch, Resident
from warploom.observe.trace.data import EVENT, USE, Kind

Array = NDArray[Any]
Ids = NDArray[np.int64]

NOWHERE = 0  # row of events beyond the limit
OPEN = -1  # end of an event that has not ended


class Table:
    """Table of events, and arrows between rows. Row 0 stands for events beyond the limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.total = 0  # events, including those beyond the limit
        self.used = 1
        self.rows = np.zeros(256, EVENT)
        self.arrows: list[tuple[int, int]] = []
        self._uses: dict[int, list[tuple[Any, ...]]] = {}  # uses of tensor memory by event

    def add(self, kind: Kind | Array, many: int, /, **columns: Array | int) -> Ids:
        """Add `many` events of one kind, or of the kinds in an array. Return their row numbers.

        Columns of `EVENT` that `columns` lacks are 0.
        """
        first = self.used
        kept = min(many, self.limit + 1 - first)
        self.total += many
        self.used += kept
        while self.used > len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros(len(self.rows), EVENT)])
        new = self.rows[first : self.used]
        new["kind"] = kind if kept == many or isinstance(kind, int) else kind[:kept]
        for name, values in columns.items():
            new[name] = values if kept == many or isinstance(values, int) else values[:kept]
        ids = np.arange(first, first + many)
        ids[kept:] = NOWHERE
        return ids

    def end(self, ids: Ids, when: int) -> None:
        """Set the end of the events at the rows `ids` to step `when`."""
        self.rows["end"][ids] = when

    def arrow(self, source: int, target: int) -> None:
        """Add an arrow from event `source` to event `target`, within the limit."""
        if NOWHERE not in (source, target) and len(self.arrows) < self.limit:
            self.arrows.append((source, target))

    def use(self, event: int, *use: Any) -> None:
        """Add a use of tensor memory by an event within the limit.

        `use` has the columns of `USE` from `cta` on.
        """
        if event != NOWHERE:
            self._uses.setdefault(event, []).append(use)

    def commit(self, event: int, covered: list[int]) -> None:
        """Add the columns that the events `covered` write as uses by a commit."""
        for cta, kind, *columns in [use for each in covered for use in self._uses.get(each, ())]:
            if kind != "read" and (cta, "commit", *columns) not in self._uses.get(event, ()):
                self.use(event, cta, "commit", *columns)

    def uses(self) -> Array:
        """Return the uses of tensor memory in the order of the events."""
        return np.array([(event - 1, *use) for event in sorted(self._uses) for use in self._uses[event]], USE)

    def close(self, when: int) -> None:
        """Set the end of all open events to step `when`."""
        ends = self.rows["end"][: self.used]
        ends[ends == OPEN] = when

    def events(self) -> Array:
        """Return the events without row 0."""
        return self.rows[1 : self.used].copy()

    def pairs(self) -> Ids:
        """Return the arrows as pairs of positions in `events()`. Shapes: (arrows, 2)."""
        return np.array(self.arrows, np.int64).reshape(-1, 2) - 1


@dataclass(slots=True)
class Recording:
    """Table of events, recorded CTAs, and clock of a trace.

    `cta_of_cta` and `cta_of_warp` map each CTA and warp to its CTA's position in `Trace.ctas`, -1 if not recorded.
    `recorded` marks the recorded warps. `base` is the first step of the executing basic block or, between blocks, the
    next step. `pc` is the executing instruction, and `first` the first instruction of the block.
    """

    launch: Launch
    table: Table
    resident: Resident | None = None
    cta_of_cta: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    cta_of_warp: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    recorded: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    any_recorded: bool = False
    base: int = 0
    pc: int = 0
    first: int = 0
    in_block: bool = False

    def start(self, event: Resident, cta_of_cta: Array) -> None:
        """Prepare for the next CTAs. `cta_of_cta` has their positions in `Trace.ctas`, -1 if not recorded."""
        self.resident = event
        self.cta_of_cta = cta_of_cta
        self.cta_of_warp = cta_of_cta[self.launch.topology.cta_of]
        self.recorded = self.cta_of_warp >= 0
        self.any_recorded = bool(self.recorded.any())

    @property
    def present(self) -> Resident:
        """CTAs that the emulator runs now."""
        assert self.resident is not None
        return self.resident

    def now(self) -> int:
        """Return the executing step or, between basic blocks, the previous step."""
        return self.base + self.pc - self.first if self.in_block else max(self.base - 1, 0)

    def tick(self) -> None:
        """Count an asynchronous operation between basic blocks as a step."""
        if not self.in_block:
            self.base += 1
