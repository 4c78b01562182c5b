"""The body of a function as the checks see it: its instructions in a row, and what may follow each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from warploom.check.names import Names
from warploom.isa.availability import Target, Version
from warploom.isa.kit import Form, Match, match_opcode
from warploom.isa.places import BoundOperand, place_operands
from warploom.ptx import Function, Instruction, Label, Name, Variable
from warploom.ptx.flow import successors

Register = tuple[int, int]
"""A register: which declaration, and its number there."""


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction and the scope it stands in."""

    instruction: Instruction
    names: Names


@dataclass(slots=True)
class Body:
    """A function's instructions in order; `labels` says before which of them each label stands."""

    function: Function
    target: Target
    ptx: Version
    steps: list[Step] = field(default_factory=list[Step])
    labels: dict[int, int] = field(default_factory=dict[int, int])
    _registers: dict[tuple[int, str], Register | None] = field(
        default_factory=dict[tuple[int, str], Register | None]
    )

    def label(self, label: Label) -> None:
        """A label before the next instruction."""
        self.labels[id(label)] = len(self.steps)

    def with_forms(self, wanted: frozenset[Form]) -> dict[int, Form]:
        """The instructions, by their place, that follow one of some forms."""
        by_opcode: dict[str, Form | None] = {}
        found: dict[int, Form] = {}
        for place, step in enumerate(self.steps):
            opcode = step.instruction.opcode
            if opcode not in by_opcode:
                by_opcode[opcode] = next((m.form for m in match_opcode(opcode) if m.form in wanted), None)
            form = by_opcode[opcode]
            if form is not None:
                found[place] = form
        return found

    def bound(self, place: int) -> tuple[Match, dict[str, BoundOperand]] | None:
        """The form that takes the operands of an instruction, and those in their places."""
        instruction = self.steps[place].instruction
        for match in match_opcode(instruction.opcode):
            operands = place_operands(match, instruction.operands)
            if isinstance(operands, dict):
                return match, operands
        return None

    def register(self, place: int, name: str) -> Register | None:
        """The register that a name is at an instruction."""
        names = self.steps[place].names
        key = (id(names), name)
        if key not in self._registers:
            found = names.register(name)
            self._registers[key] = None if found is None else (id(found[0]), found[1])
        return self._registers[key]

    def following(self) -> list[list[int]]:
        """For each instruction, those that may follow it; EXIT where the function may end."""
        end = len(self.steps)
        return [self._after(place, end) for place in range(end)]

    def _after(self, place: int, end: int) -> list[int]:
        step = self.steps[place]
        matches = match_opcode(step.instruction.opcode)
        effects = matches[0].form.touches if matches else frozenset[str]()
        targets = list(self._targets(step)) if "jumps" in effects else []
        guarded = step.instruction.guard is not None
        leaves, returns = "leaves" in effects, "calls" in effects
        return successors(place, end, targets, leaves=leaves, guarded=guarded, returns=returns)

    def _targets(self, step: Step) -> Iterator[int]:
        for operand in step.instruction.operands:
            if not isinstance(operand, Name):
                continue
            table = step.names.table(operand.text)
            for name in table.names if table is not None else (operand.text,):
                label = step.names.label(name)
                if (
                    label is not None
                    and id(label) in self.labels
                    and self.labels[id(label)] < len(self.steps)
                ):
                    yield self.labels[id(label)]

    def is_predicate(self, place: int, name: str) -> bool:
        """Whether a name is a predicate at an instruction."""
        found = self.steps[place].names.find(name)
        return isinstance(found, Variable) and found.type == "pred"
