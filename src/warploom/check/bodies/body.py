"""The body of a function as the checks see it: its instructions in a row, and what may follow each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from warploom.check.names import Names
from warploom.isa.binding.operands import BoundOperand, place_operands
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.form import Form, Match, match_opcode
from warploom.ptx import (
    Address,
    Function,
    Instruction,
    Label,
    Name,
    Negated,
    Operand,
    Pair,
    Tuple,
    Variable,
    Vector,
)
from warploom.ptx.flow import EXIT, successors

Register = tuple[int, int]
"""A register: which declaration, and its number there."""

Mentioned = tuple[dict[Register, int], frozenset[Register]]
"""The registers that an instruction mentions, with the operand of each, and those of them that it writes."""


@dataclass(slots=True)
class Step:
    """An instruction and the scope it stands in."""

    instruction: Instruction
    names: Names


class UsedRegisters(NamedTuple):
    """The registers of an asynchronous multiplication: those that it sums in, all, and all with their names."""

    accumulators: frozenset[Register]
    all: frozenset[Register]
    named: frozenset[tuple[str, Register]]


class Uses(NamedTuple):
    """What the multiplications of a body use: the numbers of registers, for each register those that sum in it and
    those that use it as bits, and all with their names.
    """

    used: list[UsedRegisters]
    bits: dict[Register, int]
    users: dict[Register, tuple[int, int]]
    named: frozenset[tuple[str, Register]]


_NO_USES = Uses([], {}, {}, frozenset())


@dataclass(slots=True)
class Facts:
    """What was found of single instructions, by their identity. It holds in a later version of the body too where
    all names mean the same in it.

    `used` and `uses` are of asynchronous multiplications; `touched` is what others, of those that were `seen`,
    mention of registers, which were looked for as they are `named`.
    """

    used: dict[int, UsedRegisters] = field(default_factory=dict[int, UsedRegisters])
    uses: Uses = _NO_USES
    seen: set[int] = field(default_factory=set[int])
    named: frozenset[tuple[str, Register]] = frozenset()
    touched: dict[int, Mentioned] = field(default_factory=dict[int, Mentioned])


@dataclass(slots=True)
class Body:
    """A function's instructions in order; `labels` says before which of them each label stands. `earlier` is what
    was found of an earlier version, `facts` what is found now.
    """

    function: Function
    target: Target
    ptx: Version
    earlier: Facts = field(default_factory=Facts)
    facts: Facts = field(default_factory=Facts)
    steps: list[Step] = field(default_factory=list[Step])
    labels: dict[int, int] = field(default_factory=dict[int, int])
    _registers: dict[tuple[int, str], Register | None] = field(
        default_factory=dict[tuple[int, str], Register | None]
    )
    _written: dict[tuple[object, ...], list[tuple[int, ...]]] = field(
        default_factory=dict[tuple[object, ...], list[tuple[int, ...]]]
    )

    def label(self, label: Label) -> None:
        """A label before the next instruction."""
        self.labels[id(label)] = len(self.steps)

    def with_forms(self, wanted: frozenset[Form]) -> dict[int, Form]:
        """The instructions, by their place, that follow one of some forms."""
        opcodes = [step.instruction.opcode for step in self.steps]
        forms: dict[str, Form] = {}
        for opcode in set(opcodes):
            form = next((match.form for match in match_opcode(opcode) if match.form in wanted), None)
            if form is not None:
                forms[opcode] = form
        if not forms:
            return {}
        return {place: forms[opcode] for place, opcode in enumerate(opcodes) if opcode in forms}

    def bound(self, place: int) -> tuple[Match, dict[str, BoundOperand]] | None:
        """The form that takes the operands of an instruction, and those in their places."""
        instruction = self.steps[place].instruction
        return _bound(instruction.opcode, instruction.operands)

    def written(self, place: int) -> list[Operand]:
        """The operands that an instruction writes, or parts of them."""
        instruction = self.steps[place].instruction
        operands = instruction.operands
        key = (instruction.opcode, *map(_shape, operands))
        places = self._written.get(key)
        if places is None:
            bound = _bound(instruction.opcode, operands)
            found = () if bound is None else bound[1].values()
            places = self._written[key] = [each.at for each in found if each.place.access in _WRITES]
        return [_part(operands[k], *rest) for k, *rest in places]

    def register(self, place: int, name: str) -> Register | None:
        """The register that a name is at an instruction."""
        names = self.steps[place].names
        key = (id(names), name)
        if key not in self._registers:
            found = names.register(name)
            self._registers[key] = None if found is None else (id(found[0]), found[1])
        return self._registers[key]

    def turning(self) -> dict[int, list[int]]:
        """For each instruction that the next one does not simply follow, those that may follow it; EXIT where the
        function may end.
        """
        end = len(self.steps)
        opcodes = [step.instruction.opcode for step in self.steps]
        turning = {opcode for opcode in set(opcodes) if (form := _form(opcode)) is not None and form.control}
        found = {place: self._after(place, end) for place, opcode in enumerate(opcodes) if opcode in turning}
        if end:
            found.setdefault(end - 1, [EXIT])
        return found

    def _after(self, place: int, end: int) -> list[int]:
        step = self.steps[place]
        form = _form(step.instruction.opcode)
        control = "" if form is None else form.control
        targets = list(self._targets(step)) if control == "jump" else []
        guarded = step.instruction.guard is not None
        leaves, returns = form is not None and form.ends_thread, control == "call"
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


_WRITES = frozenset({"write", "both"})


def _form(opcode: str) -> Form | None:
    matches = match_opcode(opcode)
    return matches[0].form if matches else None


def _bound(opcode: str, operands: tuple[Operand, ...]) -> tuple[Match, dict[str, BoundOperand]] | None:
    for match in match_opcode(opcode):
        bound = place_operands(match, operands)
        if isinstance(bound, dict):
            return match, bound
    return None


def _shape(operand: Operand) -> object:
    """What decides on the place of an operand."""
    match operand:
        case Name(text):
            return "_" if text == "_" else Name
        case Negated(_, sign):
            return sign
        case Vector(items) | Tuple(items):
            return (type(operand), *map(_shape, items))
        case Address(_, _, extra):
            return (Address, *map(_shape, extra))
        case Pair(first, second):
            return (Pair, _shape(first), _shape(second))
        case _:
            return type(operand)


def _part(operand: Operand, item: int = -1) -> Operand:
    """An operand, or one of those that it is made of."""
    match operand:
        case Pair(first, second) if item >= 0:
            return second if item else first
        case Vector(items) if item >= 0:
            return items[item]
        case _:
            return operand
