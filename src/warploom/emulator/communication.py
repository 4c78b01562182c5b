"""Analysis of the instructions through which a CTA can observe other CTAs while both run.

The results of a kernel with such instructions may depend on which CTAs are resident at the same time.
"""

from __future__ import annotations

from collections import Counter

from warploom.emulator.blocks import names_in, names_of
from warploom.emulator.program import Program, Step
from warploom.isa.model.effects import Access

_WITHIN_CLUSTER = frozenset({"shared", "shared::cta", "shared::cluster", "local"})


def inter_cta_communication(program: Program) -> list[bool]:
    """Return, for each instruction, True if it may load a value that a CTA of another cluster wrote.

    These are ordered and volatile loads, and atomics whose result is used.
    """
    found = [_communicates(step) for step in program.steps]
    if not any(access is not None for access in found):
        return [False] * len(found)
    named = Counter(name for step in program.steps for name in names_of(step.instruction))
    named.update(guard.name for step in program.steps if (guard := step.instruction.guard))

    def is_used(step: Step, access: Access) -> bool:
        return any(named[name] > 1 for name in names_in(step.binding.operands[access.value].operand) if name != "_")

    return [
        access is not None and (access.kind != "update" or is_used(step, access))
        for step, access in zip(program.steps, found, strict=True)
    ]


def _communicates(step: Step) -> Access | None:
    """Return the access through which an instruction may load another CTA's value, or None."""
    form, slots = step.binding.form, step.binding.slots
    for access in form.effects_of(Access):
        loads = access.kind != "write" and access.value and form.operands[access.value].access != "read"
        space = form.operands[access.address].space_word(slots)
        if loads and access.is_ordered(slots) and space not in _WITHIN_CLUSTER:
            return access
    return None
