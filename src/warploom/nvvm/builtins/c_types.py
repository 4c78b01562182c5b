"""C types of builtin arguments, and values of CUDA C expressions."""

from __future__ import annotations

from dataclasses import dataclass, replace

SIZES = {
    "bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4,
    "unsigned int": 4, "long": 8, "unsigned long": 8, "long long": 8, "unsigned long long": 8, "float": 4,
    "double": 8, "std::nullptr_t": 8, "void": 1, "__half": 2, "__nv_bfloat16": 2,
}  # fmt: skip
"""Sizes of types in bytes."""
_NAMES = {name: name for name in SIZES} | {
    "unsigned": "unsigned int", "half": "__half", "size_t": "unsigned long", "int8_t": "signed char",
    "uint8_t": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short", "int32_t": "int",
    "uint32_t": "unsigned int", "int64_t": "long", "uint64_t": "unsigned long",
}  # fmt: skip
"""Canonical name of each type, by all names of the type."""
WORDS = frozenset(word for name in _NAMES for word in name.split()) | {"signed"}
"""Words that the names of types consist of."""
FLOATS = frozenset({"float", "double", "__half", "__nv_bfloat16"})
_UNSIGNED = frozenset(
    {"bool", "unsigned char", "unsigned short", "unsigned int", "unsigned long", "unsigned long long"}
)
_RANKS = ("int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long")


@dataclass(frozen=True, slots=True)
class CType:
    """C type: a base type that may be `const`, and the number of pointer levels."""

    base: str
    depth: int = 0
    const: bool = False

    def __str__(self) -> str:
        return f"{'const ' * (self.const and self.depth > 0)}{self.base}{' ' * (self.depth > 0)}{'*' * self.depth}"

    @property
    def size(self) -> int:
        """Size in bytes."""
        return 8 if self.depth else SIZES[self.base]

    @property
    def pointee(self) -> CType:
        """Type that a pointer points to."""
        return replace(self, depth=self.depth - 1)

    @property
    def is_integer(self) -> bool:
        """True for an integer type."""
        return self.depth == 0 and self.base not in FLOATS | {"void", NULL.base}


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
    """Value of an expression in a builtin's call: a constant, a sum of variables, or unknown.

    Units: bytes for `offset`, `inside` and the factors of a pointer; none for those of an integer
    """

    type: CType
    # Constant value, or None for a value computed at run time.
    constant: int | float | None = None
    # Name of the pointer parameter or array that the value starts from.
    base: str = ""
    offset: int = 0
    # State space of a pointer: "global", "shared", "local", "const", or "" if it is unknown.
    space: str = ""
    # Pairs of a variable and its factor. None marks an unknown value.
    terms: tuple[tuple[str, int], ...] | None = ()
    # Part of `offset` inside an index with variables: 4 in `p[i + 4]`, added before the index is widened.
    inside: int = 0

    @property
    def is_null(self) -> bool:
        """True for a null pointer, or a value that converts to a null pointer."""
        return self.constant == 0 and (self.type.depth > 0 or self.type == NULL or self.type.is_integer)


def computed(ctype: CType, space: str = "") -> Value:
    """Return an unknown value of the type `ctype`."""
    return Value(ctype, None, "", 0, space, None)


def wrap(value: float, ctype: CType) -> int | float | None:
    """Return a constant converted to `ctype` by the rules of C++, or None if the result is undefined."""
    if ctype.base in FLOATS:
        return float(value)
    if ctype == BOOL:
        return int(value != 0)
    if isinstance(value, float) and not -(2**63) < value < 2**64:
        return None
    bits = 8 * ctype.size
    whole = int(value)
    if isinstance(value, float) and not -(2 ** (bits - 1)) <= whole < 2**bits:
        return None
    whole &= (1 << bits) - 1
    return whole if ctype.base in _UNSIGNED or ctype.depth or whole < 1 << (bits - 1) else whole - (1 << bits)


def promoted(ctype: CType) -> CType:
    """Return the type of an operand of the type `ctype` after the integer promotion of C++."""
    return CType(ctype.base) if ctype.base in _RANKS or not ctype.is_integer else INT


def common(one: CType, other: CType) -> CType:
    """Return the C++ result type of arithmetic on operands of two types."""
    if is_float(one) or is_float(other):
        return CType("double" if "double" in (one.base, other.base) else "float")
    return CType(max(promoted(one).base, promoted(other).base, key=_RANKS.index))


def is_unsigned(ctype: CType) -> bool:
    """Return True for an unsigned integer type or a pointer."""
    return ctype.base in _UNSIGNED or ctype.depth > 0


def is_float(ctype: CType) -> bool:
    """Return True for a floating-point type."""
    return ctype.depth == 0 and ctype.base in FLOATS
