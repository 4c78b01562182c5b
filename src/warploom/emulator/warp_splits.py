"""Warp splits: sets of lanes of one warp that execute together, each with its own program counter.

A converged warp is one warp split. A divergent branch splits it in two. They reconverge at the immediate post-dominator
of the branch.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

PATIENCE = 1024  # epochs for which lanes wait at a reconvergence point while lanes of their warp spin
LEAST_PATIENCE = 16
ALL_LANES = 0xFFFF_FFFF
NONE = -1
"""Value for no reconvergence point, and for the warp of a free element of `WarpSplits.points`."""


class Status:
    """Status of a warp split, as a plain integer."""

    # Plain integers, because arrays are often compared with them.
    DONE = 0  # the slot is free: its lanes have exited, or they belong to other slots
    READY = 1
    WAITING = 2  # suspended at a barrier, an mbarrier, or for registers
    RECONVERGING = 3  # waiting for lanes of its warp, or warps of its warpgroup, at the same instruction


class Event:
    """Kind of the event for which a suspended warp split waits, as a plain integer."""

    MBARRIER = 0  # the warp split repeats its wait after a phase of an mbarrier
    BARRIER = 1  # the warp split continues after the barrier of a CTA
    CLUSTER = 2  # the warp split continues after the barrier of a cluster
    GRID = 3  # the warp split repeats its wait after the prerequisite grids have ended; the index is 0


KINDS = 4  # an event has the number `index * KINDS + kind`
SEVERAL = -2  # event of a warp split that waits for several mbarriers
POINT = np.dtype([(name, np.int64) for name in ("warp", "pc", "calls", "parent", "expected", "arrived", "epoch")])
"""Reconvergence point: an instruction at which diverged lanes of a warp wait for each other.

- `warp`: index of the warp, or `NONE` for a free element
- `calls`: call stack of the lanes (see `WarpSplits.calls`)
- `parent`: index of the point of the enclosing divergence, or `NONE`
- `expected`, `arrived`: lanes that will arrive, and those of them that already wait, as bits
- `epoch`: largest epoch of the lanes that wait
"""


class WarpSplits:
    """State of the warp splits of all resident warps, in arrays with one element per warp split.

    The index of a warp split is its slot. Slot w is the first slot of warp w, and further warp splits use extra slots.
    `epoch` counts the backward jumps of a warp split. Warp splits execute in the order of (epoch, pc). `bits` contains
    the lanes of a warp split; lane 0 is the lowest bit. `point` is the index of its innermost reconvergence point in
    `points`. `calls` is the index of its call stack (see `call_stack`). `awaited` is the number of the event for which
    it waits (see `KINDS`), or `NONE`, or `SEVERAL`. `live_bits` contains the lanes of each warp that have not left the
    kernel.

    Shapes: live_bits (warps,), other arrays (slots,).
    """

    STATE = (
        "warp", "pc", "epoch", "bits", "status", "point", "calls", "awaited", "points", "live_bits", "extra_slots",
        "open_points", "_stacks", "_stack_numbers", "_patience",
    )  # fmt: skip

    def __init__(self, warps: int) -> None:
        self.warps = warps
        self.warp = np.arange(warps, dtype=np.intp)  # divergence adds elements after those of the warps
        self.pc = np.zeros(warps, np.int64)
        # Selection by epoch keeps a spinning warp split from starving the others.
        self.epoch = np.zeros(warps, np.int64)
        self.bits = np.zeros(warps, np.uint32)
        self.status = np.zeros(warps, np.uint8)
        self.point = np.zeros(warps, np.int64)
        self.calls = np.zeros(warps, np.int64)
        self.awaited = np.zeros(warps, np.int64)
        self.points = np.zeros(0, POINT)
        self.live_bits = np.zeros(warps, np.uint32)
        self.start(self.bits, 0)

    def start(self, bits: NDArray[np.uint32], entry: int) -> None:
        """Make the lanes `bits` of each warp one warp split at the program counter `entry`.

        All earlier warp splits end. The arrays stay the same objects. Shapes: bits (warps,).
        """
        warps = self.warps
        self.live_bits[:] = bits
        self.bits.fill(0)
        self.bits[:warps] = bits
        self.status.fill(Status.DONE)
        np.minimum(bits, Status.READY, out=self.status[:warps], casting="unsafe")
        self.pc.fill(entry)
        self.epoch.fill(0)
        self.calls.fill(0)
        self.point.fill(NONE)
        self.awaited.fill(NONE)
        if len(self.points):
            self.points["warp"] = NONE
        # Numbers of slots beyond those of the warps, and of reconvergence points, that are in use.
        self.extra_slots = 0
        self.open_points = 0
        self._stacks: list[tuple[int, ...]] = [()]
        self._stack_numbers: dict[tuple[int, ...], int] = {(): 0}
        self._patience: dict[int, int] = {}

    @property
    def diverged(self) -> bool:
        """True if a warp may have more than one warp split."""
        return self.extra_slots + self.open_points > 0

    @property
    def mask(self) -> Mask:
        """Lanes of all warp splits. Shapes: (slots, 32)."""
        return unpack(self.bits)

    @property
    def live(self) -> Mask:
        """Lanes that have not left the kernel. Shapes: (warps, 32)."""
        return unpack(self.live_bits)

    def call_stack(self, slot: int) -> tuple[int, ...]:
        """Return the program counters of the open calls of a warp split, the outermost call first."""
        return self.stack(int(self.calls[slot]))

    def stack(self, number: int) -> tuple[int, ...]:
        """Return the program counters of the open calls in a call stack with an index (see `calls`)."""
        return self._stacks[number]

    def _calls(self, stack: tuple[int, ...]) -> int:
        """Return the index of a call stack."""
        number = self._stack_numbers.setdefault(stack, len(self._stacks))
        if number == len(self._stacks):
            self._stacks.append(stack)
        return number

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

    def waiting_for(self, kind: int, indices: NDArray[np.int64]) -> Rows:
        """Return the slots of the warp splits that wait for one of the given events.

        `kind` is a value of `Event`. The indices select mbarriers, CTA barriers or clusters.
        """
        slots = np.flatnonzero(self.awaited >= 0)
        return slots[(self.awaited[slots] == (indices * KINDS + kind)[:, None]).any(axis=0)]

    def resume(self, rows: Rows) -> None:
        """Let the suspended warp splits with the indices `rows` continue."""
        self.awaited[rows] = NONE
        self.status[rows] = Status.READY

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
        columns = [array[slots].tolist() for array in (self.warp, self.pc, self.status, self.bits, self.calls)]
        chains = [tuple(self._chain(point)) for point in self.point[slots].tolist()]
        points = self.points[self.points["warp"] != NONE]
        opened = points[["warp", "pc", "calls", "expected", "arrived"]].tolist()
        return frozenset(zip(*columns, chains, strict=True)), frozenset(opened), dict(self._patience)

    # Divergence -----------------------------------------------------------------------------------------

    def goto(self, rows: Rows, pc: int | NDArray[np.int64]) -> None:
        """Set the program counters of the warp splits with the indices `rows` to `pc`."""
        self.epoch[rows] += self.pc[rows] >= pc
        self.pc[rows] = pc
        if self.open_points:
            for row in rows.tolist():
                self._arrive(row)

    def branch(self, rows: Rows, taken: NDArray[np.uint32], target: int, following: int, point_pc: int) -> None:
        """Continue the lanes `taken` of each warp split at `target`, and its other lanes at `following`.

        Diverged lanes reconverge at the program counter `point_pc` (see `split`). Shapes: rows, taken (warp splits,).
        """
        present = self.bits[rows]
        goals = np.where(taken == 0, following, target)
        divided = (taken != 0) & (taken != present) & (target != following)
        if not divided.any():
            self.goto(rows, goals)
            return
        lanes = zip(taken.tolist(), present.tolist(), divided.tolist(), strict=True)
        for position, (here, every, divides) in enumerate(lanes):
            if divides:
                parts = sorted([(target, here), (following, every & ~here)])
                self._split(int(rows[position]), parts, point_pc, int(self.calls[rows[position]]))
            else:
                self.goto(rows[position : position + 1], int(goals[position]))

    def split(self, row: int, targets: NDArray[np.int64], point_pc: int, outer: tuple[int, ...] | None = None) -> None:
        """Divide warp split number `row` so that lane l continues at the program counter `targets[l]`.

        The lanes reconverge at the program counter `point_pc`, or never if `point_pc` is -1. They reconverge with the
        call stack `outer`, or with their present call stack if `outer` is None.
        """
        lanes = unpack(self.bits[row : row + 1])[0]
        parts = [(int(pc), _bits(lanes & (targets == pc))) for pc in np.unique(targets[lanes])]
        self._split(row, parts, point_pc, int(self.calls[row]) if outer is None else self._calls(outer))

    def _split(self, row: int, parts: list[tuple[int, int]], point_pc: int, outer: int) -> None:
        """Divide a warp split. `parts` contains program counters and the lanes that continue there, as bits."""
        calls, warp, origin, epoch = (int(each[row]) for each in (self.calls, self.warp, self.pc, self.epoch))
        point = self._point(row, point_pc, outer)
        self._free(row)
        for pc, lanes in parts:
            self._add(warp, lanes, pc, epoch + (origin >= pc), point, calls)

    def call(self, row: int, lanes: Mask, entry: int, site: int, rest: int) -> None:
        """Call a function with some lanes of warp split number `row`. Its other lanes continue at `rest`.

        `entry` is the first program counter of the function, and `site` that of the call instruction.
        """
        bits, stack = _bits(lanes), (*self.call_stack(row), site)
        calls, warp, epoch = int(self.calls[row]), int(self.warp[row]), int(self.epoch[row])
        others = int(self.bits[row]) & ~bits
        if not others:
            self.calls[row] = self._calls(stack)
            self.goto(np.array([row], np.intp), entry)
            return
        point = self._point(row, site + 1, calls)  # all lanes reconverge after the call
        self._free(row)
        self._add(warp, bits, entry, epoch, point, self._calls(stack))
        self._add(warp, others, rest, epoch, point, calls)

    def leave_call(self, row: int) -> None:
        """Remove the innermost call of a warp split, and continue after the call."""
        *outer, site = self.call_stack(row)
        self.calls[row] = self._calls(tuple(outer))
        self.goto(np.array([row], np.intp), site + 1)

    def exit(self, row: int, lanes: Mask) -> None:
        """Remove lanes that leave the kernel from warp split number `row`."""
        bits, point = _bits(lanes), int(self.point[row])
        self.live_bits[self.warp[row]] &= ALL_LANES & ~bits
        self.bits[row] &= ALL_LANES & ~bits
        if not self.bits[row]:
            self._free(row)
        self._withdraw(point, NONE, bits)

    # Reconvergence --------------------------------------------------------------------------------------

    def _waiting(self) -> Rows:
        """Return the indices of the reconvergence points at which lanes wait."""
        return np.flatnonzero((self.points["warp"] != NONE) & (self.points["arrived"] != 0))

    def has_arrivals(self) -> bool:
        """Return True if lanes wait at any reconvergence point."""
        return self.open_points > 0 and len(self._waiting()) > 0

    def release_stuck(self, excluded: set[int]) -> bool:
        """Let the lanes at one reconvergence point continue, because all other lanes wait or loop endlessly.

        Do not release lanes of the warps in `excluded`, unless other lanes of the same warp loop. Return False if no
        lanes continue.
        """
        spinning = {*self.warp[self.ready()].tolist()}
        for point in self._waiting().tolist():
            warp = int(self.points["warp"][point])
            if warp in spinning or warp not in excluded:
                if warp in spinning:
                    self._shorten_wait(point)
                self._release(point)
                return True
        return False

    def release_overdue(self) -> None:
        """Release lanes from a reconvergence point if other lanes of their warp have long been looping."""
        # The looping lanes may wait for a lock of the waiting lanes. Since Volta, all lanes make progress.
        for point in self._waiting().tolist():
            warp, pc, *_, arrived, epoch = self.points[point].tolist()
            siblings = (self.warp == warp) & (self.status != Status.DONE)
            ahead = int(self.epoch[siblings].max(initial=0)) - epoch
            if ahead >= self._patience.get(pc, PATIENCE) and arrived:
                self._shorten_wait(point)
                self._release(point)

    def _shorten_wait(self, point: int) -> None:
        """Halve the time (see `PATIENCE`) of later waits at the program counter of `point`."""
        pc = int(self.points["pc"][point])
        self._patience[pc] = max(self._patience.get(pc, PATIENCE) // 2, LEAST_PATIENCE)

    def _release(self, point: int) -> None:
        warp, pc, calls, parent, expected, arrived, epoch = self.points[point].tolist()
        self.points["arrived"][point] = 0
        self.points["expected"][point] = expected & ~arrived
        self._add(warp, arrived, pc, epoch, parent, calls)

    def merge_reconverging(self, row: int, candidates: Rows) -> bool:
        """Merge warp split number `row` with those of `candidates` that wait at the same instruction.

        The candidates belong to the same warp. Return False if none of them waits there.
        """
        same = candidates[(self.pc[candidates] == self.pc[row]) & (self.status[candidates] == Status.RECONVERGING)]
        others = [slot for slot in same.tolist() if slot != row]
        for other in others:
            one, two = int(self.point[row]), int(self.point[other])
            common = set(self._ancestors(one))
            point = next((each for each in self._ancestors(two) if each in common), NONE)
            self._withdraw(one, point, int(self.bits[row]))
            self._withdraw(two, point, int(self.bits[other]))
            self.bits[row] |= self.bits[other]
            self.point[row] = point
            self.epoch[row] = max(self.epoch[row], self.epoch[other])
            self._free(other)
        return bool(others)

    def _arrive(self, row: int) -> None:
        """Let a warp split wait for the other lanes if it is at its reconvergence point."""
        names = self.warp, self.bits, self.pc, self.epoch, self.point, self.calls
        warp, lanes, pc, epoch, point, calls = (int(each[row]) for each in names)
        if self._is_at(point, pc, calls):
            self._free(row)
            self._add(warp, lanes, pc, epoch, point, calls)

    def _is_at(self, point: int, pc: int, calls: int) -> bool:
        return point != NONE and self.points["pc"][point] == pc and self.points["calls"][point] == calls

    def _complete(self, point: int) -> None:
        """Let the lanes at a reconvergence point continue if all expected lanes are there."""
        warp, pc, calls, parent, expected, arrived, epoch = self.points[point].tolist()
        if arrived != expected:
            return
        self.points["warp"][point] = NONE
        self.open_points -= 1
        if arrived:
            self._add(warp, arrived, pc, epoch, parent, calls)

    def _withdraw(self, point: int, until: int, lanes: int) -> None:
        """Remove `lanes` from the expected lanes of `point` and its enclosing points inside `until`."""
        while point not in (NONE, until):
            parent = int(self.points["parent"][point])
            self.points["expected"][point] &= ~lanes
            self._complete(point)
            point = parent

    def _ancestors(self, point: int) -> Iterator[int]:
        """Yield a reconvergence point and its enclosing points, from the inside to the outside."""
        while point != NONE:
            yield point
            point = int(self.points["parent"][point])

    def _chain(self, point: int) -> Iterator[tuple[int, int]]:
        return ((int(self.points["pc"][each]), int(self.points["calls"][each])) for each in self._ancestors(point))

    # Slots ----------------------------------------------------------------------------------------------

    def _point(self, row: int, pc: int, calls: int) -> int:
        """Return the reconvergence point of the lanes of a warp split that diverges."""
        parent = int(self.point[row])
        if pc < 0 or self._is_at(parent, pc, calls):
            return parent
        if self.open_points == len(self.points):
            self.reserve(1)
        point = int(np.argmax(self.points["warp"] == NONE))
        self.points[point] = int(self.warp[row]), pc, calls, parent, int(self.bits[row]), 0, 0
        self.open_points += 1
        return point

    def _add(self, warp: int, lanes: int, pc: int, epoch: int, point: int, calls: int) -> None:
        """Add a warp split, or let its lanes wait if they are at their reconvergence point."""
        if self._is_at(point, pc, calls):
            self.points["arrived"][point] |= lanes
            self.points["epoch"][point] = max(self.points["epoch"][point], epoch)
            self._complete(point)
            return
        slot = warp if self.status[warp] == Status.DONE else self._extra_slot()
        self.extra_slots += slot >= self.warps
        self.warp[slot] = warp
        self.pc[slot] = pc
        self.epoch[slot] = epoch
        self.status[slot] = Status.READY
        self.calls[slot] = calls
        self.bits[slot] = lanes
        self.point[slot] = point

    def _extra_slot(self) -> int:
        if self.extra_slots == len(self.status) - self.warps:
            self.reserve(1)
        return self.warps + int(np.argmax(self.status[self.warps :] == Status.DONE))

    def _free(self, slot: int) -> None:
        self.status[slot] = Status.DONE
        self.epoch[slot] = self.calls[slot] = self.bits[slot] = 0
        self.point[slot] = NONE
        self.extra_slots -= slot >= self.warps

    def reserve(self, splits: int) -> None:
        """Make space for `splits` divergent branches."""
        slots = len(self.status) - self.warps
        if self.extra_slots + splits > slots:
            grown = max(splits, self.warps, 16)
            for name in ("warp", "pc", "epoch", "status", "bits", "point", "calls", "awaited"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.zeros(grown, array.dtype)]))
            self.point[-grown:] = self.awaited[-grown:] = NONE
        if self.open_points + splits > len(self.points):
            new = np.zeros(max(splits, self.warps, 16), POINT)
            new["warp"] = NONE
            self.points = np.concatenate([self.points, new])


def pack(masks: Mask) -> NDArray[np.uint32]:
    """Return the lanes of masks as bits. Shapes: masks (..., 32)."""
    return np.packbits(masks, axis=-1, bitorder="little").view(np.uint32)[..., 0]


def unpack(bits: NDArray[np.uint32]) -> Mask:
    """Return the masks of lanes that are given as bits. Shapes: bits (count,), result (count, 32)."""
    return np.unpackbits(bits.view(np.uint8).reshape(-1, 4), axis=1, bitorder="little").view(np.bool_)


def _bits(mask: Mask) -> int:
    return int(pack(mask))


def describe_lanes(mask: Mask) -> str:
    """Return a phrase such as "lane 3" or "lanes 0 to 7, 9" for the lanes of a mask."""
    lanes = np.flatnonzero(mask)
    runs = np.split(lanes, np.flatnonzero(np.diff(lanes) > 1) + 1)
    named = ", ".join(f"{run[0]}" if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
    return f"lane{'' if mask.sum() == 1 else 's'} {named}"
