"""The asynchronous engines: queues whose order of effect is the schedule's choice.

`eager` lets every operation take effect when it is issued. `lazy` waits until a wait covers it, or nothing
else can run, or its issuer has gone far ahead. `random:SEED` picks moments, and among bulk copies any order.
A correct kernel gives the same bits under every schedule.
"""

# A caller may hand over anything, whatever the annotation says.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.copies import Copier
from warploom.emulator.faults import Fault

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Machine

Array = NDArray[Any]
Action = Callable[[Any, Mapping[str, Array]], None]

PATIENCE = (
    256  # epochs after which a lazy copy takes effect although its issuer never waits: it may be polled
)
_CHANCE = 0.3
CHANNELS = ("copy", "remote", "wgmma")  # of deferred actions
UNAWAITED = (
    "copy",
    "remote",
)  # those whose actions may take effect although no wait of their issuer is coming


@dataclass(frozen=True, slots=True)
class Schedule:
    """When asynchronous operations take effect: kind "eager", "lazy" or "random" with a seed."""

    kind: str
    seed: int = 0

    @staticmethod
    def parse(text: str) -> Schedule:
        """Read `eager`, `lazy` or `random:SEED`. Errors: UsageError."""
        if text in ("eager", "lazy"):
            return Schedule(text)
        kind, _, seed = text.partition(":") if isinstance(text, str) else ("", "", "")
        if kind == "random" and seed.isdecimal():
            return Schedule("random", int(seed))
        raise UsageError(
            f"there is no schedule {text!r}; expected 'eager', 'lazy' or 'random:SEED'",
            code="launch.schedule",
        )


@dataclass(slots=True)
class _Deferred:
    """A queued action of some warps. `group` is the group each warp issued it in."""

    channel: str
    action: Action
    warps: Array
    mask: Array | None
    group: Array
    captured: Mapping[str, Array]
    epoch: int
    pc: int
    number: int


@dataclass(slots=True)
class _Copy:
    """A queued bulk copy of one lane."""

    request: Any
    position: int  # of the warp in the request's arrays
    lane: int
    warp: int
    cta: int
    group: int  # the lane's bulk group, -1 when it completes on an mbarrier
    epoch: int
    pc: int
    number: int
    data: Array | None = None  # what it has read, when that has been waited for and the rest has not


class Engines:
    """Queues of deferred actions and bulk copies."""

    def __init__(self, machine: Machine, schedule: Schedule) -> None:
        self.machine = machine
        self.kind = schedule.kind
        self.random = random.Random(schedule.seed)
        self.copier = Copier(machine)
        self.committed = {channel: np.zeros(machine.warps, np.int64) for channel in CHANNELS}
        self.queues: dict[str, list[_Deferred]] = {channel: [] for channel in CHANNELS}
        self.copies: list[_Copy] = []
        self.bulk_groups = np.zeros((machine.warps, 32), np.int64)
        self.deferred = 0  # actions so far, which gives each its number
        self.issued = 0  # bulk copies so far

    # Deferred actions -------------------------------------------------------------------------------------

    def defer(self, batch: Batch, channel: str, action: Action, captured: Mapping[str, Array]) -> None:
        """Queue an action, or do it now."""
        number, watch = self.deferred, self.machine.watch
        self.deferred += 1
        if watch is not None:
            watch.deferred(batch, channel, number)
        if self.kind == "eager":
            if watch is not None:
                watch.acting(number, batch.warp_index)
            action(batch, captured)
            return
        mask = None if batch.mask is None else batch.mask.copy()
        held = {name: array.copy() for name, array in captured.items()}
        group = self.committed[channel][batch.warp_index]
        epoch = int(self.machine.strands.epoch[batch.rows].max())
        warps, pc = batch.warp_index.copy(), self.machine.pc
        self.queues[channel].append(_Deferred(channel, action, warps, mask, group, held, epoch, pc, number))

    def commit(self, batch: Batch, channel: str) -> None:
        """Close the open group."""
        if channel == "bulk":
            self.bulk_groups[batch.warp_index] += batch.active()
        else:
            self.committed[channel][batch.warp_index] += 1

    def wait(self, batch: Batch, channel: str, pending: int, read_only: bool) -> None:
        """Complete all but the `pending` newest groups, or, `read_only`, let their sources be read."""
        if self.machine.watch is not None:
            self.machine.watch.group_wait(batch, channel, pending, read_only)
        if channel == "bulk":
            limits = np.zeros(self.bulk_groups.shape, np.int64)
            limits[batch.warp_index] = np.where(
                batch.active(), self.bulk_groups[batch.warp_index] - pending, 0
            )
            due = [c for c in self.copies if 0 <= c.group < limits[c.warp, c.lane]]
            if read_only:
                due = [c for c in due if not self._read(c)]
            self._carry_out(due)
            return
        if self.queues[channel]:
            limit = np.full(self.machine.warps, np.iinfo(np.int64).min)
            limit[batch.warp_index] = self.committed[channel][batch.warp_index] - pending
            self._run(channel, limit)

    def _run(self, channel: str, limit: Array, most: int | None = None) -> None:
        """Do queued actions, in order, of the warps whose group is below `limit[warp]`."""
        kept: list[_Deferred] = []
        queue, self.queues[channel] = self.queues[channel], []
        for place, item in enumerate(queue):
            if most is not None and place >= most:
                kept.append(item)
                continue
            due = item.group < limit[item.warps]
            if due.any():
                self._act(item, due)
            if not due.all():
                kept.append(self._cut(item, ~due))
        self.queues[channel] = kept + self.queues[channel]

    def _act(self, item: _Deferred, due: Array) -> None:
        part = item if due.all() else self._cut(item, due)
        if self.machine.watch is not None:
            self.machine.watch.acting(part.number, part.warps)
        try:
            part.action(self.machine.batch_of(part.warps, part.mask), part.captured)
        except Fault as fault:
            warp = int(part.warps[max(fault.lane, 0) // 32])
            self.machine.at(part.pc, warp, fault.lane % 32 if fault.lane >= 0 else -1)
            raise

    @staticmethod
    def _cut(item: _Deferred, which: Array) -> _Deferred:
        return replace(
            item,
            warps=item.warps[which],
            mask=None if item.mask is None else item.mask[which],
            group=item.group[which],
            captured={
                name: array if len(array) == 1 else array[which] for name, array in item.captured.items()
            },
        )

    # Bulk copies ------------------------------------------------------------------------------------------

    def bulk(self, batch: Batch, request: Any) -> None:
        """Queue one copy for each active lane, or carry it out now."""
        self.copier.check(batch, request)
        if self.machine.watch is not None:
            self.machine.watch.bulk(batch, request)
        positions, lanes = np.nonzero(batch.active())
        warps = batch.warp_index[positions]
        ctas = self.machine.cta_of[warps]
        groups = self.bulk_groups[warps, lanes] if request.completion == "group" else np.full(len(warps), -1)
        epochs = self.machine.strands.epoch[batch.rows[positions]]
        left = np.arange(len(warps))
        first = self.issued
        self.issued += len(warps)
        if self.kind == "eager":
            if self.machine.watch is not None:
                self.machine.watch.landing(first + left)
            left = np.flatnonzero(~self.copier.together(request, positions, lanes, ctas))
        pc = self.machine.pc
        for k in left.tolist():
            where = (int(positions[k]), int(lanes[k]), int(warps[k]), int(ctas[k]))
            self.copies.append(_Copy(request, *where, int(groups[k]), int(epochs[k]), pc, first + k))
        if self.kind == "eager":
            self._carry_out(list(self.copies))

    def _carry_out(self, copies: list[_Copy]) -> None:
        for copy in copies:
            self.copies.remove(copy)
            if self.machine.watch is not None and self.kind != "eager":
                self.machine.watch.landing(np.array([copy.number]))
            self.machine.at(copy.pc, copy.warp, copy.lane)
            self.copier.carry_out(copy.request, copy.position, copy.lane, copy.cta, copy.data)
        self.machine.at_batch()

    def _read(self, copy: _Copy) -> bool:
        """Read a copy's source and leave its destination for later; False where the two cannot be told apart."""
        if copy.data is None:
            self.machine.at(copy.pc, copy.warp, copy.lane)
            copy.data = self.copier.source_of(copy.request, copy.position, copy.lane, copy.cta)
            self.machine.at_batch()
        return copy.data is not None

    def storing(self, warp: int, pc: int, start: int, size: int) -> list[bytes]:
        """What copies under way, issued by a warp at a place in the program, put at [start, start + size)."""
        found = [
            self.copier.stored(copy.request, copy.position, copy.lane, copy.cta, start, size)
            for copy in self.copies
            if copy.warp == warp and copy.pc == pc
        ]
        return [each for each in found if each is not None]

    # The schedule's moments -------------------------------------------------------------------------------

    def between_blocks(self) -> None:
        """Called between basic blocks: a schedule may let queued operations take effect."""
        if self.kind == "lazy" and (self.copies or any(self.queues[channel] for channel in UNAWAITED)):
            latest = int(self.machine.strands.epoch.max(initial=0)) - PATIENCE
            self._carry_out([c for c in self.copies if c.epoch < latest])
            for channel in UNAWAITED:
                queue = self.queues[channel]
                old = next((k for k, item in enumerate(queue) if item.epoch >= latest), None)
                if queue and old != 0:
                    self._run(channel, self._everything(), old)
        elif self.kind == "random":
            for copy in list(self.copies):
                if self.random.random() < _CHANCE:
                    self._carry_out([copy])
            for channel, queue in self.queues.items():
                if queue and self.random.random() < _CHANCE:
                    if channel == "remote":
                        self.random.shuffle(queue)  # nothing orders them
                    self._run(channel, self._everything(), self.random.randint(1, len(queue)))

    def _everything(self) -> Array:
        return np.full(self.machine.warps, np.iinfo(np.int64).max)

    def unblock(self) -> bool:
        """Nothing can run: let one queued operation take effect. False when there is none."""
        if self.copies:
            place = self.random.randrange(len(self.copies)) if self.kind == "random" else 0
            self._carry_out([self.copies[place]])
            return True
        for channel in UNAWAITED:
            if self.queues[channel]:
                self._run(channel, self._everything(), 1)
                return True
        return False

    def left(self, warps: Array) -> None:
        """Warps left the kernel: what they queued takes effect, of a warpgroup what all of it queued."""
        groups = self.machine.warpgroup_of
        for channel, queue in self.queues.items():
            if queue:
                limit = np.full(self.machine.warps, np.iinfo(np.int64).min)
                gone = np.isin(groups, groups[warps]) if channel == "wgmma" else warps
                limit[gone] = np.iinfo(np.int64).max
                self._run(channel, limit)
        gone = set(warps.tolist())
        self._carry_out([c for c in self.copies if c.warp in gone])
