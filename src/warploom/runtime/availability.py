"""Refusal of kernels that use what the target or the PTX version of their module lacks."""

from __future__ import annotations

from collections.abc import Iterator

from warploom.emulator.blocks import names_in
from warploom.emulator.faults import Unsupported
from warploom.emulator.program import Program
from warploom.isa.binding.bind import Binding
from warploom.isa.model.availability import Target, Version, read_target
from warploom.isa.model.directives import directive_rules
from warploom.isa.model.form import Match
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.ptx import Function, Instruction


def check_availability(program: Program) -> None:
    """Refuse a kernel that uses what the target or the PTX version of its module lacks.

    The functions that the kernel may call belong to it. A target or a PTX version that Warploom does not know may have
    everything.

    Errors: Unsupported, with the errors that `check` reports.
    """
    module = program.module
    target = next(filter(None, map(read_target, module.target)), None)
    if target is None:
        return
    ptx = module.version
    functions = [program.kernel, *(module.functions[name] for name in program.functions)]
    instructions = [*_suspects(program, target, ptx)]
    is_early = ptx < target.first_version
    if not (instructions or is_early or any(_may_lack_directive(each, target, ptx) for each in functions)):
        return
    # The checker knows which of the instructions ptxas accepts nevertheless. Its import takes long.
    from warploom.check.availability import errors_of

    if found := errors_of(module, functions, instructions):
        raise Unsupported(found)


def _may_lack_directive(function: Function, target: Target, ptx: Version) -> bool:
    rules = directive_rules(function)
    found = (rules.get(each.name) for each in function.directives)
    return any(rule is not None and not rule.is_available(target, ptx) for rule in found)


def _suspects(program: Program, target: Target, ptx: Version) -> Iterator[Instruction]:
    """Yield the instructions that the target or the PTX version lacks according to the manual."""
    registers = {name for name, each in SPECIAL_REGISTERS.items() if each.ptx > ptx or not _has(target, each.target)}
    known: dict[tuple[str, str], tuple[bool, set[str]]] = {}  # by opcode and form: lacks it, and the operands it lacks
    for step in program.steps:
        instruction, binding = step.instruction, step.binding
        key = instruction.opcode, binding.form.name
        if key not in known:
            known[key] = _lacks(instruction, binding, target, ptx)
        lacks, operands = known[key]
        if (
            lacks
            or (operands and not operands.isdisjoint(binding.operands))
            or (registers and not registers.isdisjoint(names_in(*instruction.operands)))
        ):
            yield instruction


def _lacks(instruction: Instruction, binding: Binding, target: Target, ptx: Version) -> tuple[bool, set[str]]:
    """Return True if the target or PTX version lacks an opcode, and the operands that the target lacks."""
    form = binding.form
    match = Match(form, binding.slots, form.rows_of(binding.slots))
    operands = {name for name, spec in form.operands.items() if not _has(target, spec.legal.target)}
    return match.unmet(instruction.words, target, ptx) is not None, operands


def _has(target: Target, needed: str) -> bool:
    found = read_target(needed) if needed else None
    return found is None or target.has(found)
