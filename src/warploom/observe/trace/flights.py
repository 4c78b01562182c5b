"""What is in flight: copies and multiplications of warpgroups, from their issue to where they take effect."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.address_space import SHARED_START
from warploom.emulator.faults import Fault
from warploom.emulator.tensor_boxes import lane_values
from warploom.isa.instructions.bulk import BulkCopy, TensorCopy
from warploom.layout import box_bytes
from warploom.observe.trace.data import Kind
from warploom.observe.trace.table import OPEN

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.observe.trace.recorder import Recorder

Array = NDArray[Any]
Rows = NDArray[np.intp]

_WAITS = {"bulk": Kind.WAIT_BULK, "copy": Kind.WAIT_COPIES, "wgmma": Kind.WAIT_PRODUCTS}


class Flights:
    """Bulk copies by number, deferred actions by number and warp, and what no wait has covered yet."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.emulator = recorder.emulator
        self.table = recorder.table
        self._copies: dict[int, int] = {}
        self._deferred: dict[int, dict[int, int]] = {}
        self._groups: dict[tuple[int, int], int] = {}  # the event of a warp's group of copies
        self._uncovered: dict[tuple[str, int], list[tuple[int, int, int]]] = {}  # event, group, lane
        self._acting: dict[int, int] = {}
        self._acting_at = -1

    # Bulk copies ------------------------------------------------------------------------------------------

    def bulk(self, batch: Batch, request: BulkCopy | TensorCopy) -> None:
        """Lanes issue bulk copies."""
        positions, lanes = np.nonzero(batch.active())
        here = np.flatnonzero(self.recorder.watched[batch.warp_index[positions]])
        if not len(here):
            return
        positions, lanes = positions[here], lanes[here]
        rows, warps = batch.rows[positions], batch.warp_index[positions]
        spans, pc, engines = self.recorder.spans, self.emulator.state.pc, self.emulator.asynchronous
        copy, words, addresses = self._objects(request, positions, lanes, warps)
        ids = self.table.add(
            Kind.COPY, len(here), **spans.who(rows), begin=self.recorder.now(), end=OPEN, step=pc, last=pc,
            number=addresses, phase=-1, amount=self._bytes(request, positions, lanes), count=1,
        )  # fmt: skip
        self._copies.update(zip((engines.issued + here).tolist(), ids.tolist(), strict=True))
        self.recorder.objects.copies(words, ids[copy])
        issuers, count = np.unique(positions, return_counts=True)
        issues = spans.mark(Kind.ISSUE, batch.rows[issuers], count=count)
        for issue, event in zip(np.repeat(issues, count).tolist(), ids.tolist(), strict=True):
            self.table.arrow(issue, event)
        if request.completion == "group":
            groups = engines.bulk_groups[warps, lanes]
            for warp, *rest in zip(
                warps.tolist(), ids.tolist(), groups.tolist(), lanes.tolist(), strict=True
            ):
                self._uncovered.setdefault(("bulk", warp), []).append((rest[0], rest[1], rest[2]))

    def _objects(
        self, request: BulkCopy | TensorCopy, positions: Rows, lanes: Rows, warps: Rows
    ) -> tuple[Array, Array, Array]:
        """Which copy counts its bytes off which object, several where it is multicast; and an address for each copy."""
        nothing = np.zeros(0, np.int64)
        if request.mbarrier is None:
            return nothing, nothing, np.full(len(warps), -1)
        memory = self.emulator.memory
        given = lane_values(request.mbarrier, positions, lanes).astype(np.int64)
        low, rank = given & 0xFF_FFFF, given >> 24
        copy = np.arange(len(warps))
        if request.multicast is not None:
            masks = lane_values(request.multicast, positions, lanes).astype(np.int64)
            copy, rank = np.nonzero(masks[:, None] >> np.arange(memory.cluster_size) & 1)
        cta = self.emulator.topology.cta_of[warps[copy]]
        owner = cta - memory.rank[cta] + np.minimum(rank, memory.cluster_size - 1)
        return copy, owner * memory.shared_stride + low[copy] - SHARED_START >> 3, given

    def _bytes(self, request: BulkCopy | TensorCopy, positions: Rows, lanes: Rows) -> Array:
        """Bytes of each copy; 0 through a map that the machine is about to refuse."""
        if isinstance(request, BulkCopy):
            return lane_values(request.bytes, positions, lanes).astype(np.int64)
        sizes = np.zeros(len(positions), np.int64)
        maps = lane_values(request.tensor_map, positions, lanes)
        for address in np.unique(maps).tolist():
            with suppress(Fault, UsageError):
                sizes[maps == address] = box_bytes(self.emulator.asynchronous.executor.fields(int(address)))
        return sizes

    def landing(self, numbers: Array) -> None:
        """Bulk copies take effect."""
        landed = [self._copies.pop(number) for number in numbers.tolist() if number in self._copies]
        if landed:
            self.recorder.tick()
            self.table.end(np.array(landed, np.int64), self.recorder.now() + 1)

    # Deferred actions -------------------------------------------------------------------------------------

    def deferred(self, batch: Batch, positions: Rows, channel: str, number: int) -> None:
        """Lanes issue an action."""
        spans, now, pc = self.recorder.spans, self.recorder.now(), self.emulator.state.pc
        if channel == "wgmma":
            self._multiply(batch, positions, number)
            return
        committed = self.emulator.asynchronous.committed[channel]
        lanes = batch.active()[positions].sum(axis=1)
        size = getattr(self.emulator.linked[pc].operands, "cp_size", 0)
        held = self._deferred[number] = dict[int, int]()
        for position, copies in zip(positions.tolist(), lanes.tolist(), strict=True):
            row, warp = batch.rows[position : position + 1], int(batch.warp_index[position])
            group = int(committed[warp])
            event = self._groups.get((warp, group)) if channel == "copy" else None
            if event is None:
                added = self.table.add(
                    Kind.COPY, 1, **spans.who(row), begin=now, end=OPEN, step=pc, last=pc, number=-1, phase=-1
                )
                event = int(added[0])
                self.table.arrow(int(spans.mark(Kind.ISSUE, row, count=copies)[0]), event)
                if channel == "copy":
                    self._groups[warp, group] = event
                    self._uncovered.setdefault((channel, warp), []).append((event, group, 0))
            rows = self.table.rows
            rows["end"][event] = OPEN
            rows["count"][event] += copies if size or channel == "remote" else 0
            rows["amount"][event] += copies * size
            held[warp] = event

    def _multiply(self, batch: Batch, positions: Rows, number: int) -> None:
        spans, pc, events = self.recorder.spans, self.emulator.state.pc, self.table
        issues = spans.mark(Kind.ISSUE, batch.rows[positions], count=self.recorder.together)
        issue_of = dict(zip(positions.tolist(), issues.tolist(), strict=True))
        leaders = batch.warpgroups()[:, 0]
        leaders = leaders[self.recorder.watched[batch.warp_index[leaders]]]
        rows, warps = batch.rows[leaders], batch.warp_index[leaders]
        ids = events.add(
            Kind.PRODUCT, len(rows), **spans.who(rows), begin=self.recorder.now(), end=OPEN, step=pc, last=pc,
            number=-1, phase=-1, count=self.recorder.together,
        )  # fmt: skip
        self._deferred[number] = dict(zip(warps.tolist(), ids.tolist(), strict=True))
        groups = self.emulator.asynchronous.committed["wgmma"][warps]
        for leader, warp, event, group in zip(
            leaders.tolist(), warps.tolist(), ids.tolist(), groups.tolist(), strict=True
        ):
            events.arrow(issue_of[leader], event)
            self._uncovered.setdefault(("wgmma", warp), []).append((event, group, 0))

    def acting(self, number: int, warps: Array) -> None:
        """A deferred action takes effect for some warps."""
        held = self._deferred.get(number, {})
        self._acting = {warp: held.pop(warp) for warp in warps.tolist() if warp in held}
        if not held:
            self._deferred.pop(number, None)
        if self._acting:
            self.recorder.tick()
            self._acting_at = self.recorder.now()
            self.table.end(np.array([*self._acting.values()], np.int64), self._acting_at + 1)

    def acting_now(self) -> dict[int, int]:
        """The events of the deferred action whose doing the present moment is, by warp."""
        return self._acting if self._acting_at == self.recorder.now() else {}

    # Waits ------------------------------------------------------------------------------------------------

    def group_wait(self, batch: Batch, positions: Rows, channel: str, pending: int, read_only: bool) -> None:
        """Lanes wait for all but the newest groups: arrows from what that covers."""
        rows, warps = batch.rows[positions], batch.warp_index[positions]
        ids = self.recorder.spans.add_waits(_WAITS[channel], rows, number=min(pending, 1 << 31), phase=-1)
        engines = self.emulator.asynchronous
        active = batch.active()
        for position, warp, wait in zip(positions.tolist(), warps.tolist(), ids.tolist(), strict=True):
            kept: list[tuple[int, int, int]] = []
            for event, group, lane in self._uncovered.get((channel, warp), ()):
                if channel == "bulk":
                    covered = active[position, lane] and group < engines.bulk_groups[warp, lane] - pending
                else:
                    covered = group < engines.committed[channel][warp] - pending
                if not covered or (read_only and self.table.rows["end"][event] == OPEN):
                    kept.append((event, group, lane))
                else:
                    self.table.arrow(event, wait)
            self._uncovered[channel, warp] = kept
