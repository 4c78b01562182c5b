# pyright: reportUnknownMemberType=false
"""Record of asynchronous copies and stores, and of the mbarriers that complete them."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.access import uniform
from warploom.emulator.address_space import SHARED_START, SHARED_WINDOW
from warploom.emulator.batch import Batch
from warploom.emulator.events import Arrive, CopyIssue, Execute, Launch, PhaseWait, ThreadCopyIssue
from warploom.emulator.faults import Fault
from warploom.emulator.tensor_boxes import lane_values
from warploom.emulator.values import VectorValue
from warploom.isa.model import effects
from warploom.isa.model.records import BulkCopy
from warploom.isa.model.types import TYPES
from warploom.layout import TensorMapFields
from warploom.layout.tile import boxes, is_padded, shared_bytes, stored_ranges
from warploom.numerics._compile import njit
from warploom.observe.sanitize._thread_copies import record_copies
from warploom.observe.sanitize.clock_arrays import GPU, STRENGTH, THREAD_COPIES
from warploom.observe.sanitize.clocks import strength_at
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.copies import Copies, Targets, copies_of, find_targets
from warploom.observe.sanitize.global_copies import GlobalCopies
from warploom.observe.sanitize.global_shadow import GlobalShadow
from warploom.observe.sanitize.lifetimes import Lifetimes
from warploom.observe.sanitize.mbarriers import Mbarriers
from warploom.observe.sanitize.ordered_accesses import strength_of
from warploom.observe.sanitize.registers import once_per_program
from warploom.observe.sanitize.shared_shadow import SharedShadow
from warploom.observe.sanitize.store_layouts import StoreLayouts
from warploom.observe.sanitize.tensor_maps import TensorMaps
from warploom.observe.sanitize.written_layouts import WrittenLayouts

Array = NDArray[Any]


class Transfers:
    """Recorder of asynchronous copies, asynchronous stores and mbarrier operations of one wave of CTAs."""

    def __init__(
        self, context: Context, shadow: SharedShadow, global_shadow: GlobalShadow, mbarriers: Mbarriers,
        lifetimes: Lifetimes, tensor_maps: TensorMaps, written: WrittenLayouts,
    ) -> None:  # fmt: skip
        self.context = context
        self.topology = context.topology
        self.shared = context.shared
        self.clocks = context.clocks
        self.shadow = shadow
        self.mbarriers = mbarriers
        self.lifetimes = lifetimes
        self.tensor_maps = tensor_maps
        self.global_shadow = global_shadow
        self.written = written
        self.store_layouts = StoreLayouts(context, written)
        self.global_copies = GlobalCopies(context, global_shadow, mbarriers)
        self._found = np.zeros(2, np.int64)  # conflicts of thread copies in global and shared memory

    def _index(self, batch: Batch, space: str, addresses: Array, size: int) -> Array | None:
        """Return the byte offsets of addresses in shared memory, or None if an access is illegal."""
        if not space.startswith("shared"):
            addresses = addresses - np.uint64(SHARED_WINDOW)
            space = "shared::cluster"
        try:
            return self.shared.index(space, batch.location, addresses, batch.active(), size)
        except Fault:
            # The emulator reports the access.
            return None

    # Copies and stores of single threads --------------------------------------------------------------------

    def thread_copy(self, event: ThreadCopyIssue) -> None:
        """Record thread copies of lanes."""
        warps, shadow, global_shadow = event.location.warp, self.shadow, self.global_shadow
        record_copies(
            self.clocks.arrays, global_shadow.arrays, shadow.arrays, global_shadow.wave & 0xFF, warps,
            uniform(event.lanes), event.targets, event.sources, event.complete, event.size,
            len(global_shadow.arena.bytes), event.pc, shadow.has_sources, self.clocks.copy_clock, self._found,
        )  # fmt: skip
        in_global, in_shared = self._found.tolist()
        global_shadow.report_copies(in_global, warps, event.pc, event.size)
        shadow.report_copies(in_shared, warps, event.pc, event.size)

    def copy_arrival(self, event: Execute, address: str, space: str) -> None:
        """Record arrivals that take effect after earlier thread copies of the same lane.

        `address` is the name of the operand with the mbarrier, and `space` its state space.
        """
        batch, clocks, mbarriers = event.batch, self.clocks, self.mbarriers
        index = self._index(batch, space, batch.addresses(getattr(event.operands, address)), 8)
        if index is None:
            return
        active = batch.active()
        mbarriers.check_use(batch, index, active, event.pc, "an arrival that follows copies")
        mbarriers.arrive(batch.warp_index, mbarriers.of(index), active, event.pc)
        for position, lane in zip(*np.nonzero(active), strict=True):
            found = mbarriers.of(index[position : position + 1, lane])
            if found[0] >= 0:
                row = int(clocks.arriving(found)[0])
                warp = int(batch.warp_index[position])
                column = int(clocks.own[warp]) + THREAD_COPIES * clocks.per_cta
                clocks.release_operations(row, column, int(clocks.copy_clock[warp]), int(lane))
        clocks.copy_clock[batch.warp_index] += 1

    def remote_store(
        self, event: Execute, access: effects.Access, mbarrier: str, space: str, strength: int
    ) -> None:  # fmt: skip
        """Record the asynchronous stores or reductions `access` of lanes.

        `mbarrier` is the name of the operand with the mbarrier, and `space` the state space of both addresses.
        `strength` is the strength of the access (see `clocks`).
        """
        batch, pc, mbarriers = event.batch, event.pc, self.mbarriers
        value = getattr(event.operands, access.value)
        elements = len(value.items) if isinstance(value, VectorValue) else 1
        size = elements * TYPES[value.type].bytes
        index = self._index(batch, space, batch.addresses(getattr(event.operands, access.address)), size)
        where = self._index(batch, space, batch.addresses(getattr(event.operands, mbarrier)), 8)
        if index is None or where is None:
            return
        active, warps = batch.active(), batch.location.warp
        mbarriers.check_use(batch, where, active, pc, "an asynchronous store")
        apart = active & (index // self.shared.stride != where // self.shared.stride)
        if apart.any():
            position, lane = (int(part[0]) for part in np.nonzero(apart))
            text = "is in another CTA than the bytes that an asynchronous store writes"
            word = int(where[position, lane]) >> 3
            mbarriers.report_at("sanitize.mbarrier/cta", pc, word, text, int(warps[position]), lane)
        positions, lanes = np.nonzero(active & (mbarriers.of(where) >= 0))
        reached = where[positions, lanes]
        sent, counts = np.unique(np.stack([reached, warps[positions]]), axis=1, return_counts=True)
        phase = mbarriers.phase[mbarriers.of(sent[0])]
        for start, warp, count, number in zip(*sent.tolist(), counts.tolist(), phase.tolist(), strict=True):
            mbarriers.fixes.send(start >> 3, number, count * size, pc, warp)
        self.lifetimes.start(reached, warps[positions], lanes, pc)
        self.shadow.check_initialised(warps[positions], lanes, reached, pc)
        for lane in range(32):
            found = np.where(active[:, lane], mbarriers.of(where[:, lane]), -1)
            known = np.flatnonzero(found >= 0)
            if len(known):
                alone = np.zeros((len(known), 32), np.bool_)
                alone[:, lane] = True
                phases = mbarriers.phase[found[known]] + 1
                self._expect(warps[known], found[known], phases, pc)
                self.shadow.remote(warps[known], index[known], alone, size, pc, strength, found[known], phases)

    # Bulk copies ------------------------------------------------------------------------------------------

    def bulk(self, event: CopyIssue) -> None:
        """Record the accesses of bulk copies and tensor copies."""
        request = event.request
        if isinstance(request, BulkCopy):
            self._plain(copies_of(event, np.arange(len(event.warps))), request)
            return
        maps = lane_values(request.tensor_map, event.positions, event.lanes)
        for fields, index in event.tensor_maps:
            copies, reached = copies_of(event, index), maps[index]
            for address in sorted({*reached.tolist()}):
                if writes := self.tensor_maps.writes(address):
                    same = reached == address
                    self.tensor_maps.use(copies.warps[same], copies.lanes[same], address, writes, event.pc)
            coordinates, offsets = copies.box_positions()
            shared = copies.values(request.shared)
            sizes = np.full(len(index), _covered(fields))
            if request.direction == "load":
                objects, targets = self._targets(copies, shared, sizes)
                self.global_copies.loads(copies, fields, coordinates, offsets, objects)
                numbers = self.written.add(fields, shared & 0xFF_FFFF, coordinates, offsets, event.pc)
                self._write(copies, targets, sizes, numbers)
            else:
                self.global_copies.stores(copies, fields, coordinates, offsets)
                self.store_layouts.check(fields, copies.warps, copies.lanes, shared & 0xFF_FFFF, event.pc)
                read, starts, sizes = _stored(fields, shared, sizes, coordinates, offsets)
                self._read(event, index[read], starts, sizes, np.full(len(read), -1))

    def _plain(self, copies: Copies, request: BulkCopy) -> None:
        """Record the accesses of bulk copies without a tensor map."""
        sizes = copies.values(request.bytes)
        objects, targets = np.full(len(sizes), -1), None
        if request.mbarrier is not None:
            objects, targets = self._targets(copies, copies.values(request.destination), sizes)
        if request.source_space.startswith("shared"):
            first, read = (copies.values(each) for each in request.source_range())
            self._read(copies.event, copies.index, copies.values(request.source) + first, read, objects)
        self.global_copies.plain(copies, sizes, objects)
        if targets is not None:
            self._write(copies, targets, sizes, np.zeros(len(sizes), np.int64))

    def _read(self, event: CopyIssue, copies: Array, addresses: Array, sizes: Array, objects: Array) -> None:
        warps, lanes = event.warps[copies].astype(np.int64), event.lanes[copies].astype(np.int64)
        starts = self._starts(warps, addresses >> 24, addresses & 0xFF_FFFF)
        good = self._inside(addresses & 0xFF_FFFF, sizes)
        phases = np.zeros(len(objects), np.int64)
        sent = objects >= 0
        if sent.any():
            phases[sent] = self.mbarriers.phase[objects[sent]] + 1
            self.lifetimes.send(warps[sent], objects[sent], phases[sent], event.pc)
        elif event.request.mbarrier is None:
            self.lifetimes.copy_out(warps, event.pc)
        self.shadow.read_rows(
            warps[good], lanes[good], starts[good], sizes[good], event.pc, objects[good], phases[good]
        )

    def _targets(self, copies: Copies, addresses: Array, sizes: Array) -> tuple[Array, Targets]:
        return find_targets(copies, addresses, sizes, self.mbarriers.at, self.topology, self.shared)

    def _write(self, copies: Copies, targets: Targets, sizes: Array, origins: Array) -> None:
        request, pc, mbarriers = copies.event.request, copies.event.pc, self.mbarriers
        copy, starts, words, found = targets.copy, targets.starts, targets.words, targets.found
        if not len(copy):
            return
        warps, lanes, sizes = copies.warps[copy], copies.lanes[copy], sizes[copy]
        lacks = found.min() < 0
        if lacks:
            mbarriers.report_missing(words, found, warps, lanes, pc)
        mbarriers.check_overwritten(starts, sizes, warps, lanes, pc)
        if lacks:
            known = found >= 0
            copy, starts, words, found = copy[known], starts[known], words[known], found[known]
            warps, lanes, sizes = warps[known], lanes[known], sizes[known]
        self.lifetimes.start(starts, warps, lanes, pc)
        self.shadow.check_initialised(warps, lanes, words, pc)
        phases = mbarriers.phase[found] + 1
        self._expect(warps, found, phases, pc)
        sent = ((words >> 3).tolist(), phases.tolist(), sizes.tolist(), warps.tolist())
        for word, phase, size, warp in zip(*sent, strict=True):
            mbarriers.fixes.send(word, phase, size, pc, warp)
        # gpu scope (PTX ISA 9.7.9.25.5.2)
        strength = strength_at(GPU, TYPES[request.type].element_bytes) if request.reduction else 0
        self.shadow.write_rows(warps, lanes, starts, sizes, pc, found, phases, origins[copy], strength)

    def _expect(self, warps: Array, found: Array, phases: Array, pc: int) -> None:
        """Record that phase phases[k] of mbarrier found[k] completes copy k, which warps[k] issues."""
        self.mbarriers.expect(warps, found, pc)
        if self.topology.cluster_size == 1:
            return
        self.clocks.release_phases(warps, found)
        owners = found // self.clocks.mbarriers
        for k in np.flatnonzero(owners != self.topology.cta_of[warps]).tolist():
            self.lifetimes.expect(int(owners[k]), int(warps[k]), int(found[k]), int(phases[k]), pc)

    def _starts(self, warps: Array, rank: Array, low: Array) -> Array:
        # low[k] is an address in the CTA of rank rank[k] in the cluster of warps[k].
        cta = self.topology.cta_of[warps]
        owner = cta - self.topology.rank[cta] + np.minimum(rank, self.topology.cluster_size - 1)
        return owner * self.shared.stride + low - SHARED_START

    def _inside(self, low: Array, sizes: Array) -> Array:
        return (low >= SHARED_START) & (low + sizes <= self.shared.end)

    # mbarriers --------------------------------------------------------------------------------------------

    def act(self, event: Arrive, relaxed: bool, narrow: bool) -> None:
        """Record operations of lanes on mbarriers, except waits.

        `relaxed` is set for relaxed order, and `narrow` for an explicit CTA scope.
        """
        batch, index, lanes, pc = event.batch, event.index, event.lanes, event.pc
        mbarriers, clocks, shadow = self.mbarriers, self.clocks, self.shadow
        warps = batch.location.warp
        if event.action in ("init", "inval"):
            positions, at = np.nonzero(lanes)
            shadow.write(warps, index, lanes, 8, pc, 0, None, "mbarrier")
            words = index[positions, at] >> 3
            if event.action == "init":
                counts = np.broadcast_to(event.amounts, lanes.shape)[positions, at]
                mbarriers.initialise(words, counts, pc, warps[positions], at)
            else:
                mbarriers.invalidate(words, pc, warps[positions], at)
            return
        is_allowed = mbarriers.allows(event)
        if not is_allowed:
            mbarriers.check_use(batch, index, lanes, pc, event.action)
        shadow.read(warps, index, lanes, 8, pc, STRENGTH, "mbarrier")
        found, sends = mbarriers.of(index), np.count_nonzero(event.transactions) > 0
        if event.action == "expect_tx" or sends:
            mbarriers.site[np.maximum(found[lanes], 0)] = pc
        arrives = event.action.startswith("arrive")
        if not is_allowed and (arrives or event.action in ("expect_tx", "complete_tx")):
            mbarriers.check_counts(event)
        is_cluster = self.topology.cluster_size > 1
        if is_cluster:
            self.lifetimes.arrive_at(warps, index, lanes, found, mbarriers.phase, pc)
        if arrives:
            home: Array = np.ones((1, 1), np.bool_)
            if is_cluster:
                home = (index // self.shared.stride) == self.topology.cta_of[warps][:, None]
            for bits, full, which in self._by_object(batch, found, lanes & home if narrow else lanes):
                clocks.arrive(warps, bits, full, clocks.arriving(which), relaxed)
            if is_cluster:
                for bits, full, which in self._by_object(batch, found, lanes & home):
                    clocks.arrive(warps, bits, full, clocks.arriving(which, local=True), relaxed)
            mbarriers.join(warps, found, lanes, drops="drop" in event.action)
            if not sends:
                mbarriers.arrival_site[found[lanes & (found >= 0)]] = pc
        mbarriers.arrive(warps, found, lanes, pc)

    def wait(self, event: PhaseWait, found: Array, relaxed: bool, narrow: bool) -> None:
        """Record successful waits of lanes for phases of mbarriers.

        found[i, l] is the mbarrier number for lane l of warp i. `relaxed` is set for relaxed order, and `narrow` for an
        explicit CTA scope. Shapes: found (warps, 32).
        """
        lanes = event.complete
        if not np.count_nonzero(lanes):
            return
        batch, clocks = event.batch, self.clocks
        warps = batch.location.warp
        self.shadow.read(warps, event.index, lanes, 8, event.pc, STRENGTH, "mbarrier")
        for bits, full, which in self._by_object(batch, found, lanes):
            rows = clocks.arrived(which, local=narrow)
            if relaxed:
                clocks.copy(np.where(rows < 0, -1, clocks.seen(warps, int(clocks.kinds > 2))), rows)
            else:
                clocks.acquire(warps, bits, full, rows)

    def _by_object(self, batch: Batch, found: Array, lanes: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Split lanes into rounds, so that the lanes of a warp have one mbarrier in each round.

        A round is (lanes as bits, True if these are all live lanes of the warp, mbarrier number or -1). Shapes: found
        and lanes (warps, 32); arrays of a round (warps,).
        """
        live, left = self.clocks.live(batch.warp_index), lanes.copy()
        while True:
            bits, which = np.empty(batch.count, np.int32), np.empty(batch.count, np.int64)
            if not _next_objects(found, left, bits, which):
                return
            yield bits, bits == live, which


@njit
def _next_objects(found: Array, left: Array, bits: Array, which: Array) -> bool:
    """Select one mbarrier for each warp, and remove the lanes that use it from `left`.

    Return False if no lane has an mbarrier. Write the removed lanes to `bits`, and their mbarriers, or -1, to `which`.
    """
    some = False
    for i in range(len(found)):
        bits[i], which[i] = 0, -1
        for lane in range(32):
            if left[i, lane] and found[i, lane] >= 0 and which[i] in (-1, found[i, lane]):
                which[i], left[i, lane], some = found[i, lane], False, True
                bits[i] |= np.int32(1) << lane
    return some


def _stored(
    fields: TensorMapFields, shared: Array, sizes: Array, coordinates: Array, offsets: Array
) -> tuple[Array, Array, Array]:
    """Return the copy, the shared address and the size of each range that tensor stores read.

    Copy k stores the box of sizes[k] bytes at address shared[k] to the position coordinates[:, k] and offsets[:, k].
    Shapes: shared and sizes (copies,); coordinates (dimensions, copies); offsets (im2col offsets, copies).
    """
    every = np.arange(len(shared))
    tiled = len(coordinates) == fields.rank and not fields.is_im2col
    try:
        if tiled and not fields.interleave and not is_padded(fields) and boxes(fields, coordinates).inside.all():
            return every, shared, sizes
        ranges = [
            stored_ranges(fields, int(shared[k]), coordinates[:, k].tolist(), offsets[:, k].tolist()) for k in every
        ]
    except UsageError:
        return every[:0], shared[:0], sizes[:0]  # the emulator will report the illegal copies
    of = np.repeat(every, [len(starts) for starts, _ in ranges])
    return of, np.concatenate([starts for starts, _ in ranges]), np.concatenate([size for _, size in ranges])


@lru_cache(maxsize=256)
def _covered(fields: TensorMapFields) -> int:
    """Return the number of bytes of shared memory that a box covers, as a multiple of 16."""
    return -(-shared_bytes(fields) // 16) * 16


Handler = Callable[[Transfers, Execute], None]


@once_per_program
def issue_handlers(launch: Launch) -> dict[int, Handler]:
    """Return the handlers of instructions, by program counter.

    Handled are mbarrier arrivals after thread copies, and asynchronous stores and reductions that signal an mbarrier.
    """
    handlers = ((pc, _issue_handler(launch, pc)) for pc in range(len(launch.program.steps)))
    return {pc: handler for pc, handler in handlers if handler is not None}


def _issue_handler(launch: Launch, pc: int) -> Handler | None:
    step = launch.program.steps[pc]
    form, slots = step.binding.form, step.binding.slots
    if form.is_lanewise:
        return None
    issue, accesses = form.effect(effects.Issue), form.effects_of(effects.Access)
    arrival = form.effect(effects.Arrive)

    def space(operand: str) -> str:
        return form.operands[operand].space_word(slots)

    # `Transfers.bulk` handles bulk copies, and `Transfers.thread_copy` handles thread copies.
    if arrival is not None and arrival.after == "copy":
        return lambda transfers, event: transfers.copy_arrival(event, arrival.address, space(arrival.address))
    if issue is not None and issue.mbarrier and len(accesses) == 1 and accesses[0].value:
        store, where = accesses[0], space(accesses[0].address)
        strength = strength_of(store, slots)
        return lambda transfers, event: transfers.remote_store(event, store, issue.mbarrier, where, strength)
    return None
