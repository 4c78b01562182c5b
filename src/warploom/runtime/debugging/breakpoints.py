"""Breakpoints of a debugger session, and the record of a stop."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING

from warploom.lazy_dataclass import dataclass
from warploom.runtime.debugging.focus import Executing, Filter, Moment

if TYPE_CHECKING:
    from warploom.diagnostics import Diagnostic
    from warploom.emulator.batch import Batch
    from warploom.emulator.faults import RunError
    from warploom.isa.model.semantics import Lanes
    from warploom.observe.debug.conditions import Condition


@dataclass(frozen=True, slots=True)
class Change:
    """Change of a watched value.

    `watch` is the number of the watch. `old` and `new` are the bytes before and after the change. `pc` is the
    instruction that wrote the value or issued the asynchronous write, or -1 if it is not known. `writers` are the lanes
    that executed it.
    """

    watch: int
    old: bytes
    new: bytes
    pc: int
    writers: tuple[Executing, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop of a launch, and the reason.

    - `reason`: "start", "breakpoint", "watch", "finding", "step" (also after `next`, `finish` and `until`), "goto",
      "exit" (the thread in focus has left the kernel), "interrupt", "trap", "deadlock" or "end"
    - `moment`, `number`: moment of the stop, and the number of the next instruction (see `Counters.positions`)
    - `pc`: instruction that the batch executes next, or -1 between two batches
    - `batch`: all lanes that execute it together; empty between two batches
    - `selected`: the lanes of them for which a breakpoint stops, or all of them for other reasons
    - `breakpoints`: numbers of the breakpoints that have stopped the launch
    - `changes`: changes of watched values
    - `findings`: findings of the sanitizer at this moment
    - `error`: the trap or the deadlock that ended the launch
    """

    reason: str
    moment: Moment
    number: int
    pc: int
    batch: tuple[Executing, ...] = ()
    selected: tuple[Executing, ...] = ()
    breakpoints: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    error: RunError | None = None


@dataclass(slots=True, eq=False)
class Breakpoint:
    """Stop before instructions, for the lanes that a filter and a condition select.

    `number` identifies the breakpoint, and `where` is the location that the user named. A hit is one
    arrival of a batch with a selected lane. The first `ignored` hits from the moment `since` on do not stop the launch.
    If `log` is set, no hit stops it, and each hit calls `log` with a `Stop`. A temporary breakpoint is deleted when it
    has stopped the launch.

    `moments` restricts the breakpoint to these moments, in ascending order; None stands for all. `findings` are the
    findings of the sanitizer at these moments. `needs_flush` is True if the condition reads accumulators.
    """

    number: int
    where: str
    pcs: frozenset[int]
    within: Filter = Filter()
    condition: Condition | None = None
    ignored: int = 0
    log: Callable[[Stop], object] | None = None
    temporary: bool = False
    enabled: bool = True
    moments: tuple[Moment, ...] | None = None
    findings: tuple[Diagnostic, ...] = ()
    needs_flush: bool = False
    since: Moment = Moment(-1, 0, 0)
    hits: list[Moment] = field(default_factory=list[Moment])

    def select(self, batch: Batch, moment: Moment, flush: Callable[[], None]) -> Lanes | None:
        """Return the lanes of a batch for which the breakpoint is hit, or None if there are none.

        `flush` writes cached accumulators to the registers. Shapes: (warps, 32).
        """
        if self.moments is not None and moment not in self.moments:
            return None
        lanes = self.within.select(batch)
        if lanes.any() and self.condition is not None:
            if self.needs_flush:
                flush()
            lanes &= self.condition.lanes(batch)
        return lanes if lanes.any() else None

    def may_select(self, batch: Batch) -> bool:
        """Return False if the breakpoint selects no lane of a batch in some multiplications."""
        lanes = self.within.select(batch)
        if lanes.any() and self.condition is not None and not self.needs_flush:
            lanes &= self.condition.lanes(batch)
        return bool(lanes.any())

    def hit(self, moment: Moment) -> bool:
        """Record a hit at a moment. Return False if the breakpoint ignores the hit.

        A hit that is recorded already does not count again, so that counts are equal after a movement backward.
        """
        place = bisect_left(self.hits, moment)
        if place == len(self.hits) or self.hits[place] != moment:
            insort(self.hits, moment)
        return moment < self.since or place - bisect_left(self.hits, self.since) >= self.ignored

    def count(self, moment: Moment) -> int:
        """Return the number of known hits up to a moment."""
        return bisect_left(self.hits, moment._replace(pc=moment.pc + 1))


def by_instruction(breakpoints: Iterable[Breakpoint]) -> dict[int, list[Breakpoint]]:
    """Return the enabled breakpoints of each instruction."""
    found: dict[int, list[Breakpoint]] = {}
    for each in breakpoints:
        for pc in each.pcs if each.enabled else ():
            found.setdefault(pc, []).append(each)
    return found
