"""The abstract machine: resident CTAs, their warps, and the loop that runs batches of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic, UsageError
from warploom.emulator.accumulators import Accumulators
from warploom.emulator.barriers import Barriers
from warploom.emulator.batch import Batch
from warploom.emulator.control import Control
from warploom.emulator.engines import Engines, Schedule
from warploom.emulator.faults import Deadlock, Fault, Trap, Unsupported, diagnostic
from warploom.emulator.link import CODE_BASE, Linker, LocalBytes
from warploom.emulator.mbarriers import Mbarriers
from warploom.emulator.memory import Arena, Memory
from warploom.emulator.pools import Pools
from warploom.emulator.program import Program, RegisterPlace, Storage
from warploom.emulator.strands import State, Strands
from warploom.emulator.waiting import deadlock
from warploom.emulator.watch import Watcher
from warploom.isa.model.capacity import PROCESSORS
from warploom.layout import TensorMapFields

Array = NDArray[Any]
Rows = NDArray[np.intp]

BATCH_COST = 32  # warps whose instruction costs the machine as much as that of one warp alone
WAVE_TICKS = 36  # bits of a clock that one wave may fill; a wave has no more instructions than its budget
PARTING = 1 / 16  # how often, under a random schedule, warps at one place part


@dataclass(slots=True)
class Grid:
    """The shape of a launch, and where each warp of the machine stands in it (isa.protocol.Geometry)."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    dynamic_shared: int
    total_shared: int
    explicit_cluster: bool
    sm_count: int = PROCESSORS
    ticks: int = 0
    thread: tuple[Array, Array, Array] = field(default_factory=lambda: _zeros(32))
    cta: tuple[Array, Array, Array] = field(default_factory=lambda: _zeros(1))
    lane: Array = field(default_factory=lambda: np.arange(32, dtype=np.uint32)[None, :])
    warp: Array = field(default_factory=lambda: np.zeros((1, 1), np.uint32))

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def ctas(self) -> int:
        """CTAs of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def cluster_size(self) -> int:
        """CTAs of a cluster."""
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def clusters(self) -> NDArray[np.int64]:
        """CTA coordinates of every cluster, in order of launch. Shapes: (clusters, cluster size, 3), x first."""
        counts = [extent // size for extent, size in zip(self.grid, self.cluster, strict=True)]
        origins = np.stack(np.unravel_index(np.arange(int(np.prod(counts))), counts[::-1])[::-1], axis=1)
        ranks = np.stack(np.unravel_index(np.arange(self.cluster_size), self.cluster[::-1])[::-1], axis=1)
        return origins[:, None, :] * np.array(self.cluster) + ranks[None, :, :]


def _zeros(lanes: int) -> tuple[Array, Array, Array]:
    nothing = np.zeros((1, lanes), np.uint32)
    return nothing, nothing, nothing


class Machine:
    """Runs CTAs of one launch, as many at a time as are resident.

    Warp w of resident CTA c has index w * ctas + c, so that the same warps of all CTAs are a run.
    """

    def __init__(
        self,
        program: Program,
        grid: Grid,
        resident: int,
        arena: Arena,
        segments: dict[str, int],
        arch: str,
        schedule: Schedule,
        pool: Any,
        step_budget: int,
        watch: Watcher | None,
    ) -> None:
        self.program = program
        self.grid = grid
        self.arch = arch
        self.schedule = schedule
        self.pool = pool
        self.step_budget = step_budget
        self.watch = watch
        self.arena = arena
        self.ctas = resident
        self.cluster_size = grid.cluster_size
        self.warps_per_cta = -(-grid.threads // 32)
        self.warps = self.warps_per_cta * resident
        index = np.arange(self.warps)
        self.cta_of = (index % resident).astype(np.int64)
        in_cta = index // resident
        group = np.where(in_cta // 4 * 4 + 4 <= self.warps_per_cta, in_cta // 4, -1)
        self.warpgroup_of = np.where(group < 0, -1 - index, group * resident + self.cta_of)
        self.in_cta = in_cta
        self.rank = np.arange(resident, dtype=np.int64) % self.cluster_size
        self.files = program.registers.allocate(self.warps)
        members = np.arange(self.warps_per_cta // 4 * 4 * resident).reshape(-1, 4, resident)
        self.accumulators = Accumulators(members.transpose(0, 2, 1).reshape(-1, 4), pool)
        self.used = False  # whether CTAs have run that left values in the registers
        self.carry = np.zeros((self.warps, 32), np.bool_)
        self.control = Control(self)
        self.code_base = CODE_BASE
        self.counts: Counter[str] = Counter()
        self.macs = 0
        self.batches = 0
        self.instructions = 0
        self.spent = 0
        self.steps = 0
        self.pc = 0
        self.moved = False
        self._where: tuple[int, int, int] | None = None
        self.tensor_map = lru_cache(maxsize=1024)(TensorMapFields.unpack)
        self._place_lanes()
        clustered = self.cluster_size > 1
        rank_base = (self.rank[self.cta_of] << 24).astype(np.uint64)[:, None]
        self.parameter_block = segments[""]
        self.linker = Linker(program, self.files, segments, grid, arch, rank_base, clustered)
        self.linked = [self.linker.link(step) for step in program.steps]
        if self.linker.problems:
            raise Unsupported(self.linker.problems)
        self.linker.find_runs(self.linked)
        self.linker.find_settling(self.linked)
        if watch is not None:
            watch.attach(self)
            for pc, each in enumerate(self.linked):
                each.act = watch.wrap(pc, each.act, each.operands)
                if each.run and each.together is not None:
                    each.together = watch.wrap_run(pc, each.together)

    def _place_lanes(self) -> None:
        linear = self.in_cta[:, None] * 32 + np.arange(32)[None, :]
        x, y, _ = self.grid.block
        self.grid.thread = tuple(
            part.astype(np.uint32) for part in (linear % x, linear // x % y, linear // (x * y))
        )  # type: ignore[assignment]
        self.grid.warp = self.in_cta[:, None].astype(np.uint32)
        self.present = linear < self.grid.threads

    # Starting and running ---------------------------------------------------------------------------------

    def start(self, ctas: NDArray[np.int64], wave: int = 0) -> None:
        """Make CTAs resident, as the wave of a number.

        Nothing of an earlier wave is left but what it wrote to global memory. Clocks go on from where no wave before
        can have come to.

        Shapes: (ctas, 3) coordinates, whole clusters, at most as many as fit.
        """
        held = len(ctas)
        self.grid.ticks = wave << WAVE_TICKS
        self.steps = 0
        self.carry[:] = False
        coordinates = np.concatenate([ctas, np.zeros((self.ctas - held, 3), np.int64)])[self.cta_of]
        self.grid.cta = tuple(coordinates[:, axis : axis + 1].astype(np.uint32) for axis in range(3))  # type: ignore[assignment]
        self.coordinates = ctas
        masks = self.present & (self.cta_of < held)[:, None]
        self.accumulators.forget()
        if self.used:
            for file in self.files.values():
                file[:] = 0
        self.used = True
        self.strands = Strands(masks, self.program.entry)
        shared = self.grid.total_shared
        self.memory = Memory(
            self.arena, self.rank, self.cluster_size, shared, self.warps, self.program.local_bytes
        )
        self.memory.watch = self.watch if self.watch is not None and self.watch.accesses else None
        self.memory.carried = self.watch if self.watch is not None and self.watch.carried else None
        self.live_warps = np.bincount(self.cta_of, weights=masks.any(axis=1), minlength=self.ctas).astype(
            np.int64
        )
        self.barriers = Barriers(self, self.ctas)
        self.mbarriers = Mbarriers(self)
        self.pools = Pools(self, self.ctas)
        self.engines = Engines(self, self.schedule)
        self.ctas_done = 0
        self.linker.refresh()
        if self.watch is not None:
            self.watch.start()

    def run(self, report: Callable[[], None]) -> None:
        """Run the resident CTAs to their end; `report` is called now and then.

        Errors: Trap, Deadlock.
        """
        strands = self.strands
        while True:
            ready = strands.ready()
            if not len(ready):
                if not (strands.state != State.DONE).any() and not strands.waiting_to_meet():
                    self._finish()
                    return
                if not (
                    self._guarded(self.engines.unblock)
                    or strands.release_stuck({*self.control.torn()})
                    or self.mbarriers.expire()
                ):
                    raise self._stuck()
                continue
            self._guarded(partial(self._block, self._choose(ready)))
            if self.watch is not None:
                self.watch.between()
            self._guarded(self.engines.between_blocks)
            self.steps += 1
            if self.steps % 64 == 0 and strands.diverged:
                strands.release_outrun()
            if self.steps % 256 == 0:
                report()
            if self.spent > self.step_budget:
                raise self._runaway()

    def _choose(self, ready: Rows) -> Rows:
        if self.schedule.kind == "random":
            random = self.engines.random
            chosen = self.strands.at_pc(ready, int(self.strands.pc[random.choice(ready.tolist())]))
            if len(chosen) > 1 and random.random() < PARTING:
                # Some go ahead, so that nothing holds warps in step but what the program makes them wait for.
                ahead = chosen[[random.random() < 0.5 for _ in range(len(chosen))]]
                return ahead if len(ahead) else chosen
            return chosen
        return self.strands.least(ready)

    def _block(self, rows: Rows) -> None:
        """Run one batch to the end of its basic block, or, under a random schedule, to anywhere in it."""
        strands = self.strands
        first = int(strands.pc[rows[0]])
        end = self.program.block_end[first]
        if self.schedule.kind == "random":
            end = self.engines.random.randint(first + 1, end)
        mask = None if strands.full[rows].all() else strands.mask[rows]
        batch = Batch(self, rows, strands.warp[rows], mask)
        self.batch = batch
        self._where = None
        self.batches += 1
        self.moved = False
        self.pc = pc = done = first
        if self.watch is not None:
            self.watch.block(batch)
        linked, counts, control = self.linked, self.counts, self.control
        while pc < end:
            step = linked[pc]
            self.pc = pc
            if step.gather:
                if step.gather == "warp":
                    control.gather_warps(batch)
                else:
                    control.gather_warpgroups(batch)
                if not batch.count:
                    return
            if step.guard is not None:
                held = step.guard.fetch(batch)
                if not batch.guard(~held if step.negated else held):
                    pc = done = pc + 1
                    continue
                if step.whole:
                    batch.dismiss_idle(pc + 1)
                if step.gather == "warp":
                    control.check_whole(batch)
            if step.settles and self.accumulators.held:
                self.accumulators.settle()
            together = step.together if step.run and pc + len(step.run) <= end else None
            length = 1 if together is None else len(step.run)
            counts[step.family] += batch.count * length
            self.instructions += batch.count * length
            if together is None:
                step.act(batch, step.operands)
            else:
                together(batch, step.run)
            done = pc + length
            if self.moved or not batch.count:
                break
            batch.unguard()
            pc = done
        self.grid.ticks += end - first
        self.spent += (done - first) * max(len(rows), BATCH_COST)
        if not self.moved and batch.count:
            strands.goto(batch.rows, end)

    def _finish(self) -> None:
        self.engines.left(np.arange(self.warps))
        self.accumulators.forget()

    # What parts of the machine ask of it ------------------------------------------------------------------

    def batch_of(self, warps: Rows, mask: Array | None) -> Batch:
        """A batch for an asynchronous engine."""
        return Batch(self, np.zeros(0, np.intp), warps, mask)

    def warpgroups(self, warps: Rows) -> NDArray[np.intp]:
        """Positions of the four warps of each warpgroup among these warps. Shapes: (groups, 4)."""
        group = self.warpgroup_of[warps]
        order = np.lexsort((self.in_cta[warps], group))
        if len(order) % 4 or (group < 0).any():
            raise Fault(
                "emulator.warpgroup", "a warpgroup instruction in warps that are no whole warpgroup", 0
            )
        return order.reshape(-1, 4)

    def is_global(self, space: str, addresses: Array) -> Array:
        """Whether generic addresses lie in a segment of the arena of this kind."""
        position = np.searchsorted(self.arena.starts, addresses.astype(np.int64), side="right") - 1
        inside = (position >= 0) & (addresses.astype(np.int64) < self.arena.ends[np.maximum(position, 0)])
        kinds = np.array([segment.kind == space for segment in self.arena.segments], np.bool_)
        return inside & kinds[np.maximum(position, 0)]

    def formal(self, place: Storage | RegisterPlace) -> Any:
        """The value behind a parameter of a device function."""
        return self.linker.place(place)

    def results_of(self, site: int) -> tuple[Any, ...]:
        """Where the results of the call at a program counter go."""
        return self.linked[site].operands.ret_param or ()

    def copy(self, one: Batch, target: Any, source: Any) -> None:
        """Copy an argument or a result for the lanes of one warp."""
        if isinstance(target, LocalBytes) and isinstance(source, LocalBytes):
            lanes = int(one.warp_index[0]) * 32 + np.flatnonzero(one.active()[0])
            starts = lanes * self.memory.local_stride
            for byte in range(min(target.size, source.size)):
                self.memory.local[starts + target.offset + byte] = self.memory.local[
                    starts + source.offset + byte
                ]
        elif isinstance(target, LocalBytes) or isinstance(source, LocalBytes):
            raise Fault("emulator.call", "a call passes a register where the function declares memory", 0)
        else:
            one.write(target, np.broadcast_to(one.read(source), (1, 32)))

    def left(self, warps: Rows) -> None:
        """Strands of these warps left the kernel."""
        strands = self.strands
        strands.state[np.isin(strands.warp, warps) & (strands.state == State.GATHERING)] = State.READY
        gone = warps[~strands.live[warps].any(axis=1)]
        if len(gone):
            if self.watch is not None:
                self.watch.left(gone)
            self.engines.left(gone)
        ctas = np.unique(self.cta_of[warps])
        alive = strands.live.any(axis=1)
        self.live_warps = np.bincount(self.cta_of, weights=alive, minlength=self.ctas).astype(np.int64)
        self.ctas_done = int((self.live_warps[: len(self.coordinates)] == 0).sum())
        if self.cluster_size > 1:
            self.memory.exited = self.live_warps == 0
        self.barriers.left(ctas)

    def at(self, pc: int, warp: int, lane: int) -> None:
        """What happens now is the doing of an earlier instruction."""
        self._where = (pc, warp, lane)

    def at_batch(self) -> None:
        """What happens now is again the doing of the batch's instruction."""
        self._where = None

    # Endings ----------------------------------------------------------------------------------------------

    def _guarded(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except Fault as fault:
            raise Trap([self._diagnose(fault)]) from None
        except UsageError as error:
            raise Trap([self._diagnose(Fault("emulator.refused", str(error)))]) from None

    def _diagnose(self, fault: Fault) -> Diagnostic:
        pc, warp, lane = self.pc, -1, -1
        if self._where is not None:
            pc, warp, lane = self._where
        elif fault.lane >= 0 and self.batch.count:
            warp, lane = int(self.batch.warp_index[fault.lane // 32]), fault.lane % 32
        message = f"{fault.message}; {self.describe(warp, lane)}"
        span = self.program.span_of(pc)
        return diagnostic(fault.code, message, self.program.source, span, fault.hint)

    def describe(self, warp: int, lane: int = -1) -> str:
        """A phrase for a warp: kernel, CTA, warp, lane."""
        kernel = f"kernel {self.program.kernel.name}"
        if warp < 0:
            return kernel
        x, y, z = (int(part) for part in self.coordinates[self.cta_of[warp]])
        place = f"{kernel}, CTA ({x}, {y}, {z}), warp {int(self.in_cta[warp])}"
        return place if lane < 0 else f"{place}, lane {lane}"

    def _stuck(self) -> Trap | Deadlock:
        torn = self.control.fault_of_torn()
        return deadlock(self) if torn is None else Trap([self._diagnose(torn)])

    def _runaway(self) -> Trap:
        message = (
            f"the kernel was stopped after {self.instructions} warp instructions in {self.batches} batches, "
            "the limit of this run; "
            f"{self.describe(int(self.batch.warp_index[0]) if self.batch.count else -1)}"
        )
        hint = "a loop may never end; raise WARPLOOM_STEP_BUDGET if the kernel is that long"
        span = self.program.span_of(min(self.pc, len(self.program.steps) - 1))
        return Trap([diagnostic("emulator.runaway", message, self.program.source, span, hint)])
