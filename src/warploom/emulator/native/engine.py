"""Native execution of sequences of instructions for the warps of a batch."""

from collections.abc import Sequence
from hashlib import sha256
from operator import is_not
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.barriers import Barriers
from warploom.emulator.batch import Batch
from warploom.emulator.link import Linked
from warploom.emulator.memory import Memory
from warploom.emulator.native.code_table import BRANCH, INSTRUCTION
from warploom.emulator.native.context import Field, Stop
from warploom.emulator.native.library import library
from warploom.emulator.native.operands import RECORD, OperandTable, Records, UnsupportedOperand, varying
from warploom.emulator.native.wanted import Wanted
from warploom.emulator.native.watch import Watch
from warploom.emulator.program import Program
from warploom.emulator.state import Counters, Executions, State
from warploom.isa.model.form import Form

_SPLITS = ("status", "pc", "epoch", "warp", "bits", "point", "calls", "points")
"""Arrays of `WarpSplits`, in the order of their fields in the context."""


class NativeEngine:
    """Native functions for the instructions of one launch.

    `is_native[pc]` is False for a branch, and for an instruction that the interpreter executes.
    """

    def __init__(self, program: Program, linked: Sequence[Linked], state: State, arch: str, is_eager: bool) -> None:
        self.state = state
        self.linked = linked
        self.is_eager = is_eager
        self.library = library()
        self.code = np.zeros(len(linked), INSTRUCTION)
        self.counts = np.zeros(len(linked), np.int64)
        self._families = sorted({each.family for each in linked})
        numbers = {family: number for number, family in enumerate(self._families)}
        self._family_of = np.array([numbers[each.family] for each in linked], np.int64)
        self.context = np.zeros(len(Field), np.int64)
        self.code["point"] = program.reconvergence
        self._rows = np.zeros(0, np.int64)
        self._seen = np.zeros(state.topology.warps, np.int64)
        self._splits: tuple[NDArray[Any], ...] = ()
        self._address = _address(self.context)
        self.context[Field.CODE : Field.COUNTS + 1] = _address(self.code), _address(self.counts)
        self.context[Field.SEEN], self.context[Field.RECENT] = _address(self._seen), _address(state.recent)
        self._tables: list[tuple[int, Any]] = []
        self._link(program, linked, arch)
        self._functions = self.code["function"].copy()
        self.is_native = (self._functions > BRANCH).tolist()

    def _link(self, program: Program, linked: Sequence[Linked], arch: str) -> None:
        tables: dict[int, OperandTable] = {}
        names: dict[int, str] = {}
        wanted: dict[str, Wanted] = {}
        self.code["block_end"] = program.block_end
        for pc in range(len(linked) - 1, -1, -1):
            rest = pc + 1 < program.block_end[pc] and self.code["flushes"][pc + 1]
            self.code["flushes"][pc] = linked[pc].flushes or rest
        for pc, each in enumerate(linked):
            form = program.steps[pc].binding.form
            if form.execution is None or each.act is not form.execution or not self._allows(each, form):
                continue
            try:
                table = OperandTable.of(each.operands)
            except UnsupportedOperand:
                continue
            name = _name(form, table.names, arch)
            tables[pc], names[pc] = table, name
            wanted[name] = Wanted(name, form, table.names, arch)
        self.library.require(wanted)
        kinds = {name: self.library.kind(name) for name in wanted}
        tables = {pc: table for pc, table in tables.items() if kinds[names[pc]] != "none"}
        self.records = Records(np.zeros(sum(len(t.values) for t in tables.values()), RECORD))
        start = _address(self.records.table)
        first = 0
        for pc, table in tables.items():
            self.records.fill(first, table.values)
            self._tables += [(first + k, table.values[k]) for k in varying(table.values)]
            entry = self.code[pc]
            entry["function"] = self.library.address(names[pc])
            entry["converged_only"] = kinds[names[pc]] == "converged" or linked[pc].reconverges == "warp"
            entry["records"] = start + first * RECORD.itemsize
            self._link_guard(pc)
            first += len(table.values)
        for pc, each in enumerate(linked):
            form = program.steps[pc].binding.form
            if form.control == "jump" and isinstance(target := getattr(each.operands, "tgt", None), int):
                self.code["function"][pc], self.code["target"][pc] = BRANCH, target
                self._link_guard(pc)

    def _allows(self, each: Linked, form: Form) -> bool:
        """Return True if this launch allows native execution of an instruction.

        Branches, calls, returns, warpgroup instructions, guarded instructions that lanes execute together, and
        asynchronous instructions of a schedule other than "eager" are left to the interpreter.
        """
        if (
            form.control
            or each.reconverges == "warpgroup"
            or (each.guard is not None and (each.reconverges or each.skips_idle))
        ):
            return False
        return self.is_eager or not form.is_asynchronous

    def _link_guard(self, pc: int) -> None:
        guard, entry = self.linked[pc].guard, self.code[pc]
        if guard is not None:
            row = guard.file[guard.index]
            entry["guard"], entry["guard_stride"] = _address(row), row.strides[0]
            entry["negated"] = self.linked[pc].negated

    def leave_to_interpreter(self, pcs: set[int]) -> None:
        """Exclude the instructions at the program counters `pcs`, and no others, from native execution."""
        self.code["function"] = self._functions
        self.code["function"][list(pcs)] = 0
        self.is_native = (self.code["function"] > BRANCH).tolist()

    def count_executions(self, executions: Executions | None) -> None:
        """Count executions by warps and by lanes in `executions` from now on, or nowhere if it is None."""
        self.context[Field.EXECUTIONS] = 0 if executions is None else _address(executions.counts)

    def start(self, memory: Memory, barriers: Barriers) -> None:
        """Prepare for the CTAs that have become resident."""
        arena, shared = memory.arena, memory.shared
        for number, value in self._tables:
            self.records.fill(number, [value])
        topology = self.state.topology
        rank = topology.rank[topology.cta_of]
        low = (rank << 24) + (shared.end - shared.size)
        origin = _address(shared.bytes) + topology.cta_of * shared.stride
        self._windows = np.stack([low, low + shared.size, origin - low], axis=1).astype(np.int64)
        pointers = list(map(_address, (arena.bytes, arena.starts, arena.ends, arena.state, memory.local)))
        context = self.context
        context[Field.ARENA], context[Field.SEGMENTS] = pointers[0], len(arena.starts)
        context[Field.SEGMENT_STARTS : Field.SEGMENT_STATES + 1] = pointers[1:4]
        context[Field.SHARED_WINDOWS] = _address(self._windows)
        context[Field.LOCAL_START], context[Field.LOCAL_STRIDE] = pointers[4], memory.local_stride
        context[Field.LOCAL_BYTES], context[Field.CARRY] = memory.local_bytes, _address(self.state.carry)
        self._tally = np.zeros(len(barriers.arrived), np.int64)
        arrays = topology.cta_of, self.state.live_warps, barriers.arrived, self._tally
        context[Field.CTA_OF : Field.KEYS] = [_address(array) for array in arrays]

    def run(self, batch: Batch, first: int, end: int) -> tuple[int, int]:
        """Execute the instructions [first, end) of a batch, up to one that needs the interpreter.

        Return the program counter of the first instruction that is not complete, or `end`, and the number of warps that
        have executed it.
        """
        count = batch.count
        self._reserve(count)
        self._warps[:count] = batch.warp_index
        splits = self.state.splits
        self._masks[:count] = lanes = splits.bits[batch.rows]
        self.context[Field.COUNT] = count
        self.context[Field.WHOLE] = not splits.diverged or bool((lanes == splits.live_bits[batch.warp_index]).all())
        return self.library.run(self._address, first, end), int(self.context[Field.EXECUTED])

    def schedule(self, most: int, watch: Watch, steps: int, budget: int, keeps_matrices: bool) -> tuple[Stop, int]:
        """Select and execute batches until the emulator is needed, or `most` batches have been executed.

        Stop as `watch` requests. If the step budget is spent, stop before any batch. If `keeps_matrices` is set, also
        stop before a block that reads accumulators from registers. While warps are diverged, stop at every multiple of
        `OVERDUE_STEPS`; `steps` batches of the wave have been executed before.

        Return the reason for the stop, and the program counter at which the interpreter continues the batch.
        """
        state, context = self.state, self.context
        splits, counters = state.splits, state.counters
        self._reserve(len(splits.status))
        arrays = tuple(getattr(splits, name) for name in _SPLITS)
        if len(self._splits) != len(arrays) or any(map(is_not, arrays, self._splits)):
            self._splits = arrays
            context[Field.STATUS : Field.POINTS + 1] = [_address(array) for array in arrays]
            context[Field.SPLITS], context[Field.POINT_COUNT] = len(splits.status), len(splits.points)
            context[Field.LIVE], context[Field.WARP_SLOTS] = _address(splits.live_bits), splits.warps
        self._seen.fill(-1)
        context[Field.EXTRA_SLOTS : Field.FIRST_FREE_POINT + 1] = (
            splits.extra_slots, splits.open_points, splits.warps, 0,
        )  # fmt: skip
        context[Field.BATCHES] = before = counters.batches
        table = watch.table
        context[Field.LAST_BATCH : Field.STEPS + 1] = (
            before + most, watch.due, watch.pc, watch.limit, _address(table), len(table), steps,
        )  # fmt: skip
        context[Field.SPENT : Field.TICKS + 1] = counters.spent, budget, state.grid.ticks
        context[Field.KEEPS_MATRICES] = keeps_matrices
        found = self.library.schedule(self._address)
        counters.batches, counters.spent = int(context[Field.BATCHES]), int(context[Field.SPENT])
        splits.extra_slots, splits.open_points = int(context[Field.EXTRA_SLOTS]), int(context[Field.OPEN_POINTS])
        state.grid.ticks = int(context[Field.TICKS])
        return Stop(found & 3), found >> 2

    def count(self, counters: Counters) -> None:
        """Add the instructions that have been executed since the last call to the statistics."""
        if not self.counts.any():
            return
        found = np.bincount(self._family_of, self.counts, len(self._families)).astype(np.int64)
        for family, number in zip(self._families, found.tolist(), strict=True):
            if number:
                counters.by_family[family] += number
        counters.instructions += int(found.sum())
        self.counts.fill(0)

    @property
    def due(self) -> int:
        """Number of batches at `Watch.due` after the last call of `schedule`."""
        return int(self.context[Field.DUE])

    @property
    def rows(self) -> NDArray[np.intp]:
        """Indices of the warp splits of the batch at which `schedule` stopped."""
        return self._rows[: int(self.context[Field.COUNT])].astype(np.intp)

    def _reserve(self, count: int) -> None:
        """Make space for a batch of `count` warp splits."""
        if count <= len(self._rows):
            return
        self._rows, self._warps = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._masks, self._guarded = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
        arrays = self._rows, self._warps, self._masks, self._guarded
        self.context[Field.ROWS : Field.GUARDED + 1] = [_address(array) for array in arrays]
        self._keys = np.zeros(2 * count, np.int64)
        self.context[Field.KEYS] = _address(self._keys)


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _name(form: Form, operands: SimpleNamespace, arch: str) -> str:
    text = f"{form.name} {arch} {sorted(vars(operands).items(), key=lambda pair: pair[0])}"
    return f"{form.name}.{sha256(text.encode()).hexdigest()[:16]}"
