"""Places of a parsed kernel and edits of its tree: what mutations are made of.

Edits work on the tree that `wl.parse` gives, so that the statements a mutant keeps have their lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import warploom as wl
from warploom.ptx import Block, Function, Instruction, Integer, Label, Name, Operand, Statement

Path = tuple[int, ...]  # positions of a statement in nested blocks, outermost first
Edits = Mapping[Path, Sequence[Statement]]  # what stands in the place of a statement
Found = Iterator[tuple["Place", Edits]]


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction of a body and where it stands."""

    path: Path
    instruction: Instruction

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the opcode."""
        return self.instruction.words

    @property
    def line(self) -> int:
        """The line in the text; 0 for an instruction that no text has."""
        source, span = self.instruction.source, self.instruction.span
        return 0 if source is None or span is None else source.position(span.start)[0]

    def has(self, *words: str) -> bool:
        """Whether the opcode begins with the first word and has the others."""
        return self.words[0] == words[0] and all(word in self.words for word in words[1:])


class Body:
    """The instructions of an entry in order, nested blocks included."""

    def __init__(self, function: Function) -> None:
        assert function.body is not None
        self.block = function.body
        self.places = list(self._walk(function.body, ()))
        self.labels = list(self._labels(function.body, ()))

    def _walk(self, block: Block, path: Path) -> Iterator[Place]:
        for position, statement in enumerate(block.statements):
            if isinstance(statement, Block):
                yield from self._walk(statement, (*path, position))
            elif isinstance(statement, Instruction):
                yield Place((*path, position), statement)

    def all(self, *words: str) -> Iterator[Place]:
        """The places whose opcode has these words, the first at its beginning."""
        return (place for place in self.places if place.has(*words))

    def before(self, place: Place) -> list[Place]:
        """What stands before a place, nearest first."""
        return self.places[: self.places.index(place)][::-1]

    def after(self, place: Place) -> list[Place]:
        """What stands behind a place, nearest first."""
        return self.places[self.places.index(place) + 1 :]

    def straight_before(self, place: Place) -> Iterator[Place]:
        """Nearest first, what certainly ran before a place: back to a label or a branch."""
        for candidate in self.before(place):
            if candidate.words[0] in ("bra", "ret", "exit", "brx") or self._label_between(candidate, place):
                return
            yield candidate

    def straight_after(self, place: Place) -> Iterator[Place]:
        """Nearest first, what certainly runs next: up to a label or a branch."""
        for candidate in self.after(place):
            if candidate.words[0] in ("bra", "ret", "exit", "brx") or self._label_between(place, candidate):
                return
            yield candidate

    def _label_between(self, first: Place, second: Place) -> bool:
        return any(first.path < path < second.path for path in self.labels)

    def _labels(self, block: Block, path: Path) -> Iterator[Path]:
        for position, statement in enumerate(block.statements):
            if isinstance(statement, Label):
                yield (*path, position)
            elif isinstance(statement, Block):
                yield from self._labels(statement, (*path, position))


def edited(block: Block, edits: Edits, path: Path) -> Block:
    statements: list[Statement] = []
    for position, statement in enumerate(block.statements):
        here = (*path, position)
        if here in edits:
            statements.extend(edits[here])
        elif isinstance(statement, Block) and any(at[: len(here)] == here for at in edits):
            statements.append(edited(statement, edits, here))
        else:
            statements.append(statement)
    return Block(tuple(statements))


# Pieces -----------------------------------------------------------------------------------------------------


def statements(text: str) -> tuple[Statement, ...]:
    """Statements written as PTX."""
    header = ".version 8.6\n.target sm_90a\n.address_size 64\n"
    (function,) = wl.parse(f"{header}.entry k() {{ {text} }}").functions.values()
    assert function.body is not None
    return function.body.statements


def scoped(text: str, *kept: Statement) -> Block:
    """A block with registers of its own; `kept` statements stand where the text ends."""
    return Block((*statements(text), *kept))


def deleted(place: Place) -> Edits:
    """Without this instruction."""
    return {place.path: ()}


def moved_behind(place: Place, anchor: Place) -> Edits:
    """With the instruction behind another one instead."""
    return {place.path: (), anchor.path: (anchor.instruction, place.instruction)}


def moved_before(place: Place, anchor: Place) -> Edits:
    """With the instruction ahead of another one instead."""
    return {place.path: (), anchor.path: (place.instruction, anchor.instruction)}


def with_operand(place: Place, index: int, operand: Operand) -> Edits:
    """With another operand."""
    operands = list(place.instruction.operands)
    operands[index] = operand
    return {place.path: (replace(place.instruction, operands=tuple(operands)),)}


def with_opcode(place: Place, opcode: str) -> Edits:
    """With another opcode."""
    return {place.path: (replace(place.instruction, opcode=opcode),)}


def with_word(place: Place, old: str, new: str) -> Edits:
    """With another word in the opcode; an empty word goes."""
    words = [new if word == old else word for word in place.words]
    return with_opcode(place, ".".join(word for word in words if word))


def integer(place: Place, index: int) -> int | None:
    """The value of an operand, where it is a constant."""
    operands = place.instruction.operands
    operand = operands[index] if -len(operands) <= index < len(operands) else None
    return operand.value if isinstance(operand, Integer) else None


def added(place: Place, index: int, change: int) -> Edits:
    """With a constant operand changed by so much."""
    value = integer(place, index)
    assert value is not None
    return with_operand(place, index, Integer(value + change))


def named(operand: Operand) -> str:
    """The name of an operand that is one, or nothing."""
    return operand.text if isinstance(operand, Name) else ""
