# pyright: reportUnknownMemberType=false
"""Check for registers that an instruction uses before any instruction has written them.

Instructions that merge bits, pack words or exchange values between lanes may use unwritten registers, because compilers
leave unused parts of such words unwritten.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics.edits import Fix
from warploom.emulator.batch import Batch
from warploom.emulator.events import Execute, Guard, Launch
from warploom.emulator.values import registers_of
from warploom.isa.model.effects import Multiply
from warploom.observe.sanitize.clocks import to_bits
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.edits import insert_before
from warploom.observe.sanitize.register_uses import RegisterUses, numbers_of
from warploom.observe.sanitize.registers import Registers, once_per_program
from warploom.observe.sanitize.rules import rules

Array = NDArray[Any]

_analyse = once_per_program(RegisterUses)


@dataclass(frozen=True, slots=True)
class _Site:
    """Rows of `_unwritten` for the registers of an instruction.

    `guards` and `checked` must be written before the instruction: the registers of the guard, and other registers.
    `accumulators` are those of `checked` that a multiplication may ignore. `written` are written by the instruction.
    """

    guards: Array
    checked: Array
    accumulators: Array
    written: Array


class UnwrittenRegisters:
    """Check for registers that are used before they are written."""

    context: Context

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self._uses = _analyse(launch)
        self._sites = _find_sites(launch)

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        self.context = context
        self._unwritten = np.full((len(self._uses.slot), self.launch.topology.warps), -1, np.int32)
        self._final: dict[int, Array] = {}

    def guard_handlers(self) -> Mapping[int, Callable[[Guard], None]]:
        """Return handlers that detect unwritten guard registers, by program counter of the instruction."""
        return {pc: self._check_guard for pc, site in self._sites.items() if len(site.guards)}

    def handlers(self) -> Mapping[int, Callable[[Execute], None]]:
        """Return the handlers of the instructions that use tracked registers, by program counter."""
        return {pc: self._use for pc, site in self._sites.items() if len(site.checked) or len(site.written)}

    def _check_guard(self, event: Guard) -> None:
        self._check(event.batch, event.pc, self._sites[event.pc].guards, self._lanes(event.batch))

    def _use(self, event: Execute) -> None:
        batch, pc, site = event.batch, event.pc, self._sites[event.pc]
        final = self._final.get(pc)
        if final is not None and final[batch.warp_index].all():
            return
        lanes = self._lanes(batch)
        if len(site.checked):
            self._check(batch, pc, site.checked, lanes, site.accumulators, event.operands)
        if self._uses.propagates[pc]:
            self._propagate(event, lanes, site.written)
        elif len(site.written):
            self._unwritten[np.ix_(site.written, batch.warp_index)] &= ~lanes
        if self._uses.is_final[pc]:
            self._finish(batch, pc, np.concatenate([site.checked, site.written]))

    def _finish(self, batch: Batch, pc: int, rows: Array) -> None:
        final = self._final.setdefault(pc, np.zeros(self.launch.topology.warps, np.bool_))
        live = self.context.clocks.live(batch.warp_index)
        final[batch.warp_index] = ~(self._unwritten[np.ix_(rows, batch.warp_index)] & live).any(axis=0)

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
        number = list(self._uses.slot)[int(rows[rows_at[0]])]
        warp, bits = int(batch.warp_index[positions[0]]), int(found[rows_at[0], positions[0]])
        lane = (bits & -bits).bit_length() - 1
        message = (
            f"this uses {self._uses.names.get(number, 'a register')}, which no earlier instruction has written; "
            f"{self.context.describe(warp, lane)}"
        )
        origin = self._uses.names.get(self._uses.origins[number], "the register")
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

    def _held(self, registers: Registers, warps: Array) -> Array:
        held = np.zeros(len(warps), np.int32)
        for slot in self._uses.slots(registers):
            held |= self._unwritten[slot, warps]
        return held


@once_per_program
def _find_sites(launch: Launch) -> dict[int, _Site]:
    """Return the rows of the instructions that use tracked registers, by program counter."""
    uses = _analyse(launch)

    def rows(bits: int) -> Array:
        return np.array([uses.slot[number] for number in numbers_of(bits)], np.intp)

    return {
        pc: _Site(
            rows(checked & guards), rows(checked & ~guards), rows(checked & _find_accumulators(launch, pc)),
            rows(written),
        )
        for pc, (checked, guards, written) in enumerate(zip(uses.checked, uses.guards, uses.written, strict=True))
        if checked | written
    }  # fmt: skip


def _find_accumulators(launch: Launch, pc: int) -> int:
    """Return the accumulators that a multiplication may ignore, as bits."""
    form, operands = launch.program.steps[pc].binding.form, launch.instructions[pc].operands
    multiply = form.effect(Multiply)
    if multiply is None or not multiply.keeps or getattr(operands, multiply.keeps) is None:
        return 0
    # The multiplication ignores the accumulators if the scale-d predicate is false.
    uses, bits = _analyse(launch), 0
    for name, spec in form.operands.items():
        if spec.access == "both":
            bits |= uses.bits(registers_of(getattr(operands, name)))
    return bits
