"""Search for earlier moments of a launch: visits of a thread, and hits of breakpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warploom.runtime.debugging.breakpoints import by_instruction
from warploom.runtime.debugging.execution import Execution, Passive
from warploom.runtime.debugging.focus import BETWEEN, Moment, Place, place_of
from warploom.runtime.debugging.history import moment_of
from warploom.runtime.debugging.locations import (
    all_preceding,
    everywhere,
    exits,
    following,
    line_keys,
    line_starts,
    waits,
)
from warploom.runtime.debugging.watches import changed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warploom.emulator.batch import Batch
    from warploom.emulator.program import Program
    from warploom.runtime.debugging.breakpoints import Breakpoint
    from warploom.runtime.debugging.watches import Watches


class Visits(Passive):
    """First visits of a lane to instructions or lines, in the order of the execution.

    Retries of a wait are one visit. `keys` has the line of each instruction, so that consecutive visits to a line count
    as one; None counts all. Only visits with at most `depth` open calls count, if that is not None.
    """

    def __init__(
        self, execution: Execution, thread: tuple[int, int, int], pcs: frozenset[int],
        keys: Sequence[object] | None, depth: int | None,
    ) -> None:  # fmt: skip
        self.execution, self.program = execution, execution.state.program
        self.wave, self.warp, self.lane = thread
        self.targets, self.keys, self.depth = pcs, keys, depth
        after = {each for pc in pcs for each in following(self.program, pc, (), into=True)}
        self.pcs = pcs if keys is not None else pcs | after
        self.starts: list[Moment] = []
        self._last = -1  # instruction of the last visit

    def reached(self, pc: int, batch: Batch) -> bool:
        """Record a visit. Return False."""
        place = (batch.warp_index == self.warp).nonzero()[0]
        if self.execution.waves.number != self.wave or not len(place) or not batch.active()[place[0], self.lane]:
            return False
        if self.depth is None or len(batch.state.splits.call_stack(int(batch.rows[place[0]]))) <= self.depth:
            if not self.continues(pc) and pc in self.targets:
                self.starts.append(self.execution.moment_at(pc))
            self._last = pc
        return False

    def continues(self, pc: int) -> bool:
        """Return True if a visit to the instruction at `pc` belongs to the last visit."""
        if self._last < 0:
            return False
        if self.keys is not None:
            return self.keys[pc] == self.keys[self._last]
        return pc == self._last and pc not in self.program.following[pc]

    def previous(self, place: Place | None, count: int) -> Moment | None:
        """Return the start of the `count`-th visit before the present one, or None if it is not known."""
        skipped = 0
        is_visit = place is not None and place.has_come and place.pc in self.targets and self.starts
        if place is not None and is_visit and self.continues(place.pc):
            # In the middle of a line, the first step goes to the start of the line.
            skipped = int(self.keys is None or self.starts[-1].pc == place.pc)
        number = len(self.starts) - skipped - count
        return self.starts[number] if number >= 0 else None


def visited(program: Program, place: Place | None, unit: str, count: int) -> frozenset[int]:
    """Return the instructions whose visits matter for `count` steps backward from a place."""
    if unit == "line":
        return program.analysis(line_starts)
    if unit == "barrier":
        return program.analysis(waits)
    if place is None:
        return program.analysis(exits)
    if count > 1:
        return everywhere(program)
    return program.analysis(all_preceding)[place.pc] | {place.pc}


def previous_visit(
    execution: Execution, warp: int, lane: int, unit: str, count: int, *, into: bool
) -> Moment | None:  # fmt: skip
    """Return the moment to which `count` steps of a lane go back, or None before its first instruction.

    `unit` and `into` are those of `DebugSession`. The function restores the present moment at its end.
    """
    now, place, program = execution.moment, place_of(execution.state, warp, lane), execution.state.program
    pcs = visited(program, place, unit, count)
    keys = program.analysis(line_keys) if unit == "line" else None
    depth = None if into or place is None else len(place.calls)
    thread, span = (execution.waves.number, warp, lane), 1
    while True:
        last = execution.history.before(now)
        first = max(last - span + 1, 0)
        wave = execution.history.snapshots[first].wave if last >= 0 else 0
        execution.restore(first if last >= 0 else -1)
        visits = Visits(execution, thread, pcs, keys, depth)
        execution.replay(now, visits)
        found = visits.previous(place, count)
        # The first visit of an interval may have begun before.
        if first == 0 or wave < now.wave or (found is not None and found != visits.starts[0]):
            return found
        span *= 2


class Hits(Passive):
    """Hits of breakpoints, and batches that change watched values, up to a moment."""

    def __init__(self, execution: Execution, breakpoints: Sequence[Breakpoint], watches: Watches) -> None:
        self.execution, self.watches = execution, watches
        self.at = by_instruction(each for each in breakpoints if each.log is None)
        self.pcs = frozenset(self.at)
        self.most = 1 if watches.enabled else Passive.most
        self.found: list[Moment] = []
        self.changed: list[Moment] = []  # starts of the batches
        self._values = watches.values(execution.state)

    def reached(self, pc: int, batch: Batch) -> bool:
        """Record hits. Return False."""
        emulator = self.execution.state
        moment = self.execution.moment_at(pc)
        hits = [
            each
            for each in self.at.get(pc, ())
            if each.select(batch, moment, emulator.flush) is not None and each.hit(moment)
        ]
        if hits:
            self.found.append(moment)
        return False

    def between_blocks(self) -> bool:
        """Record changes of watched values. Return False."""
        self.compare()
        return False

    def compare(self) -> None:
        """Record the present batch if watched values differ from those after the last batch."""
        if self.watches.enabled:
            values = self.watches.values(self.execution.state)
            if changed(self._values, values):
                self.changed.append(self.execution.moment_at(BETWEEN))
            self._values = values


def previous_stop(
    execution: Execution, breakpoints: Sequence[Breakpoint], watches: Watches, count: int
) -> Moment | None:  # fmt: skip
    """Return the moment of the `count`-th last hit of a breakpoint or change of a watched value, or None.

    The function does not restore the present moment; the caller goes to another one.
    """
    now = until = execution.moment
    index = execution.history.before(now)
    if index < 0:
        execution.restore(-1)
    found: list[Moment] = []
    while index >= 0:
        execution.restore(index)
        begin = moment_of(execution.history.snapshots[index])
        hits = Hits(execution, breakpoints, watches)
        execution.replay(until, hits)
        hits.compare()
        latest = hits.found
        for batch in reversed(hits.changed):
            execution.go_to(batch)
            if (change := watches.locate(execution)) is not None and change < now:
                latest.append(change)
            if sum(each >= batch for each in latest) + len(found) >= count:
                break
        found = sorted({*latest, *found})
        if len(found) >= count:
            return found[-count]
        until = begin
        index = execution.history.before(begin) - 1
    return None
