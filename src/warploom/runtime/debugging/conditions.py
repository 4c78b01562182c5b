"""Conditions under which one movement of a debugger session stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Event
from typing import TYPE_CHECKING

from warploom.emulator.stops import Stops
from warploom.lazy_dataclass import dataclass
from warploom.runtime.debugging.breakpoints import Breakpoint, by_instruction
from warploom.runtime.debugging.focus import Moment
from warploom.runtime.debugging.watches import Watches, changed

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Emulator
    from warploom.isa.model.semantics import Lanes

NOWHERE = frozenset[int]()


@dataclass(slots=True)
class Target:
    """Instructions before which one lane stops.

    `warp` is the index of the lane's warp among the resident warps. The lane stops only with at most `depth` open
    calls, if that is not None. At `origin`, where it started, it stops only after an instruction in `after`, because
    waits repeat their instruction. `exits` are the instructions through which it may leave the kernel, which also ends
    the movement.
    """

    warp: int
    lane: int
    pcs: frozenset[int]
    exits: frozenset[int]
    depth: int | None = None
    origin: int = -1
    after: frozenset[int] = NOWHERE

    def reached(self, pc: int, batch: Batch) -> bool:
        """Return True if the lane is in a batch that comes to one of the instructions."""
        place = (batch.warp_index == self.warp).nonzero()[0]
        if not len(place) or not batch.active()[place[0], self.lane]:
            return False
        if pc in self.after:
            self.origin = -1
        if pc not in self.pcs or pc == self.origin:
            return False
        return self.depth is None or len(batch.state.splits.call_stack(int(batch.rows[place[0]]))) <= self.depth

    def has_left(self, emulator: Emulator) -> bool:
        """Return True if the lane has left the kernel."""
        return not int(emulator.state.splits.live_bits[self.warp]) >> self.lane & 1


class Conditions(Stops):
    """Stops at breakpoints, watches and the target of a movement, and at a request of another thread.

    After a stop, `hits` has the breakpoints that have stopped the launch and their lanes, and `at_target`, `has_left`
    and `interrupted` have the other reasons. `log` is called for each hit of a breakpoint that logs.
    """

    def __init__(
        self,
        emulator: Callable[[], Emulator],
        now: Callable[[int], Moment],
        breakpoints: Iterable[Breakpoint],
        target: Target | None,
        request: Event,
        log: Callable[[Breakpoint, int, Batch, Lanes], None],
        watches: Watches,
    ) -> None:
        self._emulator, self._now, self._target, self._request, self._log = emulator, now, target, request, log
        self._at = by_instruction(breakpoints)
        own = NOWHERE if target is None else target.pcs | target.exits | target.after
        self.pcs = own | self._at.keys()
        self.hits: list[tuple[Breakpoint, Lanes]] = []
        self.at_target = self.has_left = self.interrupted = False
        self._watches, self._values = watches, watches.values(emulator())
        if watches.enabled:
            emulator().batches_per_call = 1

    def reached(self, pc: int, batch: Batch) -> bool:
        """Return True to stop before a batch executes an instruction. See `Stops.reached`."""
        self.at_target = self._target is not None and self._target.reached(pc, batch)
        for each in self._at.get(pc, ()):
            moment = self._now(pc)
            lanes = each.select(batch, moment, self._emulator().flush)
            if lanes is None or not each.hit(moment):
                continue
            if each.log is not None:
                self._log(each, pc, batch, lanes)
            else:
                self.hits.append((each, lanes))
        return self.at_target or bool(self.hits)

    def concerns(self, pcs: Iterable[int], batch: Batch) -> bool:
        """Return False if no breakpoint and no target can stop the batch. See `Stops.concerns`."""
        if self._target is not None and (batch.warp_index == self._target.warp).any():
            return True
        return any(each.may_select(batch) for pc in pcs for each in self._at.get(pc, ()))

    def between_blocks(self) -> bool:
        """Return True to stop after a block. See `Stops.between_blocks`."""
        self.has_left = self._target is not None and self._target.has_left(self._emulator())
        self.interrupted = self._request.is_set()
        return self.has_left or self.interrupted or self.has_changed()

    def has_changed(self) -> bool:
        """Return True if a watched value has changed since the movement began."""
        return bool(self._watches.enabled) and bool(changed(self._values, self._watches.values(self._emulator())))


def any_lane(masks: Sequence[Lanes]) -> Lanes:
    """Return the lanes that any of some masks selects."""
    found = masks[0].copy()
    for mask in masks[1:]:
        found |= mask
    return found
