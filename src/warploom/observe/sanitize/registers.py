"""Registers that an instruction reads and writes."""

from warploom.emulator.events import Launch
from warploom.emulator.values import registers_of

Registers = frozenset[tuple[int, int]]
"""Registers as pairs of the width in bytes and the index in the register file."""

NONE: Registers = frozenset()


def used_registers(launch: Launch, pc: int) -> tuple[Registers, Registers]:
    """Return the registers that the operands of an instruction read, and those that they write."""
    operands, specs = launch.instructions[pc].operands, launch.program.steps[pc].binding.form.operands
    used = [(spec.access, registers_of(getattr(operands, name))) for name, spec in specs.items()]
    read = NONE.union(*(registers for access, registers in used if access != "write"))
    return read, NONE.union(*(registers for access, registers in used if access != "read"))


def guard_registers(launch: Launch, pc: int) -> Registers:
    """Return the registers of the guard of an instruction."""
    guard = launch.instructions[pc].guard
    return NONE if guard is None else registers_of(guard)
