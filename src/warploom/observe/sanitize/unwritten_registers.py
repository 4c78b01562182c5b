# pyright: reportUnknownMemberType=false
"""Check for registers that an instruction uses before any instruction has written them.

Instructions that merge bits, pack words or exchange values between lanes may use unwritten registers, because compilers
leave unused parts of such words unwritten.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from heapq import heappop, heappush
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics.edits import Fix
from warploom.emulator.batch import Batch
from warploom.emulator.events import Execute, Guard, Launch
from warploom.emulator.program import RegisterLocation
from warploom.emulator.values import Register, registers_of
from warploom.isa.model.effects import Multiply
from warploom.observe.sanitize.clocks import to_bits
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.edits import insert_before
from warploom.observe.sanitize.rules import rules

Array = NDArray[Any]
Registers = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Use:
    """Registers that one instruction uses, as bits.

    `required` are the registers that must be written before the instruction. `propagates` is set if unwritten sources
    make the results unwritten. `partial` is set if the instruction has a guard.
    """

    read: int
    required: int
    written: int
    propagates: bool
    partial: bool


class UnwrittenRegisters:
    """Check for registers that are used before they are written."""

    context: Context

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self._number: dict[tuple[int, int], int] = {}
        self._names: dict[int, str] = {}
        uses = [self._use(pc) for pc in range(len(launch.instructions))]
        # Only registers that control flow may leave unwritten are tracked in the run, by lane.
        doubtful = self._flow(uses)
        self._checked = [use.required & held for use, held in zip(uses, doubtful, strict=True)]
        tracked = self._tracked(uses, doubtful)
        self._slot = {number: slot for slot, number in enumerate(_bits_of(tracked))}
        self._propagates = [
            use.propagates and bool(use.read & held & tracked) for use, held in zip(uses, doubtful, strict=True)
        ]
        self._written = [
            use.written & tracked & (held if not propagates else -1)
            for use, held, propagates in zip(uses, doubtful, self._propagates, strict=True)
        ]
        self._origins = self._find_origins(uses, doubtful)
        # Unless an instruction propagates to it, a written register stays written until the CTAs end.
        reached = reduce(int.__or__, (use.written for use in compress(uses, self._propagates)), 0)
        self._is_final = [
            not reached & (checked | written) for checked, written in zip(self._checked, self._written, strict=True)
        ]

    def _use(self, pc: int) -> _Use:
        form, each = self.launch.program.steps[pc].binding.form, self.launch.instructions[pc]
        flow = form.flow.unwritten
        metadata = each.multiplication.metadata if each.multiplication is not None else None
        ignored = "" if metadata is None else metadata.operand  # only some lanes contribute metadata
        read = required = written = 0
        for name, spec in form.operands.items():
            value = getattr(each.operands, name)
            bits = self._bits(registers_of(value), value)
            if spec.access != "read":
                written |= bits
            if spec.access != "write" and name != ignored:
                read |= bits
                required |= bits if flow == "use" or spec.kind == "address" else 0
        if form.control == "call":
            for value in each.operands.ret_param or ():
                written |= self._bits(registers_of(value), value)
        guard = self._guard_bits(pc)
        return _Use(read | guard, required | guard, written, flow == "propagate", each.guard is not None)

    def _bits(self, registers: Registers, value: Any) -> int:
        bits = sum(1 << self._number.setdefault(register, len(self._number)) for register in registers)
        for item in (value, getattr(value, "base", None), *getattr(value, "items", ())):
            if isinstance(item, Register):
                self._names[self._number[item.file.dtype.itemsize, item.index]] = item.name
        return bits

    def _guard_bits(self, pc: int) -> int:
        guard = self.launch.instructions[pc].guard
        return 0 if guard is None else self._bits(registers_of(guard), guard)

    def _flow(self, uses: list[_Use]) -> list[int]:
        """Return, for each instruction, the registers that may be unwritten before it, as bits."""
        program = self.launch.program
        every = (1 << len(self._number)) - 1
        found = [0] * len(uses)
        entries = {program.entry: every}
        for function in program.functions.values():
            formals = [p for p in (*function.params, *function.returns) if isinstance(p, RegisterLocation)]
            given = {(max(p.width // 8, 1), p.index) for p in formals}
            entries[function.entry] = every & ~self._bits(frozenset(given & self._number.keys()), None)
        for pc, held in entries.items():
            found[pc] |= held
        came = [False] * len(uses)
        pending = sorted(entries)
        while pending:
            pc = heappop(pending)
            held, use = found[pc], uses[pc]
            if use.propagates and use.read & held:
                held |= use.written
            elif not use.partial:
                held &= ~use.written
            for after in program.following[pc]:
                if after >= 0 and (not came[after] or held & ~found[after]):
                    if after not in pending:
                        heappush(pending, after)
                    came[after] = True
                    found[after] |= held
        return found

    def _tracked(self, uses: list[_Use], doubtful: list[int]) -> int:
        """Return the registers that affect a checked register, as bits."""
        tracked = reduce(int.__or__, self._checked, 0)
        sources = [
            (use.written, use.read & held)
            for use, held in zip(uses, doubtful, strict=True)
            if use.propagates and use.read & held
        ]
        grown = True
        while grown:
            before = tracked
            for written, read in sources:
                if written & tracked:
                    tracked |= read
            grown = tracked != before
        return tracked

    def _find_origins(self, uses: list[_Use], doubtful: list[int]) -> dict[int, int]:
        """Return, for each register, the register whose missing write may have left it unwritten.

        An instruction such as a move passes an unwritten source on to its result (`_Use.propagates`). `doubtful` has
        the registers that may be unwritten before each instruction, as bits.
        """
        origins = {number: number for number in self._number.values()}

        def origin(number: int) -> int:
            while origins[number] != number:
                number = origins[number]
            return number

        for use, held in zip(uses, doubtful, strict=True):
            for source in _bits_of(use.read & held if use.propagates else 0):
                for target in _bits_of(use.written):
                    if origin(target) != origin(source):
                        origins[origin(target)] = origin(source)
        return {number: origin(number) for number in origins}

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        self.context = context
        self._unwritten = np.full((len(self._slot), self.launch.topology.warps), -1, np.int32)
        self._final: dict[int, Array] = {}

    def guard_handlers(self) -> dict[int, Callable[[Guard], None]]:
        """Return handlers that detect unwritten guard registers, by program counter of the instruction."""
        handlers: dict[int, Callable[[Guard], None]] = {}
        for pc, checked in enumerate(self._checked):
            rows = self._rows(checked & self._guard_bits(pc))
            if len(rows):
                handlers[pc] = lambda event, rows=rows: self._check(
                    event.batch, event.pc, rows, self._lanes(event.batch)
                )
        return handlers

    def handler(self, pc: int) -> Callable[[Execute], None] | None:
        """Return the handler of an instruction, or None if the instruction uses no tracked register."""
        checked, written = self._checked[pc] & ~self._guard_bits(pc), self._written[pc]
        if not checked and not written:
            return None
        checked_rows, written_rows = self._rows(checked), self._rows(written)
        accumulators = self._accumulators(pc)
        propagates = self._propagates[pc]

        def handle(event: Execute) -> None:
            batch = event.batch
            final = self._final.get(pc)
            if final is not None and final[batch.warp_index].all():
                return
            lanes = self._lanes(batch)
            if len(checked_rows):
                self._check(batch, pc, checked_rows, lanes, accumulators, event.operands)
            if propagates:
                self._propagate(event, lanes, written_rows)
            elif len(written_rows):
                self._unwritten[np.ix_(written_rows, batch.warp_index)] &= ~lanes
            if self._is_final[pc]:
                self._finish(batch, pc, np.concatenate([checked_rows, written_rows]))

        return handle

    def _finish(self, batch: Batch, pc: int, rows: Array) -> None:
        final = self._final.setdefault(pc, np.zeros(self.launch.topology.warps, np.bool_))
        live = to_bits(self.context.splits.live[batch.warp_index])
        final[batch.warp_index] = ~(self._unwritten[np.ix_(rows, batch.warp_index)] & live).any(axis=0)

    def _rows(self, bits: int) -> Array:
        return np.array([self._slot[number] for number in _bits_of(bits)], np.intp)

    def _accumulators(self, pc: int) -> Array:
        """Return the rows of `_unwritten` for accumulators that a multiplication may ignore."""
        form, operands = self.launch.program.steps[pc].binding.form, self.launch.instructions[pc].operands
        multiply = form.effect(Multiply)
        if multiply is None or not multiply.keeps or getattr(operands, multiply.keeps) is None:
            return np.zeros(0, np.intp)
        # The multiplication ignores the accumulators if the scale-d predicate is false.
        bits = 0
        for name, spec in form.operands.items():
            if spec.access == "both":
                bits |= self._bits(registers_of(getattr(operands, name)), None)
        return self._rows(self._checked[pc] & bits)

    @staticmethod
    def _lanes(batch: Batch) -> Array:
        return np.full(batch.count, -1, np.int32) if batch.mask is None else to_bits(batch.mask)

    def _check(
        self, batch: Batch, pc: int, rows: Array, lanes: Array, accumulators: Array | None = None, operands: Any = None
    ) -> None:
        found = self._unwritten[np.ix_(rows, batch.warp_index)] & lanes
        if not found.any():
            return
        if accumulators is not None and len(accumulators):
            multiply = self.launch.program.steps[pc].binding.form.effect(Multiply)
            assert multiply is not None
            keeps = np.broadcast_to(batch.read(getattr(operands, multiply.keeps)), (batch.count, 32))[:, 0]
            unread = np.isin(rows, accumulators)[:, None] & (keeps == 0)
            found &= np.where(unread, 0, -1).astype(np.int32)
        rows_at, positions = np.nonzero(found)
        if not len(rows_at):
            return
        report = self.context.report
        if report.is_known("sanitize.unwritten/register", pc, -1, len(rows_at)):
            return
        number = list(self._slot)[int(rows[rows_at[0]])]
        warp, bits = int(batch.warp_index[positions[0]]), int(found[rows_at[0], positions[0]])
        lane = (bits & -bits).bit_length() - 1
        message = (
            f"this uses {self._names.get(number, 'a register')}, which no earlier instruction has written; "
            f"{self.context.describe(warp, lane)}"
        )
        origin = self._names.get(self._origins[number], "the register")
        hint = f"write {origin} on every path that leads to its use"
        fixes = self._loads(origin)
        report.add("sanitize.unwritten/register", pc, -1, message, hint, len(rows_at), origin, fixes=fixes)

    def _loads(self, register: str) -> tuple[Fix, ...]:
        """Return alternative loads of a register from parameters that no instruction names."""
        program = self.launch.program
        location = program.steps[program.entry].scope.location(register)
        if location is None:
            return ()
        operands = (operand for step in program.steps for operand in step.instruction.operands)
        named = {name for operand in operands for name in re.findall(r"[\w$%.]+", str(operand))}
        template = rules()["sanitize.unwritten/register"].template
        texts = (
            template.format(type=f"b{location.width}", register=register, parameter=each.name)
            for each in program.parameters
            if each.name not in named and each.size * 8 == location.width
        )
        return tuple(insert_before(program, program.entry, text) for text in texts)

    def _propagate(self, event: Execute, lanes: Array, written: Array) -> None:
        """Mark the results of an instruction as unwritten in lanes with an unwritten source."""
        batch, form = event.batch, self.launch.program.steps[event.pc].binding.form
        warps, flow = batch.warp_index, form.flow
        result = np.zeros(len(warps), np.int32)
        for name, spec in form.operands.items():
            if spec.access == "write":
                continue
            source = self._held(registers_of(getattr(event.operands, name)), warps)
            if flow.selects and name in flow.elements:
                selects_first = np.broadcast_to(batch.read(getattr(event.operands, flow.selects)), (batch.count, 32))
                source &= to_bits(selects_first if name == flow.elements[0] else ~selects_first)
            result |= source
        for row in written.tolist():
            self._unwritten[row, warps] = (self._unwritten[row, warps] & ~lanes) | (result & lanes)

    def _held(self, registers: Iterable[tuple[int, int]], warps: Array) -> Array:
        held = np.zeros(len(warps), np.int32)
        for register in registers:
            slot = self._slot.get(self._number[register])
            if slot is not None:
                held |= self._unwritten[slot, warps]
        return held


def _bits_of(bits: int) -> list[int]:
    found: list[int] = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found
