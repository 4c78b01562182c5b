"""Emulator of one launch: the resident CTAs, and the loop that executes their warps."""

from collections.abc import Callable, Mapping
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.accumulators import Accumulators
from warploom.emulator.arena import Arena
from warploom.emulator.async_operations import AsyncOperations
from warploom.emulator.barriers import Barriers
from warploom.emulator.blocks import continues_multiplication
from warploom.emulator.bounded_waits import AHEAD, leads_to
from warploom.emulator.bulk_copies import CopyExecutor
from warploom.emulator.control import Control
from warploom.emulator.events import BlockEnd, BlockStart, Exit, Guard, Launch, Reads, Resident, Suspend
from warploom.emulator.executable import Executable
from warploom.emulator.faults import Fault, Trap
from warploom.emulator.grid_dependencies import GridDependencies, Pause
from warploom.emulator.mbarriers import Mbarriers
from warploom.emulator.memory import Memory
from warploom.emulator.native.code_table import BATCH_COST, OVERDUE_STEPS
from warploom.emulator.native.context import Stop
from warploom.emulator.native.engine import NativeEngine
from warploom.emulator.native.observed import Observed
from warploom.emulator.native.reporter import Reporter
from warploom.emulator.observers import Dispatcher, InstructionHandler
from warploom.emulator.output import Output
from warploom.emulator.recent_blocks import describe, recent_blocks
from warploom.emulator.register_pools import RegisterPools, registers_at_entry
from warploom.emulator.repetition import Repetition
from warploom.emulator.request import Request
from warploom.emulator.run_errors import RunErrors
from warploom.emulator.services import Services
from warploom.emulator.stacks import Stacks
from warploom.emulator.state import RECENT, Executions
from warploom.emulator.stops import Interrupted, Stops
from warploom.emulator.tensor_memory.pipeline import TensorPipeline
from warploom.emulator.waiting import Waiting
from warploom.emulator.warp_splits import ALL_LANES, Status, unpack
from warploom.emulator.warps import Components, Warps
from warploom.isa.model.semantics import Array

Rows = NDArray[np.intp]

BATCHES_PER_CALL = 4096  # default of `Emulator.batches_per_call`
WAVE_TICKS = 36  # low bits of the clock that count within one wave; the step budget keeps them from overflowing
SPLIT_CHANCE = 1 / 16  # probability, under a random schedule, that only some warps of a batch run
DELAY = 32  # backward jumps of the other clusters before the first clusters start under a lazy schedule


class Emulator:
    """Emulator of a launch.

    Call `start` and then `run` for each wave of CTAs, and then `end_launch`. A later launch of the same program may use
    the same emulator: call `begin_launch` with a request for which `fits` returns True.

    `batches_per_call` is the largest number of batches that native code executes before the emulator reports its
    progress and calls `Stops.between_blocks`. `interrupted` is the block in which the last call of `run` has stopped,
    or None. `stops` are those of `stop_at`.
    """

    STATE = ("steps", "ctas_done", "batch", "interrupted", "_delays", "_first_batch")

    def __init__(self, request: Request, executable: Executable, arena: Arena, segments: dict[str, int]) -> None:
        program = request.program
        self.program = program
        self.executable = executable
        self.grid = executable.grid
        self.schedule = request.schedule
        self.parameters = segments[""]
        self.topology = executable.topology
        self.state = executable.state
        self.accumulators = Accumulators(self.topology.warpgroup_members(), request.pool)
        self.linker = executable.linker
        self.linked = executable.linked
        self.native = executable.native
        self._bounded = executable.bounded if self.schedule.kind == "lazy" else frozenset[int]()
        self._leads = leads_to(program, self._bounded)
        self._continues_tensor = program.analysis(continues_multiplication)
        self.events = Dispatcher(request.observers)
        self._attach_observers(request, arena)
        self._create_components(request, arena)
        self.begin_launch(request, arena)

    def fits(self, request: Request) -> bool:
        """Return True if `begin_launch` accepts a request for the same executable."""
        return request.schedule == self.schedule and not (request.observers or request.pool)

    def begin_launch(self, request: Request, arena: Arena) -> None:
        """Prepare for a launch on the memory `arena`."""
        self.request = request
        self.arena = self.memory.arena = arena
        self.services.output = request.output
        self.grids.begin(request.overlap)
        self.steps = 0
        self.ctas_done = 0
        self._delays = False
        self.batch: Warps | None = None
        self._first_batch = 0  # number of the wave's first batch
        self.batches_per_call = BATCHES_PER_CALL
        self.interrupted: Interrupted | None = None
        self.stop_at(None)

    def end_launch(self) -> None:
        """Drop the references to the objects of the launch."""
        self.state.on_suspend = None
        self.arena = self.memory.arena = Arena()
        self.services.output = Output()
        self.grids.begin(None)
        self.stop_at(None)
        if self.native is not None:
            self.native.end_launch()

    def stop_at(self, stops: Stops | None) -> None:
        """Set the conditions under which `run` stops from now on, or remove them."""
        self.stops = stops
        self._stop_pcs = frozenset[int]() if stops is None else stops.pcs
        if self.native is not None:
            self.native.stop_at(self._stop_pcs)

    @property
    def is_reusable(self) -> bool:
        """True if a later launch may use this emulator.

        It is False with observers or worker threads, because the components refer to them.
        """
        return not (self.events.observers or self.accumulators.workers)

    def _attach_observers(self, request: Request, arena: Arena) -> None:
        state, events = self.state, self.events
        self._executions: Executions | None = None
        self._guards: Mapping[int, Callable[[Guard], None]] = {}
        self._instructions: Mapping[int, InstructionHandler] = {}
        if events.observers:
            launch = Launch(
                self.program, self.linked, self.grid, self.topology, request.arch, self.schedule, arena,
                state.counters, Executions(np.zeros((len(self.linked), 2), np.int64)),
            )  # fmt: skip
            events.attach(launch)
            self._executions = launch.executions if events.counts_executions else None
            self._guards = events.guard_handlers()
            self._instructions = events.instruction_handlers(launch)
        self._on_resident = events.handler(Resident)
        self._on_block_start = events.handler(BlockStart)
        self._on_block_end = events.handler(BlockEnd)
        self._on_exit_of = events.handler(Exit)
        self._reporter: Reporter | None = None
        if self.native is not None:
            self.native.observe(
                Observed.by(events, self.program, self._instructions, self._guards) if events.observers else Observed()
            )
            self.native.count_executions(self._executions)
            self.native.allow_multiplications(request.pool is None)
            if events.observers:
                self._reporter = Reporter(
                    self.native, state, self.linked, events, self._guards, self._instructions
                )  # fmt: skip
                self.native.report, self.native.report_reads = self._reporter.report, events.handler(Reads)
        if (on_suspend := events.handler(Suspend)) is not None:
            state.on_suspend = lambda batch, which, status, repeats: on_suspend(
                Suspend(state.pc, batch, which, status, repeats)
            )

    def _create_components(self, request: Request, arena: Arena) -> None:
        state, program, events = self.state, self.program, self.events
        self.memory = Memory(state, arena, self.grid.total_shared, program.local_bytes, events)
        self.barriers = Barriers(state, events)
        self.mbarriers = Mbarriers(state, self.memory, self.schedule, events, self._bounded)
        self.grids = GridDependencies(state, events)
        self.pools = RegisterPools(state, program.analysis(registers_at_entry), events)
        copies = CopyExecutor(self.memory, self.mbarriers.complete, self.grid.explicit_cluster)
        self.tensor = TensorPipeline(
            state, self.memory, self.schedule, self._make_batch, events, request.arch, request.pool
        )  # fmt: skip
        self.asynchronous = AsyncOperations(state, copies, self.tensor, self.schedule, self._make_batch, events)
        self.services = Services(state, self.memory, events)
        stacks = Stacks(self.topology.warps, program.local_bytes)
        self.control = Control(
            state, program, self.linked, self.memory, self.services, stacks, self.linker.formal, self._on_exit, events
        )
        self.components = Components(
            request.arch, self.parameters, request.pool, self.accumulators, self.memory, self.control, self.barriers,
            self.mbarriers, self.pools, self.asynchronous, self.tensor, self.grids,
        )  # fmt: skip
        self.waiting = Waiting(state, self.linked, self.barriers, self.mbarriers, self.pools, self.tensor.allocator)
        self._errors = RunErrors(state, program, self.linked, self.components, self.waiting)
        self.repetition = Repetition(
            state, program, self.linked, self.components, deterministic=self.schedule.kind != "random"
        )

    # Waves --------------------------------------------------------------------------------------------------

    def start(self, wave: int, is_last: bool, ctas: NDArray[np.int64] | None = None) -> None:
        """Make the CTAs of a wave resident. Only global memory keeps its contents from earlier waves.

        `is_last` is True for the last wave of the grid. `ctas` has the coordinates of the CTAs if clusters may be
        cancelled. Shapes: ctas (CTAs, 3).
        """
        state, executable = self.state, self.executable
        self.grid.ticks = wave << WAVE_TICKS  # clocks exceed their values in earlier waves
        self.steps = 0
        self.ctas_done = 0
        self._first_batch = state.counters.batches
        self.accumulators.discard()
        if ctas is None:
            executable.place(wave)
        else:
            executable.place_ctas(ctas)
        state.start(self.program.entry, self.schedule)
        self.memory.start()
        self.barriers.start()
        self.mbarriers.start()
        self.pools.start()
        self.asynchronous.start()
        self.tensor.start()
        self.control.start()
        self.grids.start(is_last, self.schedule.kind == "random")
        self.repetition.restart()
        if self.native is not None:
            self.native.start(self.components)
        if self._reporter is not None:
            self._reporter.start(self.components)
        if self._on_resident is not None:
            self._on_resident(Resident(0, state.placement, state.splits, self.memory.shared))

    def delay_first_clusters(self) -> None:
        """Delay the first half of the clusters by `DELAY` backward jumps of each other warp that can run.

        A later cluster often waits for a value of an earlier cluster. Without the delay, the value would be there
        before a kernel reads it, even if the kernel reads it only once instead of in a loop.
        """
        cluster_of = self.topology.cluster_of
        self._delays = True
        self.state.splits.epoch[: len(cluster_of)][cluster_of < (cluster_of.max() + 1) // 2] = DELAY

    def _make_batch(self, warps: Rows, mask: Array | None) -> Warps:
        return Warps(self.state, self.components, np.zeros(0, np.intp), warps, mask)

    def run(self, report: Callable[[], None]) -> Pause | None:
        """Run the resident CTAs until all have exited, and return None. `report` is called at intervals.

        A launch that overlaps with others, or that has stops, may return the reason for a pause. The next call then
        continues. After a stop, registers and memory have the results of all instructions before the stop.

        Errors: Trap, Deadlock.
        """
        self.grids.resume(self.steps)
        try:
            pause = self._run(report)
            if pause is Pause.STOPPED:
                self.flush()
            return pause
        except Fault as fault:
            raise self._errors.trap(fault, self.batch) from None
        except UsageError as error:
            raise self._errors.trap(Fault("emulator.refused", str(error)), self.batch) from None

    def flush(self) -> None:
        """Write multiplications in flight to tensor memory, and accumulators to the registers."""
        self.tensor.flush()
        self.accumulators.flush()

    def _run(self, report: Callable[[], None]) -> Pause | None:
        splits, counters, repetition = self.state.splits, self.state.counters, self.repetition
        if (block := self.interrupted) is not None:
            self.interrupted = None
            self._execute(self._begin_batch(block.rows), block.first, block.pc, block.end, block.warps, block.run_end)
            if self._stops_after_block(report):
                return Pause.STOPPED
        while True:
            if (native := self.native) is not None and self._can_schedule() and self._schedule(native, report):
                return Pause.STOPPED
            if (pause := self.grids.pause(self.steps)) is not None:
                return pause
            ready = splits.ready()
            rows = self._select(ready) if len(ready) else ready
            is_endless = counters.batches >= repetition.due and len(rows) > 0 and repetition.repeats(rows)
            if not len(rows) or is_endless:
                if not (splits.status != Status.DONE).any() and not splits.has_arrivals():
                    if not self.asynchronous.is_idle:
                        self.asynchronous.on_exit(np.arange(self.topology.warps))
                    self.accumulators.discard()
                    return None
                progresses = self.asynchronous.unblock()
                if self.grids.is_blocked and not progresses:
                    repetition.restart()
                    return Pause.BLOCKED
                if not (
                    progresses or splits.release_stuck({*self.control.partially_arrived()}) or self.mbarriers.expire()
                ):
                    raise self._errors.stuck(repetition if is_endless else None, self.batch)
                if is_endless:
                    repetition.restart()
                continue
            self._execute_block(rows)
            if self._stops_after_block(report):
                return Pause.STOPPED

    def _stops_after_block(self, report: Callable[[], None]) -> bool:
        """Do what follows a block, unless it has stopped. Return True if the run stops."""
        if self.interrupted is not None:
            return True
        if self._on_block_end is not None:
            self._on_block_end(BlockEnd(self.state.pc))
        self.asynchronous.between_blocks()
        self.steps += 1
        if self.steps % OVERDUE_STEPS == 0 and self.state.splits.diverged:
            self.state.splits.release_overdue()
        if self.steps % 256 == 0:
            report()
        if self.state.counters.spent > self.request.step_budget:
            raise self._runaway()
        return self.stops is not None and self.stops.between_blocks()

    def _select(self, ready: Rows) -> Rows:
        splits = self.state.splits
        if self._is_random:
            random = self.state.random
            chosen = splits.at_pc(ready, int(splits.pc[random.choice(ready.tolist())]))
            if len(chosen) > 1 and random.random() < SPLIT_CHANCE:
                # Some warps run ahead of the others, which reveals missing synchronisation.
                ahead = chosen[[random.random() < 0.5 for _ in range(len(chosen))]]
                return ahead if len(ahead) else chosen
            return chosen
        if self._bounded:
            early = ready[self._leads[splits.pc[ready]]]
            early = early[splits.epoch[early] < splits.epoch[ready].min() + AHEAD]
            ready = early if len(early) else ready
        chosen = splits.least(ready)
        if not self._delays:
            return chosen
        epochs = splits.epoch[chosen]
        return chosen[epochs < epochs.min() + DELAY]

    @property
    def _is_random(self) -> bool:
        return self.schedule.kind == "random" and not self.repetition.recording

    def _can_schedule(self) -> bool:
        """Return True if native code may select and execute batches."""
        kind = self.schedule.kind
        is_simple = kind == "lazy" and self.asynchronous.is_idle and not self._delays and not self._bounded
        return (kind == "eager" or is_simple) and not self.memory.is_watched

    def _allows_exits(self) -> bool:
        """Return True if native code may let warps exit."""
        is_observed = self._on_exit_of is not None
        is_awaited = self.barriers.depends_on_exits or self.grids.awaits_trigger
        return self.asynchronous.is_idle and not is_observed and not is_awaited

    def _schedule(self, native: NativeEngine, report: Callable[[], None]) -> bool:
        """Let native code execute batches until the interpreter is needed. Return True if the run stops."""
        state, splits = self.state, self.state.splits
        while True:
            before = state.counters.batches
            budget = self.request.step_budget
            stop, pc = native.schedule(
                self.batches_per_call, self.repetition.watch, self.steps, budget, self._allows_exits()
            )
            self.repetition.due = native.due
            self.ctas_done += native.exited_ctas
            if native.exited_ctas:
                self.memory.shared.exited = state.live_warps == 0
            done = state.counters.batches - before
            if stop == Stop.RESUME:
                rows = native.rows
                self._resume_block(rows, pc, native.executed, native.first_count)
                if self.interrupted is not None:
                    self.steps += done - 1
                    return True
                if self._on_block_end is not None:
                    self._on_block_end(BlockEnd(state.pc))
                self.asynchronous.between_blocks()
            before_steps, self.steps = self.steps, self.steps + done
            if done and splits.diverged and self.steps % OVERDUE_STEPS == 0:
                splits.release_overdue()
            is_over = state.counters.spent > budget
            if (is_over or self.steps // 256 != before_steps // 256) and len(rows := native.rows):
                self.batch = self._make_batch(splits.warp[rows], None)  # for the location of the run
            if self.steps // 256 != before_steps // 256:
                report()
            if is_over:
                raise self._runaway()
            if done and self.stops is not None and self.stops.between_blocks():
                return True
            if (
                stop == Stop.SELECT
                or self.grids.must_pause(self.steps)
                or not self._can_schedule()
                or self.ctas_done == len(state.placement.coordinates)
            ):
                return False

    def _divides(self, pcs: range, batch: Warps) -> bool:
        """Return True if a batch may stop before one of the multiplications `pcs`."""
        found = self._stop_pcs.intersection(pcs)
        return bool(found) and self.stops is not None and self.stops.concerns(found, batch)

    def _begin_batch(self, rows: Rows) -> Warps:
        """Return the warp splits `rows` as a batch, which becomes the executing batch."""
        state, splits = self.state, self.state.splits
        bits = splits.bits[rows]
        mask = None if np.count_nonzero(bits == ALL_LANES) == len(rows) else unpack(bits)
        self.batch = Warps(state, self.components, rows, splits.warp[rows], mask)
        state.origin = None
        state.moved = False
        if self._executions is not None:
            self._executions.last = -1
        return self.batch

    def _resume_block(self, rows: Rows, pc: int, executed: int, warps: int) -> None:
        """Continue a block at `pc` for the warp splits `rows` after native code has stopped there.

        The first `executed` warp splits have already executed the instruction at `pc`. `warps` warp splits have started
        the block.
        """
        first = int(self.state.splits.pc[rows[0]])
        batch = self._begin_batch(rows)
        if executed:
            self._finish_instruction(batch, pc, executed)
            pc += 1
        self._execute(batch, first, pc, self.program.block_end[first], warps)

    def _execute_block(self, rows: Rows) -> None:
        """Execute the warp splits `rows` as one batch, to the end of their basic block."""
        state = self.state
        splits, counters = state.splits, state.counters
        first = int(splits.pc[rows[0]])
        end = self.program.block_end[first]
        if self._is_random:
            # A random schedule may stop at any instruction.
            end = state.random.randint(first + 1, end)
        batch = self._begin_batch(rows)
        state.recent[counters.batches % RECENT] = first
        counters.batches += 1
        if self._on_block_start is not None:
            self._on_block_start(BlockStart(first, batch))
        self._execute(batch, first, first, end, batch.count)

    def _execute(self, batch: Warps, first: int, pc: int, end: int, warps: int, run_end: int = -1) -> None:
        """Execute the instructions [pc, end) of the block at `first`, or stop before one of them.

        `warps` is the number of warp splits that have started the block. `run_end` is that of the stop at `pc`, if any.
        """
        state, control, accumulators = self.state, self.control, self.accumulators
        counters = state.counters
        state.pc = done = pc
        linked, by_family = self.linked, counters.by_family
        guards, instructions, executions = self._guards, self._instructions, self._executions
        stops, stop_pcs = self.stops, self._stop_pcs
        passed = -1 if run_end < 0 else pc
        native = None if self.memory.is_watched else self.native
        if native is not None:
            native.prepare(pc)
        while pc < end:
            if self.tensor.chain and not self._continues_tensor[pc]:
                self.tensor.flush()
            must_flush = linked[pc].flushes and (accumulators.cached or self.asynchronous.has_loads)
            if native is not None and native.is_native[pc] and not must_flush:
                pc = done = self._run_native(native, batch, pc, end)
                if pc == end or not batch.count:
                    break
            step = linked[pc]
            state.pc = pc
            if pc in stop_pcs and pc != passed and stops is not None and stops.reached(pc, batch):
                self.interrupted = Interrupted(batch.rows, first, pc, end, warps, max(run_end, 0))
                return
            if step.reconverges:
                if step.reconverges == "warp":
                    control.reconverge_warps(batch)
                else:
                    control.reconverge_warpgroups(batch)
                if not batch.count:
                    counters.positions += end - first
                    return
            if step.guard is not None:
                if pc in guards:
                    guards[pc](Guard(pc, batch))
                predicate = step.guard.fetch(batch)
                if not batch.guard(~predicate if step.negated else predicate):
                    pc = done = pc + 1
                    continue
                if step.skips_idle:
                    batch.dismiss_idle(pc + 1)
                if step.reconverges == "warp":
                    control.check_aligned(batch)
            began = perf_counter()
            if step.flushes and (accumulators.cached or self.asynchronous.has_loads):
                accumulators.flush()
                self.asynchronous.complete_loads(batch)
            run = step.run
            state.continues_run = pc < run_end
            if run is not None and pc + len(run) > end:  # a random schedule stops in the run
                run = None
            elif run is not None and self._divides(range(pc + 1, pc + len(run)), batch):
                run, run_end = None, pc + len(run)
            length = 1 if run is None else len(run)
            by_family[step.family] += batch.count * length
            counters.instructions += batch.count * length
            if executions is not None:
                executions.add(pc, length, batch.count, batch.mask)
            if instructions:
                for each in range(pc, pc + length):
                    if each in instructions:
                        instructions[each](each, batch, pc, length)
            if run is None:
                step.act(batch, step.operands)
            else:
                state.run_length = length
                run.execute(batch)
                state.run_length = 1
                if native is not None:
                    native.link_executed(pc, batch)
            counters.seconds[pc] += perf_counter() - began
            counters.executions[pc] += 1
            done = pc + length
            if state.moved or not batch.count:
                break
            batch.unguard()
            pc = done
        self.tensor.flush()
        self.grid.ticks += end - first
        counters.positions += end - first
        counters.spent += (done - first) * max(warps, BATCH_COST)
        if not state.moved and batch.count:
            state.splits.goto(batch.rows, end)

    def _run_native(self, native: NativeEngine, batch: Warps, first: int, end: int) -> int:
        """Execute instructions from `first` on with native code. Return the next program counter."""
        pc, executed = native.run(batch, first, end)
        self.state.pc = max(first, pc - 1)
        if executed:
            self._finish_instruction(batch, pc, executed)
            pc += 1
        return pc

    def _finish_instruction(self, batch: Warps, pc: int, executed: int) -> None:
        """Execute an instruction for the warps of a batch except the first `executed` warps."""
        self.state.pc = pc
        if self._executions is not None:
            self._executions.last = pc
        step, began = self.linked[pc], perf_counter()
        rest = Warps(
            self.state, self.components, batch.rows[executed:], batch.warp_index[executed:],
            None if batch.mask is None else batch.mask[executed:],
        )  # fmt: skip
        self.batch = rest
        if step.guard is not None:
            predicate = step.guard.fetch(rest)
            if not rest.guard(~predicate if step.negated else predicate):
                return
        step.act(rest, step.operands)
        self.batch = batch
        counters = self.state.counters
        counters.seconds[pc] += perf_counter() - began
        counters.executions[pc] += 1

    def _on_exit(self, warps: Rows) -> None:
        state, splits = self.state, self.state.splits
        if splits.diverged:
            # The other lanes of these warps may no longer have to wait for lanes that have left.
            waiting = np.flatnonzero(splits.status == Status.RECONVERGING)
            splits.status[waiting[np.isin(splits.warp[waiting], warps)]] = Status.READY
        exited = warps[splits.live_bits[warps] == 0]
        if len(exited):
            if self._on_exit_of is not None:
                self._on_exit_of(Exit(state.pc, exited))
            self.asynchronous.on_exit(exited)
        state.count_live_warps()
        ctas = len(state.placement.coordinates)
        self.ctas_done = ctas - int(np.count_nonzero(state.live_warps[:ctas]))
        self.memory.shared.exited = state.live_warps == 0
        self.barriers.on_exit()

    def update_counters(self) -> None:
        """Add the instructions that native code has executed to the statistics."""
        if self.native is not None:
            self.native.count(self.state.counters)

    def _runaway(self) -> Trap:
        self.update_counters()
        return self._errors.runaway(self.locate(), recent_blocks(self.state, self._first_batch))

    def locate(self) -> str:
        """Return a phrase with the lines that execute, and the warps that wait."""
        batch = self.batch
        warp = int(batch.warp_index[0]) if batch is not None and batch.count else -1
        return describe(self.state, self.program, recent_blocks(self.state, self._first_batch), warp, self.ctas_done)
