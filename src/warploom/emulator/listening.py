"""Which instructions can learn what other CTAs do: what runs beside it matters to a kernel that has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from warploom.emulator.blocks import names_in, names_of
from warploom.isa.model.effects import Access
from warploom.isa.model.form import Form

if TYPE_CHECKING:
    from warploom.emulator.program import Program

_WITHIN = frozenset({"shared", "shared::cta", "shared::cluster", "local"})
"""Spaces that no other cluster reaches."""


def listening(program: Program) -> list[bool]:
    """For each instruction, whether it returns what another CTA may have left in memory, and somebody looks.

    Ordered and volatile loads do, and atomics whose result is named anywhere else.
    """
    found = [_listens(step.binding.form, step.binding.slots) for step in program.steps]
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


def _listens(form: Form, slots: Mapping[str, str]) -> bool:
    """Return True if the instruction loads a value that another CTA may have written."""
    return any(
        access.kind != "write"
        and access.value != ""
        and form.operands[access.value].access != "read"
        and access.is_ordered(slots)
        and form.operands[access.address].space_word(slots) not in _WITHIN
        for access in form.effects_of(Access)
    )
