# pyright: reportUnknownMemberType=false
"""Asynchronous copies and mbarriers, as the sanitizer sees them: who may be read when, and what orders it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import SHARED_START, SHARED_WINDOW
from warploom.emulator.faults import Fault
from warploom.emulator.tensor_boxes import lane_values
from warploom.isa.instructions.bulk import BulkCopy, TensorCopy
from warploom.isa.model.types import TYPES
from warploom.layout.tile import shared_bytes
from warploom.observe.sanitize.beyond import Beyond
from warploom.observe.sanitize.clocks import THREAD_COPIES, to_bits

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.observe.sanitize.watcher import Sanitizer

Array = NDArray[Any]


class Transfers:
    """Sees copies issued, and the arrivals and waits that order them."""

    def __init__(self, sanitizer: Sanitizer) -> None:
        self.sanitizer = sanitizer
        self.emulator = sanitizer.emulator
        self.beyond = Beyond(sanitizer)
        self._waiting: dict[int, list[tuple[Array, Array]]] = {}

    # Copies of single threads -----------------------------------------------------------------------------

    def thread_copy(self, batch: Batch, operands: Any) -> None:
        """Lanes issue copies of a few bytes."""
        index = self._index(batch, "shared", batch.addresses(operands.dst), operands.cp_size)
        if index is not None:
            self.sanitizer.shadow.copy(
                batch.location.warp, index, batch.active(), operands.cp_size, self.emulator.state.pc
            )

    def copy_arrival(self, batch: Batch, operands: Any) -> None:
        """An arrival that follows the lanes' copies publishes that they are done."""
        clocks, objects = self.sanitizer.clocks, self.sanitizer.objects
        index = self._index(batch, operands.space, batch.addresses(operands.addr), 8)
        if index is None:
            return
        active = batch.active()
        objects.check_use(batch, index, active, self.emulator.state.pc, "an arrival that follows copies")
        if objects.phases is not None:
            objects.phases.arrive(batch.location.warp, objects.of(index), active, self.emulator.state.pc)
        for position, lane in zip(*np.nonzero(active), strict=True):
            found = objects.of(index[position : position + 1, lane])
            if found[0] >= 0:
                row = int(clocks.arriving(found)[0])
                warp = int(batch.warp_index[position])
                column = int(clocks.own[warp]) + THREAD_COPIES * clocks.per_cta
                clocks.publish_stream(row, column, int(clocks.copy_clock[warp]), int(lane))
        clocks.copy_clock[batch.warp_index] += 1

    def _index(self, batch: Batch, space: str, addresses: Array, size: int) -> Array | None:
        """Byte offsets in shared memory; None where the machine is about to refuse the access."""
        memory = self.emulator.memory
        wide = np.broadcast_to(addresses, (batch.count, 32))
        if not space.startswith("shared"):
            wide = wide - np.uint64(SHARED_WINDOW)
            space = "shared::cluster"
        try:
            return memory.shared_index(space, batch.location, wide, batch.active(), size)
        except Fault:
            return None

    # Bulk copies ------------------------------------------------------------------------------------------

    def bulk(self, batch: Batch, request: BulkCopy | TensorCopy) -> None:
        """Lanes issue bulk copies."""
        positions, lanes = np.nonzero(batch.active())
        warps = batch.warp_index[positions].astype(np.int64)
        if isinstance(request, BulkCopy):
            sizes = lane_values(request.bytes, positions, lanes).astype(np.int64)
            if request.source_space != "global":
                source = lane_values(request.source, positions, lanes).astype(np.int64)
                self._read(warps, lanes, source, sizes, group=request.completion == "group")
            objects = self._completed(request, positions, lanes, warps, request.destination)
            self.beyond.plain(request, positions, lanes, warps, sizes, objects)
            if request.destination_space != "global":
                target = lane_values(request.destination, positions, lanes).astype(np.int64)
                self._write(request, positions, lanes, warps, target, sizes, -1)
            return
        shared = lane_values(request.shared, positions, lanes).astype(np.int64)
        maps = lane_values(request.tensor_map, positions, lanes)
        # Maps that cannot be read are left out: the machine is about to refuse those copies.
        for fields, of in self.emulator.asynchronous.executor.by_tensor_map(maps):
            for address in np.unique(maps[of]).tolist():
                same = of[maps[of] == address]
                self.sanitizer.maps.use(warps[same], lanes[same], int(address), self.emulator.state.pc)
            sizes = np.full(len(of), -(-shared_bytes(fields) // 16) * 16)
            objects = self._completed(request, positions[of], lanes[of], warps[of], request.shared)
            self.beyond.boxes(request, fields, positions[of], lanes[of], warps[of], objects)
            if request.direction == "load":
                self._write(
                    request, positions[of], lanes[of], warps[of], shared[of], sizes, fields.swizzle_span
                )
            else:
                self._read(warps[of], lanes[of], shared[of], sizes, group=True)

    def _read(self, warps: Array, lanes: Array, addresses: Array, sizes: Array, group: bool) -> None:
        starts = self._starts(warps, addresses >> 24, addresses & 0xFF_FFFF)
        good = self._fit(addresses & 0xFF_FFFF, sizes)
        if group:
            self.sanitizer.lifetimes.copy_out(warps, self.emulator.state.pc)
        self.sanitizer.shadow.read_rows(
            warps[good],
            lanes[good].astype(np.int64),
            starts[good],
            sizes[good],
            self.emulator.state.pc,
            group,
        )

    def _write(
        self, request: BulkCopy | TensorCopy, positions: Array, lanes: Array, warps: Array, addresses: Array,
        sizes: Array, swizzle: int,
    ) -> None:  # fmt: skip
        low, rank = addresses & 0xFF_FFFF, addresses >> 24
        copy = np.arange(len(warps))
        if request.multicast is not None:
            masks = lane_values(request.multicast, positions, lanes).astype(np.int64)
            copy, rank = np.nonzero(masks[:, None] >> np.arange(self.emulator.topology.cluster_size) & 1)
        assert request.mbarrier is not None
        good = self._fit(low, sizes)[copy] & (rank < self.emulator.topology.cluster_size)
        copy, rank = copy[good], rank[good]
        barrier = lane_values(request.mbarrier, positions, lanes).astype(np.int64)[copy] & 0xFF_FFFF
        starts = self._starts(warps[copy], rank, low[copy])
        words = self._starts(warps[copy], rank, np.clip(barrier, SHARED_START, None))
        objects = self.sanitizer.objects
        found = objects.of(np.minimum(words, len(self.emulator.memory.shared) - 8))
        objects.check_copies(words, found, warps[copy], lanes[copy], self.emulator.state.pc)
        objects.check_overwritten(starts, sizes[copy], warps[copy], lanes[copy], self.emulator.state.pc)
        known = found >= 0
        copy, found = copy[known], found[known]
        self._expect(warps[copy], found, objects.phase[found] + 1)
        self.sanitizer.shadow.write_rows(
            warps[copy], lanes[copy].astype(np.int64), starts[known], sizes[copy], self.emulator.state.pc, found,
            objects.phase[found] + 1, swizzle,
        )  # fmt: skip

    def _completed(
        self, request: BulkCopy | TensorCopy, positions: Array, lanes: Array, warps: Array, target: Array
    ) -> Array:
        """The mbarriers whose phases show that copies are done, of several one; -1 where there is none."""
        if request.mbarrier is None:
            return np.full(len(warps), -1)
        rank = lane_values(target, positions, lanes).astype(np.int64) >> 24
        if request.multicast is not None:
            masks = lane_values(request.multicast, positions, lanes).astype(np.int64)
            rank = np.log2(np.maximum(masks & -masks, 1)).astype(np.int64)
        words = self._starts(
            warps, rank, lane_values(request.mbarrier, positions, lanes).astype(np.int64) & 0xFF_FFFF
        )
        return self.sanitizer.objects.of(np.clip(words, 0, len(self.emulator.memory.shared) - 8))

    def _expect(self, warps: Array, found: Array, phases: Array) -> None:
        """Bytes will come to mbarriers; copies into other CTAs are done when a phase over there is."""
        if (seen := self.sanitizer.objects.phases) is not None:
            seen.arrive(warps, found[:, None], np.ones((len(found), 1), np.bool_), self.emulator.state.pc)
        if self.emulator.topology.cluster_size == 1:
            return
        self.sanitizer.clocks.publish_phases(warps, found)
        owners = found // self.sanitizer.clocks.mbarriers
        for k in np.flatnonzero(owners != self.emulator.topology.cta_of[warps]).tolist():
            self.sanitizer.lifetimes.expect(
                int(owners[k]), int(warps[k]), int(found[k]), int(phases[k]), self.emulator.state.pc
            )

    def _starts(self, warps: Array, rank: Array, low: Array) -> Array:
        memory = self.emulator.memory
        cta = self.emulator.topology.cta_of[warps]
        owner = cta - memory.rank[cta] + np.minimum(rank, memory.cluster_size - 1)
        return owner * memory.shared_stride + low - SHARED_START

    def _fit(self, low: Array, sizes: Array) -> Array:
        end = SHARED_START + self.emulator.memory.shared_bytes
        return (low >= SHARED_START) & (low + sizes <= end)

    def remote_store(self, batch: Batch, operands: Any) -> None:
        """Lanes store asynchronously, bytes counted off an mbarrier."""
        space = getattr(operands, "ss", "")
        values = len(operands.b.items) if getattr(operands, "vec", "") else 1
        size = values * TYPES[operands.type].bytes
        index = self._index(batch, space, batch.addresses(operands.a), size)
        where = self._index(batch, space, batch.addresses(operands.mbar), 8)
        if index is None or where is None:
            return
        objects, active, pc = self.sanitizer.objects, batch.active(), self.emulator.state.pc
        objects.check_use(batch, where, active, pc, "an asynchronous store")
        for lane in range(32):
            here = active[:, lane]
            found = np.where(here, objects.of(where[:, lane]), -1)
            known = np.flatnonzero(found >= 0)
            if len(known):
                alone = np.zeros((len(known), 32), np.bool_)
                alone[:, lane] = True
                phases = objects.phase[found[known]] + 1
                self._expect(batch.location.warp[known], found[known], phases)
                self.sanitizer.shadow.remote(
                    batch.location.warp[known], index[known], alone, size, pc, found[known], phases
                )

    # mbarriers --------------------------------------------------------------------------------------------

    def mbarrier(
        self, batch: Batch, index: Array, lanes: Array, action: str, amounts: Array, transactions: Array
    ) -> None:
        """Lanes act on mbarriers."""
        sanitizer, pc = self.sanitizer, self.emulator.state.pc
        objects, clocks, shadow = sanitizer.objects, sanitizer.clocks, sanitizer.shadow
        warps = batch.location.warp
        positions, at = np.nonzero(lanes)
        if action in ("init", "inval"):
            shadow.write(warps, index, lanes, 8, pc, False, None, "mbarrier")
            act = objects.initialise if action == "init" else objects.invalidate
            act(index[positions, at] >> 3, pc, warps[positions], at)
            return
        objects.check_use(batch, index, lanes, pc, action)
        shadow.read(warps, index, lanes, 8, pc, True, "mbarrier")
        found = objects.of(index)
        if action == "expect_tx" or transactions.any():
            objects.site[np.where(found < 0, 0, found)[lanes]] = pc
        if action in ("expect_tx", "arrive", "arrive_drop", "complete_tx"):
            objects.check_counts(batch, index, lanes, action, amounts, transactions, pc)
        if self.emulator.topology.cluster_size > 1:
            sanitizer.lifetimes.arrive_at(warps, index, lanes, found, objects.phase, pc)
        if action not in ("arrive", "arrive_drop"):
            return
        operands = self.emulator.linked[pc].operands
        relaxed = operands.sem == "relaxed"
        narrow = operands.scope == "cta"
        home = (index // self.emulator.memory.shared_stride) == self.emulator.topology.cta_of[warps][:, None]
        for bits, full, which in self._by_object(batch, np.where(home | (not narrow), found, -1), lanes):
            clocks.arrive(warps, bits, full, clocks.arriving(which), relaxed)
        if self.emulator.topology.cluster_size > 1:
            for bits, full, which in self._by_object(batch, np.where(home, found, -1), lanes):
                clocks.arrive(warps, bits, full, clocks.arriving_here(which), relaxed)

    def waited(self, batch: Batch, index: Array, lanes: Array) -> None:
        """Lanes found a phase complete."""
        if not lanes.any():
            return
        sanitizer, pc = self.sanitizer, self.emulator.state.pc
        objects, clocks = sanitizer.objects, sanitizer.clocks
        warps = batch.location.warp
        sanitizer.shadow.read(warps, index, lanes, 8, pc, True, "mbarrier")
        operands = self.emulator.linked[pc].operands
        relaxed, narrow = operands.sem == "relaxed", operands.scope == "cta"
        for bits, full, which in self._by_object(batch, objects.of(index), lanes):
            rows = clocks.arrived_here(which) if narrow else clocks.arrived(which)
            if relaxed:
                clocks.copy(np.where(rows < 0, -1, clocks.seen(warps, int(clocks.kinds > 2))), rows)
            else:
                clocks.acquire(warps, bits, full, rows)

    def _by_object(self, batch: Batch, found: Array, lanes: Array) -> list[tuple[Array, Array, Array]]:
        """Rounds in which each warp has one object: bits of its lanes, whether all, and the object (-1: none)."""
        rounds: list[tuple[Array, Array, Array]] = []
        left = lanes & (found >= 0)
        while left.any():
            first = left.argmax(axis=1)
            which = np.where(left.any(axis=1), found[np.arange(batch.count), first], -1)
            here = left & (found == which[:, None])
            bits, full = self.sanitizer.clocks.lanes(batch, here)
            rounds.append((bits, full, which))
            left = left & ~here
        return rounds

    # Cluster barriers -------------------------------------------------------------------------------------

    def cluster_wait(self, batch: Batch, clusters: Array) -> None:
        """Warps wait for a phase of their cluster's barrier; those whose phase is complete know it."""
        clocks, barriers = self.sanitizer.clocks, self.emulator.barriers
        warps = batch.warp_index
        bits = clocks.lanes(batch)[0]
        waits = barriers.cluster_waits(batch, clusters)
        for cluster in np.unique(clusters[waits]).tolist():
            here = waits & (clusters == cluster)
            self._waiting.setdefault(cluster, []).append((warps[here], bits[here]))
        for cluster in np.unique(clusters[~waits]).tolist():
            here = ~waits & (clusters == cluster)
            self._passed(cluster, warps[here], bits[here])

    def cluster_complete(self, cluster: int) -> None:
        """A cluster's barrier is complete: who waits for it knows what was published."""
        for warps, bits in self._waiting.pop(cluster, ()):
            self._passed(cluster, warps, bits)

    def _passed(self, cluster: int, warps: Array, bits: Array) -> None:
        clocks = self.sanitizer.clocks
        rows = clocks.cluster_done(np.full(len(warps), cluster))
        full = bits == to_bits(self.emulator.state.splits.live[warps])
        self.sanitizer.lifetimes.pass_barrier(warps, int(self.emulator.barriers.cluster_phase[cluster]))
        clocks.acquire(warps, bits, full, rows)
        clocks.synchronise(warps[full])
