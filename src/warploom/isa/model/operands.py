"""Specification of the operands of a Form: kind, access, type and constraints.

A *slot* is a named modifier of the instruction's syntax line, such as `.type`. Syntax that ptxas accepts beyond the
manual is declared in `check/ptxas/`.
"""

from collections.abc import Callable, Collection
from typing import Literal

from warploom.isa.model.effects import Slots
from warploom.isa.model.operand_layout import OperandLayout
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass

TypeRule = str | Callable[[Slots], str]
"""PTX type, name of the slot that contains it, or function that computes the type from all slots."""
CountRule = int | str | Callable[[Slots], int]
"""Number, name of the slot that contains it, or function that computes the number from all slots."""
Accepts = Literal["same", "wide", "bits", "packed", "own", "coded"]
AcceptsRule = Accepts | Callable[[Slots], Accepts]
Values = Collection[int] | Callable[[Slots], Collection[int] | None] | None

VECTORS = (1, 2, 4)
"""Possible numbers of registers of a vector operand whose Form does not determine the number."""

Allowance = Literal[
    "sink", "special", "symbol", "integers", "braces", "gap", "minus", "unified", "output", "function",
    ".branchtargets", ".callprototype", ".calltargets",
]  # fmt: skip
"""Syntax that an operand may use in addition to a plain register or constant.

- sink: `_` for an unwanted result
- gap: `_` among the elements of a source vector
- special: a special register
- symbol: the address of a variable
- function: the name of a function
- integers: registers of integer types in a vector of floats
- braces: a single register in braces
- minus: a negated register
- unified: an address with the attribute `.unified`
- output: parameters that the function returns, and no others
- .branchtargets, .callprototype, .calltargets: the label of such a directive
"""
Allows = Collection[Allowance] | Callable[[Slots], Collection[Allowance]]


@dataclass(frozen=True, slots=True)
class ConstantConstraint:
    """Constants that are legal for an operand.

    - `values`: legal constants; None allows every constant, and an empty collection only registers
    - `bits`: number of low bits of a constant that are examined, or 0 for all bits
    - `upto`: name of another operand, whose constant is the maximum
    - `target`: target that an instruction with this operand requires
    """

    values: Values = None
    bits: CountRule = 0
    upto: str = ""
    target: str = ""

    def examined(self, constant: int, slots: Slots) -> int:
        """Return the examined low bits of a constant. If `bits` is 0, return all 64 bits, signed."""
        bits = _number(self.bits, slots)
        return constant % (1 << bits) if bits else (constant + (1 << 63)) % (1 << 64) - (1 << 63)


@dataclass(frozen=True, slots=True)
class RegisterConstraint:
    """Registers that are legal for an operand, by their declared types.

    The value of `accepts` is one of the following.

    - "same": registers that fit the operand's type
    - "wide": also wider registers
    - "bits": only registers that are declared as bits, and no constants
    - "packed": as "bits", with f16x2 registers
    - "own": as "same", without f16x2 registers for an integer
    - "coded": as "same", with floating-point constants only as bit patterns

    `selector` is a regular expression for the selector of bytes or halves that may follow a register, as in `%r1.b0`.
    """

    accepts: AcceptsRule = "same"
    selector: TypeRule = ""


_ANY_CONSTANT = ConstantConstraint()
_SAME_TYPE = RegisterConstraint()


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """Specification of one operand of a Form.

    - `count`: number of registers of a vector, or of coordinates of an address; 0 means no vector, and -1 means a
      vector of 1, 2 or 4 registers
    - `when`: modifier that the operand needs; the operand is present exactly if the opcode has this modifier
    - `space`: state space of an address, or of a variable that a register operand names; "?" means any
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
        """True if no word of the opcode names the operand's type."""
        return self.constraint.accepts == "own" or (isinstance(self.type, str) and self.type in TYPES)

    def type_word(self, slots: Slots) -> str:
        """Return the PTX type of the operand in an instruction with these modifiers."""
        return self.type(slots) if callable(self.type) else slots.get(self.type, self.type)

    def space_word(self, slots: Slots) -> str:
        """Return the state space of an address operand, as a PTX word.

        The result is "" for generic addresses, "?" for any space, and "register" if the base must be a register.
        """
        if callable(self.space):
            return self.space(slots)
        if self.space == "?":
            return slots.get("ss", slots.get("space", "?"))
        return slots.get(self.space, self.space)

    def accepts(self, slots: Slots) -> Accepts:
        """Return the value of `RegisterConstraint.accepts` in an instruction with these modifiers."""
        rule = self.constraint.accepts
        return rule(slots) if callable(rule) else rule

    def allowed(self, slots: Slots) -> Collection[Allowance]:
        """Return the additional syntax that the operand may use in an instruction with these modifiers."""
        return self.allows(slots) if callable(self.allows) else self.allows

    def selector_pattern(self, slots: Slots) -> str:
        """Return a regular expression for the selector that may follow a register, or "" if none may."""
        rule = self.constraint.selector
        return rule(slots) if callable(rule) else rule

    def registers(self, slots: Slots) -> int:
        """Return the length of the operand's vector. 0 means no vector, and -1 means length 1, 2 or 4."""
        return _number(self.count, slots)

    def constants(self, slots: Slots) -> Collection[int] | None:
        """Return the legal constants, or None if every constant is legal."""
        values = self.legal.values
        return values(slots) if callable(values) else values


def _number(rule: CountRule, slots: Slots) -> int:
    if callable(rule):
        return rule(slots)
    if isinstance(rule, str):
        word = slots[rule]
        return int(word.lstrip("vx")) if word else 0
    return rule


def bits_as_unsigned(slots: Slots) -> str:
    """Return the type in the opcode, with an unsigned type in place of bits (u32 for b32)."""
    word = slots["type"]
    return f"u{word[1:]}" if word[0] == "b" else word


def out(
    type: TypeRule, count: CountRule = 0, *, accepts: AcceptsRule = "same", allows: Allows = (), selector: TypeRule = ""
) -> OperandSpec:
    """Return the specification of a destination: a register, or a vector of `count` registers."""
    constraint = RegisterConstraint(accepts, selector)
    return OperandSpec("register", "write", type, count, constraint=constraint, allows=allows)


def inp(
    type: TypeRule, count: CountRule = 0, *, when: str = "", values: Values = None, bits: CountRule = 0,
    accepts: AcceptsRule = "same", allows: Allows = (), selector: TypeRule = "", space: TypeRule = "?",
) -> OperandSpec:  # fmt: skip
    """Return the specification of a source: a register, a constant, or a vector of `count` registers.

    `values` are the legal constants. None allows every constant, and `()` allows registers only.
    """
    legal, constraint = ConstantConstraint(values, bits), RegisterConstraint(accepts, selector)
    return OperandSpec("register", "read", type, count, when, space, legal, constraint, allows)


def inout(type: TypeRule, count: CountRule = 0) -> OperandSpec:
    """Return the specification of an operand that is read and written: a register or a vector."""
    return OperandSpec("register", "both", type, count)


def pred_out(*, sink: bool = True) -> OperandSpec:
    """Return the specification of a destination predicate. With `sink`, the operand may also be `_`."""
    return OperandSpec("predicate", "write", "pred", allows=("sink",) if sink else ())


def pred_in(values: Values = None, when: str = "") -> OperandSpec:
    """Return the specification of a source predicate. `values` are its legal constants.

    With `when`, the operand is present exactly if the opcode has the modifier of this name.
    """
    return OperandSpec("predicate", "read", "pred", when=when, legal=ConstantConstraint(values))


def address(coordinates: CountRule = 0, space: TypeRule = "?", *, allows: Allows = ()) -> OperandSpec:
    """Return the specification of an address `[base + offset]`, or of a tensor operand `[base, {x, y}]`.

    `coordinates` is the number of x, y, …. If `space` is "?", the modifier `ss` or `space` names the state space.
    """
    return OperandSpec("address", "read", "b64", coordinates, space=space, allows=allows)


def tensor_address(accepts: Literal["same", "bits"] = "same", when: str = "") -> OperandSpec:
    """Return the specification of a tensor memory address `[taddr + offset]`."""
    return OperandSpec("address", "read", "u32", when=when, constraint=RegisterConstraint(accepts), space="tensor")


def immediate(type: TypeRule = "s32", values: Values = None, *, target: str = "", bits: CountRule = 0) -> OperandSpec:
    """Return the specification of an integer constant. `ConstantConstraint` explains the parameters."""
    return OperandSpec("immediate", "none", type, legal=ConstantConstraint(values, bits, target=target))


def sink() -> OperandSpec:
    """Return the specification of the operand `_`, which discards a result."""
    return OperandSpec("sink", "none")
