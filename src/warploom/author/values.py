"""What a kernel under construction computes with: registers, addresses, and operators that emit instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, cast

from warploom.author.building import misuse
from warploom.isa.model.types import TYPES
from warploom.ptx import Address, Float, Integer, Name, Negated, Operand, Symbol, Vector

_FLOATS = {32: "<f4", 64: "<f8"}
DYNAMIC = "shared_memory"
"""The name of a kernel's dynamic shared memory."""


class Number:
    """What arithmetic operators work on: each emits one instruction and gives a new register."""

    __slots__ = ()

    def __add__(self, other: Value) -> Register:
        return _binary("add", self, other)

    def __radd__(self, other: Value) -> Register:
        return _binary("add", self, other)

    def __sub__(self, other: Value) -> Register:
        return _binary("sub", self, other)

    def __rsub__(self, other: Value) -> Register:
        return _binary("sub", other, self)

    def __mul__(self, other: Value) -> Register:
        return _product(self, other)

    def __rmul__(self, other: Value) -> Register:
        return _product(self, other)

    def __floordiv__(self, other: Value) -> Register:
        return _binary("div", self, other, signed=True)

    def __mod__(self, other: Value) -> Register:
        return _binary("rem", self, other, signed=True)

    def __and__(self, other: Value) -> Register:
        return _binary("and_", self, other, bits=True)

    def __or__(self, other: Value) -> Register:
        return _binary("or_", self, other, bits=True)

    def __xor__(self, other: Value) -> Register:
        return _binary("xor", self, other, bits=True)

    def __lshift__(self, other: Value) -> Register:
        return _shift("shl", self, other, bits=True)

    def __rshift__(self, other: Value) -> Register:
        return _shift("shr", self, other)

    def __neg__(self) -> Register:
        return _instruction("neg")(self, type=type_of(self))

    def __lt__(self, other: Value) -> Register:
        return _compare("lt", self, other)

    def __le__(self, other: Value) -> Register:
        return _compare("le", self, other)

    def __gt__(self, other: Value) -> Register:
        return _compare("gt", self, other)

    def __ge__(self, other: Value) -> Register:
        return _compare("ge", self, other)

    def __eq__(self, other: object) -> Register:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _compare("eq", self, other)

    def __ne__(self, other: object) -> Register:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _compare("ne", self, other)

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- equality emits code

    def __bool__(self) -> bool:
        raise misuse(
            "a register has no value while the kernel is built",
            "author.truth",
            "`with when(...)` branches when the kernel runs; & and | join predicates",
        )

    def __index__(self) -> int:
        raise misuse(
            "a register has no value while the kernel is built",
            "author.truth",
            "`for i in loop(...)` repeats when the kernel runs",
        )


class Register(Number):
    """One register of a type, `name` in the text. In-place operators (`i += 1`) write to it."""

    __slots__ = ("name", "negated", "type")

    def __init__(self, name: str, type: str, *, negated: bool = False) -> None:
        self.name = name
        self.type = type
        self.negated = negated

    def __invert__(self) -> Register:
        """Of a predicate its opposite, wherever a source may be negated; of bits their complement."""
        if self.type == "pred":
            return Register(self.name, self.type, negated=not self.negated)
        return _instruction("not_")(self, type=_bits(self.type))

    def set(self, value: Value) -> Register:
        """Move a value into the register."""
        return _instruction("mov")(value, type=self.type, out=self)

    def __iadd__(self, other: Value) -> Register:
        return _binary("add", self, other, out=self)

    def __isub__(self, other: Value) -> Register:
        return _binary("sub", self, other, out=self)

    def __ixor__(self, other: Value) -> Register:
        return _binary("xor", self, other, bits=True, out=self)

    def __iand__(self, other: Value) -> Register:
        return _binary("and_", self, other, bits=True, out=self)

    def __ior__(self, other: Value) -> Register:
        return _binary("or_", self, other, bits=True, out=self)

    def view(self, type: str) -> Register:
        """The same register, read as another type of its width. Errors: AuthorError author.type."""
        if type not in TYPES or TYPES[type].bits != TYPES[self.type].bits:
            raise misuse(
                f"a register of {self.type} is viewed as {type}; expected a type of {TYPES[self.type].bits} bits",
                "author.type",
            )
        return Register(self.name, type)

    def at(self, offset: int = 0, space: str = "?") -> Location:
        """The memory that the register points to, `offset` bytes on."""
        return Location(self, offset, space)

    def __repr__(self) -> str:
        return f"<{'!' if self.negated else ''}{self.name}: {self.type}>"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in memory: a base, bytes from it on, the state space; `coordinates` in a tensor of a tensor map."""

    base: Register | Symbol | str
    offset: int = 0
    space: str = "?"
    coordinates: tuple[Value, ...] = ()

    def __add__(self, more: int) -> Location:
        return Location(self.base, self.offset + more, self.space, self.coordinates)


Value: TypeAlias = "int | float | bool | Number | Location | Symbol | Sequence[Value] | None"


def _instruction(name: str) -> Any:
    """The call that emits an instruction; instructions are made of values, so they are met at call time."""
    from warploom.author.instructions import named

    return named(name)


def type_of(value: object) -> str:
    """The type of a register; "" for what has none of its own."""
    return value.type if isinstance(value, Register) else ""


def _bits(type: str) -> str:
    return "pred" if type == "pred" else f"b{TYPES[type].bits}"


def _common(name: str, a: object, b: object, *, signed: bool = False) -> str:
    """The type of an operator's operands. With `signed` their sign decides what comes out."""
    first, second = type_of(a), type_of(b)
    if first and second and not _alike(first, second, signed=signed):
        raise misuse(
            f"{name} of {first} and {second}; expected one type",
            "author.type",
            "`ptx.cvt` converts a value, `.view(type)` reads the same bits as another type",
        )
    word = second if TYPES[first or second].kind == "bits" and second else first or second
    return f"u{word[1:]}" if TYPES[word].kind == "bits" else word  # arithmetic needs a sign or none


def _alike(first: str, second: str, *, signed: bool) -> bool:
    one, other = TYPES[first], TYPES[second]
    if one.bits != other.bits or "bits" in (one.kind, other.kind):
        return one.bits == other.bits
    return one.kind == other.kind or (not signed and {one.kind, other.kind} == {"signed", "unsigned"})


# What is said to be rounded is: without it an assembler may make one fma of a product and a sum.
_ROUNDED = {"rnd": "rn"}


def _binary(
    name: str, a: object, b: object, *, bits: bool = False, signed: bool = False, out: Register | None = None
) -> Register:
    type_word = _common(name.rstrip("_"), a, b, signed=signed)
    word = _bits(type_word) if bits else type_word
    extra = _ROUNDED if name in ("add", "sub", "div") and TYPES[word].kind == "float" else {}
    made = _instruction(name)(a, b, type=word, out=out, **extra)
    if out is None:
        made.type = type_word
    return made


def _shift(name: str, a: object, b: object, *, bits: bool = False) -> Register:
    """Of the left operand's type, by an amount of 32 bits."""
    type_word = _common(name, a, 0)
    made = _instruction(name)(a, b, type=_bits(type_word) if bits else type_word)
    made.type = type_word
    return made


def _product(a: object, b: object) -> Register:
    type_word = _common("mul", a, b)
    if TYPES[type_word].kind == "float":
        return _instruction("mul")(a, b, type=type_word, **_ROUNDED)
    return _instruction("mul_lo")(a, b, type=type_word)


def _compare(how: str, a: object, b: object) -> Register:
    return _instruction("setp")(a, b, CmpOp=how, type=_common("a comparison", a, b, signed=True))


# The same names and numbers come again and again; a tree may hold one more than once.
_name = lru_cache(maxsize=4096)(Name)
_integer = lru_cache(maxsize=4096)(Integer)


def operand_of(value: object, type_word: str = "") -> Operand:
    """The operand that a value is in the text, where a type is expected. Errors: AuthorError author.operand."""
    match value:
        case Register():
            return Negated(value.name) if value.negated else _name(value.name)
        case bool():
            return _integer(int(value))
        case int():
            if type_word in TYPES and TYPES[type_word].kind == "float":
                return _float(float(value), TYPES[type_word].bits)
            return _integer(value)
        case float():
            bits = TYPES[type_word].bits if type_word in TYPES else 32
            return _float(value, bits)
        case Location():
            base: Any = value.base
            operand = _name(base.name if isinstance(base, Register | Symbol) else str(base))
            extra = (Vector(tuple(map(operand_of, value.coordinates))),) if value.coordinates else ()
            return Address(operand, value.offset, extra)
        case Symbol():
            return value
        case None:
            return Name("_")
        case str():
            return Name(value)
        case Sequence():
            return Vector(tuple(operand_of(each, type_word) for each in cast("Sequence[Any]", value)))
        case Integer() | Float() | Name() | Address():
            return value
        case _:
            raise misuse(
                f"{value!r} is no operand; expected a register, a number or an address", "author.operand"
            )


def _float(value: float, bits: int) -> Float:
    import numpy as np

    size = bits if bits in _FLOATS else 32
    return Float(int.from_bytes(np.array(value, _FLOATS[size]).tobytes(), "little"), size)
