"""C types of builtin arguments, and values of CUDA C expressions."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

SIZES = {
    "bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4,
    "unsigned int": 4, "long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8, "float": 4,
    "double": 8, "std::nullptr_t": 8, "void": 1, "__half": 2, "__nv_bfloat16": 2,
}  # fmt: skip
"""Sizes of types in bytes."""
_NAMES = {name: name for name in SIZES} | {
    "unsigned": "unsigned int", "half": "__half", "size_t": "unsigned long", "int8_t": "signed char",
    "uint8_t": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short", "int32_t": "int",
    "uint32_t": "unsigned int", "int64_t": "long", "uint64_t": "unsigned long", "uintptr_t": "unsigned long",
    "_Bool": "bool", "nv_bfloat16": "__nv_bfloat16", "uint": "unsigned int",
}  # fmt: skip
"""Canonical name of each type, by all names of the type."""
WORDS = frozenset(word for name in _NAMES for word in name.split()) | {"signed"}
"""Words in names of types, such as "unsigned"."""
TYPEDEFS = sorted(
    WORDS - {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "std::nullptr_t"}
)
"""Names of types for which pycparser needs a typedef."""
FLOATS = frozenset({"float", "double", "__half", "__nv_bfloat16"})
_UNSIGNED = frozenset(
    {"bool", "unsigned char", "unsigned short", "unsigned int", "unsigned long", "unsigned long long"}
)
_RANKS = ("int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long")


@dataclass(frozen=True, slots=True)
class CType:
    """C type: a base type that may be `const`, the number of pointer levels, and the extents of an array.

    `rows` are the extents of the array that a pointer points to: `int (*)[8]` has the depth 1 and the rows (8,).
    """

    base: str
    depth: int = 0
    const: bool = False
    extents: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()

    def __str__(self) -> str:
        stars = f"{'const ' * (self.const and self.depth > 0)}{self.base}{' ' * (self.depth > 0)}{'*' * self.depth}"
        rows = "".join(f"[{extent}]" for extent in self.rows or self.extents)
        return f"{stars[:-1]}(*){rows}" if self.rows else f"{stars} {rows}".rstrip()

    @property
    def size(self) -> int:
        """Size in bytes."""
        return (8 if self.depth else SIZES[self.base]) * math.prod(self.extents)

    @property
    def pointee(self) -> CType:
        """Type that a pointer points to."""
        return CType(self.base, self.depth - 1, self.const, self.rows)

    @property
    def element(self) -> CType:
        """Type of the elements of an array, without all extents."""
        return replace(self, extents=())

    @property
    def pointer(self) -> CType:
        """Type of a pointer to this type, or to the first element of an array, which may be a row."""
        return CType(self.base, self.depth + 1, self.const, (), self.extents[1:])

    @property
    def plain(self) -> CType:
        """Type of a value that is read from a variable of this type."""
        return self if self.depth else replace(self, const=False)

    @property
    def is_integer(self) -> bool:
        """True for an integer type."""
        return not self.depth and not self.extents and self.base not in FLOATS | {"void", NULL.base}

    @property
    def is_float(self) -> bool:
        """True for a floating-point type."""
        return not self.depth and self.base in FLOATS

    @property
    def is_number(self) -> bool:
        """True for a type with arithmetic."""
        return self.is_integer or self.is_float

    @property
    def is_unsigned(self) -> bool:
        """True for an unsigned integer type or a pointer."""
        return self.base in _UNSIGNED or self.depth > 0


VOID = CType("void")
INT = CType("int")
BOOL = CType("bool")
UNSIGNED = CType("unsigned int")
LONG = CType("long")
SIZE = CType("unsigned long")
"""Type of sizes and of addresses as integers."""
FLOAT = CType("float")
DOUBLE = CType("double")
DESCRIPTOR = CType("unsigned long long")
"""Type of a matrix descriptor."""
NULL = CType("std::nullptr_t")


def type_of_words(words: list[str]) -> CType | None:
    """Return the C type of words such as `unsigned long long int`, or None if it is unknown."""
    is_sized = "long" in words or "short" in words
    kept = [
        word for word in words if not (word == "signed" and "char" not in words) and not (word == "int" and is_sized)
    ]
    base = _NAMES.get(" ".join(sorted(kept, key=lambda word: word != "unsigned")) or "int")
    return None if base is None or {"signed", "unsigned"} <= set(words) else CType(base)


@dataclass(frozen=True, slots=True)
class Value:
    """Value of an expression: a constant, an SSA value, or neither if it is undefined, as in 1 / 0."""

    type: CType
    constant: int | float | None = None
    ssa: SSAValue | None = None
    # Constant displacement of a pointer in bytes.
    offset: int = 0
    # Size in bytes of the array that a pointer points to, or 0 if it is unknown.
    room: int = 0
    # State space of a pointer argument: "global", "shared", "local", "const", or "" if it is unknown.
    space: str = ""

    @property
    def is_null(self) -> bool:
        """True for a null pointer, or a value that converts to a null pointer."""
        return self.constant == 0 and (self.type.depth > 0 or self.type == NULL or self.type.is_integer)


def wrap(value: float, ctype: CType) -> int | float | None:
    """Return a constant converted to `ctype` by the rules of C++, or None if the result is undefined."""
    if ctype.is_float:
        code = {"float": "<f", "__half": "<e"}.get(ctype.base, "<d")
        try:
            return struct.unpack(code, struct.pack(code, value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    if ctype == BOOL:
        return int(value != 0)
    bits = 8 * ctype.size
    if isinstance(value, float) and not -(2 ** (bits - 1)) - 1 < value < 2**bits:
        return None
    whole = int(value) & ((1 << bits) - 1)
    return whole if ctype.is_unsigned or whole < 1 << (bits - 1) else whole - (1 << bits)


def promoted(ctype: CType) -> CType:
    """Return the type of an operand of the type `ctype` after the integer promotion of C++."""
    return CType(ctype.base) if ctype.base in _RANKS or not ctype.is_integer else INT


def common(one: CType, other: CType) -> CType:
    """Return the C++ result type of arithmetic on operands of two types."""
    if one.is_float or other.is_float:
        if one.base == other.base:
            return CType(one.base)
        return DOUBLE if "double" in (one.base, other.base) else FLOAT
    return CType(max(promoted(one).base, promoted(other).base, key=_RANKS.index))
