"""What may stand in an operand place of a Form, and with which type.

A type is a PTX type word, the name of a slot whose word is the type, or a function of the bound slots
(register counts and widths come from shape and type by formula, never from a second table).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from warploom.isa.model.operand_layout import Lying
from warploom.isa.model.types import TYPES

Slots = Mapping[str, str]
TypeRule = str | Callable[[Slots], str]
CountRule = int | str | Callable[[Slots], int]
Reach = Literal["same", "wide", "bits", "own", "coded"]
Values = Collection[int] | Callable[[Slots], Collection[int] | None] | None
Barred = Collection[int] | Callable[[Slots, int], Collection[int]]

_NAMED_PARAMETERS = 75  # the first target whose assembler asks for a name in .param::func

VECTORS = (1, 2, 4)
"""Numbers of registers that a vector has where no formula says it."""

NARROW = (8, 16)
"""Widths of registers that assemblers cannot move to where an address belongs."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Which registers a place takes: as those of a type, and beside them in its vector what `words` names.

    "predicate": one among registers of 32 bits; "special": special registers; "integer", "float" and "coded"
    (of 32 bits): constants among registers; "constants": nothing but them; "sink": a result that is not
    wanted. `eased` is as that of a place, whose words it chooses from. Registers are judged together, and then
    again in groups of `group` (0: no groups), as far as the first `judged` (0: all).
    """

    type: str
    words: frozenset[str]
    eased: str = ""
    group: int = 0
    judged: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """One operand place.

    `kind` is what the text shows there; `access` whether the instruction reads or writes it; `type` its PTX
    type; `count` the number of registers in its vector (0: a single register, no braces; -1: 1, 2 or 4), or of the
    coordinates after the base of an address. `when` names a slot whose word the place stands with: it is there
    exactly when the word is. `values` are the constants that may stand there, of which the low `bits` are
    looked at, and `upto` the operand whose constant is the highest. `accepts` is "wide" where registers wider
    than the type may stand, "bits" where only those declared as bits may and no constant, "own" where only
    integers hold an integer, "coded" where floating constants may be written as their bits alone. `also` lists
    what else may: "sink", the `_` for a result that is not wanted; "special", a special register; "symbol", the
    address of a variable; "integers", in vectors of floats, and always in those of f64; or what a name stands
    for: "function", or directives. `eased` lists what only assemblers take there: "function", the address of a
    function; "vector" and "vectors", one of up to four registers or of any number; "predicate"; "packed",
    `f16x2` for a predicate; "base", an odd base of an address; "untyped", one of any type; "bare", an address
    without its brackets; "special", a special register for its base; each with the target that it begins with,
    as in "packed@sm_90". `space` is the state space of an address: a word or a slot; what is not known to be in
    it is refused, and for "register" every variable; or that of the variable of a "symbol". In "tensor" a
    register of the type alone addresses. `barred` are widths of registers that are no base of an address, on
    the target of some number. `plain` says that registers and numbers alone may stand there: no sink or
    predicate in a vector, no address made from a name. `target` is what is needed where the operand stands.
    `lying` says how the elements of a matrix lie there. `by` gives what is otherwise for some slots, `hold` which
    registers hold a fragment, for slots and on the target of a number.

    `also` has "gap" where elements of a source vector may be the sink, for an address "unified" where it may be
    so and "output" where a parameter stands only if it goes out, and "minus" where a register may be negated;
    `parts` is the pattern of the selectors that may follow a register, as in `%r1.b0`.
    """

    kind: Literal["register", "predicate", "address", "immediate", "label", "symbol", "tuple", "sink", "any"]
    access: Literal["read", "write", "both", "none"]
    type: TypeRule = "b32"
    count: CountRule = 0
    when: str = ""
    values: Values = None
    accepts: Reach = "same"
    also: str = ""
    space: TypeRule = "?"
    plain: bool = False
    target: str = ""
    lying: Lying | None = None
    eased: str = ""
    upto: str = ""
    barred: Barred = ()
    bits: CountRule = 0
    hold: Callable[[Slots, int], Hold] | None = None
    parts: TypeRule = ""
    by: Callable[[Slots], Mapping[str, str]] | None = None

    @property
    def is_fragment(self) -> bool:
        """Whether a vector of registers stands there that holds a matrix."""
        return self.lying is not None and self.kind == "register" and self.count != 0

    def at(self, slots: Slots) -> Place:
        """The place as it is for some slots."""
        return self if self.by is None else replace(self, **self.by(slots))

    def type_word(self, slots: Slots) -> str:
        """The PTX type word of this place once the slots are bound."""
        if callable(self.type):
            return self.type(slots)
        return slots.get(self.type, self.type)

    @property
    def implied(self) -> bool:
        """Whether the type is the form's own and no word of the opcode names it."""
        return self.accepts == "own" or (isinstance(self.type, str) and self.type in TYPES)

    def space_word(self, slots: Slots) -> str:
        """The state-space word of an address, "" for a generic one and "?" where any may stand."""
        if callable(self.space):
            return self.space(slots)
        if self.space == "?":
            return slots.get("ss", slots.get("space", "?"))
        return slots.get(self.space, self.space)

    def parts_pattern(self, slots: Slots) -> str:
        """The pattern of the selectors that may follow a register; "" where none may."""
        return self.parts(slots) if callable(self.parts) else self.parts

    def barred_widths(self, slots: Slots, target: int) -> Collection[int]:
        """The bits of registers that cannot be the base of an address on the target of a number."""
        return self.barred(slots, target) if callable(self.barred) else self.barred

    def registers(self, slots: Slots) -> int:
        """Number of registers in the vector of this place; 0 for one bare register."""
        return _number(self.count, slots)

    def constants(self, slots: Slots) -> Collection[int] | None:
        """The constants that may stand there; None where any may."""
        return self.values(slots) if callable(self.values) else self.values

    def as_read(self, constant: int, slots: Slots) -> int:
        """A constant as it is looked at: its low bits where those alone count, else a signed number of 64."""
        bits = _number(self.bits, slots)
        return constant % (1 << bits) if bits else (constant + (1 << 63)) % (1 << 64) - (1 << 63)


def _number(rule: CountRule, slots: Slots) -> int:
    if callable(rule):
        return rule(slots)
    if isinstance(rule, str):
        word = slots[rule]
        return int(word.lstrip("vx")) if word else 0
    return rule


def out(
    type: TypeRule,
    count: CountRule = 0,
    accepts: Reach = "same",
    also: str = "",
    eased: str = "",
    parts: TypeRule = "",
    *,
    plain: bool = False,
) -> Place:
    """A destination register, or vector of `count`."""
    return Place(
        "register", "write", type, count, accepts=accepts, also=also, eased=eased, parts=parts, plain=plain
    )


def inp(
    type: TypeRule,
    count: CountRule = 0,
    when: str = "",
    values: Values = None,
    accepts: Reach = "same",
    also: str = "",
    eased: str = "",
    bits: CountRule = 0,
    parts: TypeRule = "",
    space: TypeRule = "?",
    *,
    plain: bool = False,
    by: Callable[[Slots], Mapping[str, str]] | None = None,
) -> Place:
    """A source: a register or a constant, or a vector of them. `space` is that of a variable there."""
    return Place(
        "register",
        "read",
        type,
        count,
        when,
        values,
        accepts,
        also,
        space,
        plain=plain,
        eased=eased,
        bits=bits,
        parts=parts,
        by=by,
    )


def arg(type: TypeRule, accepts: Reach = "same") -> Place:
    """A source of plain arithmetic, in whose place assemblers take the address of a function too."""
    return inp(type, accepts=accepts, eased="function packed")


def inout(type: TypeRule, count: CountRule = 0) -> Place:
    """A register (vector) that is read and written."""
    return Place("register", "both", type, count)


def pred_out(also: str = "sink") -> Place:
    """A destination predicate; the sink `_` may stand there."""
    return Place("predicate", "write", "pred", also=also)


def pred_in(values: Values = None, when: str = "", eased: str = "") -> Place:
    """A source predicate, possibly negated, or a constant."""
    return Place("predicate", "read", "pred", when=when, values=values, eased=eased)


def address(
    coordinates: CountRule = 0,
    space: TypeRule = "?",
    eased: str = "",
    barred: Barred = (),
    also: str = "",
) -> Place:
    """`[base + offset]`, with a vector of coordinates for tensor operands.

    Without a `space` it is that of the slot `ss` or `space`.
    """
    return Place("address", "read", "b64", coordinates, also=also, space=space, eased=eased, barred=barred)


def memory(also: str = "", eased: str = "") -> Place:
    """The address of what a load, a store or an atomic operation accesses."""
    return address(barred=_no_addresses, also=also, eased=eased)


def _no_addresses(slots: Slots, target: int) -> tuple[int, ...]:
    """With 32 bits for a generic or global address assemblers refuse the whole module; parameters of a function
    are named.
    """
    space = slots.get("ss", slots.get("space", ""))
    if space == "param::func" and target >= _NAMED_PARAMETERS:
        return (8, 16, 32, 64)
    return (32,) if space in ("", "global") else ()


def tensor_address(accepts: Literal["same", "bits"] = "same", when: str = "") -> Place:
    """`[taddr + offset]` in tensor memory: 32 bits in a register, never a variable or a constant."""
    return Place("address", "read", "u32", when=when, accepts=accepts, space="tensor")


def immediate(type: TypeRule = "s32", values: Values = None, target: str = "", bits: CountRule = 0) -> Place:
    """An integer constant, one of `values` where they are given."""
    return Place("immediate", "none", type, values=values, target=target, bits=bits)


def amount_or_predicate(type: TypeRule, upto: str = "") -> Place:
    """A source of a type, or a predicate in its stead: what is declared decides."""
    return Place("any", "read", type, upto=upto)


def sink() -> Place:
    """The sink `_`, where nothing else may stand."""
    return Place("sink", "none")


def label() -> Place:
    """A branch target."""
    return Place("label", "none")


def function() -> Place:
    """The name of a function, or a register that holds its address."""
    return Place("symbol", "none", also="function")


def table(*directives: str) -> Place:
    """The label of one of some directives: a branch table, a prototype, a list of functions."""
    return Place("symbol", "none", also=" ".join(directives))


def arguments(access: Literal["read", "write"]) -> Place:
    """The parenthesised list of a call: what it reads, or writes."""
    return Place("tuple", access)
