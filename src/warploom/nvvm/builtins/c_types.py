"""C types of builtin arguments, and values of CUDA C expressions."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace

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
"""Words that the names of types consist of."""
TYPEDEFS = sorted(
    WORDS - {"void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "std::nullptr_t"}
)
"""Names of types that C does not know."""
FLOATS = frozenset({"float", "double", "__half", "__nv_bfloat16"})
_UNSIGNED = frozenset(
    {"bool", "unsigned char", "unsigned short", "unsigned int", "unsigned long", "unsigned long long"}
)
_RANKS = ("int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long")


@dataclass(frozen=True, slots=True)
class CType:
    """C type: a base type that may be `const`, the number of pointer levels, and the extents of an array.

    `rows` are the extents of the arrays that the outermost pointer points to: (8,) for a row of `int t[4][8]`.
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
        """Type of a pointer to a variable of this type.

        The name of an array has the type of a pointer to a row.
        """
        return CType(self.base, self.depth + 1, self.const, (), self.extents[1:])

    @property
    def is_integer(self) -> bool:
        """True for an integer type."""
        return self.depth == 0 and not self.extents and self.base not in FLOATS | {"void", NULL.base}


INT = CType("int")
BOOL = CType("bool")
DOUBLE = CType("double")
DESCRIPTOR = CType("unsigned long long")
"""Type of a matrix descriptor."""
NULL = CType("std::nullptr_t")


def type_of_words(words: list[str]) -> CType | None:
    """Return the C type of words such as `unsigned const long long`, or None if it is unknown."""
    const = "const" in words
    kept = [word for word in words if word not in ("const", "volatile")]
    if "long" in kept or "short" in kept:
        kept = [word for word in kept if word != "int"]
    signs = [word for word in kept if word in ("signed", "unsigned")]
    rest = [word for word in kept if word not in ("signed", "unsigned")]
    sign = [word for word in signs if word == "unsigned" or rest == ["char"]]
    name = " ".join([*sign, *rest]) or ("int" if signs else "")
    base = _NAMES.get(name)
    return None if base is None or len(signs) > 1 else CType(base, 0, const)


@dataclass(frozen=True, slots=True)
class Value:
    """Value of an expression: a constant, or an SSA value. The constant of an undefined result is None.

    `offset` is the constant displacement of a pointer in bytes.
    """

    type: CType
    constant: int | float | None = None
    ssa: SSAValue | None = None
    # State space of a pointer: "global", "shared", "local", "const", or "" if it is unknown. An integer parameter of a
    # kernel has the space of the pointer to which a cast converts it.
    space: str = ""
    offset: int = 0
    # Size in bytes of the array that a pointer points to, or 0 if it is unknown.
    room: int = 0

    @property
    def is_null(self) -> bool:
        """True for a null pointer, or a value that converts to a null pointer."""
        return self.constant == 0 and (self.type.depth > 0 or self.type == NULL or self.type.is_integer)


def wrap(value: float, ctype: CType) -> int | float | None:
    """Return a constant converted to `ctype` by the rules of C++, or None if the result is undefined."""
    if ctype.base in FLOATS and not ctype.depth:
        return _rounded(float(value), ctype.base)
    if ctype == BOOL:
        return int(value != 0)
    if isinstance(value, float) and not -(2**63) <= value < 2**64:
        return None
    bits = 8 * ctype.size
    whole = int(value)
    if isinstance(value, float) and not -(2 ** (bits - 1)) <= whole < 2**bits:
        return None
    whole &= (1 << bits) - 1
    return whole if ctype.base in _UNSIGNED or ctype.depth or whole < 1 << (bits - 1) else whole - (1 << bits)


def _rounded(value: float, base: str) -> float:
    code = {"float": "<f", "__half": "<e"}.get(base)
    try:
        return value if code is None else struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def promoted(ctype: CType) -> CType:
    """Return the type of an operand of the type `ctype` after the integer promotion of C++."""
    return CType(ctype.base) if ctype.base in _RANKS or not ctype.is_integer else INT


def common(one: CType, other: CType) -> CType:
    """Return the C++ result type of arithmetic on operands of two types."""
    if is_float(one) or is_float(other):
        if one.base == other.base:
            return CType(one.base)
        return CType("double" if "double" in (one.base, other.base) else "float")
    return CType(max(promoted(one).base, promoted(other).base, key=_RANKS.index))


def is_unsigned(ctype: CType) -> bool:
    """Return True for an unsigned integer type or a pointer."""
    return ctype.base in _UNSIGNED or ctype.depth > 0


def is_float(ctype: CType) -> bool:
    """Return True for a floating-point type."""
    return ctype.depth == 0 and ctype.base in FLOATS
