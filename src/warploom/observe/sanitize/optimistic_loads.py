"""Optimistic loads: weak loads whose value a compare-and-swap at the same address checks later."""

from __future__ import annotations

from collections.abc import Iterator

from warploom.emulator.events import Launch
from warploom.emulator.values import registers_of
from warploom.isa.model.effects import Access

Registers = frozenset[tuple[int, int]]


def optimistic_loads(launch: Launch) -> frozenset[int]:
    """Return the program counters of weak loads whose value a compare-and-swap at their address checks.

    Such a load races with the atomics of other threads by the letter of the memory model, and the loops in NVIDIA's own
    headers begin with such a load. The swap fails unless the value is still in memory, so any loaded value is harmless.
    """
    compared: dict[Registers, set[tuple[int, int]]] = {}
    for pc, access in _accesses(launch):
        if access.compared:
            registers = compared.setdefault(_registers(launch, pc, access.address), set())
            registers.update(_registers(launch, pc, access.compared))
    if not compared:
        return frozenset()
    moves = list(_moves(launch))
    for registers in compared.values():
        known = 0
        while known < len(registers):
            known = len(registers)
            registers.update(*(source for target, source in moves if target & registers))
    return frozenset(
        pc
        for pc, access in _accesses(launch)
        if access.kind == "read"
        and access.value
        and not access.is_ordered(launch.program.steps[pc].binding.slots)
        and _registers(launch, pc, access.value) & compared.get(_registers(launch, pc, access.address), set())
    )


def _accesses(launch: Launch) -> Iterator[tuple[int, Access]]:
    for pc, step in enumerate(launch.program.steps):
        for access in step.binding.form.effects_of(Access):
            yield pc, access


def _moves(launch: Launch) -> Iterator[tuple[Registers, Registers]]:
    """Yield the target and source registers of each instruction that copies a register unchanged."""
    for pc, step in enumerate(launch.program.steps):
        form = step.binding.form
        flow = form.flow
        if len(flow.elements) == 1 and flow.unwritten == "propagate":
            targets = [name for name, spec in form.operands.items() if spec.access == "write"]
            yield _registers(launch, pc, targets[0]), _registers(launch, pc, flow.elements[0])


def _registers(launch: Launch, pc: int, operand: str) -> Registers:
    return registers_of(getattr(launch.instructions[pc].operands, operand))
