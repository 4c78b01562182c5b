"""Native execution of sequences of instructions for the warps of a batch."""

from collections.abc import Callable, Iterable, Sequence
from ctypes import addressof, c_char, c_void_p, cast
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.barriers import BARRIERS
from warploom.emulator.batch import Batch
from warploom.emulator.events import Reads
from warploom.emulator.grid import Topology
from warploom.emulator.link import Linked
from warploom.emulator.native.accesses import FIELDS, Accesses, ReadTable, read_of
from warploom.emulator.native.actions import Action, from_text
from warploom.emulator.native.code_table import (
    BRANCH,
    EXECUTE_EVENT,
    EXIT,
    FLUSHED,
    GUARD_EVENT,
    INSTRUCTION,
    READ_EVENT,
    WHOLE_WARPGROUPS,
    WHOLE_WARPS,
)
from warploom.emulator.native.context import Field, Moment, Stop
from warploom.emulator.native.library import REPORT, library
from warploom.emulator.native.observed import Observed
from warploom.emulator.native.operands import LANES, RECORD, Records, varying
from warploom.emulator.native.runs import Runs
from warploom.emulator.native.wanted import Wanted, needs_probe
from warploom.emulator.native.watch import Watch
from warploom.emulator.program import Program
from warploom.emulator.shared_memory import Location, SharedMemory
from warploom.emulator.state import Counters, Executions, State
from warploom.emulator.times import Times
from warploom.emulator.warp_splits import ALL_LANES, unpack
from warploom.emulator.warps import Components
from warploom.isa.model import effects
from warploom.isa.model.form import Form
from warploom.isa.model.semantics import Lanes

_SPLITS = ("status", "pc", "epoch", "warp", "bits", "point", "calls", "awaited", "points")
"""Arrays of `WarpSplits`, in the order of their fields in the context."""
_BYTES = c_char * 0
_STOPS = tuple(Stop)
_REQUIRED = {"warp": WHOLE_WARPS, "warpgroup": WHOLE_WARPGROUPS}
"""Bits of the field `requires` by `Linked.reconverges`."""
_PIECE = 500
"""Number of instructions whose native functions are prepared together.

Most kernels are shorter, so that the functions they lack are compiled together. Of a longer kernel, a launch may need
only parts.
"""
Rows = NDArray[np.intp]
BatchFactory = Callable[[Rows, Rows, Lanes | None], Batch]


class NativeEngine:
    """Native functions for the instructions of one launch.

    `is_native[pc]` is True if the instruction has a native function that native code may call. It is False for a
    branch, because branches need no function of their own. `prepare` sets it. `times` are the times of the present
    launch.

    `report(pc, moment)` creates the events of the instructions that native code executes, and `report_reads(event)`
    passes on an event. `actions[pc]` are the actions of the instruction that need events. If `actions[pc]` is None,
    `Reporter` also calls the semantics function, which creates the events.
    """

    def __init__(
        self, program: Program, linked: Sequence[Linked], state: State, arch: str, is_eager: bool, times: Times
    ) -> None:
        self.state = state
        self.linked = linked
        self.is_eager = is_eager
        self.library = library(times)
        self.code = np.zeros(len(linked), INSTRUCTION)
        self.counts = np.zeros(len(linked), np.int64)
        self._families = sorted({each.family for each in linked})
        numbers = {family: number for number, family in enumerate(self._families)}
        self._family_of = np.array([numbers[each.family] for each in linked], np.int64)
        self.code["point"], self.code["length"] = program.reconvergence, 1
        self._rows = np.zeros(0, np.int64)
        self._seen = np.zeros(state.topology.warps, np.int64)
        self._status: NDArray[Any] | None = None  # `WarpSplits.status` and `points` whose addresses are in the context
        self._points: NDArray[Any] | None = None
        self._windows: NDArray[np.int64] = np.zeros((0, 3), np.int64)
        self._shared = 0  # host address of shared memory, which the distances in `_windows` include
        self._arrived: NDArray[np.int64] | None = None  # `Barriers.arrived` of the present components
        self._map_table: NDArray[Any] = np.zeros(0, np.int64)
        self._tally = np.zeros(state.topology.ctas * BARRIERS, np.int64)
        self._members = np.ascontiguousarray(state.topology.warpgroup_members())
        context = np.zeros(len(Field), np.int64)
        self._address = _address(context)
        self._fields = context.data  # NumPy takes three times as long for access to a field
        fixed = {
            Field.CODE: self.code, Field.COUNTS: self.counts, Field.SEEN: self._seen, Field.RECENT: state.recent,
            Field.CARRY: state.carry, Field.CTA_OF: state.topology.cta_of, Field.LIVE_WARPS: state.live_warps,
            Field.TALLY: self._tally, Field.CLUSTER_OF: state.topology.cluster_of,
            Field.WARPGROUP_OF: state.topology.warpgroup_of, Field.WARPGROUP_MEMBERS: self._members,
        }  # fmt: skip
        for field, array in fixed.items():
            self._fields[field] = _address(array)
        self._fields[Field.CTA_THREADS] = state.topology.warps_per_cta * LANES
        self._fields[Field.CLUSTER_SIZE] = state.topology.cluster_size
        self._wanted: dict[int, Wanted] = {}
        self.report: Callable[[int, int], None] | None = None
        self.report_reads: Callable[[Reads], None] | None = None
        self.actions: dict[int, tuple[Action, ...] | None] = {}
        self.accesses = Accesses.of(0)
        self.first_access = 0  # row of the first access of the instruction that is reported
        self._read_table = ReadTable(len(linked))
        self._callback = REPORT(self._call_report)
        self._fields[Field.REPORT] = cast(self._callback, c_void_p).value or 0
        self._error: BaseException | None = None
        self._batch: Batch | None = None
        self._batch_number = -1  # number of the batch `_batch`
        self._location: Location | None = None
        self._location_number = -1  # number of the batch of `_location`
        self._selects = False  # True while native code selects batches, and divides warp splits
        self._callback_seconds = 0.0
        self._records: list[Records] = []
        self._tables: list[tuple[Records, int, Any]] = []
        self._runs = Runs(self.library, self.code, arch, is_eager=is_eager)
        self.program = program
        self._arch = arch
        self.times = times
        self.code["block_end"] = program.block_end
        self._functions = np.zeros(len(linked), np.uint64)
        self._observed = Observed()
        self._stops = frozenset[int]()
        self._is_prepared = bytearray(len(linked))
        self.is_native = [False] * len(linked)
        self.prepare(program.entry)

    def prepare(self, pc: int) -> None:
        """Load or compile the native functions of the block at `pc` and of the blocks after it.

        The last block is the one with which the number of instructions reaches `_PIECE`. Before this call, native code
        stops at the first instruction of the block.
        """
        if self._is_prepared[pc]:
            return
        times, began, before = self.times, perf_counter(), self.times.preparation
        first = end = pc
        while end < len(self.linked) and end < first + _PIECE and not self._is_prepared[end]:
            end = self.program.block_end[end]
        self._link(range(first, end))
        self._is_prepared[first:end] = bytes([1]) * (end - first)
        self._activate(range(first, end))
        times.link += perf_counter() - began - (times.preparation - before)

    def _link(self, pcs: range) -> None:
        """Write the table entries of the instructions at `pcs`."""
        linked, code, steps = self.linked, self.code, self.program.steps
        code["requires"][pcs.start : pcs.stop] = [FLUSHED * linked[pc].flushes for pc in pcs]
        described: dict[int, tuple[Wanted, list[Any]]] = {}
        for pc in pcs:
            each, form = linked[pc], steps[pc].binding.form
            if form.execution is not None and each.act is form.execution and self._allows(each, form):
                found = self.library.describe(form, each.operands, self._arch)
                if found is not None:
                    described[pc] = found
        self.library.require({wanted.name: wanted for wanted, _ in described.values()}, self.times)
        kinds = {wanted.name: self.library.kind(wanted.name) for wanted, _ in described.values()}
        addresses = {name: self.library.address(name) for name, kind in kinds.items() if kind != "none"}
        described = {pc: found for pc, found in described.items() if found[0].name in addresses}
        operands = [value for _, values in described.values() for value in values]
        records = Records(np.zeros(len(operands), RECORD))
        records.fill(0, operands)
        self._records.append(records)
        self._tables += [(records, number, operands[number]) for number in varying(operands)]
        address = _address(records.table)
        for pc, (wanted, values) in described.items():
            self._wanted[pc] = wanted
            entry = code[pc]
            entry["function"], entry["records"] = addresses[wanted.name], address
            requires = WHOLE_WARPS if kinds[wanted.name] == "converged" else 0
            entry["requires"] |= _REQUIRED.get(linked[pc].reconverges, requires)
            address += len(values) * RECORD.itemsize
            self._link_guard(pc)
        for pc in pcs:
            each, form = linked[pc], steps[pc].binding.form
            if each.run is not None:
                began = perf_counter()
                self._runs.add(pc, each.run)
                self.times.load += perf_counter() - began
            if form.control == "jump" and isinstance(target := getattr(each.operands, "tgt", None), int):
                code["function"][pc], code["target"][pc] = BRANCH, target
                self._link_guard(pc)
            elif form.control in ("return", "exit") and each.guard is None:
                code["function"][pc] = EXIT

    def link_executed(self, pc: int, batch: Batch) -> None:
        """Link the run of multiplications at `pc` after the interpreter has executed it for a batch."""
        began = perf_counter()
        if linked := self._runs.link_executed(pc, batch):
            self._activate(linked)
            self.times.load += perf_counter() - began

    def _activate(self, pcs: range) -> None:
        """Let native code use the table entries of the instructions at `pcs`, which have been linked."""
        self._functions[pcs.start : pcs.stop] = self.code["function"][pcs.start : pcs.stop]
        self._observe(pcs)

    def _allows(self, each: Linked, form: Form) -> bool:
        """Return True if this launch allows native execution of an instruction.

        The interpreter executes branches, calls, returns, and guarded instructions that all lanes of a warp execute
        together. It also executes asynchronous instructions unless the schedule is "eager".
        """
        if form.control or (each.guard is not None and (each.reconverges or each.skips_idle)):
            return False
        return self.is_eager or not form.is_asynchronous

    def _link_guard(self, pc: int) -> None:
        guard, entry = self.linked[pc].guard, self.code[pc]
        if guard is not None:
            row = guard.file[guard.index]
            entry["guard"], entry["guard_stride"] = _address(row), row.strides[0]
            entry["negated"] = self.linked[pc].negated

    # Events -----------------------------------------------------------------------------------------------

    def observe(self, observed: Observed) -> None:
        """Select the instructions that create events.

        The interpreter executes those of them whose events native code cannot create.
        """
        if observed == self._observed:
            return
        self._observed = observed
        self._allocate_accesses()
        self._fields[Field.REPORTS_BLOCKS] = observed.blocks
        self.actions = {}
        self._observe(range(len(self.code)))

    def stop_at(self, pcs: frozenset[int]) -> None:
        """Let the interpreter execute the instructions at `pcs`, and the runs that contain them."""
        changed, self._stops, ends = self._stops ^ pcs, pcs, self.program.block_end
        for end in {ends[pc] for pc in changed}:
            first = end - 1
            while first and ends[first - 1] == end:
                first -= 1
            self._observe(range(first, end))

    def _observe(self, pcs: range) -> None:
        """Write the table entries of the instructions at `pcs` that depend on observers and on stops."""
        observed, code, part = self._observed, self.code, slice(pcs.start, pcs.stop)
        code["function"][part], code["probe"][part], code["events"][part] = self._functions[part], 0, 0
        chosen = [pc for pc in observed.forms | observed.instructions | observed.guards if pc in pcs]
        probes = self._find_probes(chosen)
        for pc in chosen:
            executes = pc in observed.forms or pc in observed.instructions
            if (first := self._runs.first.get(pc)) is not None:
                self._observe_run(first, pc)
                continue
            if executes and pc not in self.actions:
                code["function"][pc] = 0
                continue
            code["probe"][pc] = probes.get(pc, 0)
            is_guarded = pc in observed.guards and self.linked[pc].guard is not None
            read = None if is_guarded or pc in observed.instructions else read_of(self.actions.get(pc), observed.issues)
            if read is None:
                code["events"][pc] = executes * EXECUTE_EVENT + is_guarded * GUARD_EVENT
            else:
                code["events"][pc], code["accesses"][pc] = READ_EVENT, self._read_table.add(pc, read)
        for pc in self._stops:
            if pc in pcs:
                code["function"][pc] = code["function"][self._runs.first.get(pc, pc)] = 0
        self.is_native[part] = (code["function"][part] > EXIT).tolist()
        self._count_lanewise(pcs)

    def _count_lanewise(self, pcs: range) -> None:
        """Write the field `lanewise` of the instructions at `pcs`."""
        code, steps, block_end, part = self.code, self.program.steps, self.program.block_end, slice(pcs.start, pcs.stop)
        conditional = (code["events"][part] != 0) | (code["requires"][part] != 0) | (code["guard"][part] != 0)
        is_free = ((code["function"][part] > EXIT) & ~conditional).tolist()
        counts: list[int] = []
        count = int(code["lanewise"][pcs.stop]) if pcs.stop < len(code) else 0
        for pc in reversed(pcs):
            following = count if pc + 1 < block_end[pc] else 0
            count = following + 1 if is_free[pc - pcs.start] and steps[pc].binding.form.is_lanewise else 0
            counts.append(count)
        code["lanewise"][part] = counts[::-1]

    def _observe_run(self, first: int, pc: int) -> None:
        """Select the events of the instruction at `pc`, which belongs to the run that starts at `first`."""
        entry, probe = self.code[first], self._runs.probes.get(first, 0)
        if pc in self._observed.forms or not probe:
            entry["function"] = 0
        entry["events"], entry["probe"] = EXECUTE_EVENT, probe
        self.actions[first] = ()

    def forget_counts(self) -> None:
        """Drop the numbers of executed instructions that `count` has not added to the statistics."""
        self._fields[Field.MACS] = 0
        self.counts.fill(0)

    def end_launch(self) -> None:
        """Drop the references to the objects of the launch."""
        self.report = self.report_reads = self._batch = None

    def _find_probes(self, pcs: Iterable[int]) -> dict[int, int]:
        """Return the addresses of the probes of instructions.

        Set `actions[pc]` for each instruction whose events native code can create.
        """
        wanted: dict[int, Wanted] = {}
        for pc in pcs:
            if (each := self._wanted.get(pc)) is not None:
                if any(map(needs_probe, each.form.effects)):
                    wanted[pc] = replace(each, name=f"{each.name}.probe", is_probe=True)
                else:
                    kinds = effects.Commit, effects.Wait, effects.Barrier
                    has_events = any(isinstance(effect, kinds) for effect in each.form.effects)
                    self.actions[pc] = None if has_events else ()
        self.library.require({each.name: each for each in wanted.values()}, self.times)
        found: dict[int, int] = {}
        for pc, each in wanted.items():
            if (kind := self.library.kind(each.name)) != "none":
                self.actions[pc], found[pc] = from_text(kind), self.library.address(each.name)
        return found

    def _call_report(self, pc: int, moment: int) -> int:
        """Call `report`. Return 1 if native code must stop because of an error."""
        began, fields, splits = perf_counter(), self._fields, self.state.splits
        if self._selects:
            splits.extra_slots, splits.open_points = fields[Field.EXTRA_SLOTS], fields[Field.OPEN_POINTS]
            self.state.counters.batches = fields[Field.BATCHES]
        try:
            assert self.report is not None
            self.first_access = fields[Field.RECORDED]
            self._report_reads()
            if moment != Moment.READS:
                self.report(pc, moment)
        except BaseException as error:  # noqa: BLE001 - `_call` raises it again
            self._error = error
        self._callback_seconds += perf_counter() - began
        return int(self._error is not None)

    def _report_reads(self) -> None:
        """Report the recorded reads."""
        fields = self._fields
        if reads := fields[Field.READ_COUNT]:
            rows, fields[Field.READ_COUNT], fields[Field.RECORDED] = fields[Field.RECORDED], 0, 0
            if self.report_reads is not None:
                self.report_reads(self._read_table.event(self.accesses, reads, rows, self.state.topology.cta_of))

    def length(self, pc: int) -> int:
        """Return the number of instructions that the native function at `pc` executes."""
        return int(self.code["length"][pc])

    def batch(self, make: BatchFactory) -> Batch:
        """Return the executing batch, with all lanes of its warp splits. `make` creates it."""
        number = self._fields[Field.BATCHES]
        count = self._fields[Field.COUNT]  # smaller after native code has suspended warp splits of the batch
        if self._batch is None or self._batch_number != number or self._batch.count != count:
            bits = self._masks[:count]
            mask = None if np.count_nonzero(bits == ALL_LANES) == count else unpack(bits)
            self._batch, self._batch_number = make(self.rows, self._warps[:count].astype(np.intp), mask), number
        return self._batch

    def location(self) -> Location:
        """Return the indices of the warps of the executing batch, and of their CTAs."""
        number, count = self._fields[Field.BATCHES], self._fields[Field.COUNT]
        if self._batch is not None and self._batch_number == number and self._batch.count == count:
            return self._batch.location
        if self._location is None or self._location_number != number or len(self._location.warp) != count:
            warps = self._warps[:count].copy()
            self._location = Location(warps, self.state.topology.cta_of[warps])
            self._location_number = number
        return self._location

    def barrier_keys(self, count: int) -> NDArray[np.int64]:
        """Return the keys of the CTA barriers at which the `count` warps of the batch arrive."""
        return self._keys[:count].copy()

    def refresh(self) -> None:
        """Update the records of the special registers, after a change of the coordinates of the CTAs."""
        for records, number, value in self._tables:
            records.fill(number, [value])

    def allow_multiplications(self, allowed: bool) -> None:
        """Allow or forbid native code to multiply matrices.

        Forbid it for a launch with several workers, because native code calls the arithmetic in one thread.
        """
        self._fields[Field.MULTIPLIES] = allowed

    def count_executions(self, executions: Executions | None) -> None:
        """Set the object that counts executions by warps and by lanes. None disables the counts."""
        self._fields[Field.EXECUTIONS] = 0 if executions is None else _address(executions.counts)

    def start(self, components: Components) -> None:
        """Prepare for a new wave."""
        began = perf_counter()
        if changed := self._runs.start(components):
            for part in changed:
                self._activate(part)
            self.times.load += perf_counter() - began
        memory, barriers, mbarriers = components.memory, components.barriers, components.mbarriers
        arena, shared, fields = memory.arena, memory.shared, self._fields
        self._barriers, self._mbarriers, self._maps = barriers, mbarriers, components.asynchronous.executor.known
        self._accumulators, self._asynchronous = components.accumulators, components.asynchronous
        if barriers.arrived is not self._arrived:
            self._arrived = barriers.arrived
            arrays = {
                Field.ARRIVED: barriers.arrived, Field.EXPECTED: barriers.expected,
                Field.CLUSTER_PHASE: barriers.cluster_phase, Field.CLUSTER_JOINED: barriers.cluster_joined,
                Field.ARRIVAL_SITES: mbarriers.sites, Field.ARRIVAL_LOG: mbarriers.log,
            }  # fmt: skip
            for field, array in arrays.items():
                fields[field] = _address(array)
            fields[Field.LOCAL_STRIDE], fields[Field.LOCAL_BYTES] = memory.local_stride, memory.local_bytes
            fields[Field.SHARED_STRIDE], fields[Field.PARAMETERS] = shared.stride, components.parameters
        if not len(self._windows):
            self._windows = _shared_windows(self.state.topology, shared)
            fields[Field.SHARED_WINDOWS] = _address(self._windows)
        first = _address(shared.bytes)
        if first != self._shared:
            self._windows[:, 2] += first - self._shared
            self._shared = fields[Field.SHARED] = first
        fields[Field.ARENA], fields[Field.SEGMENTS] = _address(arena.bytes), len(arena.starts)
        for field, array in enumerate((arena.starts, arena.ends, arena.state), Field.SEGMENT_STARTS):
            fields[field] = _address(array)
        fields[Field.LOCAL_START] = _address(memory.local)
        self._tally.fill(0)

    def run(self, batch: Batch, first: int, end: int) -> tuple[int, int]:
        """Execute the instructions [first, end) of a batch, up to one that needs the interpreter.

        Suspended warps leave the batch. Return two numbers. The first is the program counter of the first instruction
        that some warps have not executed, or `end`. The second is the number of warps that have already executed this
        instruction.
        """
        count = batch.count
        self._refresh_tables()
        self._reserve(count)
        self._rows[:count] = batch.rows
        self._warps[:count] = batch.warp_index
        splits = self.state.splits
        self._masks[:count] = lanes = splits.bits[batch.rows]
        self._fields[Field.COUNT] = count
        self._fields[Field.WHOLE] = not splits.diverged or bool((lanes == splits.live_bits[batch.warp_index]).all())
        self._batch, self._batch_number, self._selects = batch, self._fields[Field.BATCHES], False
        pc = self._call(lambda: self.library.run(self._address, first, end))
        if self._fields[Field.COUNT] < count:
            batch.retain(np.isin(batch.rows, self.rows))
        return pc, self.executed

    def _call(self, function: Callable[[], int]) -> int:
        """Return the result of native code. Count its time, without the time of the observers."""
        counters, began = self.state.counters, perf_counter()
        found = function()
        self._barriers.uses_clusters = bool(self._fields[Field.USES_CLUSTERS])
        counters.native_seconds += perf_counter() - began - self._callback_seconds
        counters.native_calls += 1
        self._callback_seconds = 0.0
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        self._report_reads()
        return found

    def schedule(self, most: int, watch: Watch, steps: int, budget: int, allows_exits: bool) -> tuple[Stop, int]:
        """Select and execute batches until the interpreter is needed, or `most` batches have been executed.

        Stop under the conditions of `watch`. If the step budget is spent, stop before any batch. `steps` is the number
        of batches of the wave before this call. While warps are diverged, stop when the number of batches of the wave
        is a multiple of `OVERDUE_STEPS`. If `allows_exits` is set, let a warp exit if the exit does not affect other
        warps.

        Return the reason for the stop, and the program counter at which the interpreter continues the batch.
        """
        state, fields = self.state, self._fields
        splits, counters, ticks = state.splits, state.counters, state.grid.ticks
        self._refresh_tables()
        self._seen.fill(-1)
        fields[Field.EXTRA_SLOTS], fields[Field.OPEN_POINTS] = splits.extra_slots, splits.open_points
        fields[Field.FIRST_FREE_SLOT], fields[Field.FIRST_FREE_POINT] = splits.warps, 0
        fields[Field.BATCHES], fields[Field.LAST_BATCH] = counters.batches, counters.batches + most
        fields[Field.DUE], fields[Field.WATCHED], fields[Field.UNWATCHED_LIMIT] = watch.due, watch.pc, watch.limit
        fields[Field.COMPARED], fields[Field.COMPARED_FILES] = _address(watch.table), len(watch.table)
        fields[Field.STEPS], fields[Field.ALLOWS_EXITS], fields[Field.EXITED_CTAS] = steps, allows_exits, 0
        fields[Field.SPENT], fields[Field.BUDGET], fields[Field.TICKS] = counters.spent, budget, ticks
        self._batch, self._location, self._selects = None, None, True
        found = self._call(lambda: self.library.schedule(self._address))
        counters.batches, counters.spent = fields[Field.BATCHES], fields[Field.SPENT]
        splits.extra_slots, splits.open_points = fields[Field.EXTRA_SLOTS], fields[Field.OPEN_POINTS]
        counters.positions += fields[Field.TICKS] - ticks
        state.grid.ticks = fields[Field.TICKS]
        return _STOPS[found & 3], found >> 2

    def _refresh_tables(self) -> None:
        """Update the context fields that point to arrays which the interpreter may have replaced or extended."""
        fields, splits = self._fields, self.state.splits
        if splits.status is not self._status or splits.points is not self._points:
            self._status, self._points = splits.status, splits.points
            self._reserve(len(splits.status))
            for field, name in enumerate(_SPLITS, Field.STATUS):
                fields[field] = _address(getattr(splits, name))
            fields[Field.SPLITS], fields[Field.POINT_COUNT] = len(splits.status), len(splits.points)
            fields[Field.LIVE], fields[Field.WARP_SLOTS] = _address(splits.live_bits), splits.warps
        maps, mbarriers = self._maps, self._mbarriers
        if maps.table is not self._map_table:
            self._map_table = maps.table
            fields[Field.KNOWN_MAPS] = _address(maps.table)
        fields[Field.KNOWN_MAP_COUNT], fields[Field.PLAIN_BARRIERS] = maps.count, self._barriers.permits_native
        fields[Field.USES_CLUSTERS] = self._barriers.uses_clusters
        fields[Field.PLAIN_WAITS] = mbarriers.permits_native
        fields[Field.BLOCKING_WAITS] = mbarriers.permits_native and mbarriers.suspends_at_once
        fields[Field.SUSPENDS] = self.state.on_suspend is None
        fields[Field.KEEPS_MATRICES] = bool(self._accumulators.cached) or self._asynchronous.has_loads

    def count(self, counters: Counters) -> None:
        """Add the instructions that have been executed since the last call to the statistics."""
        found = np.bincount(self._family_of, self.counts, len(self._families)).astype(np.int64).tolist()
        by_family = counters.by_family
        for family, number in zip(self._families, found, strict=True):
            if number:
                by_family[family] = by_family.get(family, 0) + number
        counters.instructions += sum(found)
        counters.macs += self._fields[Field.MACS]
        self.forget_counts()

    @property
    def exited_ctas(self) -> int:
        """Number of CTAs whose last warp has exited in the last call of `schedule`."""
        return self._fields[Field.EXITED_CTAS]

    @property
    def due(self) -> int:
        """Number of batches after which `schedule` must stop next (see `Watch.due`)."""
        return self._fields[Field.DUE]

    @property
    def rows(self) -> NDArray[np.intp]:
        """Indices of the warp splits of the batch at which `schedule` stopped."""
        return self._rows[: self._fields[Field.COUNT]].astype(np.intp)

    @property
    def first_count(self) -> int:
        """Number of warp splits of this batch before native code suspended some of them."""
        return self._fields[Field.FIRST_COUNT]

    @property
    def executed(self) -> int:
        """Number of warps that have executed the instruction at which native code stopped."""
        return self._fields[Field.EXECUTED]

    def _reserve(self, count: int) -> None:
        """Make space for a batch of `count` warp splits."""
        if count <= len(self._rows):
            return
        self._rows, self._warps, self._events = (np.zeros(count, np.int64) for _ in range(3))
        self._masks, self._guarded = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
        arrays = self._rows, self._warps, self._masks, self._guarded
        for field, array in enumerate(arrays, Field.ROWS):
            self._fields[field] = _address(array)
        self._keys = np.zeros(count, np.int64)
        self._fields[Field.KEYS], self._fields[Field.EVENTS] = _address(self._keys), _address(self._events)
        self._allocate_accesses()

    def _allocate_accesses(self) -> None:
        """Make space for the accesses of a batch if observers handle events."""
        if self._observed == Observed() or self.accesses.most_warps == len(self._rows):
            return
        self.accesses = Accesses.of(len(self._rows))
        for field, name in FIELDS.items():
            self._fields[field] = _address(getattr(self.accesses, name))


def _shared_windows(topology: Topology, shared: SharedMemory) -> NDArray[np.int64]:
    """Return the shared window of each warp: first address, end, and distance to the index of its bytes."""
    low = (topology.rank[topology.cta_of] << 24) + (shared.end - shared.size)
    return np.stack([low, low + shared.size, topology.cta_of * shared.stride - low], axis=1)


def _address(array: NDArray[Any]) -> int:
    # This takes a third of the time of `__array_interface__`.
    return addressof(_BYTES.from_buffer(array.data))
