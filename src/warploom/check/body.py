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
    """Instruction of a body, and the scope in which its names are declared."""

    instruction: Instruction
    names: Names


class UsedRegisters(NamedTuple):
    """Registers of one asynchronous multiplication.

    `all` has the accumulators and the registers of operand A, and `names` has the names of all these registers.
    """

    accumulators: frozenset[Register]
    all: frozenset[Register]
    names: frozenset[str]


class Uses(NamedTuple):
    """Registers of all asynchronous multiplications of a body.

    `used` has the registers of each multiplication. `bits` maps each register to its bit number in sets of registers.
    `users` maps each register to two integers. Bit k of the first is set if multiplication k accumulates in the
    register, and bit k of the second if multiplication k uses the register at all.
    """

    used: list[UsedRegisters]
    bits: dict[Register, int]
    users: dict[Register, tuple[int, int]]


@dataclass(slots=True)
class FlowResults:
    """Results for single instructions from checks that follow the control flow.

    The check of the next version of a body can reuse the results while all names keep their declarations. The keys of
    `used` and `mentions` are the identities (`id`) of instructions. `used` has the registers of each asynchronous
    multiplication, and `uses` those of all multiplications. `watched` are the registers of multiplications, and
    `watched_names` their names. `mentions` has the watched registers that occur in each other instruction.
    """

    used: dict[int, UsedRegisters] = field(default_factory=dict[int, UsedRegisters])
    uses: Uses = field(default_factory=lambda: Uses([], {}, {}))
    watched: frozenset[Register] = frozenset()
    watched_names: frozenset[str] = frozenset()
    mentions: dict[int, Mentioned | None] = field(default_factory=dict[int, "Mentioned | None"])


@dataclass(slots=True)
class Body:
    """Instructions of a function in order.

    `labels` maps the identity (`id`) of a label to the index of the instruction after the label. Checks that follow the
    control flow store their results in `results`. They reuse `earlier`, the results for an earlier version of the body.
    """

    function: Function
    target: Target
    ptx: Version
    earlier: FlowResults = field(default_factory=FlowResults)
    results: FlowResults = field(default_factory=FlowResults)
    steps: list[Step] = field(default_factory=list[Step])
    labels: dict[int, int] = field(default_factory=dict[int, int])
    _registers: dict[tuple[int, str], Register | None] = field(default_factory=dict[tuple[int, str], Register | None])
    _written: dict[tuple[str, str], list[tuple[int, ...]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[int, ...]]]
    )

    def label(self, label: Label) -> None:
        """Add a label before the next instruction."""
        self.labels[id(label)] = len(self.steps)

    def with_forms(self, wanted: frozenset[Form]) -> dict[int, Form]:
        """Return {instruction index: matched Form} for all instructions that match a Form in `wanted`."""
        opcodes = [step.instruction.opcode for step in self.steps]
        forms = {opcode: form for opcode in set(opcodes) if (form := _form_among(opcode, wanted)) is not None}
        if not forms:
            return {}
        return {index: forms[opcode] for index, opcode in enumerate(opcodes) if opcode in forms}

    def bound(self, index: int) -> tuple[Match, dict[str, BoundOperand]] | None:
        """Return the first match whose syntax fits the operands, and the operands by name; None if none fits."""
        instruction = self.steps[index].instruction
        return _bound(instruction.opcode, instruction.operands)

    def written(self, index: int) -> list[Operand]:
        """Return the written operands of an instruction; for a pair or vector only the written items."""
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
        """Return the register that a name refers to at an instruction, or None for a name of anything else."""
        names = self.steps[index].names
        key = (id(names), name)
        if key not in self._registers:
            found = names.register(name)
            self._registers[key] = None if found is None else (id(found[0]), found[1])
        return self._registers[key]

    def branches(self) -> dict[int, list[int]]:
        """Return, by index, the successors of each instruction that can branch or leave the function.

        The successor EXIT means that the instruction leaves the function.
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
    """Return item `item` of an operand that is a pair or vector, or the operand itself if `item` is -1."""
    match operand:
        case Pair(first, second) if item >= 0:
            return second if item else first
        case Vector(items) if item >= 0:
            return items[item]
        case _:
            return operand
