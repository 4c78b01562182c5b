"""Instructions through which a CTA can observe other CTAs while it runs.

A kernel that has such instructions depends on which CTAs run beside each other.
"""

from __future__ import annotations

from collections import Counter

from warploom.emulator.blocks import names_in, names_of
from warploom.emulator.program import Program, Step
from warploom.isa.model.effects import Access

_WITHIN_CLUSTER = frozenset({"shared", "shared::cta", "shared::cluster", "local"})


def inter_cta_communication(program: Program) -> list[bool]:
    """Return True for the instructions that may return what CTAs of other clusters wrote to memory.

    Ordered and volatile loads do so, and atomics whose result is used.
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
    """Return the access through which an instruction may load a value of another CTA, or None."""
    form, slots = step.binding.form, step.binding.slots
    for access in form.effects_of(Access):
        loads = access.kind != "write" and access.value and form.operands[access.value].access != "read"
        space = form.operands[access.address].space_word(slots)
        if loads and access.is_ordered(slots) and space not in _WITHIN_CLUSTER:
            return access
    return None
