"""Rule by which the checker judges one operand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache

from warploom.check.ptxas import operands as ptxas
from warploom.check.ptxas.address_bases import refused_bases
from warploom.check.ptxas.fragment_registers import FragmentRegisters
from warploom.isa.model.form import Match
from warploom.isa.model.operands import OperandSpec, Slots


@dataclass(frozen=True, slots=True)
class Rule:
    """Requirements for one operand: the specification of the manual, and the deviations of ptxas."""

    kind: str
    access: str
    type: object
    accepts: str
    allows: Collection[str]
    selector: str
    implied: bool
    extensions: Collection[str] = ()  # syntax that ptxas accepts beyond the manual
    refused_bases: Collection[int] = ()  # widths of registers that ptxas refuses as the base of an address
    registers_only: bool = False  # no sinks, predicates and addresses of variables
    is_fragment: bool = False

    @classmethod
    def of(
        cls, spec: OperandSpec, slots: Slots, extensions: Collection[str] = (), refused_bases: Collection[int] = (),
        registers_only: bool = False,
    ) -> Rule:  # fmt: skip
        """Return the rule of an operand from its specification and the deviations of ptxas."""
        return cls(
            spec.kind, spec.access, spec.type, spec.accepts(slots), spec.allowed(slots), spec.selector_pattern(slots),
            spec.implied, extensions, refused_bases, registers_only,
        )  # fmt: skip

    @classmethod
    @lru_cache(maxsize=8192)
    def on_target(cls, match: Match, name: str, target: int) -> Rule:
        """Return the rule of operand `name` of a matched Form. `target` is a number such as 90."""
        form, slots = match.form, match.slots
        return cls.of(
            form.operands[name],
            slots,
            extensions=ptxas.extensions_of(form, name, slots, target),
            refused_bases=refused_bases(form, name, slots, target),
            registers_only=ptxas.takes_registers_only(form, name),
        )

    def for_fragment(self, fragment: FragmentRegisters) -> Rule:
        """Return a copy of this rule for a vector that holds a matrix fragment."""
        accepts = "own" if fragment.type != "u32" else "same"
        implied = accepts == "own" or self.implied
        return replace(self, extensions=fragment.extensions, accepts=accepts, implied=implied, is_fragment=True)


COORDINATE = Rule.of(OperandSpec("register", "read", "s32", allows=("special",)), {})
"""Rule of a coordinate of a tensor address."""

PREDICATE = Rule.of(OperandSpec("predicate", "read", "pred"), {})
"""Rule of a source predicate."""
