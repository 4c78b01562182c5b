"""Warp splits: sets of lanes of one warp that execute together, each with its own program counter.

A converged warp is one warp split. A divergent branch splits it in two. They reconverge at the immediate post-dominator
of the branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

PATIENCE = 1024  # epochs for which lanes wait at a reconvergence point while lanes of their warp spin
LEAST_PATIENCE = 16


class Status:
    """Status of a warp split, as a plain integer."""

    # Plain integers, because arrays are often compared with them.
    DONE = 0  # the slot is free: its lanes have exited, or they belong to other slots
    READY = 1
    WAITING = 2  # suspended at a barrier, an mbarrier, or for registers
    RECONVERGING = 3  # waiting for lanes of its warp, or warps of its warpgroup, at the same instruction


@dataclass(eq=False, slots=True)
class ReconvergencePoint:
    """Instruction at which diverged lanes of a warp wait for each other."""

    warp: int
    pc: int
    calls: tuple[int, ...]  # call stack of the lanes: the program counters of the open calls
    parent: ReconvergencePoint | None  # point of the enclosing divergence
    expected: Mask  # lanes that will arrive
    # Lanes that already wait.
    arrived: Mask = field(default_factory=lambda: np.zeros(32, np.bool_))
    epoch: int = 0


class WarpSplits:
    """State of the warp splits of all resident warps, in arrays with one element per warp split.

    The index of a warp split is its slot. `epoch` counts the backward jumps of a warp split. Warp splits execute in the
    order of (epoch, pc). `bits` contains the lanes of `mask` as bits; lane 0 is the lowest bit. `live` is a mask of the
    lanes that have not left the kernel.

    Shapes: mask (slots, 32), live (warps, 32), other arrays (slots,).
    """

    def __init__(self, masks: Mask, entry: int) -> None:
        warps = masks.shape[0]
        self.warps = warps
        self.warp = np.arange(warps, dtype=np.intp)  # divergence adds elements after those of the warps
        self.pc = np.full(warps, entry, np.int64)
        # Selection by epoch keeps a spinning warp split from starving the others.
        self.epoch = np.zeros(warps, np.int64)
        self.status = np.where(masks.any(axis=1), Status.READY, Status.DONE).astype(np.uint8)
        self.mask = masks.copy()
        self.full = np.all(masks, axis=1)
        self.bits = _pack(masks)
        self.point_pc = np.full(warps, -1, np.int64)  # pc of the innermost reconvergence point, or -1
        self.points: list[ReconvergencePoint | None] = [None] * warps
        self.calls: list[tuple[int, ...]] = [()] * warps  # program counters of the open calls
        self.live = masks.copy()
        self._open: list[ReconvergencePoint] = []
        self._patience: dict[int, int] = {}
        self.diverged = False

    # Selection ------------------------------------------------------------------------------------------

    def ready(self) -> Rows:
        """Return the indices of the warp splits that can run."""
        return np.flatnonzero(self.status == Status.READY)

    def least(self, ready: Rows) -> Rows:
        """Return the warp splits in `ready` that execute next, at the program counter with least (epoch, pc)."""
        epochs = self.epoch[ready]
        pcs = self.pc[ready]
        first = ready[np.lexsort((pcs, epochs))[0]] if len(ready) > 1 else ready[0]
        return self.at_pc(ready, int(self.pc[first]))

    def at_pc(self, ready: Rows, pc: int) -> Rows:
        """Return the warp splits in `ready` whose program counter is `pc`, at most one for each warp."""
        rows = ready[self.pc[ready] == pc]
        if self.diverged and len(rows) > 1:
            _, first = np.unique(self.warp[rows], return_index=True)
            rows = rows[np.sort(first)]
        return rows

    def snapshot(self) -> object:
        """Return a value that is equal for two states with the same warp splits, regardless of their epochs."""
        slots = np.flatnonzero(self.status != Status.DONE)
        masks = np.packbits(self.mask[slots], axis=1).view(">u4")[:, 0]
        columns = [array.tolist() for array in (self.warp[slots], self.pc[slots], self.status[slots], masks)]
        points = [_chain(self.points[slot]) for slot in slots.tolist()] if self.diverged else [()] * len(slots)
        splits = frozenset(zip(*columns, [self.calls[slot] for slot in slots.tolist()], points, strict=True))
        opened = [(p.warp, p.pc, p.calls, p.expected.tobytes(), p.arrived.tobytes()) for p in self._open]
        return splits, frozenset(opened), dict(self._patience)

    # Divergence -----------------------------------------------------------------------------------------

    def goto(self, rows: Rows, pc: int | NDArray[np.int64]) -> None:
        """Set the program counters of the warp splits with the indices `rows` to `pc`."""
        self.epoch[rows] += self.pc[rows] >= pc
        self.pc[rows] = pc
        if self.diverged:
            # Lanes at their reconvergence point wait there for the other lanes.
            self.arrive(rows)

    def split(self, row: int, targets: NDArray[np.int64], point_pc: int, outer: tuple[int, ...] | None = None) -> None:
        """Divide warp split number `row` so that lane l continues at the program counter `targets[l]`.

        The lanes reconverge at the program counter `point_pc`, or never if `point_pc` is -1. They reconverge with the
        call stack `outer`, or with their present call stack if `outer` is None.
        """
        self.diverged = True
        mask = self.mask[row].copy()
        calls, warp = self.calls[row], int(self.warp[row])
        origin, epoch = int(self.pc[row]), int(self.epoch[row])
        point = self._point(row, point_pc, calls if outer is None else outer)
        self._free(row)
        for target in np.unique(targets[mask]):
            self._add(warp, mask & (targets == target), int(target), epoch + (origin >= target), point, calls)

    def call(self, row: int, lanes: Mask, entry: int, site: int, rest: int) -> None:
        """Call a function with some lanes of warp split number `row`. Its other lanes continue at `rest`.

        `entry` is the first program counter of the function, and `site` that of the call instruction.
        """
        calls, warp, epoch = self.calls[row], int(self.warp[row]), int(self.epoch[row])
        others = self.mask[row] & ~lanes
        if not others.any():
            self.calls[row] = (*calls, site)
            self.goto(np.array([row], np.intp), entry)
            return
        self.diverged = True
        point = self._point(row, site + 1, calls)  # all lanes reconverge after the call
        self._free(row)
        self._add(warp, lanes, entry, epoch, point, (*calls, site))
        self._add(warp, others, rest, epoch, point, calls)

    def exit(self, row: int, lanes: Mask) -> None:
        """Remove lanes that leave the kernel from warp split number `row`."""
        self.live[self.warp[row]] &= ~lanes
        rest = self.mask[row] & ~lanes
        point = self.points[row]
        if rest.any():
            self._set_mask(row, rest)
        else:
            self._free(row)
        self._withdraw(point, None, lanes)

    # Reconvergence --------------------------------------------------------------------------------------

    def has_arrivals(self) -> bool:
        """Return True if lanes wait at any reconvergence point."""
        return any(point.arrived.any() for point in self._open)

    def release_stuck(self, excluded: set[int]) -> bool:
        """Let the lanes at one reconvergence point continue, because all other lanes wait or loop endlessly.

        Do not release lanes of the warps in `excluded`, unless other lanes of the same warp loop. Return False if no
        lanes continue.
        """
        spinning = {*self.warp[self.ready()].tolist()}
        for point in self._open:
            if point.arrived.any() and (point.warp in spinning or point.warp not in excluded):
                if point.warp in spinning:
                    self._shorten_wait(point)
                self._release(point)
                return True
        return False

    def release_overdue(self) -> None:
        """Release lanes from a reconvergence point if other lanes of their warp have long been looping."""
        # The looping lanes may wait for a lock of the waiting lanes. Since Volta, all lanes make progress.
        for point in [point for point in self._open if point.arrived.any()]:
            siblings = (self.warp == point.warp) & (self.status != Status.DONE)
            ahead = int(self.epoch[siblings].max(initial=0)) - point.epoch
            if ahead >= self._patience.get(point.pc, PATIENCE) and point.arrived.any():
                self._shorten_wait(point)
                self._release(point)

    def _shorten_wait(self, point: ReconvergencePoint) -> None:
        """Halve the time that lanes which diverge again will wait at this program counter (see `PATIENCE`)."""
        self._patience[point.pc] = max(self._patience.get(point.pc, PATIENCE) // 2, LEAST_PATIENCE)

    def _release(self, point: ReconvergencePoint) -> None:
        lanes = point.arrived.copy()
        point.arrived[:] = False
        point.expected &= ~lanes
        self._add(point.warp, lanes, point.pc, point.epoch, point.parent, point.calls)

    def merge_reconverging(self, row: int, candidates: Rows) -> bool:
        """Merge warp split number `row` with those of `candidates` that wait at the same instruction.

        The candidates belong to the same warp. Return False if none of them waits there.
        """
        same = candidates[(self.pc[candidates] == self.pc[row]) & (self.status[candidates] == Status.RECONVERGING)]
        others = [int(slot) for slot in same if slot != row]
        for other in others:
            point = _common(self.points[row], self.points[other])
            self._withdraw(self.points[row], point, self.mask[row])
            self._withdraw(self.points[other], point, self.mask[other])
            self._set_mask(row, self.mask[row] | self.mask[other])
            self._set_point(row, point)
            self.epoch[row] = max(self.epoch[row], self.epoch[other])
            self._free(other)
        return bool(others)

    def _point(self, row: int, point_pc: int, calls: tuple[int, ...]) -> ReconvergencePoint | None:
        point = self.points[row]
        if point_pc < 0 or (point is not None and point.pc == point_pc and point.calls == calls):
            return point
        point = ReconvergencePoint(int(self.warp[row]), point_pc, calls, point, self.mask[row].copy())
        self._open.append(point)
        return point

    def arrive(self, rows: Rows) -> None:
        """Let the warp splits that are at their reconvergence point wait there for the other lanes."""
        for slot in (int(row) for row in rows[self.point_pc[rows] == self.pc[rows]]):
            point = self.points[slot]
            if point is None or self.calls[slot] != point.calls:
                continue
            point.arrived |= self.mask[slot]
            point.epoch = max(point.epoch, int(self.epoch[slot]))
            self._free(slot)
            self._complete(point)

    def _complete(self, point: ReconvergencePoint) -> None:
        if (point.arrived != point.expected).any():
            return
        self._open.remove(point)
        if point.arrived.any():
            self._add(point.warp, point.arrived, point.pc, point.epoch, point.parent, point.calls)

    def _withdraw(self, point: ReconvergencePoint | None, until: ReconvergencePoint | None, lanes: Mask) -> None:
        """Stop expecting `lanes` at `point` and at each enclosing point inside `until`."""
        while point is not None and point is not until:
            outer = point.parent
            point.expected &= ~lanes
            self._complete(point)
            point = outer

    # Slots ----------------------------------------------------------------------------------------------

    def _add(
        self, warp: int, mask: Mask, pc: int, epoch: int, point: ReconvergencePoint | None, calls: tuple[int, ...]
    ) -> None:
        slot = warp if self.status[warp] == Status.DONE else self._extra_slot()
        self.warp[slot] = warp
        self.pc[slot] = pc
        self.epoch[slot] = epoch
        self.status[slot] = Status.READY
        self.calls[slot] = calls
        self._set_mask(slot, mask)
        self._set_point(slot, point)
        self.arrive(np.array([slot], np.intp))

    def _extra_slot(self) -> int:
        size = len(self.status)
        free = np.flatnonzero(self.status[self.warps :] == Status.DONE)
        if len(free):
            return int(free[0]) + self.warps
        grown = max(16, size // 2)
        for name in ("warp", "pc", "epoch", "status", "mask", "full", "bits", "point_pc"):
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros((grown, *array.shape[1:]), array.dtype)]))
        self.point_pc[size:] = -1
        self.points.extend([None] * grown)
        self.calls.extend([()] * grown)
        return size

    def _free(self, slot: int) -> None:
        self.status[slot] = Status.DONE
        self.epoch[slot] = 0
        self.calls[slot] = ()
        self._set_mask(slot, np.zeros(32, np.bool_))
        self._set_point(slot, None)

    def _set_mask(self, slot: int, mask: Mask) -> None:
        self.mask[slot] = mask
        self.bits[slot] = _pack(mask[None])[0]
        self.full[slot] = bool(mask.all())

    def _set_point(self, slot: int, point: ReconvergencePoint | None) -> None:
        self.points[slot] = point
        self.point_pc[slot] = -1 if point is None else point.pc


def _pack(masks: Mask) -> NDArray[np.uint32]:
    return np.packbits(masks, axis=1, bitorder="little").view("<u4")[:, 0].astype(np.uint32)


def _chain(point: ReconvergencePoint | None) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return () if point is None else ((point.pc, point.calls), *_chain(point.parent))


def _common(one: ReconvergencePoint | None, other: ReconvergencePoint | None) -> ReconvergencePoint | None:
    seen: set[int] = set()
    while one is not None:
        seen.add(id(one))
        one = one.parent
    while other is not None and id(other) not in seen:
        other = other.parent
    return other


def describe_lanes(mask: Mask) -> str:
    """Return a phrase such as "lane 3" or "lanes 0 to 7, 9" for the lanes of a mask."""
    lanes = np.flatnonzero(mask)
    runs = np.split(lanes, np.flatnonzero(np.diff(lanes) > 1) + 1)
    named = ", ".join(f"{run[0]}" if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
    return f"lane{'' if mask.sum() == 1 else 's'} {named}"
