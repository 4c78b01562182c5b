"""Body of a function for checks that follow its control flow: the instructions and their successors."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from warploom.check.names import Names
from warploom.isa.binding.operands import BoundOperand, place_operands
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.form import Form, Match, match_opcode
from warploom.ptx import Function, Instruction, Label, Name, Operand, Pair, Vector
from warploom.ptx.flow import EXIT, successors

_WRITES = frozenset({"write", "both"})
_NAME = re.compile(r"(?!_\b)[A-Za-z_%$][\w$.]*")
_NUMBER = re.compile(r"\d[\w.]*")

Register = tuple[int, int]
"""Identity of a register's declaration, and the number of the register in the declared range."""

Mentioned = tuple[dict[Register, int], frozenset[Register]]
"""Registers that an instruction mentions, each with an operand index, and those that it writes."""


@dataclass(slots=True)
class Step:
    """Instruction of a function body, with the scope of its names."""

    instruction: Instruction
    names: Names


class UsedRegisters(NamedTuple):
    """Registers of one asynchronous multiplication."""

    accumulators: frozenset[Register]
    all: frozenset[Register]  # accumulators and operand A
    names: frozenset[str]  # of all these registers


class Uses(NamedTuple):
    """Registers of all asynchronous multiplications of a body."""

    used: list[UsedRegisters]  # one for each multiplication
    bits: dict[Register, int]  # bit number of each register in sets of registers
    # Two sets of bits: bit k is set if multiplication k accumulates in the register, or uses it at all.
    users: dict[Register, tuple[int, int]]


@dataclass(slots=True)
class FlowResults:
    """Results that checks of control flow store for the next version of a body.

    The results are valid while all names keep their declarations.
    """

    used: dict[int, UsedRegisters] = field(default_factory=dict[int, UsedRegisters])  # by `id` of the multiplication
    uses: Uses = field(default_factory=lambda: Uses([], {}, {}))
    # Registers that some multiplication uses.
    watched: frozenset[Register] = frozenset()
    watched_names: frozenset[str] = frozenset()
    # Watched registers in each other instruction, by its `id`.
    mentions: dict[int, Mentioned | None] = field(default_factory=dict[int, "Mentioned | None"])


@dataclass(slots=True)
class Body:
    """Instructions of a function in order."""

    function: Function
    target: Target
    ptx: Version
    earlier: FlowResults = field(default_factory=FlowResults)  # of an earlier version of the body
    results: FlowResults = field(default_factory=FlowResults)
    steps: list[Step] = field(default_factory=list[Step])
    labels: dict[int, int] = field(default_factory=dict[int, int])  # index of the instruction after each label, by `id`
    _registers: dict[tuple[int, str], Register | None] = field(default_factory=dict[tuple[int, str], Register | None])
    _written: dict[tuple[str, str], list[tuple[int, ...]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[int, ...]]]
    )

    def label(self, label: Label) -> None:
        """Add a label in front of the next instruction."""
        self.labels[id(label)] = len(self.steps)

    def with_forms(self, wanted: frozenset[Form]) -> dict[int, Form]:
        """Return {instruction index: matched Form} for the instructions that match a Form in `wanted`."""
        opcodes = [step.instruction.opcode for step in self.steps]
        forms = {opcode: form for opcode in set(opcodes) if (form := _form_among(opcode, wanted)) is not None}
        if not forms:
            return {}
        return {index: forms[opcode] for index, opcode in enumerate(opcodes) if opcode in forms}

    def bound(self, index: int) -> tuple[Match, dict[str, BoundOperand]] | None:
        """Return the first match that fits the operands of an instruction, and the operands by name, or None."""
        instruction = self.steps[index].instruction
        return _bound(instruction.opcode, instruction.operands)

    def written(self, index: int) -> list[Operand]:
        """Return the operands that an instruction writes. Only the written items of a pair or vector count."""
        instruction = self.steps[index].instruction
        operands = instruction.operands
        # Names and numbers do not decide which operands are written.
        key = instruction.opcode, _NUMBER.sub("0", _NAME.sub("x", " ".join(map(str, operands))))
        positions = self._written.get(key)
        if positions is None:
            bound = _bound(instruction.opcode, operands)
            found = () if bound is None else bound[1].values()
            positions = [each.at for each in found if each.spec.access in _WRITES]
            self._written[key] = positions
        return [_part(operands[k], *rest) for k, *rest in positions]

    def register(self, index: int, name: str) -> Register | None:
        """Return the register with a name at an instruction, or None if the name is no register."""
        names = self.steps[index].names
        key = (id(names), name)
        if key not in self._registers:
            found = names.register(name)
            self._registers[key] = None if found is None else (id(found[0]), found[1])
        return self._registers[key]

    def branches(self) -> dict[int, list[int]]:
        """Return {index: successors} for the instructions that can branch or leave the function.

        The successor EXIT stands for the end of the function.
        """
        end = len(self.steps)
        opcodes = [step.instruction.opcode for step in self.steps]
        branching = {opcode for opcode in set(opcodes) if (form := _form(opcode)) is not None and form.control}
        found = {index: self._successors(index, end) for index, opcode in enumerate(opcodes) if opcode in branching}
        if end:
            found.setdefault(end - 1, [EXIT])
        return found

    def _successors(self, index: int, end: int) -> list[int]:
        step = self.steps[index]
        form = _form(step.instruction.opcode)
        control = "" if form is None else form.control
        targets = list(self._targets(step)) if control == "jump" else []
        guarded = step.instruction.guard is not None
        leaves, returns = form is not None and form.ends_thread, control == "call"
        return successors(index, end, targets, leaves=leaves, guarded=guarded, returns=returns)

    def _targets(self, step: Step) -> Iterator[int]:
        for operand in step.instruction.operands:
            if not isinstance(operand, Name):
                continue
            table = step.names.table(operand.text)
            for name in table.names if table is not None else (operand.text,):
                index = self.labels.get(id(step.names.label(name)), len(self.steps))
                if index < len(self.steps):
                    yield index


@lru_cache(maxsize=4096)
def _form_among(opcode: str, wanted: frozenset[Form]) -> Form | None:
    return next((match.form for match in match_opcode(opcode) if match.form in wanted), None)


def _form(opcode: str) -> Form | None:
    matches = match_opcode(opcode)
    return matches[0].form if matches else None


def _bound(opcode: str, operands: tuple[Operand, ...]) -> tuple[Match, dict[str, BoundOperand]] | None:
    for match in match_opcode(opcode):
        bound = place_operands(match, operands)
        if isinstance(bound, dict):
            return match, bound
    return None


def _part(operand: Operand, item: int = -1) -> Operand:
    """Return one item of a pair or vector, or the whole operand if `item` is -1."""
    match operand:
        case Pair(first, second) if item >= 0:
            return second if item else first
        case Vector(items) if item >= 0:
            return items[item]
        case _:
            return operand
