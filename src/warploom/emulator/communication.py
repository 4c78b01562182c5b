"""Instructions through which a CTA can observe other CTAs while it runs.

A kernel that has such instructions depends on which CTAs run beside each other.
"""

from __future__ import annotations

from collections import Counter

from warploom.emulator.blocks import names_in, names_of
from warploom.emulator.program import Program, Step

_WITHIN_CLUSTER = frozenset({"shared", "shared::cta", "shared::cluster", "local"})


def inter_cta_communication(program: Program) -> list[bool]:
    """Return True for the instructions that may return what CTAs of other clusters wrote to memory.

    Ordered and volatile loads do so, and atomics whose result is used.
    """
    found = [_communicates(step) for step in program.steps]
    if not any(found):
        return found
    named = Counter(name for step in program.steps for name in names_of(step.instruction))
    named.update(guard.name for step in program.steps if (guard := step.instruction.guard))
    for pc, step in enumerate(program.steps):
        if found[pc] and step.binding.form.family == "atomic":
            found[pc] = any(
                named[name] > 1 for name in names_in(step.binding.operands["d"].operand) if name != "_"
            )
    return found


def _communicates(step: Step) -> bool:
    slots = step.binding.slots
    space = slots.get("space") or slots.get("ss") or ""
    return "listens" in step.binding.form.touches and space not in _WITHIN_CLUSTER
