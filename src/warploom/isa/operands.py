"""What may stand in an operand place of a Form, and with which type.

A type is a PTX type word, the name of a slot whose word is the type, or a function of the bound slots
(register counts and widths come from shape and type by formula, never from a second table).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Slots = Mapping[str, str]
TypeRule = str | Callable[[Slots], str]
CountRule = int | str | Callable[[Slots], int]


@dataclass(frozen=True, slots=True)
class Place:
    """One operand place.

    `kind` is what the text shows there; `access` whether the instruction reads or writes it; `type` its
    PTX type; `count` the number of registers in its vector (0: a single register, no braces; -1: any).
    """

    kind: Literal["register", "predicate", "address", "immediate", "label", "symbol", "tuple", "any"]
    access: Literal["read", "write", "both", "none"]
    type: TypeRule = "b32"
    count: CountRule = 0

    def type_word(self, slots: Slots) -> str:
        """The PTX type word of this place once the slots are bound."""
        if callable(self.type):
            return self.type(slots)
        return slots.get(self.type, self.type)

    def registers(self, slots: Slots) -> int:
        """Number of registers in the vector of this place; 0 for one bare register."""
        if callable(self.count):
            return self.count(slots)
        if isinstance(self.count, str):
            word = slots[self.count]
            return int(word.lstrip("vx")) if word else 0
        return self.count


def out(type: TypeRule, count: CountRule = 0) -> Place:
    """A destination register (or vector of `count`); the sink `_` may stand there."""
    return Place("register", "write", type, count)


def inp(type: TypeRule, count: CountRule = 0) -> Place:
    """A source: register, immediate, special register or symbol (or a vector of them)."""
    return Place("register", "read", type, count)


def inout(type: TypeRule, count: CountRule = 0) -> Place:
    """A register (vector) that is read and written."""
    return Place("register", "both", type, count)


def pred_out() -> Place:
    """A destination predicate."""
    return Place("predicate", "write", "pred")


def pred_in() -> Place:
    """A source predicate, possibly negated."""
    return Place("predicate", "read", "pred")


def address() -> Place:
    """`[base + offset]`, with coordinates for tensor operands."""
    return Place("address", "read", "b64")


def immediate(type: TypeRule = "s32") -> Place:
    """An integer constant."""
    return Place("immediate", "none", type)


def label() -> Place:
    """A branch target."""
    return Place("label", "none")


def symbol() -> Place:
    """The name of a function, a branch table or a variable."""
    return Place("symbol", "none")


def arguments() -> Place:
    """The parenthesised list of a call."""
    return Place("tuple", "none")
