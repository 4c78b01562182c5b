"""Registers that an instruction reads and writes."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from warploom.emulator.events import Launch
from warploom.emulator.values import registers_of

Registers = frozenset[tuple[int, int]]
"""Registers as pairs of the width in bytes and the index in the register file."""

NONE: Registers = frozenset()

Result = TypeVar("Result")


def once_per_program(analyse: Callable[[Launch], Result]) -> Callable[[Launch], Result]:
    """Return `analyse` with a cache: launches of one program share its result.

    The result must depend on the program alone. It must not refer to objects of the launch.
    """

    def find(launch: Launch) -> Result:
        analyses = launch.program.analyses
        if analyse not in analyses:
            analyses[analyse] = analyse(launch)
        return analyses[analyse]

    return find


def used_registers(launch: Launch, pc: int) -> tuple[Registers, Registers]:
    """Return the registers that the operands of an instruction read, and those that they write."""
    return _used_registers(launch)[pc]


@once_per_program
def _used_registers(launch: Launch) -> list[tuple[Registers, Registers]]:
    return [_used_by(launch, pc) for pc in range(len(launch.instructions))]


def _used_by(launch: Launch, pc: int) -> tuple[Registers, Registers]:
    operands, specs = launch.instructions[pc].operands, launch.program.steps[pc].binding.form.operands
    used = [(spec.access, registers_of(getattr(operands, name))) for name, spec in specs.items()]
    read = NONE.union(*(registers for access, registers in used if access != "write"))
    return read, NONE.union(*(registers for access, registers in used if access != "read"))


def guard_registers(launch: Launch, pc: int) -> Registers:
    """Return the registers of the guard of an instruction."""
    guard = launch.instructions[pc].guard
    return NONE if guard is None else registers_of(guard)


def moves(launch: Launch) -> Iterator[tuple[int, Registers, Registers]]:
    """Yield program counter, target registers and source registers of each instruction that copies registers."""
    for pc, step in enumerate(launch.program.steps):
        form, operands = step.binding.form, launch.instructions[pc].operands
        if len(form.flow.elements) == 1 and form.flow.unwritten == "propagate":
            target = next(name for name, spec in form.operands.items() if spec.access == "write")
            yield pc, registers_of(getattr(operands, target)), registers_of(getattr(operands, form.flow.elements[0]))
