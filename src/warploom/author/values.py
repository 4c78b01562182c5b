"""Operands of a kernel under construction: registers with Python operators, and memory locations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

from warploom.author.builder import current
from warploom.author.errors import author_error
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Address, Float, Integer, Name, Negated, Operand, Symbol, Vector

Value: TypeAlias = "int | float | bool | Register | Location | Symbol | Sequence[Value] | None"
_FLOATS = {32: "<f4", 64: "<f8"}
_LONGEST_TEXT = 60  # of a value in a message
DYNAMIC = "shared_memory"
"""Name of the dynamic shared memory of every kernel."""


def _operator(
    symbol: str,
    instruction: Callable[[Any], Any],
    result: Literal["common", "bits", "pred"] = "common",
    *,
    signed: bool = False,
    rounded: bool = False,
    shift: bool = False,
    reverse: bool = False,
    in_place: bool = False,
    **words: str,
) -> Callable[[Any, Value], Register]:
    """Return the Python operator `symbol`, which emits one instruction.

    `result` is "common" for an instruction on the common type of the operands, "bits" for an instruction on their bit
    type, and "pred" for a comparison. `signed` forbids a mix of signed and unsigned operands. `rounded` gives floats an
    explicit `.rn`. With `shift`, the type of the right operand does not matter. `reverse` swaps the operands.
    `in_place` overwrites the left operand.
    """

    def apply(self: Register, other: Value) -> Register:
        a, b = (other, self) if reverse else (self, other)
        common = _common_type(symbol, a, 0 if shift else b, signed=signed)
        type_word = _bit_type(common) if result == "bits" else common
        # ptxas may fuse operations without `.rn`.
        rounding = {"rnd": "rn"} if rounded and TYPES[type_word].kind == "float" else {}
        out = self if in_place else None
        made = instruction(current().ptx)(a, b, type=type_word, out=out, **rounding, **words)
        if result == "bits" and not in_place:
            made.type = common
        return made

    return apply


_equal = _operator("==", lambda ptx: ptx.setp, "pred", signed=True, CmpOp="eq")
_unequal = _operator("!=", lambda ptx: ptx.setp, "pred", signed=True, CmpOp="ne")


class Register:
    """PTX register. Its Python operators emit instructions.

    `a + b` returns a new register, and `a += b` writes to `a`.
    """

    __slots__ = ("name", "negated", "type")

    def __init__(self, name: str, type: str, *, negated: bool = False) -> None:
        self.name = name
        self.type = type
        self.negated = negated

    __add__ = __radd__ = _operator("+", lambda ptx: ptx.add, rounded=True)
    __sub__ = _operator("-", lambda ptx: ptx.sub, rounded=True)
    __rsub__ = _operator("-", lambda ptx: ptx.sub, rounded=True, reverse=True)
    __floordiv__ = _operator("//", lambda ptx: ptx.div, rounded=True, signed=True)
    __mod__ = _operator("%", lambda ptx: ptx.rem, signed=True)
    __and__ = _operator("&", lambda ptx: ptx.and_, "bits")
    __or__ = _operator("|", lambda ptx: ptx.or_, "bits")
    __xor__ = _operator("^", lambda ptx: ptx.xor, "bits")
    __lshift__ = _operator("<<", lambda ptx: ptx.shl, "bits", shift=True)
    __rshift__ = _operator(">>", lambda ptx: ptx.shr, shift=True)
    __iadd__ = _operator("+=", lambda ptx: ptx.add, rounded=True, in_place=True)
    __isub__ = _operator("-=", lambda ptx: ptx.sub, rounded=True, in_place=True)
    __iand__ = _operator("&=", lambda ptx: ptx.and_, "bits", in_place=True)
    __ior__ = _operator("|=", lambda ptx: ptx.or_, "bits", in_place=True)
    __ixor__ = _operator("^=", lambda ptx: ptx.xor, "bits", in_place=True)
    __lt__ = _operator("<", lambda ptx: ptx.setp, "pred", signed=True, CmpOp="lt")
    __le__ = _operator("<=", lambda ptx: ptx.setp, "pred", signed=True, CmpOp="le")
    __gt__ = _operator(">", lambda ptx: ptx.setp, "pred", signed=True, CmpOp="gt")
    __ge__ = _operator(">=", lambda ptx: ptx.setp, "pred", signed=True, CmpOp="ge")

    def __eq__(self, other: object) -> Register:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _equal(self, cast("Value", other))

    def __ne__(self, other: object) -> Register:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _unequal(self, cast("Value", other))

    __hash__ = None  # pyright: ignore[reportAssignmentType] -- equality emits code

    def __mul__(self, other: Value) -> Register:
        type_word, ptx = _common_type("*", self, other), current().ptx
        if TYPES[type_word].kind == "float":
            return ptx.mul(self, other, type=type_word, rnd="rn")
        return ptx.mul_lo(self, other, type=type_word)

    __rmul__ = __mul__

    def __neg__(self) -> Register:
        return current().ptx.neg(self, type=self.type)

    def __invert__(self) -> Register:
        """Return the negation of a predicate, or the bitwise complement of another register."""
        if self.type == "pred":
            return Register(self.name, self.type, negated=not self.negated)
        return current().ptx.not_(self, type=_bit_type(self.type))

    def __bool__(self) -> bool:
        raise _no_value("`with when(...)` branches when the kernel runs; & and | join predicates")

    def __index__(self) -> int:
        raise _no_value("`for i in loop(...)` repeats when the kernel runs")

    def set(self, value: Value) -> Register:
        """Emit a move of a value to the register. Return the register."""
        return current().ptx.mov(value, type=self.type, out=self)

    def view(self, type: str) -> Register:
        """Return the same register with another type of the same width. Errors: AuthorError author.type."""
        if type not in TYPES or TYPES[type].bits != TYPES[self.type].bits:
            raise author_error(
                f"cannot view a register of {self.type} as {type}; expected a type of {TYPES[self.type].bits} bits",
                "author.type",
            )
        return Register(self.name, type)

    def at(self, offset: int = 0, space: str = "?") -> Location:
        """Return the location `offset` bytes after the address in the register, in the state space `space`."""
        return Location(self, offset, space)

    def __repr__(self) -> str:
        return f"<{'!' if self.negated else ''}{self.name}: {self.type}>"


@dataclass(frozen=True, slots=True)
class Location:
    """Memory location: a base, an offset in bytes, and a state space ("?" if unknown).

    If the base is a tensor map, `coordinates` select an element of its tensor.
    """

    base: Register | Symbol | str
    offset: int = 0
    space: str = "?"
    coordinates: tuple[Value, ...] = ()

    def __add__(self, more: int) -> Location:
        return Location(self.base, self.offset + more, self.space, self.coordinates)


def type_of(value: object) -> str:
    """Return the type of a register, or "" for any other value."""
    return value.type if isinstance(value, Register) else ""


def _no_value(hint: str) -> Exception:
    return author_error("a register has no value while the kernel is built", "author.truth", hint)


def _bit_type(type: str) -> str:
    return "pred" if type == "pred" else f"b{TYPES[type].bits}"


def _common_type(symbol: str, a: object, b: object, *, signed: bool = False) -> str:
    """Return the common type of two operands. If `signed`, signed and unsigned types do not mix."""
    first, second = type_of(a), type_of(b)
    if first and second and not _are_compatible(first, second, signed=signed):
        raise author_error(
            f"operands of '{symbol}' have types {first} and {second}; expected one type",
            "author.type",
            "`ptx.cvt` converts a value, `.view(type)` reads the same bits as another type",
        )
    word = second if TYPES[first or second].kind == "bits" and second else first or second
    return f"u{word[1:]}" if TYPES[word].kind == "bits" else word  # arithmetic has no bit types


def _are_compatible(first: str, second: str, *, signed: bool) -> bool:
    one, other = TYPES[first], TYPES[second]
    if one.bits != other.bits or "bits" in (one.kind, other.kind):
        return one.bits == other.bits
    return one.kind == other.kind or (not signed and {one.kind, other.kind} == {"signed", "unsigned"})


# A tree may contain the same node several times, so each name and number is created once.
_name = lru_cache(maxsize=4096)(Name)
_integer = lru_cache(maxsize=4096)(Integer)


def _described(value: object) -> str:
    """Return the text of a value for a message: a short one, or its type."""
    text = repr(value)
    return text if len(text) <= _LONGEST_TEXT else f"a value of the type {type(value).__name__}"


def operand_of(value: object, type_word: str = "") -> Operand:
    """Return the PTX operand for a value of type `type_word` (or ""). Errors: AuthorError author.operand."""
    match value:
        case Register():
            return Negated(value.name) if value.negated else _name(value.name)
        case bool():
            return _integer(int(value))
        case int() if type_word not in TYPES or TYPES[type_word].kind != "float":
            return _integer(value)
        case int() | float():
            return _float(float(value), TYPES[type_word].bits if type_word in TYPES else 32)
        case Location():
            base: Any = value.base
            operand = _name(base.name if isinstance(base, Register | Symbol) else str(base))
            extra = (Vector(tuple(map(operand_of, value.coordinates))),) if value.coordinates else ()
            return Address(operand, value.offset, extra)
        case None:
            return Name("_")
        case str():
            return Name(value)
        case Sequence():
            return Vector(tuple(operand_of(each, type_word) for each in cast("Sequence[Any]", value)))
        case Integer() | Float() | Name() | Address() | Symbol():
            return value
        case _:
            raise author_error(
                f"{_described(value)} is not an operand; expected a register, a number or an address", "author.operand"
            )


def _float(value: float, bits: int) -> Float:
    import numpy as np

    size = bits if bits in _FLOATS else 32
    return Float(int.from_bytes(np.array(value, _FLOATS[size]).tobytes(), "little"), size)
