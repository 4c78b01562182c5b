"""Operands and initializers: nodes without a position in the text.

`str()` of an operand is its PTX text. Parsed constants keep their spelling.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import field
from typing import TypeAlias

from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    """Name of a register, special register, label, variable or function, or the sink `_`."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Integer:
    """Integer constant, or a constant expression with an integer value.

    `text` is its spelling. Equality ignores the spelling.
    """

    value: int
    text: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", str(self.value))

    @classmethod
    def spelled(cls, value: int, text: str) -> Integer:
        """Return an integer constant that prints as `text`."""
        constant = cls(value)
        object.__setattr__(constant, "text", text)
        return constant

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Float:
    """Floating-point constant.

    `width` is 32 for `0f3F800000`, 64 for `0d…` and None for a decimal. A decimal has the `bits` of its binary64 value.
    """

    bits: int
    width: int | None = None
    text: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        text = f"0f{self.bits:08X}" if self.width == 32 else f"0d{self.bits:016X}"
        object.__setattr__(self, "text", text if self.width else repr(self.value))

    @classmethod
    def decimal(cls, value: float) -> Float:
        """Return a constant that prints as a decimal."""
        return cls(int.from_bytes(struct.pack("<d", value), "little"))

    def spelled(self, text: str) -> Float:
        """Return a constant with this value that prints as `text`."""
        constant = Float(self.bits, self.width)
        object.__setattr__(constant, "text", text)
        return constant

    @property
    def value(self) -> float:
        """Value as a Python float."""
        size, letter = (4, "<f") if self.width == 32 else (8, "<d")
        return struct.unpack(letter, self.bits.to_bytes(size, "little"))[0]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Symbol:
    """Address of a variable or label with an offset: `sym+4`, `generic(sym)+8`, `0xFF00(sym)`, `a-b`.

    `minus` is the name of the label that is subtracted, or "".
    """

    name: str
    offset: int = 0
    generic: bool = False
    mask: int | None = None
    minus: str = ""

    def __str__(self) -> str:
        text = f"generic({self.name})" if self.generic else self.name
        if self.minus:
            text += f"-{self.minus}"
        if self.offset:
            text += f"+{self.offset}"
        return text if self.mask is None else f"0x{self.mask:X}({text})"


@dataclass(frozen=True, slots=True)
class Negated:
    """Negated register: `!%p1`, or `-%r1` in an instruction that accepts a minus sign."""

    name: str
    sign: str = "!"

    def __str__(self) -> str:
        return f"{self.sign}{self.name}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two results of one instruction: `%r0|%p1`."""

    first: Operand
    second: Operand

    def __str__(self) -> str:
        return f"{self.first}|{self.second}"


@dataclass(frozen=True, slots=True)
class Vector:
    """Operands in braces: `{%r0, %r1}`."""

    items: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"{{{joined(self.items)}}}"


@dataclass(frozen=True, slots=True)
class Address:
    """Memory operand: `[%rd1+16]`, `[sym+4]` or `[16]`.

    `extra` holds the operands after a comma, as in `[%rd1, {%r0, %r1}]`. `unified` is True for `[%rd1].unified`.
    """

    base: Operand | None
    offset: int = 0
    extra: tuple[Operand, ...] = ()
    unified: bool = False

    def __str__(self) -> str:
        if self.base is None:
            inner = str(self.offset)
        else:
            inner = f"{self.base}+{self.offset}" if self.offset else str(self.base)
        return f"[{joined((inner, *self.extra))}]{'.unified' if self.unified else ''}"


@dataclass(frozen=True, slots=True)
class Element:
    """Element of an array as an operand: `a[4]`."""

    name: str
    index: Address

    def __str__(self) -> str:
        return f"{self.name}{self.index}"


@dataclass(frozen=True, slots=True)
class Tuple:
    """Operands of a call in parentheses: `(param0, param1)`."""

    items: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"({joined(self.items)})"


Operand: TypeAlias = Name | Integer | Float | Symbol | Negated | Pair | Vector | Address | Element | Tuple


@dataclass(frozen=True, slots=True)
class Property:
    """Field of an opaque variable in its initializer: `addr_mode_0 = clamp_to_border`."""

    name: str
    value: Initializer


Initializer: TypeAlias = "Integer | Float | Name | Symbol | Property | tuple[Initializer, ...]"


def joined(operands: Iterable[object]) -> str:
    """Return the texts of operands with commas between them."""
    return ", ".join(map(str, operands))


def initializer_text(value: Initializer) -> str:
    """Return the PTX text of an initializer."""
    if isinstance(value, tuple):
        return f"{{{', '.join(map(initializer_text, value))}}}"
    if isinstance(value, Property):
        return f"{value.name} = {initializer_text(value.value)}"
    return str(value)
