"""Specification of the operands of a Form: kind, access, type and constraints.

A type is a PTX type word, the name of a slot whose word is the type, or a function of the slots. Register counts and
widths follow from shape and type by formula. What ptxas accepts beyond the manual is declared in `check/ptxas/`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from warploom.isa.model.operand_layout import OperandLayout
from warploom.isa.model.types import TYPES

Slots = Mapping[str, str]
TypeRule = str | Callable[[Slots], str]
CountRule = int | str | Callable[[Slots], int]
Accepts = Literal["same", "wide", "bits", "own", "coded"]
AcceptsRule = Accepts | Callable[[Slots], Accepts]
Values = Collection[int] | Callable[[Slots], Collection[int] | None] | None

VECTORS = (1, 2, 4)
"""Lengths of vectors whose length no formula determines."""

Allowance = Literal[
    "sink", "special", "symbol", "integers", "braces", "gap", "minus", "unified", "output", "function",
    ".branchtargets", ".callprototype", ".calltargets",
]  # fmt: skip
"""Syntax that an operand may use beside a plain register or constant.

- sink: `_` for an unwanted result; gap: `_` among the elements of a source vector
- special: a special register; symbol: the address of a variable; function: the name of a function
- integers: registers of integer types in a vector of floats; braces: a single register in braces
- minus: a negated register; unified: a `.unified` address; output: only parameters that the function returns
- .branchtargets, .callprototype, .calltargets: the label of such a directive
"""
Allows = Collection[Allowance] | Callable[[Slots], Collection[Allowance]]


@dataclass(frozen=True, slots=True)
class ConstantConstraint:
    """Constraint on the constants that an operand may be.

    `values` are the legal constants, None for all. Only the low `bits` of a constant are examined if `bits` is not 0.
    `upto` names the operand whose constant is the maximum. `target` is the target that the operand needs.
    """

    values: Values = None
    bits: CountRule = 0
    upto: str = ""
    target: str = ""

    def values_for(self, slots: Slots) -> Collection[int] | None:
        """Return the legal constants, or None if all are."""
        return self.values(slots) if callable(self.values) else self.values

    def examined(self, constant: int, slots: Slots) -> int:
        """Return the value of a constant that counts: its low bits, or a signed number of 64 bits."""
        bits = _number(self.bits, slots)
        return constant % (1 << bits) if bits else (constant + (1 << 63)) % (1 << 64) - (1 << 63)


@dataclass(frozen=True, slots=True)
class RegisterConstraint:
    """Constraint on the registers that an operand may be, relative to its type.

    `accepts` is "wide" if wider registers are legal, "bits" if only registers declared as bits and no constants are,
    "own" if only integer registers hold an integer, and "coded" if floating-point constants are legal as bit patterns
    only. `selector` is the pattern of the part selectors that may follow a register, as in `%r1.b0`.
    """

    accepts: AcceptsRule = "same"
    selector: TypeRule = ""


_ANY_CONSTANT = ConstantConstraint()
_SAME_TYPE = RegisterConstraint()


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """Specification of one operand.

    `count` is the number of registers of a vector (0: no braces, -1: 1, 2 or 4), or of the coordinates of an address.
    `when` names a slot: the operand is present exactly if the slot has a word. `space` is the state space of an
    address, "?" for any, or that of the variable whose address a register operand may be.
    """

    kind: Literal["register", "predicate", "address", "immediate", "label", "symbol", "tuple", "sink", "any"]
    access: Literal["read", "write", "both", "none"]
    type: TypeRule = "b32"
    count: CountRule = 0
    when: str = ""
    space: TypeRule = "?"
    legal: ConstantConstraint = _ANY_CONSTANT
    constraint: RegisterConstraint = _SAME_TYPE
    allows: Allows = ()
    layout: OperandLayout | None = None

    @property
    def is_fragment(self) -> bool:
        """True for a vector of registers that holds a matrix."""
        return self.layout is not None and self.kind == "register" and self.count != 0

    @property
    def implied(self) -> bool:
        """True if the form determines the type and no word of the opcode names it."""
        return self.constraint.accepts == "own" or (isinstance(self.type, str) and self.type in TYPES)

    def type_word(self, slots: Slots) -> str:
        """Return the PTX type word of the operand."""
        return self.type(slots) if callable(self.type) else slots.get(self.type, self.type)

    def space_word(self, slots: Slots) -> str:
        """Return the state space of an address: a PTX word, "" for generic, "?" for any."""
        if callable(self.space):
            return self.space(slots)
        if self.space == "?":
            return slots.get("ss", slots.get("space", "?"))
        return slots.get(self.space, self.space)

    def accepts(self, slots: Slots) -> Accepts:
        """Return which registers beyond those of its type the operand accepts."""
        rule = self.constraint.accepts
        return rule(slots) if callable(rule) else rule

    def allowed(self, slots: Slots) -> Collection[Allowance]:
        """Return the additional syntax that the operand may use."""
        return self.allows(slots) if callable(self.allows) else self.allows

    def selector_pattern(self, slots: Slots) -> str:
        """Return the pattern of the part selectors that may follow a register, "" for none."""
        rule = self.constraint.selector
        return rule(slots) if callable(rule) else rule

    def registers(self, slots: Slots) -> int:
        """Return the number of registers of the vector, 0 for a single register."""
        return _number(self.count, slots)

    def constants(self, slots: Slots) -> Collection[int] | None:
        """Return the legal constants, or None if all are."""
        return self.legal.values_for(slots)


def _number(rule: CountRule, slots: Slots) -> int:
    if callable(rule):
        return rule(slots)
    if isinstance(rule, str):
        word = slots[rule]
        return int(word.lstrip("vx")) if word else 0
    return rule


def bits_as_unsigned(slots: Slots) -> str:
    """Return the type of an instruction, with unsigned integers in place of bits."""
    word = slots["type"]
    return f"u{word[1:]}" if word[0] == "b" else word


def out(
    type: TypeRule, count: CountRule = 0, *, accepts: AcceptsRule = "same", allows: Allows = (), selector: TypeRule = ""
) -> OperandSpec:
    """Return a destination register, or a vector of `count` registers."""
    return OperandSpec(
        "register", "write", type, count, constraint=RegisterConstraint(accepts, selector), allows=allows
    )


def inp(
    type: TypeRule,
    count: CountRule = 0,
    *,
    when: str = "",
    values: Values = None,
    bits: CountRule = 0,
    accepts: AcceptsRule = "same",
    allows: Allows = (),
    selector: TypeRule = "",
    space: TypeRule = "?",
) -> OperandSpec:
    """Return a source: a register, a constant, or a vector of them."""
    return OperandSpec(
        "register",
        "read",
        type,
        count,
        when,
        space,
        ConstantConstraint(values, bits),
        RegisterConstraint(accepts, selector),
        allows,
    )


def inout(type: TypeRule, count: CountRule = 0) -> OperandSpec:
    """Return a register, or a vector of registers, that is read and written."""
    return OperandSpec("register", "both", type, count)


def pred_out(*, sink: bool = True) -> OperandSpec:
    """Return a destination predicate."""
    return OperandSpec("predicate", "write", "pred", allows=("sink",) if sink else ())


def pred_in(values: Values = None, when: str = "") -> OperandSpec:
    """Return a source predicate, possibly negated, or a constant."""
    return OperandSpec("predicate", "read", "pred", when=when, legal=ConstantConstraint(values))


def address(coordinates: CountRule = 0, space: TypeRule = "?", *, allows: Allows = ()) -> OperandSpec:
    """Return an address `[base + offset]`, with a vector of coordinates for tensor operands.

    Without a `space` the state space is the word of the slot `ss` or `space`.
    """
    return OperandSpec("address", "read", "b64", coordinates, space=space, allows=allows)


def tensor_address(accepts: Literal["same", "bits"] = "same", when: str = "") -> OperandSpec:
    """Return an address `[taddr + offset]` in tensor memory: 32 bits in a register."""
    return OperandSpec("address", "read", "u32", when=when, constraint=RegisterConstraint(accepts), space="tensor")


def immediate(type: TypeRule = "s32", values: Values = None, *, target: str = "", bits: CountRule = 0) -> OperandSpec:
    """Return an integer constant, one of `values` if they are given."""
    return OperandSpec("immediate", "none", type, legal=ConstantConstraint(values, bits, target=target))


def amount_or_predicate(type: TypeRule, upto: str = "") -> OperandSpec:
    """Return a source of a type, or a predicate, as its declaration decides."""
    return OperandSpec("any", "read", type, legal=ConstantConstraint(upto=upto))


def sink() -> OperandSpec:
    """Return the sink `_`."""
    return OperandSpec("sink", "none")


def label() -> OperandSpec:
    """Return a branch target."""
    return OperandSpec("label", "none")


def function() -> OperandSpec:
    """Return the name of a function, or a register with its address."""
    return OperandSpec("symbol", "none", allows=("function",))


def table(*directives: Literal[".branchtargets", ".callprototype", ".calltargets"]) -> OperandSpec:
    """Return the label of one of some directives."""
    return OperandSpec("symbol", "none", allows=directives)


def arguments(access: Literal["read", "write"]) -> OperandSpec:
    """Return the parenthesised list of a call."""
    return OperandSpec("tuple", access)
