"""Queues of asynchronous operations that have been issued and not yet executed.

A channel is a kind of operation with its own queue, commit groups and waits: "copy" (thread copies), "remote"
(stores and reductions in the shared memory of other CTAs), "multiplication" (wgmma), "tensor load" and "tensor store"
(transfers between registers and tensor memory), and "bulk" (bulk copies). `TensorPipeline` has the queues of the other
operations on tensor memory.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from warploom.emulator.batch import Batch
from warploom.emulator.bulk_copies import CopyExecutor
from warploom.emulator.events import Commit, Complete, CopyIssue, Group, Issue, Wait
from warploom.emulator.faults import Fault
from warploom.emulator.observers import Dispatcher
from warploom.emulator.schedule import Schedule
from warploom.emulator.state import State
from warploom.emulator.tensor_memory.pipeline import TensorPipeline
from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass

Action = Callable[[Any, Mapping[str, Array]], None]
BatchFactory = Callable[[Array, Array | None], Batch]

PATIENCE = 256  # epochs after which a lazy operation takes effect without a wait, because a warp may poll its result
_CHANCE = 0.3  # probability, under a random schedule, that a queue advances between two blocks
CHANNELS = ("copy", "remote", "multiplication", "tensor load", "tensor store")
_GROUPS: dict[str, Group] = {
    "copy": "copy", "remote": "", "multiplication": "multiplication", "bulk": "bulk", "tensor load": "tensor load",
    "tensor store": "tensor store",
}  # fmt: skip
UNAWAITED = ("copy", "remote")  # channels whose actions may take effect before their issuer waits for them
_LAST = np.iinfo(np.int64).max


@dataclass(slots=True)
class _Deferred:
    """Queued operation of some warps, except bulk copies: `action`, with the operands `captured` at issue.

    If a stop divides a run of multiplications, `continues` is True for all but the first of its operations, so that the
    schedule treats them as one.
    """

    channel: str
    action: Action
    warps: Array
    mask: Array | None
    group: Array  # number of the commit group of each warp
    captured: Mapping[str, Array]
    epoch: int
    pc: int
    number: int
    continues: bool


@dataclass(slots=True)
class _Copy:
    """Queued bulk copy of one lane."""

    STATE = ()

    request: Any
    position: int  # index of the lane's warp in the arrays of the request
    lane: int
    warp: int
    cta: int
    group: int  # number of the bulk group, or -1 if the copy completes on an mbarrier
    epoch: int
    pc: int
    number: int
    data: Array | None = None  # source bytes, if already read


class AsyncOperations:
    """Queues of the asynchronous operations of all resident warps.

    `make_batch(warps, mask)` returns the batch with which an operation is executed.
    """

    STATE = ("committed", "bulk_groups", "queues", "copies", "deferred", "issued", "_completed")

    def __init__(
        self, state: State, copies: CopyExecutor, tensor: TensorPipeline, schedule: Schedule,
        make_batch: BatchFactory, events: Dispatcher,
    ) -> None:  # fmt: skip
        self.state = state
        self.splits = state.splits
        self.executor = copies
        self.tensor = tensor
        self.kind = schedule.kind
        self.make_batch = make_batch
        self._on_issue = events.handler(Issue)
        self._on_copy_issue = events.handler(CopyIssue)
        self._on_commit = events.handler(Commit)
        self._on_wait = events.handler(Wait)
        self._on_complete = events.handler(Complete)
        warps = state.topology.warps
        # Numbers of committed groups, by warp here and by lane in `bulk_groups`.
        self.committed = {channel: np.zeros(warps, np.int64) for channel in CHANNELS}
        self.bulk_groups = np.zeros((warps, 32), np.int64)
        self.start()

    def start(self) -> None:
        """Forget all operations and groups before a new wave."""
        for groups in self.committed.values():
            groups.fill(0)
        self.bulk_groups.fill(0)
        self.queues: dict[str, list[_Deferred]] = {channel: [] for channel in CHANNELS}
        self.copies: list[_Copy] = []
        self.deferred = 0  # number of operations so far, except bulk copies
        self.issued = 0  # number of bulk copies so far
        self._completed = 0  # number of operations in these queues that have taken effect

    @property
    def completed(self) -> int:
        """Number of operations that have taken effect."""
        return self._completed + self.tensor.completed

    @property
    def is_idle(self) -> bool:
        """True if no operation is queued."""
        return not self.copies and not any(self.queues.values()) and self.tensor.is_idle

    # Deferred actions -------------------------------------------------------------------------------------

    def defer(self, batch: Batch, channel: str, action: Action, captured: Mapping[str, Array]) -> None:
        """Queue an operation of the active lanes. Under the eager schedule, execute the operation at once.

        `action(batch, captured)` executes the operation. `captured` has the operands that are read at the issue, as
        arrays of the shape (warps, …).
        """
        number, group = self.report_issue(batch, channel)
        pc, warps = self.state.pc, batch.warp_index
        if self.kind == "eager":
            action(self.make_batch(warps, batch.mask), captured)
            return
        mask = None if batch.mask is None else batch.mask.copy()
        held = {name: array.copy() for name, array in captured.items()}
        epoch = int(self.splits.epoch[batch.rows].max())
        continues = self.state.continues_run
        item = _Deferred(channel, action, warps.copy(), mask, group, held, epoch, pc, number, continues)
        self.queues[channel].append(item)

    def report_issue(self, batch: Batch, channel: str) -> tuple[int, Array]:
        """Create the events of the issue of an operation and, under the eager schedule, of its completion.

        Return the number of the operation, and the number of its commit group for each warp.
        """
        number, pc, group = self.deferred, self.state.pc, self.committed[channel][batch.warp_index]
        self.deferred += 1
        if self._on_issue is not None:
            self._on_issue(Issue(pc, batch, _GROUPS[channel], number, group, self.state.run_length))
        if self.kind == "eager" and self._on_complete is not None:
            self._on_complete(Complete(pc, _GROUPS[channel], np.array([number]), batch.warp_index))
        return number, group

    def commit(self, batch: Batch, channel: str) -> None:
        """Commit the operations that the active lanes have issued on a channel, as one group."""
        if self._on_commit is not None:
            self._on_commit(Commit(self.state.pc, batch, _GROUPS[channel]))
        if channel == "bulk":
            self.bulk_groups[batch.warp_index] += batch.active()
        else:
            self.committed[channel][batch.warp_index] += 1

    def wait(self, batch: Batch, channel: str, pending: int, read_only: bool) -> None:
        """Complete the committed groups of the active lanes, except the `pending` newest groups.

        If `read_only` is set, only the sources of bulk copies are read now.
        """
        if self._on_wait is not None:
            groups = self.bulk_groups if channel == "bulk" else self.committed[channel]
            self._on_wait(Wait(self.state.pc, batch, _GROUPS[channel], pending, read_only, groups[batch.warp_index]))
        if channel == "bulk":
            limits = np.zeros(self.bulk_groups.shape, np.int64)
            limits[batch.warp_index] = np.where(batch.active(), self.bulk_groups[batch.warp_index] - pending, 0)
            due = [c for c in self.copies if 0 <= c.group < limits[c.warp, c.lane]]
            if read_only:
                due = [c for c in due if not self._read(c)]
            self._execute_copies(due)
            return
        if self.queues[channel]:
            limit = self._limit(-_LAST)
            limit[batch.warp_index] = self.committed[channel][batch.warp_index] - pending
            self._execute(channel, limit)

    @property
    def has_loads(self) -> bool:
        """True if a load of tensor memory is queued."""
        return bool(self.queues["tensor load"])

    def complete_loads(self, batch: Batch) -> None:
        """Complete the loads of tensor memory by the warps of a batch.

        An instruction that uses the loaded registers does not execute before the load. Compilers rely on this
        (triton-lang/triton#11464).
        """
        if self.has_loads:
            limit = self._limit(-_LAST)
            limit[batch.warp_index] = _LAST
            self._execute("tensor load", limit)

    def _limit(self, value: int) -> Array:
        return np.full(self.state.topology.warps, value, np.int64)

    def _execute(self, channel: str, limit: Array, most: int | None = None) -> None:
        """Execute the operations of each warp w whose commit group is less than `limit[w]`.

        Only the first `most` operations of the queue are considered. None stands for all.
        """
        kept: list[_Deferred] = []
        queue, self.queues[channel] = self.queues[channel], []
        position = 0
        for item in queue:
            position += not item.continues
            if most is not None and position > most:
                kept.append(item)
                continue
            due = item.group < limit[item.warps]
            if due.any():
                self._act(item, due)
            if not due.all():
                kept.append(self._part(item, ~due))
        self.queues[channel] = kept + self.queues[channel]

    def _act(self, item: _Deferred, due: Array) -> None:
        self._completed += 1
        part = item if due.all() else self._part(item, due)
        if self._on_complete is not None:
            self._on_complete(Complete(self.state.pc, _GROUPS[part.channel], np.array([part.number]), part.warps))
        try:
            part.action(self.make_batch(part.warps, part.mask), part.captured)
        except Fault as fault:
            warp = int(part.warps[max(fault.lane, 0) // 32])
            self.state.origin = (part.pc, warp, fault.lane % 32 if fault.lane >= 0 else -1)
            raise

    @staticmethod
    def _part(item: _Deferred, which: Array) -> _Deferred:
        return replace(
            item,
            warps=item.warps[which],
            mask=None if item.mask is None else item.mask[which],
            group=item.group[which],
            captured={name: array if len(array) == 1 else array[which] for name, array in item.captured.items()},
        )

    # Bulk copies ------------------------------------------------------------------------------------------

    def bulk(self, batch: Batch, request: Any) -> None:
        """Queue a bulk copy for each active lane. Under the eager schedule, execute the copies at once.

        `request` is a BulkCopy or a TensorCopy.
        """
        self.executor.check(batch, request)
        positions, lanes = np.nonzero(batch.active())
        warps = batch.warp_index[positions]
        left = np.arange(len(warps))
        first, pc = self.issued, self.state.pc
        self.issued += len(warps)
        if self._on_copy_issue is not None:
            maps = self.executor.tensor_maps(request, positions, lanes)
            groups = self._bulk_groups(request, warps, lanes)
            self._on_copy_issue(CopyIssue(pc, batch, request, positions, lanes, warps, groups, first, maps, self))
        if self.kind == "eager":
            if self._on_complete is not None:
                self._on_complete(Complete(pc, "bulk", first + left, None))
            (left,) = np.logical_not(self.executor.execute_together(request, positions, lanes, warps)).nonzero()
            if not len(left):
                return
        ctas = self.state.topology.cta_of[warps]
        groups = self._bulk_groups(request, warps, lanes)
        epochs = self.splits.epoch[batch.rows[positions]]
        for k in left.tolist():
            where = (int(positions[k]), int(lanes[k]), int(warps[k]), int(ctas[k]))
            self.copies.append(_Copy(request, *where, int(groups[k]), int(epochs[k]), pc, first + k))
        if self.kind == "eager":
            self._execute_copies(list(self.copies))

    def _bulk_groups(self, request: Any, warps: Array, lanes: Array) -> Array:
        """Return the number of the open bulk group for each copy, or -1 for copies that an mbarrier completes."""
        return self.bulk_groups[warps, lanes] if request.completion == "group" else np.full(len(warps), -1)

    def _execute_copies(self, copies: list[_Copy]) -> None:
        for copy in copies:
            self.copies.remove(copy)
            self._completed += 1
            if self._on_complete is not None and self.kind != "eager":
                self._on_complete(Complete(self.state.pc, "bulk", np.array([copy.number]), None))
            self.state.origin = (copy.pc, copy.warp, copy.lane)
            self.executor.execute(copy.request, copy.position, copy.lane, copy.cta, copy.data)
        self.state.origin = None

    def _read(self, copy: _Copy) -> bool:
        if copy.data is None:
            self.state.origin = (copy.pc, copy.warp, copy.lane)
            copy.data = self.executor.read_source(copy.request, copy.position, copy.lane, copy.cta)
            self.state.origin = None
        return copy.data is not None  # None for a tensor copy, which must be read and written at once

    def preview(self, request: Any, position: int, lane: int, cta: int, start: int, size: int) -> bytes | None:
        """Return the bytes that a copy would write now. See `CopyExecutor.preview`."""
        return self.executor.preview(request, position, lane, cta, start, size)

    def pending_stores(self, warp: int, pc: int, start: int, size: int) -> list[bytes]:
        """Return the bytes that each queued copy would write to [start, start + size) of `Arena.bytes`.

        Only those copies of `warp` from the instruction at `pc` are included for which `preview` returns bytes.
        """
        found = [
            self.executor.preview(copy.request, copy.position, copy.lane, copy.cta, start, size)
            for copy in self.copies
            if copy.warp == warp and copy.pc == pc
        ]
        return [each for each in found if each is not None]

    # Schedule ---------------------------------------------------------------------------------------------

    def between_blocks(self) -> None:
        """Execute the operations that the schedule permits between two basic blocks."""
        random = self.state.random
        if not self.tensor.is_idle:
            self.tensor.between_blocks(int(self.splits.epoch.max(initial=0)) - PATIENCE)
        if self.kind == "lazy" and (self.copies or any(self.queues[channel] for channel in UNAWAITED)):
            latest = int(self.splits.epoch.max(initial=0)) - PATIENCE
            self._execute_copies([c for c in self.copies if c.epoch < latest])
            for channel in UNAWAITED:
                queue = self.queues[channel]
                old = next((k for k, item in enumerate(queue) if item.epoch >= latest), None)
                if queue and old != 0:
                    self._execute(channel, self._limit(_LAST), old)
        elif self.kind == "random":
            for copy in list(self.copies):
                if random.random() < _CHANCE:
                    self._execute_copies([copy])
            for channel, queue in self.queues.items():
                if queue and random.random() < _CHANCE:
                    if channel == "remote":
                        random.shuffle(queue)  # remote actions have no order
                    self._execute(channel, self._limit(_LAST), random.randint(1, _count(queue)))

    def unblock(self) -> bool:
        """Execute one queued operation, so that a waiting warp may continue.

        Only operations count whose completion a warp may observe without a wait instruction for their channel. Return
        False if none is queued.
        """
        if self.copies:
            position = self.state.random.randrange(len(self.copies)) if self.kind == "random" else 0
            self._execute_copies([self.copies[position]])
            return True
        for channel in UNAWAITED:
            if self.queues[channel]:
                self._execute(channel, self._limit(_LAST), 1)
                return True
        return self.tensor.unblock()

    def on_exit(self, warps: Array) -> None:
        """Execute the queued operations of warps that have left the kernel."""
        groups = self.state.topology.warpgroup_of
        for channel, queue in self.queues.items():
            if queue:
                limit = self._limit(-_LAST)
                # A multiplication belongs to its whole warpgroup.
                limit[np.isin(groups, groups[warps]) if channel == "multiplication" else warps] = _LAST
                self._execute(channel, limit)
        exited = set(warps.tolist())
        self._execute_copies([c for c in self.copies if c.warp in exited])
        self.tensor.on_exit(warps)


def _count(queue: list[_Deferred]) -> int:
    """Return the number of operations in a queue without stops."""
    return sum(not item.continues for item in queue)
