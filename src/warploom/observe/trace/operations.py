"""Trace events of asynchronous copies and multiplications."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import SHARED_START
from warploom.emulator.events import Complete, CopyIssue, Issue, TensorAllocate, TensorIssue, TensorTransferIssue, Wait
from warploom.emulator.tensor_boxes import lane_values
from warploom.emulator.tensor_memory.operations import values_of
from warploom.isa.model.effects import Access
from warploom.isa.model.records import BulkCopy, TensorCopy
from warploom.isa.model.tensor_memory import TensorCommit, TensorMultiply
from warploom.isa.model.tensor_uses import Use, transfer_uses, uses_of
from warploom.layout import box_bytes
from warploom.observe.trace.data import Kind
from warploom.observe.trace.recording import OPEN, Ids, Recording
from warploom.observe.trace.spans import Spans

Array = NDArray[Any]
Rows = NDArray[np.intp]

_WAITS = {
    "bulk": Kind.WAIT_BULK, "copy": Kind.WAIT_COPIES, "multiplication": Kind.WAIT_MULTIPLICATIONS,
    "tensor load": Kind.WAIT_TENSOR, "tensor store": Kind.WAIT_TENSOR,
}  # fmt: skip
_TRANSFERS = ("tensor load", "tensor store")


class Operations:
    """Trace events of copies and multiplications, from the issue to the last wait.

    `positions` are positions of warp splits in the batch of an event.
    """

    def __init__(self, recording: Recording, spans: Spans) -> None:
        self.recording = recording
        self.topology = recording.launch.topology
        self.shared = recording.present.shared
        self.spans = spans
        self.table = recording.table
        # Event of each bulk copy by its number, and of other operations by number and warp.
        self._copies: dict[int, int] = {}
        self._deferred: dict[int, dict[int, int]] = {}
        self._copy_sizes: dict[int, int] = {}  # bytes that each lane copies, by program counter
        # Open group of thread copies of each warp, and its event.
        self._open_group = np.full(self.topology.warps, -1, np.int64)
        self._open_event = np.zeros(self.topology.warps, np.int64)
        self._uncovered: dict[tuple[str, int], list[tuple[int, int, int]]] = {}  # event, group, lane
        # Events of operations on tensor memory by number, those that no commit of their thread covers, and allocations
        # by CTA and first column.
        self._tensor: dict[int, tuple[int, int, bool]] = {}  # event, warp, True for a commit
        self._uncommitted: dict[tuple[int, int], list[int]] = {}
        self._columns: dict[tuple[int, int], int] = {}
        self._transfer: dict[int, list[Use]] = {}  # uses of tensor memory by the transfer that each warp issues
        self._completing: dict[int, int] = {}
        self._completing_at = -1

    def issue_copies(self, event: CopyIssue) -> tuple[Array, Ids]:
        """Add events for bulk copies. Return each mbarrier (byte offset / 8) and its copy's event."""
        here = np.flatnonzero(self.recording.recorded[event.warps])
        if not len(here):
            return here, here
        positions, lanes, warps = event.positions[here], event.lanes[here], event.warps[here]
        rows = event.batch.rows[positions]
        copy, words, addresses = self._mbarriers(event.request, positions, lanes, warps)
        amount = self._bytes(event)[here]
        ids = self.spans.mark(Kind.COPY, rows, end=OPEN, number=addresses, phase=-1, amount=amount, count=1)
        self._copies.update(zip((event.first + here).tolist(), ids.tolist(), strict=True))
        issuers, count = np.unique(positions, return_counts=True)
        issues = self.spans.mark(Kind.ISSUE, event.batch.rows[issuers], count=count)
        for issue, copied in zip(np.repeat(issues, count).tolist(), ids.tolist(), strict=True):
            self.table.arrow(issue, copied)
        columns = (each.tolist() for each in (warps, ids, event.groups[here], lanes))
        for warp, copied, group, lane in zip(*columns, strict=True):
            if group >= 0:
                self._uncovered.setdefault(("bulk", warp), []).append((copied, group, lane))
        return words, ids[copy]

    def _mbarriers(self, request: Any, positions: Rows, lanes: Rows, warps: Rows) -> tuple[Array, Array, Array]:
        """Return (copy with an mbarrier, byte offset / 8 of this mbarrier, mbarrier address of every copy).

        A multicast copy has several mbarriers. The address of a copy without an mbarrier is -1.
        """
        nothing = np.zeros(0, np.int64)
        if request.mbarrier is None:
            return nothing, nothing, np.full(len(warps), -1)
        topology = self.topology
        addresses = lane_values(request.mbarrier, positions, lanes).astype(np.int64)
        low, rank = addresses & 0xFF_FFFF, addresses >> 24
        copy = np.arange(len(warps))
        if request.multicast is not None:
            masks = lane_values(request.multicast, positions, lanes).astype(np.int64)
            copy, rank = np.nonzero(masks[:, None] >> np.arange(topology.cluster_size) & 1)
        if isinstance(request, TensorCopy) and request.cta_group == 2:
            rank = rank & ~1 | addresses[copy] >> 24 & 1  # one CTA of each pair
        cta = topology.cta_of[warps[copy]]
        owner = cta - topology.rank[cta] + np.minimum(rank, topology.cluster_size - 1)
        return copy, owner * self.shared.stride + low[copy] - SHARED_START >> 3, addresses

    @staticmethod
    def _bytes(event: CopyIssue) -> Array:
        if isinstance(event.request, BulkCopy):
            return lane_values(event.request.bytes, event.positions, event.lanes).astype(np.int64)
        sizes = np.zeros(len(event.warps), np.int64)
        for fields, copies in event.tensor_maps:
            sizes[copies] = box_bytes(fields)
        return sizes

    def issue(self, event: Issue, positions: Rows) -> None:
        """Add events for an asynchronous operation that the warps at `positions` issue."""
        if event.group == "multiplication":
            self._multiply(event, positions)
            return
        batch = event.batch
        lanes = np.full(len(positions), 32) if batch.mask is None else batch.mask[positions].sum(axis=1)
        warps = batch.warp_index[positions]
        size = self._copy_size(event.pc)
        if event.group == "copy":
            groups = event.groups[positions]
            is_new = self._open_group[warps] != groups
            if np.count_nonzero(is_new):
                new, group = warps[is_new], groups[is_new]
                added = self._add_copies(batch.rows[positions[is_new]], lanes[is_new])
                self._open_group[new], self._open_event[new] = group, added
                for warp, copied, number in zip(new.tolist(), added.tolist(), group.tolist(), strict=True):
                    self._uncovered.setdefault(("copy", warp), []).append((copied, number, 0))
            found = self._open_event[warps]
        else:
            found = self._add_copies(batch.rows[positions], lanes)
        if event.group in _TRANSFERS:
            groups = event.groups[positions].tolist()
            for warp, copied, number in zip(warps.tolist(), found.tolist(), groups, strict=True):
                self._uncovered.setdefault((event.group, warp), []).append((copied, number, 0))
                for use in self._transfer.pop(warp, ()):
                    self._use(copied, int(self.recording.cta_of_warp[warp]), use)
        rows = self.table.rows
        rows["end"][found] = OPEN
        rows["count"][found] += lanes if size or not event.group else 0
        rows["amount"][found] += lanes * size
        self._deferred[event.number] = dict(zip(warps.tolist(), found.tolist(), strict=True))

    def _add_copies(self, rows: Rows, lanes: Array) -> Ids:
        """Add the events of the copy of each warp split, and of its issue by `lanes` lanes.

        Return the row numbers of the copies.
        """
        kinds, ends, numbers, counts = (np.empty((len(rows), 2), np.int64) for _ in range(4))
        kinds[:] = Kind.COPY, Kind.ISSUE
        ends[:] = OPEN, self.recording.now() + 1
        numbers[:] = -1, 0
        counts[:, 0], counts[:, 1] = 0, lanes
        numbers = numbers.reshape(-1)
        ids = self.spans.mark(
            kinds.reshape(-1), rows.repeat(2), end=ends.reshape(-1), number=numbers, phase=numbers,
            count=counts.reshape(-1),
        )  # fmt: skip
        copies, issues = ids[::2], ids[1::2]
        for copied, issue in zip(copies.tolist(), issues.tolist(), strict=True):
            self.table.arrow(issue, copied)
        return copies

    def _copy_size(self, pc: int) -> int:
        found = self._copy_sizes.get(pc)
        if found is None:
            found = self._copy_sizes[pc] = self._find_copy_size(pc)
        return found

    def _find_copy_size(self, pc: int) -> int:
        accesses = self.recording.launch.program.steps[pc].binding.form.effects_of(Access)
        operands = self.recording.launch.instructions[pc].operands
        return next((int(getattr(operands, access.size)) for access in accesses if access.size), 0)

    def _multiply(self, event: Issue, positions: Rows) -> None:
        batch = event.batch
        issues = self.spans.mark(Kind.ISSUE, batch.rows[positions], count=event.length)
        issue_of = dict(zip(positions.tolist(), issues.tolist(), strict=True))
        leaders = batch.warpgroups()[:, 0]
        leaders = leaders[self.recording.recorded[batch.warp_index[leaders]]]
        rows, warps = batch.rows[leaders], batch.warp_index[leaders]
        ids = self.spans.mark(Kind.MULTIPLICATION, rows, end=OPEN, number=-1, phase=-1, count=event.length)
        self._deferred[event.number] = dict(zip(warps.tolist(), ids.tolist(), strict=True))
        columns = (each.tolist() for each in (leaders, warps, ids, event.groups[leaders]))
        for leader, warp, found, group in zip(*columns, strict=True):
            self.table.arrow(issue_of[leader], found)
            self._uncovered.setdefault(("multiplication", warp), []).append((found, group, 0))

    def issue_tensor(self, event: TensorIssue) -> None:
        """Add events for operations on tensor memory. A commit has arrows from the operations that it covers."""
        here = np.flatnonzero(self.recording.recorded[event.warps])
        if not len(here):
            return
        is_commit = isinstance(event.record, TensorCommit)
        kind = Kind.MULTIPLICATION if isinstance(event.record, TensorMultiply) else Kind.COPY
        rows = event.batch.rows[event.positions[here]]
        ids = self.spans.mark(Kind.COMMIT if is_commit else kind, rows, end=OPEN, number=-1, phase=-1, count=1)
        issues = self.spans.mark(Kind.ISSUE, rows, count=1)
        columns = (each.tolist() for each in (here, event.warps[here], event.lanes[here], ids, issues))
        values = values_of(event.record, event.positions.astype(np.int64), event.lanes.astype(np.int64))
        for k, warp, lane, found, issue in zip(*columns, strict=True):
            self.table.arrow(issue, found)
            self._tensor[event.first + k] = found, warp, is_commit
            if is_commit:
                covered = self._uncommitted.pop((warp, lane), [])
                self.table.commit(found, covered)
                for each in covered:
                    self.table.arrow(each, found)
                continue
            self._uncommitted.setdefault((warp, lane), []).append(found)
            cta, ctas = int(self.topology.cta_of[warp]), event.record.ctas
            for rank in range(ctas):
                of = cta if ctas == 1 else cta & ~1 | rank
                for use in uses_of(event.record, values, k, rank):
                    self._use(found, int(self.recording.cta_of_cta[of]), use)

    def transfer(self, event: TensorTransferIssue) -> None:
        """Note the columns of a load or a store of tensor memory, before the event `Issue` of the instruction."""
        addresses = np.broadcast_to(event.record.address, (event.batch.count, 32))[:, 0].tolist()
        for warp, address in zip(event.batch.warp_index.tolist(), addresses, strict=True):
            self._transfer[warp] = transfer_uses(event.record, int(address))

    def _use(self, event: int, cta: int, use: Use) -> None:
        if cta >= 0:
            self.table.use(event, cta, use.kind, use.what, use.first, use.end)

    def allocate(self, event: TensorAllocate) -> None:
        """Begin the events of columns that warps allocate, and end those of columns that they release."""
        warps, now = event.batch.warp_index, self.recording.now()
        for warp, first, columns in zip(warps.tolist(), event.first.tolist(), event.columns.tolist(), strict=True):
            cta = int(self.recording.cta_of_warp[warp])
            if cta < 0:
                continue
            if event.action != "take":
                if (found := self._columns.pop((cta, first), -1)) >= 0:
                    self.table.end(np.array([found]), now + 1)
                continue
            added = self.table.add(
                Kind.COLUMNS, 1, cta=cta, warp=int(self.topology.warp_in_cta[warp]), begin=now, end=OPEN,
                step=self.recording.pc, last=self.recording.pc, number=first, phase=-1, count=columns,
            )  # fmt: skip
            self._columns[cta, first] = int(added[0])

    def _complete_tensor(self, event: Complete) -> None:
        ended = [self._tensor.pop(number) for number in event.numbers.tolist() if number in self._tensor]
        if ended:
            self.recording.tick()
            self._completing_at = self.recording.now()
            self._completing = {warp: found for found, warp, is_commit in ended if is_commit}
            self.table.end(np.array([found for found, _, _ in ended], np.int64), self._completing_at + 1)

    def complete(self, event: Complete) -> None:
        """End the events of operations that take effect."""
        if event.group == "tensor":
            self._complete_tensor(event)
            return
        if event.warps is None:
            ended = [self._copies.pop(number) for number in event.numbers.tolist() if number in self._copies]
            if ended:
                self.recording.tick()
                self.table.end(np.array(ended, np.int64), self.recording.now() + 1)
            return
        number = int(event.numbers[0])
        events = self._deferred.get(number, {})
        self._completing = {warp: events.pop(warp) for warp in event.warps.tolist() if warp in events}
        if not events:
            self._deferred.pop(number, None)
        if self._completing:
            self.recording.tick()
            self._completing_at = self.recording.now()
            self.table.end(np.array([*self._completing.values()], np.int64), self._completing_at + 1)

    def completing(self) -> dict[int, int]:
        """Return, by warp, the event of the operation that takes effect in this step."""
        return self._completing if self._completing_at == self.recording.now() else {}

    def wait(self, event: Wait, positions: Rows) -> None:
        """Add waits of the warps at `positions` for operation groups, with arrows from the operations."""
        batch, group_kind = event.batch, event.group
        rows, warps = batch.rows[positions], batch.warp_index[positions]
        number = min(event.pending, 1 << 31)
        ids = self.spans.add_waits(_WAITS[group_kind], rows, number=number, phase=-1)
        active = batch.active()
        for position, warp, wait in zip(positions.tolist(), warps.tolist(), ids.tolist(), strict=True):
            kept: list[tuple[int, int, int]] = []
            for found, group, lane in self._uncovered.get((group_kind, warp), ()):
                if group_kind == "bulk":
                    closed = int(event.committed[position, lane])
                    covered = active[position, lane] and group < closed - event.pending
                else:
                    covered = group < int(event.committed[position]) - event.pending
                if not covered or (event.reads_only and self.table.rows["end"][found] == OPEN):
                    kept.append((found, group, lane))
                else:
                    self.table.arrow(found, wait)
            self._uncovered[group_kind, warp] = kept
