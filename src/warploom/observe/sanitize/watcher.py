# pyright: reportUnknownMemberType=false
"""The sanitizer: watches a run of the machine and says what the order of its accesses does not guarantee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic
from warploom.emulator.events import Watcher
from warploom.isa.instructions.bulk import BulkCopy, TensorCopy
from warploom.observe.sanitize.arena import ArenaShadow
from warploom.observe.sanitize.clocks import BARRIERS, GROUPS, Clocks, to_bits
from warploom.observe.sanitize.guesses import guesses
from warploom.observe.sanitize.lifetimes import Lifetimes
from warploom.observe.sanitize.maps import Maps
from warploom.observe.sanitize.metadata import Metadata
from warploom.observe.sanitize.objects import FIRST, Objects
from warploom.observe.sanitize.products import Products
from warploom.observe.sanitize.report import Report
from warploom.observe.sanitize.rules import rules
from warploom.observe.sanitize.shadow import Shadow
from warploom.observe.sanitize.transfers import Transfers
from warploom.observe.sanitize.unwritten import Unwritten

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Emulator
    from warploom.emulator.memory import Location

Array = NDArray[Any]
Act = Callable[[Any, Any], None]
Key = tuple[str, int, int, int]  # memory, address, level of scope, and whose at that level

CTA, CLUSTER, GPU = 0, 1, 2  # levels of scope
_ENDS = {"emulator.deadlock": "sanitize.deadlock", "emulator.aligned": "sanitize.barrier/divergence"}
_FENCES = frozenset({"fence", "membar"})
_ORDERED = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"})


def _order_of(words: Sequence[str]) -> tuple[bool, bool, int]:
    """Whether an instruction acquires, whether it releases, and the level of its scope."""
    both = "acq_rel" in words or words[0] in _FENCES
    level = CTA if "cta" in words else CLUSTER if "cluster" in words else GPU
    return both or "acquire" in words, both or "release" in words, level


class Sanitizer(Watcher):
    """A watcher (emulator.watch) for one launch."""

    emulator: Emulator
    clocks: Clocks
    shadow: Shadow
    objects: Objects
    products: Products
    transfers: Transfers
    lifetimes: Lifetimes

    def __init__(self) -> None:
        self.report = Report()
        self.muted = False  # the machine does what was already seen
        self.atomic = False
        self._started = False
        self._waves = 0
        self._strong: list[bool] = []
        self._acts: dict[tuple[str, str], Callable[[int, Act], Act]] = {
            ("async_copy", "cp_async"): self._thread_copy,
            ("async_copy", "commit_group"): self._before(self._commit_copies),
            ("async_copy", "wait_group"): self._before(self._wait_copies),
            ("async_copy", "wait_all"): self._before(self._wait_all_copies),
            ("async_copy", "mbarrier_arrive"): self._copy_arrival,
            ("bulk", "commit_group"): self._before(self._commit_bulk),
            ("bulk", "wait_group"): self._before(self._wait_bulk),
            ("warp", "bar"): self._before(self._meet),
            ("tensormap", "cp_fenceproxy"): self._publish_map,
            ("barrier", "fence_proxy_acquire"): self._before(self._acquire_map),
            ("barrier", "fence"): self._before(self._fence),
            ("barrier", "membar"): self._before(self._fence),
            ("barrier", "fence_restricted"): self._before(self._fence),
            ("barrier", "fence_proxy"): self._before(self._proxy_fence),
            ("barrier", "fence_proxy_release"): self._before(self._proxy_fence),
            ("wgmma", "fence"): self._before(self._product_fence),
            ("wgmma", "commit_group"): self._before(self._commit_products),
            ("wgmma", "wait_group"): self._before(self._wait_products),
            ("memory", "st_async"): self._remote_store,
            ("atomic", "red_async"): self._remote_store,
        }

    # Beginning and end ------------------------------------------------------------------------------------

    def attach(self, emulator: Emulator) -> None:
        """The machine is made."""
        self.emulator = emulator
        steps = emulator.program.steps
        opcodes = [step.instruction.opcode.split(".") for step in steps]
        self._strong = [not _ORDERED.isdisjoint(words) for words in opcodes]
        families = {step.binding.form.family for step in steps}
        self._asynchronous = not families.isdisjoint({"bulk", "tensor", "wgmma"})
        self._mbarriers = FIRST if "mbarrier" in families else 0
        ordered = [set(words) for words in opcodes if words[0] in _FENCES or not _ORDERED.isdisjoint(words)]
        reached = any(step.binding.form.family in ("memory", "atomic") for step in steps)
        self._ordered = reached and any(
            words & _FENCES or words & {"acquire", "release", "acq_rel"}
            for words in ordered
            if "proxy" not in words
        )
        self._orders = [_order_of(words) for words in opcodes]
        self._waits = any("parity" in step.binding.slots for step in steps)
        self.arena = ArenaShadow(emulator, self.report, not families.isdisjoint({"bulk", "tensor"}))
        self.maps = Maps(self)
        self._before_now: set[tuple[str, int]] = set()
        self.products = Products(self)
        self.metadata = Metadata(self)
        self.unwritten = Unwritten(self)
        self._parts = (self.products, self.metadata, self.unwritten)
        self.transfers = Transfers(self)
        self._guesses = guesses(emulator)
        for pc in self._guesses:
            self._strong[pc] = True  # as far as races go

    def wrap(self, pc: int, act: Act, operands: Any) -> Act:
        """Put what is to be seen before an instruction's act."""
        form = self.emulator.program.steps[pc].binding.form
        family, _, part = form.name.partition(".")
        if family == "atomic" and (family, part) not in self._acts:
            return self._atomic(pc, act)
        if (family, part) in self._acts:
            act = self._acts[family, part](pc, act)
        for see in self._sees(pc):
            act = self._then(act, see)
        return act

    def _sees(self, pc: int) -> list[Callable[[Batch, Any], None]]:
        """What looks at the operands of an instruction."""
        return [see for part in self._parts if (see := part.sees(pc)) is not None]

    def wrap_run(self, pc: int, together: Act) -> Act:
        """Put what is to be seen before the act of a run."""
        seen = [(at, self._sees(at)) for at in range(pc, pc + len(self.emulator.linked[pc].run))]
        if not any(sees for _, sees in seen):
            return together

        def whole(batch: Batch, run: Any) -> None:
            for (at, sees), operands in zip(seen, run, strict=True):
                self.emulator.state.pc = at
                for see in sees:
                    see(batch, operands)
            self.emulator.state.pc = pc
            together(batch, run)

        return whole

    def _before(self, see: Callable[[Batch, Any], None]) -> Callable[[int, Act], Act]:
        return lambda pc, act: self._then(act, see)

    @staticmethod
    def _then(act: Act, see: Callable[[Batch, Any], None]) -> Act:
        def both(batch: Batch, operands: Any) -> None:
            see(batch, operands)
            act(batch, operands)

        return both

    def _quiet(self, act: Act, see: Callable[[Batch, Any], None]) -> Act:
        """See an instruction whole, and nothing of what its act does."""

        def both(batch: Batch, operands: Any) -> None:
            see(batch, operands)
            self.muted = True
            try:
                act(batch, operands)
            finally:
                self.muted = False

        return both

    def start(self) -> None:
        """CTAs became resident."""
        self.close()
        self._started = True
        if self._waves:
            self._before_now |= {key[:2] for key in self.clocks.locations if key[2] == GPU}
        self._waves += 1
        self.clocks = Clocks(self.emulator, self._mbarriers, self._ordered)
        self._heard: dict[tuple[Key, tuple[int, int, bool]], int] = {}  # which version of a place
        self._published: dict[tuple[Key, int], int] = {}  # after how many fences
        self.arena.start(self.clocks)
        self.shadow = Shadow(self.emulator, self.clocks, self.report, self._asynchronous)
        self.objects = Objects(self.emulator, self.clocks, self.shadow, self.report, self._waits)
        self.products.start()
        self.unwritten.start()
        self.lifetimes = Lifetimes(self)
        self._syncing = np.full(
            self.emulator.topology.warps, -1, np.int64
        )  # the CTA barrier that each warp waits at
        self._syncing_lanes = np.zeros(self.emulator.topology.warps, np.int32)

    def close(self) -> None:
        """CTAs have ended."""
        if self._started:
            self.objects.close()
        self._started = False

    def stopped(self, found: Sequence[Diagnostic]) -> bool:
        """A trap or a deadlock ends the run, and is a finding."""
        self.close()
        for each in found:
            name = _ENDS.get(each.code)
            if name is not None:
                rule = rules()[name]
                self.report.ended(replace(each, code=rule.code, hint=rule.cure, section=rule.source))
            elif not self.report.told(self.emulator.state.pc):
                self.report.ended(each)
        return True

    def findings(self) -> tuple[Diagnostic, ...]:
        """What was found."""
        self.close()
        return self.report.diagnostics(self.emulator.program)

    # Accesses ---------------------------------------------------------------------------------------------

    def access(
        self, kind: str, location: Location, index: Array, lanes: Array, size: int, values: Array | None
    ) -> None:
        """Threads load or store."""
        if kind == "local" or self.muted or location is not self.emulator.location:
            return
        pc = self.emulator.state.pc
        strong = self._strong[pc] or self.atomic
        if strong and values is None and self.objects.phases is not None:
            self.objects.phases.hear(location.warp)
        if values is None and self.atomic:
            return  # it writes what it reads, and says so next
        if strong and self.clocks.ordered and pc not in self._guesses:
            self._order(kind, location, index, lanes, pc, writing=values is not None)
        if kind == "global":
            self.arena.access(location.warp, index, lanes, size, pc, strong, values)
            return
        if self.emulator.topology.cluster_size > 1:
            self.lifetimes.reach(location.warp, index, lanes, pc)
        if values is None:
            self.shadow.read(location.warp, index, lanes, size, pc, strong)
        else:
            self.objects.check_stores(index, lanes, size, location.warp, pc)
            self.shadow.write(location.warp, index, lanes, size, pc, strong, values)

    def _order(
        self, kind: str, location: Location, index: Array, lanes: Array, pc: int, writing: bool
    ) -> None:
        """Ordered accesses pass on what was released to the places they reach, warp after warp."""
        reading = not writing or self.atomic
        acquires, releases, level = self._orders[pc]
        clocks, emulator = self.clocks, self.emulator
        live = to_bits(emulator.state.splits.live[location.warp])
        for position, warp in enumerate(location.warp.tolist()):
            cta = int(emulator.topology.cta_of[warp])
            whose = (cta, cta // emulator.topology.cluster_size, 0)
            here = np.array([warp])
            for address in np.unique(index[position][lanes[position]]).tolist():
                bits = to_bits((lanes[position] & (index[position] == address))[None])
                full = bits == live[position]
                keys = [(kind, address, each, whose[each]) for each in range(level + 1)]
                if reading:
                    for key in keys:
                        self._hear(key, here, bits, full, acquires)
                    if (kind, address) in self._before_now:
                        clocks.hear(here)
                if writing:
                    for key in keys:
                        self._publish(key, here, bits, full, releases)

    def _hear(self, key: Key, warp: Array, bits: Array, full: Array, acquires: bool) -> None:
        """Lanes of a warp learn what was published to a place, unless they have it all."""
        clocks = self.clocks
        if key not in clocks.locations:
            return
        who = int(warp[0]), int(bits[0]) if acquires else 0, acquires
        version = clocks.versions.get(key, 0)
        if self._heard.get((key, who)) == version:
            return
        self._heard[key, who] = version
        row = np.array([clocks.location(*key)])
        if acquires:
            clocks.acquire(warp, bits, full, row)
        else:
            clocks.copy(clocks.seen(warp, key[2]), row)

    def _publish(self, key: Key, warp: Array, bits: Array, full: Array, releases: bool) -> None:
        """Lanes of a warp publish to a place what they did, or what their last fence covers, unless it is there."""
        clocks = self.clocks
        fenced = clocks.fenced(warp, key[2])
        if not releases:
            fences = int(clocks.fences[warp[0]])
            if fences == 0 or self._published.get((key, int(warp[0]))) == fences:
                return
            self._published[key, int(warp[0])] = fences
        row = np.array([clocks.location(*key)])
        if releases:
            clocks.release(warp, bits, full, row)
        else:
            clocks.copy(row, fenced)
        clocks.versions[key] = clocks.versions.get(key, 0) + 1
        if key[2] == GPU:
            clocks.go_beyond(row)

    def _atomic(self, pc: int, act: Act) -> Act:
        def whole(batch: Batch, operands: Any) -> None:
            self.atomic = True
            try:
                act(batch, operands)
            finally:
                self.atomic = False

        return whole

    def _publish_map(self, pc: int, act: Act) -> Act:
        def whole(batch: Batch, operands: Any) -> None:
            self._meet(batch, operands)
            act(batch, operands)
            self.maps.publish(batch, operands)

        return whole

    def _acquire_map(self, batch: Batch, operands: Any) -> None:
        self.maps.acquire(batch, operands)

    def _remote_store(self, pc: int, act: Act) -> Act:
        return self._quiet(act, self.transfers.remote_store)

    # Copies of single threads -----------------------------------------------------------------------------

    def _thread_copy(self, pc: int, act: Act) -> Act:
        return self._quiet(act, self.transfers.thread_copy)

    def _commit_copies(self, batch: Batch, operands: Any) -> None:
        self.clocks.commit_copies(batch.warp_index)

    def _wait_copies(self, batch: Batch, operands: Any) -> None:
        self.clocks.wait_copies(batch.warp_index, operands.N)

    def _wait_all_copies(self, batch: Batch, operands: Any) -> None:
        self.clocks.commit_copies(batch.warp_index)
        self.clocks.wait_copies(batch.warp_index, 0)

    def _copy_arrival(self, pc: int, act: Act) -> Act:
        return self._quiet(act, self.transfers.copy_arrival)

    # Bulk copies ------------------------------------------------------------------------------------------

    def bulk(self, batch: Batch, request: BulkCopy | TensorCopy) -> None:
        """Lanes issue bulk copies."""
        self.transfers.bulk(batch, request)

    def _commit_bulk(self, batch: Batch, operands: Any) -> None:
        positions, lanes = np.nonzero(batch.active())
        self.clocks.commit_bulk(batch.warp_index[positions], lanes)

    def _wait_bulk(self, batch: Batch, operands: Any) -> None:
        positions, lanes = np.nonzero(batch.active())
        self.clocks.wait_bulk(batch.warp_index[positions], lanes, operands.N, operands.read != "")

    # Multiplications --------------------------------------------------------------------------------------

    def _product_fence(self, batch: Batch, operands: Any) -> None:
        self.products.fence(batch)

    def _commit_products(self, batch: Batch, operands: Any) -> None:
        groups = batch.warp_index[batch.warpgroups()]
        if self.objects.phases is not None:
            self.objects.phases.commit_products(groups, self.clocks.product_groups[groups[:, 0]])
        self.clocks.commit_products(groups)

    def _wait_products(self, batch: Batch, operands: Any) -> None:
        groups, pending = batch.warp_index[batch.warpgroups()], min(operands.N, 1 << 30)
        if self.objects.phases is not None and pending < GROUPS:
            self.objects.phases.end_products(groups, self.clocks.product_groups[groups[:, 0]] - pending)
        self.clocks.wait_products(groups, pending)

    # Synchronisation --------------------------------------------------------------------------------------

    def _meet(self, batch: Batch, operands: Any) -> None:
        self.clocks.synchronise(batch.warp_index)

    def _fence(self, batch: Batch, operands: Any) -> None:
        level = self._orders[self.emulator.state.pc][2]
        self.clocks.fence(batch.warp_index, *self.clocks.lanes(batch), level)

    def _proxy_fence(self, batch: Batch, operands: Any) -> None:
        self.clocks.proxy_fence(batch.warp_index, *self.clocks.lanes(batch))

    def cta_arrive(self, batch: Batch, keys: Array, waits: bool) -> None:
        """Warps arrive at CTA barriers: those that wait will know what all have done."""
        self._check_aligned(batch)
        bits, full = self.clocks.lanes(batch, batch.base)
        warps = batch.warp_index
        self.clocks.release(warps, bits, full, self.clocks.barrier(keys))
        if self.objects.phases is not None:
            self.objects.phases.join_barrier(warps, keys)
        if waits:
            self._syncing[warps] = keys
            self._syncing_lanes[warps] |= bits

    def _check_aligned(self, batch: Batch) -> None:
        """Aligned barriers are executed by whole warps."""
        pc = self.emulator.state.pc
        words = self.emulator.program.steps[pc].instruction.opcode.split(".")
        if words[0] == "barrier" and "aligned" not in words:
            return
        full = self.clocks.lanes(batch)[1]
        if not full.all():
            position = int(np.flatnonzero(~full)[0])
            active = batch.active()[position]
            lanes = int(active.sum())
            left = int(self.emulator.state.splits.live[batch.warp_index[position]].sum())
            place = self.emulator.state.describe(int(batch.warp_index[position]), int(active.argmax()))
            message = f"{lanes} of {left} lanes of a warp execute this aligned barrier; {place}"
            self.report.add("sanitize.barrier/divergence", pc, -1, message)

    def cta_complete(self, keys: Array) -> None:
        """Barriers are complete: who waits at them knows what was published."""
        rows = self.clocks.barrier(keys)
        complete = np.zeros(
            self.clocks.ctas * BARRIERS + 1, np.bool_
        )  # the last is for those that wait nowhere
        complete[keys] = True
        warps = np.flatnonzero(complete[self._syncing])
        if len(warps):
            bits = self._syncing_lanes[warps]
            full = bits == to_bits(self.emulator.state.splits.live[warps])
            self.clocks.acquire(warps, bits, full, self.clocks.barrier(self._syncing[warps]))
            self.clocks.synchronise(warps[full])
            if self.objects.phases is not None:
                self.objects.phases.leave_barrier(warps, self._syncing[warps])
            self._syncing[warps], self._syncing_lanes[warps] = -1, 0
        self.clocks.clear(rows)
        if self.objects.phases is not None:
            self.objects.phases.end_barrier(keys)

    def cluster_arrive(self, batch: Batch, clusters: Array) -> None:
        """Warps arrive at the barriers of their clusters."""
        self._check_aligned(batch)
        warps, rows = batch.warp_index, self.clocks.cluster(clusters)
        bits, full = self.clocks.lanes(batch)
        self.lifetimes.arrive(warps)
        operands = self.emulator.linked[self.emulator.state.pc].operands
        if operands.sem == "relaxed":
            self.clocks.copy(rows, self.clocks.fenced(warps, CLUSTER))
        else:
            self.clocks.release(warps, bits, full, rows)

    def cluster_complete(self, cluster: int) -> None:
        """A cluster's barrier is complete."""
        where = np.array([cluster])
        self.clocks.copy(self.clocks.cluster_done(where), self.clocks.cluster(where))
        if self.objects.phases is not None:
            self.objects.phases.pass_cluster(cluster)
        self.transfers.cluster_complete(cluster)

    def cluster_wait(self, batch: Batch, clusters: Array) -> None:
        """Warps wait at the barriers of their clusters."""
        self.transfers.cluster_wait(batch, clusters)

    # mbarriers --------------------------------------------------------------------------------------------

    def mbarrier(
        self, batch: Batch, index: Array, lanes: Array, action: str, amounts: Array, transactions: Array
    ) -> None:
        """Lanes act on mbarriers."""
        if self.muted or not len(batch.rows):
            return
        self.transfers.mbarrier(batch, index, lanes, action, amounts, transactions)
        if self.objects.phases is not None and action not in ("init", "inval"):
            self.objects.phases.arrive(
                batch.location.warp, self.objects.of(index), lanes, self.emulator.state.pc
            )

    def phases(self, words: Array) -> None:
        """Phases are complete."""
        self.objects.complete(words)

    def waits(self, batch: Batch, index: Array, lanes: Array) -> None:
        """Lanes look at mbarriers."""
        self.objects.check_use(batch, index, lanes, self.emulator.state.pc, "a wait")
        operands = self.emulator.linked[self.emulator.state.pc].operands
        if self.objects.phases is not None and operands.parity:
            asked = np.broadcast_to(batch.read(operands.phase), lanes.shape)
            found = self.objects.of(index)
            self.objects.phases.look(batch.location.warp, found, lanes, asked, self.emulator.state.pc)

    def waited(self, batch: Batch, index: Array, lanes: Array, phase: Array, parity: bool) -> None:
        """Lanes found that a phase is complete."""
        self.transfers.waited(batch, index, lanes)
        if self.objects.phases is not None:
            self.objects.phases.know(batch.location.warp, self.objects.of(index), lanes)

    def left(self, warps: Array) -> None:
        """Warps have left the kernel."""
        self.products.left(warps)
        self.lifetimes.left(warps)
