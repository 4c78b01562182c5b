"""Strands: which lanes of which warp stand at which program counter.

A converged warp is one strand. A divergent branch splits a strand in two, which meet again at the branch's
immediate post-dominator, as convergence barriers make hardware do. The lane sets of a warp's strands are
disjoint.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]


PATIENCE = 1024  # epochs that lanes may wait at a meeting point for lanes of their warp that spin
LEAST_PATIENCE = 16


class State:
    """What a strand is doing. Plain integers: they are compared with arrays, and often."""

    DONE = 0  # the slot is free; in a warp's own slot: it has left the kernel or its lanes are elsewhere
    READY = 1
    WAITING = 2  # suspended at a barrier or mbarrier
    GATHERING = 3  # waiting for other lanes of its warp, or warps of its warpgroup, at the same instruction


@dataclass(eq=False, slots=True)
class Join:
    """Lanes of a warp that split at a branch and meet again at `pc`, in the same function activation."""

    warp: int
    pc: int
    calls: tuple[int, ...]
    parent: Join | None
    expected: Mask
    arrived: Mask = field(default_factory=lambda: np.zeros(32, np.bool_))
    epoch: int = 0


class Strands:
    """All strands of the resident warps, as arrays with one slot per strand.

    Slot w is the first strand of warp w; divergence takes further slots. `epoch` counts the backward jumps a
    strand took: scheduling by (epoch, pc) keeps loops in step and lets no spinning strand starve another.
    """

    def __init__(self, masks: Mask, entry: int) -> None:
        warps = masks.shape[0]
        self.warps = warps
        self.warp = np.arange(warps, dtype=np.intp)
        self.pc = np.full(warps, entry, np.int64)
        self.epoch = np.zeros(warps, np.int64)
        self.state = np.where(masks.any(axis=1), State.READY, State.DONE).astype(np.uint8)
        self.mask = masks.copy()
        self.full = np.all(masks, axis=1)
        self.join_pc = np.full(warps, -1, np.int64)
        self.joins: list[Join | None] = [None] * warps
        self.calls: list[tuple[int, ...]] = [()] * warps
        self.live = masks.copy()
        self._open: list[Join] = []
        self._patience: dict[int, int] = {}
        self.diverged = False

    # Choosing -----------------------------------------------------------------------------------------

    def ready(self) -> Rows:
        """Slots of the strands that can run."""
        return np.flatnonzero(self.state == State.READY)

    def least(self, ready: Rows) -> Rows:
        """Of these strands, all at the program counter of the one with the least (epoch, pc)."""
        epochs = self.epoch[ready]
        pcs = self.pc[ready]
        first = ready[np.lexsort((pcs, epochs))[0]] if len(ready) > 1 else ready[0]
        return self.at_pc(ready, int(self.pc[first]))

    def at_pc(self, ready: Rows, pc: int) -> Rows:
        """Of these strands, those at `pc`, at most one of each warp."""
        rows = ready[self.pc[ready] == pc]
        if self.diverged and len(rows) > 1:
            _, first = np.unique(self.warp[rows], return_index=True)
            rows = rows[np.sort(first)]
        return rows

    # Splitting and meeting ----------------------------------------------------------------------------

    def goto(self, rows: Rows, pc: int) -> None:
        """The strands continue at `pc`."""
        self.epoch[rows] += self.pc[rows] >= pc
        self.pc[rows] = pc
        if self.diverged:
            self._meet(rows)

    def goto_each(self, rows: Rows, pcs: NDArray[np.int64]) -> None:
        """Each strand continues at its own program counter."""
        self.epoch[rows] += self.pc[rows] >= pcs
        self.pc[rows] = pcs
        if self.diverged:
            self._meet(rows)

    def split(
        self, row: int, targets: NDArray[np.int64], meet: int, outer: tuple[int, ...] | None = None
    ) -> None:
        """Lanes of a strand go to different program counters (`targets[lane]`).

        They meet at `meet` (-1: never), in the same activation or, after a return, in the activation `outer`.
        """
        self.diverged = True
        mask = self.mask[row].copy()
        calls, warp = self.calls[row], int(self.warp[row])
        origin, epoch = int(self.pc[row]), int(self.epoch[row])
        join = self._join(row, meet, calls if outer is None else outer)
        self._free(row)
        for target in np.unique(targets[mask]):
            self._place(
                warp, mask & (targets == target), int(target), epoch + (origin >= target), join, calls
            )

    def enter(self, row: int, lanes: Mask, entry: int, site: int, rest: int) -> None:
        """Lanes of a strand call a function; the others go on at `rest`, and all meet after the call."""
        calls, warp, epoch = self.calls[row], int(self.warp[row]), int(self.epoch[row])
        others = self.mask[row] & ~lanes
        if not others.any():
            self.calls[row] = (*calls, site)
            self.goto(np.array([row], np.intp), entry)
            return
        self.diverged = True
        join = self._join(row, site + 1, calls)
        self._free(row)
        self._place(warp, lanes, entry, epoch, join, (*calls, site))
        self._place(warp, others, rest, epoch, join, calls)

    def leave(self, row: int, lanes: Mask) -> None:
        """Lanes of a strand leave the kernel."""
        self.live[self.warp[row]] &= ~lanes
        rest = self.mask[row] & ~lanes
        join = self.joins[row]
        if rest.any():
            self._set_mask(row, rest)
        else:
            self._free(row)
        self._withdraw(join, None, lanes)

    def waiting_to_meet(self) -> bool:
        """Whether lanes wait at a meeting point."""
        return any(join.arrived.any() for join in self._open)

    def release_stuck(self, torn: set[int]) -> bool:
        """Nothing else can run: let the lanes that wait at one meeting point go on without lanes that cannot come.

        Not in the warps `torn`, whose lanes would have to come to one instruction together.
        """
        for join in self._open:
            if join.arrived.any() and join.warp not in torn:
                self._release(join)
                return True
        return False

    def release_outrun(self) -> None:
        """Let lanes go on that wait at meeting points for lanes that spin: those of their warp are far ahead.

        Diverged lanes are guaranteed to progress since Volta; meeting is only preferred. A point that lanes were
        let go from keeps the next ones half as long: a lock is handed on there.
        """
        for join in [join for join in self._open if join.arrived.any()]:
            siblings = (self.warp == join.warp) & (self.state != State.DONE)
            ahead = int(self.epoch[siblings].max(initial=0)) - join.epoch
            patience = self._patience.get(join.pc, PATIENCE)
            if ahead >= patience and join.arrived.any():
                self._patience[join.pc] = max(patience // 2, LEAST_PATIENCE)
                self._release(join)

    def _release(self, join: Join) -> None:
        lanes = join.arrived.copy()
        join.arrived[:] = False
        join.expected &= ~lanes
        self._place(join.warp, lanes, join.pc, join.epoch, join.parent, join.calls)

    def merge_gathering(self, row: int) -> bool:
        """Merge the strands of a warp that gather at the instruction of this one into it; False when none does."""
        warp = self.warp[row]
        same = np.flatnonzero(
            (self.warp == warp) & (self.pc == self.pc[row]) & (self.state == State.GATHERING)
        )
        others = [int(slot) for slot in same if slot != row]
        for other in others:
            join = _common(self.joins[row], self.joins[other])
            self._withdraw(self.joins[row], join, self.mask[row])
            self._withdraw(self.joins[other], join, self.mask[other])
            self._set_mask(row, self.mask[row] | self.mask[other])
            self._set_join(row, join)
            self.epoch[row] = max(self.epoch[row], self.epoch[other])
            self._free(other)
        return bool(others)

    # Meeting --------------------------------------------------------------------------------------------

    def _join(self, row: int, meet: int, calls: tuple[int, ...]) -> Join | None:
        """The meeting point for the lanes of a strand that parts; a loop's is made once."""
        join = self.joins[row]
        if meet < 0 or (join is not None and join.pc == meet and join.calls == calls):
            return join
        join = Join(int(self.warp[row]), meet, calls, join, self.mask[row].copy())
        self._open.append(join)
        return join

    def _meet(self, rows: Rows) -> None:
        for slot in (int(row) for row in rows[self.join_pc[rows] == self.pc[rows]]):
            join = self.joins[slot]
            if join is None or self.calls[slot] != join.calls:
                continue
            join.arrived |= self.mask[slot]
            join.epoch = max(join.epoch, int(self.epoch[slot]))
            self._free(slot)
            self._complete(join)

    def _complete(self, join: Join) -> None:
        if (join.arrived != join.expected).any():
            return
        self._open.remove(join)
        if join.arrived.any():
            self._place(join.warp, join.arrived, join.pc, join.epoch, join.parent, join.calls)

    def _withdraw(self, join: Join | None, until: Join | None, lanes: Mask) -> None:
        """The lanes will not come to any meeting point from `join` out to `until`."""
        while join is not None and join is not until:
            outer = join.parent
            join.expected &= ~lanes
            self._complete(join)
            join = outer

    # Slots ----------------------------------------------------------------------------------------------

    def _place(
        self, warp: int, mask: Mask, pc: int, epoch: int, join: Join | None, calls: tuple[int, ...]
    ) -> None:
        """A new strand, in the warp's own slot if that is free; it may have met at once."""
        slot = warp if self.state[warp] == State.DONE else self._extra_slot()
        self.warp[slot] = warp
        self.pc[slot] = pc
        self.epoch[slot] = epoch
        self.state[slot] = State.READY
        self.calls[slot] = calls
        self._set_mask(slot, mask)
        self._set_join(slot, join)
        self._meet(np.array([slot], np.intp))

    def _extra_slot(self) -> int:
        size = len(self.state)
        free = np.flatnonzero(self.state[self.warps :] == State.DONE)
        if len(free):
            return int(free[0]) + self.warps
        grown = max(16, size // 2)
        self.warp = np.concatenate([self.warp, np.zeros(grown, np.intp)])
        self.pc = np.concatenate([self.pc, np.zeros(grown, np.int64)])
        self.epoch = np.concatenate([self.epoch, np.zeros(grown, np.int64)])
        self.state = np.concatenate([self.state, np.full(grown, State.DONE, np.uint8)])
        self.mask = np.concatenate([self.mask, np.zeros((grown, 32), np.bool_)])
        self.full = np.concatenate([self.full, np.zeros(grown, np.bool_)])
        self.join_pc = np.concatenate([self.join_pc, np.full(grown, -1, np.int64)])
        self.joins.extend([None] * grown)
        self.calls.extend([()] * grown)
        return size

    def _free(self, slot: int) -> None:
        self.state[slot] = State.DONE
        self.epoch[slot] = 0
        self.calls[slot] = ()
        self._set_mask(slot, np.zeros(32, np.bool_))
        self._set_join(slot, None)

    def _set_mask(self, slot: int, mask: Mask) -> None:
        self.mask[slot] = mask
        self.full[slot] = bool(mask.all())

    def _set_join(self, slot: int, join: Join | None) -> None:
        self.joins[slot] = join
        self.join_pc[slot] = -1 if join is None else join.pc


def _common(one: Join | None, other: Join | None) -> Join | None:
    """The innermost meeting point that both are to come to."""
    seen: set[int] = set()
    while one is not None:
        seen.add(id(one))
        one = one.parent
    while other is not None and id(other) not in seen:
        other = other.parent
    return other


def lanes_named(mask: Mask) -> str:
    """The lanes of a mask, in a phrase: "lane 3", "lanes 0 to 7, 9"."""
    runs: list[list[int]] = []
    for lane in np.flatnonzero(mask).tolist():
        if runs and runs[-1][1] == lane - 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    named = ", ".join(f"{first}" if first == last else f"{first} to {last}" for first, last in runs)
    return f"lane{'' if mask.sum() == 1 else 's'} {named}"
