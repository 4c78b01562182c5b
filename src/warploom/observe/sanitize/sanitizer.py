# pyright: reportUnknownMemberType=false
"""Sanitizer: an observer that reports accesses whose order the kernel does not guarantee."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic, UsageError
from warploom.diagnostics.edits import Fix
from warploom.emulator import events
from warploom.emulator.observers import Handler, Observer
from warploom.isa.model import effects
from warploom.observe.sanitize.clock_arrays import CLUSTER, GROUPS
from warploom.observe.sanitize.clocks import Clocks, scope_level, to_bits
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.deadlock_fixes import deadlock_fixes, thread_counts
from warploom.observe.sanitize.edits import delete_guard
from warploom.observe.sanitize.features import find_features, find_unfenced
from warploom.observe.sanitize.findings import join_deadlocks
from warploom.observe.sanitize.global_shadow import GlobalShadow
from warploom.observe.sanitize.lane_reads import LaneReads
from warploom.observe.sanitize.launch_accesses import LaunchAccesses
from warploom.observe.sanitize.lifetimes import Lifetimes
from warploom.observe.sanitize.loaded_stores import LoadedStores
from warploom.observe.sanitize.mbarriers import Mbarriers
from warploom.observe.sanitize.member_masks import MemberMasks
from warploom.observe.sanitize.multiplications import MetadataCheck, Multiplications
from warploom.observe.sanitize.ordered_accesses import OrderedAccesses
from warploom.observe.sanitize.register_counts import RegisterCounts
from warploom.observe.sanitize.report import Report
from warploom.observe.sanitize.rules import rules
from warploom.observe.sanitize.shared_shadow import SharedShadow
from warploom.observe.sanitize.tensor_maps import TensorMaps
from warploom.observe.sanitize.tensor_memory import TensorMemory
from warploom.observe.sanitize.tensor_operands import TensorOperands
from warploom.observe.sanitize.tensor_registers import TensorRegisters
from warploom.observe.sanitize.tile_layouts import TileLayouts
from warploom.observe.sanitize.transfers import Transfers, issue_handlers
from warploom.observe.sanitize.untested_results import untested_results
from warploom.observe.sanitize.unwritten_registers import UnwrittenRegisters
from warploom.observe.sanitize.written_layouts import WrittenLayouts

Array = NDArray[Any]

_DEADLOCK, _NOT_ALIGNED = "emulator.deadlock", "emulator.aligned"
_TENSOR_MEMORY = "emulator.tensor-memory"
_MOST_GROUPS = 1 << 30
MOST_WARPS = 1 << 11  # records of accesses have 11 bits for a warp


class Sanitizer(Observer):
    """Observer that sanitizes one launch.

    `active` has the codes of the rules that are on. None stands for the rules that are on by default. `accesses`
    records the accesses to global memory, for a comparison with other launches. If `records_moments` is set, findings
    have a moment.
    """

    launch: events.Launch
    context: Context
    clocks: Clocks
    shadow: SharedShadow
    mbarriers: Mbarriers
    transfers: Transfers
    lifetimes: Lifetimes
    registers: RegisterCounts
    ordered: OrderedAccesses
    tensor: TensorMemory | None

    def __init__(
        self,
        active: frozenset[str] | None = None,
        accesses: LaunchAccesses | None = None,
        *,
        records_moments: bool = False,
    ) -> None:
        super().__init__()
        self.accesses = accesses
        self._records_moments = records_moments
        self._wave = -1
        self.report = Report(active)
        self._started = False

    # Beginning and end ------------------------------------------------------------------------------------

    def attach(self, launch: events.Launch) -> None:
        """Prepare to sanitize `launch`.

        Errors: UsageError launch.sanitize if too many warps are resident at the same time.
        """
        if launch.topology.warps > MOST_WARPS:
            raise UsageError(
                f"the sanitizer can follow {MOST_WARPS} warps that run at the same time; all {launch.topology.warps} "
                "warps of this cooperative grid do",
                code="launch.sanitize",
            )
        self.launch = launch
        self._features = find_features(launch)
        self._unfenced = find_unfenced(launch)
        self._untested = self.report.untested = untested_results(launch)
        self.global_shadow = GlobalShadow(launch, self.report, self._features.has_bulk_copies)
        self.tensor_maps = TensorMaps(self.global_shadow)
        self.written = WrittenLayouts(launch)
        self.layouts = TileLayouts(self.written)
        self.multiplications = Multiplications(launch, self.layouts)
        self.loaded = LoadedStores(launch, self.multiplications.read_shared)
        self.metadata = MetadataCheck(launch)
        self.masks = MemberMasks(launch)
        self.tensor_registers = TensorRegisters(launch)
        self.unwritten = UnwrittenRegisters(launch)
        self.ordered = OrderedAccesses(launch, self._untested)
        self.reads = LaneReads(launch, {*self.ordered.strong(), *self.loaded.loads}, self._read)
        self.instructions = self._instruction_handlers()
        self.guards = self.unwritten.guard_handlers()
        self.handlers = {
            events.Resident: self._start,
            events.Access: self._access,
            events.Fence: self._fence,
            events.Barrier: self._barrier,
            events.WarpBarrier: self._warp_barrier,
            events.PhaseComplete: self._phase_complete,
            events.Arrive: self._arrive,
            events.PhaseWait: self._phase_wait,
            events.Reads: self.reads.check,
            events.ThreadCopyIssue: self._thread_copy,
            events.CopyIssue: lambda event: self.transfers.bulk(event),  # noqa: PLW0108 - each wave of CTAs has its own
            events.Commit: self._commit,
            events.Wait: self._wait,
            events.Exit: self._exit,
            events.HeapAllocation: lambda event: self.global_shadow.forget(event.start, event.size),
            events.Allocate: lambda event: self.registers.change(event),  # noqa: PLW0108 - each wave of CTAs has its own
        }
        if self._records_moments:
            self.handlers = {**self.handlers, events.BlockStart: self._begin_block}
        if self._features.has_tensor_memory:
            self.handlers = {**self.handlers, **self._tensor_handlers()}
        if (accesses := self.accesses) is not None:
            accesses.attach(launch, self.global_shadow)
            self.handlers = {**self.handlers, **self._recording_handlers(accesses)}

    def _tensor_handlers(self) -> dict[type[events.Event], Handler]:
        """Return handlers of the operations on tensor memory. Each wave of CTAs has its own `self.tensor`."""
        return {
            events.TensorAllocate: lambda event: self.tensor and self.tensor.allocate(event),
            events.TensorIssue: lambda event: self.tensor and self.tensor.issue(event),
            events.TensorTransferIssue: lambda event: self.tensor and self.tensor.transfer(event),
        }

    def _recording_handlers(self, accesses: LaunchAccesses) -> dict[type[events.Event], Handler]:
        """Return handlers that also record accesses to global memory."""
        strong = self.ordered.strong()

        def read(event: events.Reads) -> None:
            accesses.reads(event, strong)
            self.reads.check(event)

        def issue_copies(event: events.CopyIssue) -> None:
            accesses.copy_issue(event)
            self.transfers.bulk(event)

        return {
            events.Reads: read, events.CopyIssue: issue_copies, events.CopyAccess: accesses.copy_access,
            events.GridControl: accesses.control,
        }  # fmt: skip

    def _instruction_handlers(self) -> dict[int, Callable[[events.Execute], None]]:
        checks = (self.unwritten, self.metadata, self.multiplications, self.masks, self.tensor_registers)
        tables = [*(check.handlers() for check in checks), dict.fromkeys(issue_handlers(self.launch), self._issue)]
        found: dict[int, list[Callable[[events.Execute], None]]] = {}
        for table in tables:
            for pc, handler in table.items():
                found.setdefault(pc, []).append(handler)
        return {pc: each[0] if len(each) == 1 else partial(_handle_all, each) for pc, each in found.items()}

    def _begin_block(self, event: events.BlockStart) -> None:
        launch, first = self.launch, event.pc
        self.report.begin_block(
            self._wave, launch.counters.batches, range(first, launch.program.block_end[first])
        )  # fmt: skip

    def _issue(self, event: events.Execute) -> None:
        issue_handlers(self.launch)[event.pc](self.transfers, event)

    def _start(self, event: events.Resident) -> None:
        self._close()
        self._started = True
        self._wave += 1
        launch, report, features = self.launch, self.report, self._features
        self.clocks = Clocks(launch.topology, event.splits, features.room, self.ordered.orders_clusters)
        self.context = context = Context(launch, event, self.clocks, report)
        self.ordered.start(context)
        self.global_shadow.start(context)
        self.tensor_maps.start(context)
        if self.accesses is not None:
            self.accesses.start(context)
        self.shadow = SharedShadow(
            context, features.is_asynchronous, features.has_tensor_memory and launch.topology.cluster_size % 2 == 0,
            features.granule, self.multiplications.read_shared,
            lambda number: self.mbarriers.name_of(number),  # noqa: PLW0108 - created below
        )  # fmt: skip
        self.reads.start(context, self.shadow, self.global_shadow)
        self.mbarriers = Mbarriers(context, self.shadow, features.waits_for_phases)
        self.aliasing = self.mbarriers.aliasing
        self.written.start(self.shadow)
        self.layouts.start(context)
        self.loaded.start(context)
        self.multiplications.start(context, self.shadow)
        self.metadata.start(context)
        self.masks.start(context)
        self.unwritten.start(context)
        self.lifetimes = Lifetimes(context)
        self.registers = RegisterCounts(context)
        self.transfers = Transfers(
            context, self.shadow, self.global_shadow, self.mbarriers, self.lifetimes, self.tensor_maps, self.written
        )
        self.tensor = None
        if features.has_tensor_memory:
            operands = TensorOperands(context, self.shadow, self.mbarriers, self.lifetimes)
            self.tensor = TensorMemory(context, self.mbarriers, operands, self.lifetimes)
        self.tensor_registers.start(context, self.tensor)
        warps = launch.topology.warps
        self._barrier_of = np.full(warps, -1, np.int64)  # key of the CTA barrier at which each warp waits, -1 for none
        self._lanes_at = np.zeros(warps, np.int32)  # lanes of the warp that wait there
        self._cluster_waiting: dict[int, list[tuple[Array, Array]]] = {}
        self._cluster_phase = np.zeros(launch.topology.ctas // launch.topology.cluster_size, np.int64)

    def _close(self, awaited: Collection[int] | None = None, lacks_registers: bool = False) -> None:
        """Complete the checks of a wave of CTAs.

        After a deadlock, `awaited` has the shared addresses of the mbarriers for which warps wait. `lacks_registers` is
        set if warps wait for free registers of their pool.
        """
        if self._started:
            self.mbarriers.close(awaited)
            if not lacks_registers:
                self.registers.close()
            if awaited is None:
                self.shadow.close()
        self._started = False

    def stopped(self, found: Sequence[Diagnostic], pc: int) -> None:
        """Report the trap or deadlock that ended the run at `pc`."""
        deadlocks = [each for each in found if each.code == _DEADLOCK]
        if deadlocks:
            groups = [each.data or {} for each in deadlocks]
            awaited = [each["for"] for each in groups]
            mbarriers = {each["offset"] for each in awaited if each["kind"] == "mbarrier"}
            fixes = deadlock_fixes(
                self.mbarriers, [(each, self._site(found, pc)) for each, found in zip(groups, deadlocks, strict=True)]
            )
            self._close(mbarriers, any(each["kind"] == "registers" for each in awaited))
            self.report.add_end(_as_rule(join_deadlocks(deadlocks), "sanitize.deadlock"), fixes=fixes)
            return
        # After a trap, phases and changes of registers are incomplete for this reason.
        self._started = False
        for each in found:
            site = self._site(each, pc)
            if each.code == _NOT_ALIGNED:
                split = _as_rule(each, "sanitize.barrier/divergence")
                self.report.add_end(split, site, (delete_guard(self.launch.program, site),))
            else:
                if each.code == _TENSOR_MEMORY and self.tensor is not None:
                    each = replace(each, notes=(*each.notes, *self.tensor.notes()))
                self.report.add_end(each, site, tuple(self._trap_fixes(site)))

    def _trap_fixes(self, pc: int) -> Iterator[Fix]:
        """Return fixes of a trap at a CTA barrier."""
        barrier = self.launch.program.steps[pc].binding.form.effect(effects.Barrier)
        return thread_counts(self.launch.program, pc) if barrier is not None else iter(())

    def _site(self, found: Diagnostic, pc: int) -> int:
        """Return the instruction that caused a trap.

        An asynchronous operation may trap while a later instruction `pc` executes.
        """
        steps = self.launch.program.steps
        return next((k for k, step in enumerate(steps) if found.span and step.instruction.span == found.span), pc)

    def findings(self) -> tuple[Diagnostic, ...]:
        """Return the findings as diagnostics."""
        self._close()
        return self.report.diagnostics(self.launch.program)

    # Accesses ---------------------------------------------------------------------------------------------

    def _access(self, event: events.Access) -> None:
        """Check loads, stores and atomics of lanes."""
        if event.space == "local":
            return
        pc, warps, index, lanes, size = event.pc, event.location.warp, event.index, event.lanes, event.size
        strength = self.ordered.strength(pc)
        stored = event.values if event.kind == "write" else None
        reads = event.kind != "write"
        if strength and reads and self.aliasing is not None:
            self.aliasing.acquire_all(warps)
        if strength:
            self.ordered.access(event)
        if event.space == "global":
            if self.accesses is not None:
                self.accesses.access(event, strength)
            self.loaded.load(event)
            self.global_shadow.access(warps, index, lanes, size, pc, strength, event.kind, event.values)
            return
        if self.launch.topology.cluster_size > 1:
            self.lifetimes.reach(warps, index, lanes, pc)
        if reads:
            self.shadow.read(warps, index, lanes, size, pc, strength)
        if event.kind != "read":
            self.mbarriers.check_stores(index, lanes, size, warps, pc)
            sources, fenced = self.loaded.sources(event), pc not in self._unfenced
            self.shadow.write(warps, index, lanes, size, pc, strength, stored, sources=sources, fenced=fenced)

    def _read(self, event: events.Access | events.ThreadCopyIssue) -> None:
        if isinstance(event, events.Access):
            self._access(event)
        else:
            self._thread_copy(event)

    def _thread_copy(self, event: events.ThreadCopyIssue) -> None:
        if self.accesses is not None:
            self.accesses.thread_copy(event)
        self.transfers.thread_copy(event)

    # Groups of asynchronous operations --------------------------------------------------------------------

    def _commit(self, event: events.Commit) -> None:
        batch = event.batch
        if event.group == "copy":
            self.clocks.commit_copies(batch.warp_index, batch.active())
        elif event.group == "bulk":
            positions, lanes = np.nonzero(batch.active())
            self.clocks.commit_bulk(batch.warp_index[positions], lanes)
        elif event.group == "multiplication":
            groups = batch.warp_index[batch.warpgroups()]
            numbers = self.clocks.multiplication_groups[groups[:, 0]]
            if self.aliasing is not None:
                self.aliasing.commit_multiplications(groups, numbers)
            self.clocks.commit_multiplications(groups)

    def _wait(self, event: events.Wait) -> None:
        batch = event.batch
        if event.group == "copy":
            self.clocks.wait_copies(batch.warp_index, batch.active(), event.pending)
        elif event.group == "bulk":
            positions, lanes = np.nonzero(batch.active())
            warps = batch.warp_index[positions]
            self.clocks.wait_bulk(warps, lanes, event.pending, event.reads_only)
        elif event.group == "multiplication":
            groups, pending = batch.warp_index[batch.warpgroups()], min(event.pending, _MOST_GROUPS)
            if pending < GROUPS:
                numbers = self.clocks.multiplication_groups[groups[:, 0]] - pending
                if self.aliasing is not None:
                    self.aliasing.complete_multiplications(groups, numbers)
            self.clocks.wait_multiplications(groups, pending)
        elif self.tensor is not None:
            self.tensor.wait(event)

    # Fences and barriers ----------------------------------------------------------------------------------

    def _fence(self, event: events.Fence) -> None:
        batch, effect = event.batch, event.effect
        slots = self.launch.program.steps[event.pc].binding.slots
        if effect.kind == "registers":
            self.multiplications.fence(batch.warp_index)
        elif effect.kind == "tensor memory":
            if self.tensor is not None:
                self.tensor.fence(event)
        elif effect.kind == "memory":
            level = scope_level(effects.word(effect.scope, slots))
            self.clocks.fence(batch.warp_index, *self.clocks.lanes(batch), level)
        elif effects.word(effect.proxy, slots) == "tensormap":
            acquires = effects.word(effect.order, slots) == "acquire"
            (self.tensor_maps.acquire if acquires else self.tensor_maps.release)(event)
        elif effects.word(effect.proxy, slots) == "async":
            lanes, full = self.clocks.lanes(batch)
            self.clocks.proxy_fence(batch.warp_index, lanes, full, effects.word(effect.space, slots))

    def _barrier(self, event: events.Barrier) -> None:
        if event.level == "cta":
            self._arrive_at_cta(event)
        elif event.arrives:
            self._arrive_at_cluster(event)
        else:
            self._wait_for_cluster(event)

    def _warp_barrier(self, event: events.WarpBarrier) -> None:
        bits = to_bits(event.lanes)
        full = bits == self.clocks.live(event.warps)
        if np.count_nonzero(full) == len(full):
            self.clocks.synchronise(event.warps)
            return
        self.clocks.synchronise(event.warps[full])
        self.clocks.synchronise_lanes(event.warps[~full], bits[~full])

    def _arrive_at_cta(self, event: events.Barrier) -> None:
        self._check_aligned(event)
        batch, keys = event.batch, event.keys
        bits, full = self.clocks.lanes(batch, batch.base)
        warps = batch.warp_index
        self.clocks.release(warps, bits, full, self.clocks.barrier(keys))
        if self.tensor is not None:
            self.tensor.release(warps.tolist(), event.pc)
        if self.aliasing is not None:
            self.aliasing.join_barriers(warps, keys)
        if np.count_nonzero(event.waits):
            self._barrier_of[warps] = keys
            self._lanes_at[warps] |= bits

    def _check_aligned(self, event: events.Barrier) -> None:
        """Report aligned barrier instructions that only some lanes of a warp execute."""
        batch = event.batch
        if not self._features.synchronisation[event.pc].aligned:
            return
        full = self.clocks.lanes(batch)[1]
        if np.count_nonzero(full) < len(full):
            position = int(np.flatnonzero(~full)[0])
            warp, active = int(batch.warp_index[position]), batch.active()[position]
            live = int(self.context.splits.live[warp].sum())
            message = (
                f"{int(active.sum())} of {live} lanes of a warp execute this aligned barrier; "
                f"{self.context.describe(warp, int(active.argmax()))}"
            )
            fix = delete_guard(self.context.program, event.pc)
            self.report.add("sanitize.barrier/divergence", event.pc, -1, message, fixes=(fix,))

    def _complete_cta(self, keys: Array, pc: int) -> None:
        warps, waited = self.clocks.leave_barriers(keys, self._barrier_of, self._lanes_at)
        if self.aliasing is not None:
            self.aliasing.leave_barriers(warps, waited, keys)
        if self.tensor is not None:
            self.tensor.acquire(warps.tolist(), pc)

    def _arrive_at_cluster(self, event: events.Barrier) -> None:
        self._check_aligned(event)
        batch, clocks = event.batch, self.clocks
        warps, rows = batch.warp_index, clocks.cluster(event.keys)
        bits, full = clocks.lanes(batch)
        self.lifetimes.arrive(warps)
        if self.tensor is not None:
            self.tensor.release(warps.tolist(), event.pc)
        if self._features.synchronisation[event.pc].relaxed:
            clocks.copy(rows, clocks.fenced(warps, CLUSTER))
        else:
            clocks.release(warps, bits, full, rows)

    def _wait_for_cluster(self, event: events.Barrier) -> None:
        warps, bits = event.batch.warp_index, self.clocks.lanes(event.batch)[0]
        if self.tensor is not None:
            self.tensor.acquire(warps.tolist(), event.pc)
        clusters, waits = event.keys, event.waits
        for cluster in np.unique(clusters[waits]).tolist():
            here = waits & (clusters == cluster)
            self._cluster_waiting.setdefault(cluster, []).append((warps[here], bits[here]))
        for cluster in np.unique(clusters[~waits]).tolist():
            here = ~waits & (clusters == cluster)
            self._pass_cluster(cluster, warps[here], bits[here])

    def _complete_cluster(self, cluster: int) -> None:
        where = np.array([cluster])
        self._cluster_phase[cluster] += 1
        self.clocks.copy(self.clocks.cluster_done(where), self.clocks.cluster(where))
        if self.aliasing is not None:
            self.aliasing.pass_cluster(cluster)
        for warps, bits in self._cluster_waiting.pop(cluster, ()):
            self._pass_cluster(cluster, warps, bits)

    def _pass_cluster(self, cluster: int, warps: Array, bits: Array) -> None:
        clocks = self.clocks
        rows = clocks.cluster_done(np.full(len(warps), cluster))
        full = bits == self.clocks.live(warps)
        self.lifetimes.pass_barrier(warps, int(self._cluster_phase[cluster]))
        clocks.acquire(warps, bits, full, rows)
        clocks.synchronise(warps[full])

    # mbarriers --------------------------------------------------------------------------------------------

    def _arrive(self, event: events.Arrive) -> None:
        if event.asynchronous or event.action == "increment":
            return
        if self.tensor is not None and event.action.startswith("arrive"):
            self.tensor.release(event.batch.warp_index.tolist(), event.pc)
        synchronisation = self._features.synchronisation[event.pc]
        self.transfers.act(event, synchronisation.relaxed, synchronisation.narrow)

    def _phase_wait(self, event: events.PhaseWait) -> None:
        batch, pc, mbarriers = event.batch, event.pc, self.mbarriers
        mbarriers.check_use(batch, event.index, event.lanes, pc, "a wait")
        warps, found = batch.location.warp, mbarriers.of(event.index)
        phase = event.phase
        if phase.shape != event.lanes.shape:
            phase = np.broadcast_to(phase, event.lanes.shape)
        mbarriers.test(warps, found, event.lanes, phase, event.by_parity, pc)
        if pc in self._untested:
            return  # an unsuccessful wait would have let the warp continue, too
        if self.tensor is not None:
            self.tensor.acquire(warps[event.complete.any(axis=1)].tolist(), pc)
        synchronisation = self._features.synchronisation[pc]
        self.transfers.wait(event, found, synchronisation.relaxed, synchronisation.narrow)
        if self.aliasing is not None:
            self.aliasing.know(warps, found, event.complete)

    def _phase_complete(self, event: events.PhaseComplete) -> None:
        if event.level == "cta":
            self._complete_cta(event.keys, event.pc)
        elif event.level == "cluster":
            for cluster in event.keys.tolist():
                self._complete_cluster(cluster)
        else:
            self.mbarriers.complete(event.keys)

    def _exit(self, event: events.Exit) -> None:
        self.multiplications.exit(event.warps)
        self.lifetimes.exit(event.warps)
        if self.tensor is not None:
            self.tensor.exit(event.warps)


def _as_rule(found: Diagnostic, code: str) -> Diagnostic:
    """Return a diagnostic of the emulator as a finding of the rule `code`."""
    rule = rules()[code]
    return replace(found, code=code, hint=rule.cure, section=rule.source)


def _handle_all(handlers: Sequence[Callable[[events.Execute], None]], event: events.Execute) -> None:
    for each in handlers:
        each(event)
