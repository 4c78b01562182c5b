"""Operators that insert a change into a kernel, and the mutants that they make.

An operator reads the statements of a kernel and yields changed statements, one mutant after the other. It states the
chapter of the PTX manual from which it derives, and the rules that a mutant breaks. An operator without rules makes
mutants that the manual allows.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from warploom.ptx import (
    Address,
    Function,
    Guard,
    Instruction,
    Integer,
    Label,
    Module,
    Name,
    Operand,
    Pair,
    Statement,
    Symbol,
    Variable,
    Vector,
)

Body: TypeAlias = tuple[Statement, ...]
Changes: TypeAlias = Iterator[tuple[int, Body]]
"""Index of the changed statement in the original kernel, and the changed statements."""

Transform: TypeAlias = Callable[[Body], Changes]

SCRATCH = (
    Variable("reg", "b32", "%scratch"),
    Variable("reg", "pred", "%scratch_p"),
    Variable("reg", "b64", "%scratch_d"),
)
"""Registers that operators may use in inserted instructions."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One kind of change. `rules` is empty if the manual allows the change."""

    name: str
    chapter: str
    rules: tuple[str, ...]
    transform: Transform

    @property
    def summary(self) -> str:
        """First line of the docstring of the transformation."""
        return (self.transform.__doc__ or "").splitlines()[0]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A kernel with one change.

    `place` counts the mutants that the operator makes from the kernel, from 0.
    """

    operator: str
    place: int
    line: int
    module: Module


OPERATORS: dict[str, Operator] = {}


def operator(chapter: str, *rules: str) -> Callable[[Transform], Transform]:
    """Register a transformation as an operator. The name of the operator is the name of the function."""

    def register(transform: Transform) -> Transform:
        name = transform.__name__.replace("_", "-")
        OPERATORS[name] = Operator(name, chapter, rules, transform)
        return transform

    return register


def mutants(module: Module, operators: Iterable[str] | None = None) -> Iterator[Mutant]:
    """Yield the mutants of the only kernel of a module, of all operators or of those with the given names."""
    index, kernel = next((i, item) for i, item in enumerate(module.items) if isinstance(item, Function))
    assert kernel.body is not None
    body = kernel.body.statements
    for kind in map(OPERATORS.__getitem__, OPERATORS if operators is None else operators):
        for place, (changed_index, changed) in enumerate(kind.transform(body)):
            new = dataclasses.replace(kernel, body=dataclasses.replace(kernel.body, statements=(*SCRATCH, *changed)))
            items = (*module.items[:index], new, *module.items[index + 1 :])
            yield Mutant(kind.name, place, _line(body[changed_index]), Module(items))


def _line(statement: Statement) -> int:
    assert statement.origin is not None
    source, start, _ = statement.origin
    return source.text.count("\n", 0, start) + 1


def instructions(body: Body, pattern: str) -> Iterator[tuple[int, Instruction]]:
    """Yield the instructions whose opcode begins with a match of `pattern`, with their indices."""
    for index, statement in enumerate(body):
        if isinstance(statement, Instruction) and re.match(pattern, statement.opcode):
            yield index, statement


def opcode(statement: Statement) -> str:
    """Return the opcode of a statement, or an empty string."""
    return statement.opcode if isinstance(statement, Instruction) else ""


def made(code: str, *operands: Operand, guard: Guard | None = None) -> Instruction:
    """Return a new instruction."""
    return Instruction(guard, code, operands)


def with_opcode(instruction: Instruction, pattern: str, replacement: str) -> Instruction:
    """Return the instruction with a change of its opcode."""
    return made(
        re.sub(pattern, replacement, instruction.opcode, count=1), *instruction.operands, guard=instruction.guard
    )


def with_operand(instruction: Instruction, position: int, operand: Operand) -> Instruction:
    """Return the instruction with another operand at `position`."""
    operands = list(instruction.operands)
    operands[position] = operand
    return made(instruction.opcode, *operands, guard=instruction.guard)


def guarded(instruction: Instruction, name: str, *, negated: bool) -> Instruction:
    """Return the instruction with the guard `name`."""
    return made(instruction.opcode, *instruction.operands, guard=Guard(name, negated))


def replaced(body: Body, index: int, *statements: Statement) -> Body:
    """Return the statements with `statements` in the place of one of them."""
    return (*body[:index], *statements, *body[index + 1 :])


def inserted(body: Body, index: int, *statements: Statement) -> Body:
    """Return the statements with `statements` before the one at `index`."""
    return (*body[:index], *statements, *body[index:])


def moved(body: Body, first: int, last: int, to: int) -> Body:
    """Return the statements with those from `first` to `last` moved before the one at `to`."""
    part = body[first : last + 1]
    if to <= first:
        return (*body[:to], *part, *body[to:first], *body[last + 1 :])
    return (*body[:first], *body[last + 1 : to], *part, *body[to:])


def shifted(operand: Operand, offset: int) -> Operand:
    """Return an address that is `offset` bytes higher."""
    if isinstance(operand, Address) and isinstance(operand.base, Symbol):
        base = dataclasses.replace(operand.base, offset=operand.base.offset + offset)
        return Address(base, operand.offset, operand.extra)
    assert isinstance(operand, Address)
    return Address(operand.base, operand.offset + offset, operand.extra)


def names(operand: Operand | None) -> set[str]:
    """Return the names that occur in an operand."""
    match operand:
        case Name(text):
            return {text}
        case Address(base, _, extra):
            return names(base).union(*map(names, extra))
        case Vector(items):
            return set[str]().union(*map(names, items))
        case Pair(first, second):
            return names(first) | names(second)
        case _:
            return set()


def straight(statement: Statement) -> bool:
    """Return True for an instruction that neither branches nor ends the thread."""
    return isinstance(statement, Instruction) and statement.words[0] not in ("bra", "ret")


@dataclass(frozen=True, slots=True)
class Loop:
    """Indices of the label, of the test, and of the branch back of a loop that polls."""

    label: int
    test: int
    branch: int


POLLS = r"mbarrier\.(try|test)_wait|ld\.(acquire|relaxed)|atom\.\w+\.gpu\.global\.cas"


def polling_loops(body: Body) -> Iterator[Loop]:
    """Yield the loops that consist of a test, at most a comparison, and a branch back."""
    for label, statement in enumerate(body):
        if not isinstance(statement, Label) or not re.match(POLLS, opcode(body[label + 1])):
            continue
        branch = next(index for index in range(label + 2, label + 4) if opcode(body[index]) == "bra")
        if names(_operands(body[branch])[0]) == {statement.name}:
            yield Loop(label, label + 1, branch)


def _operands(statement: Statement) -> tuple[Operand, ...]:
    assert isinstance(statement, Instruction)
    return statement.operands


@dataclass(frozen=True, slots=True)
class Region:
    """Statements that only some threads execute, because the others branch over them.

    `branch` and `label` are the indices of the branch and of its target, and `guard` is the guard of the branch.
    """

    branch: int
    label: int
    guard: Guard

    def only_inside(self, instruction: Instruction) -> Instruction:
        """Return the instruction with a guard that is true for the threads inside the region."""
        return guarded(instruction, self.guard.name, negated=not self.guard.negated)


def regions(body: Body) -> Iterator[Region]:
    """Yield the regions that threads skip with a conditional branch forward."""
    labels = {statement.name: index for index, statement in enumerate(body) if isinstance(statement, Label)}
    for index, branch in instructions(body, r"bra$"):
        target = labels[next(iter(names(branch.operands[0])))]
        if branch.guard is not None and target > index:
            yield Region(index, target, branch.guard)


def region_of(body: Body, index: int) -> Region | None:
    """Return the innermost region of a statement."""
    around = [region for region in regions(body) if region.branch < index < region.label]
    return max(around, key=lambda region: region.branch, default=None)


def stage_bytes(body: Body, address: Operand) -> int | None:
    """Return the distance of two stages if the address of a memory operand depends on the stage, or None."""
    wanted = names(address)
    for _, instruction in instructions(body, r"mad\.lo"):
        destination, factor, size, *_ = instruction.operands
        stage = names(factor) & {"%stage", "%next"}
        if stage and names(destination) & wanted and isinstance(size, Integer):
            return size.value
    return None
