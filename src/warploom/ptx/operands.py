"""Operands of instructions.

`OperandReader` answers for the text of one operand from what it has read before, by pattern for the usual shapes;
`operand` reads any shape from tokens and reports its errors.
"""

from __future__ import annotations

import re

from warploom.diag import Span
from warploom.ptx.constants import constant
from warploom.ptx.cursor import Cursor
from warploom.ptx.lexer import BITS, DECIMAL, INTEGER, MEMBER, NAME, OPERAND_PARTS, floating, integer
from warploom.ptx.tree import (
    Address,
    Element,
    Float,
    Integer,
    Name,
    Negated,
    Operand,
    Pair,
    Symbol,
    Tuple,
    Vector,
)

_BLANK = r"[ \t\r\n\f\v]*+"
_SIMPLE = re.compile(
    rf"{_BLANK}(?:(?P<name>{MEMBER})|(?P<float>{BITS}|{DECIMAL})|(?P<integer>-?{INTEGER})"
    rf"|(?P<negated>!{MEMBER})){_BLANK}",
    re.ASCII,
)
_ADDRESS = re.compile(
    rf"{_BLANK}\[{_BLANK}({NAME}){_BLANK}(?:\+{_BLANK}(-?{INTEGER}){_BLANK})?\]{_BLANK}", re.ASCII
)
_PAIR = re.compile(rf"{_BLANK}({MEMBER}){_BLANK}\|{_BLANK}({MEMBER}){_BLANK}", re.ASCII)
_OCTAL_FAULT = re.compile(r"-?0[0-9]*[89]", re.ASCII)


class OperandReader:
    """Operands by their text. Equal texts give one node, so a module holds each register name once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, Operand] = {}

    def read(self, text: str) -> tuple[Operand, ...] | None:
        """All operands of one instruction; None where the text needs the tokens."""
        if not text:
            return ()
        if "{" in text or "[" in text or "(" in text:
            parts = OPERAND_PARTS.findall(text)
            if ",".join(parts) != text:
                return None
        else:
            parts = text.split(",")
        known = self._known
        try:
            return tuple([known[part] for part in parts])
        except KeyError:
            return self._learn(parts)

    def _learn(self, parts: list[str]) -> tuple[Operand, ...] | None:
        operands: list[Operand] = []
        for part in parts:
            operand = self._known.get(part) or self._usual(part)
            if operand is None:
                return None
            self._known[part] = operand
            operands.append(operand)
        return tuple(operands)

    def _usual(self, text: str) -> Operand | None:
        match = _SIMPLE.fullmatch(text)
        if match is not None:
            kind, word = match.lastgroup, match[match.lastindex or 0]
            if kind == "name":
                return Name(word)
            if kind == "negated":
                return Negated(word[1:])
            if kind == "float":
                return floating(word)
            return None if _OCTAL_FAULT.match(word) else integer(word)
        match = _ADDRESS.fullmatch(text)
        if match is not None:
            offset = match[2] or "0"
            return None if _OCTAL_FAULT.match(offset) else Address(Name(match[1]), integer(offset).value)
        match = _PAIR.fullmatch(text)
        if match is not None:
            return Pair(Name(match[1]), Name(match[2]))
        inner = text.strip(" \t\r\n\f\v")
        if inner[:1] == "{" and inner[-1:] == "}" and "{" not in inner[1:]:
            items = self.read(inner[1:-1])
            if items and not any(isinstance(item, (Address, Tuple, Pair)) for item in items):
                return Vector(items)
        return None


def operand(cursor: Cursor, depth: int = 0) -> Operand:
    """Read one operand of any shape from tokens.

    Errors: ptx.syntax/expected, ptx.syntax/constant, ptx.syntax/nesting
    """
    first = _single(cursor, depth)
    if cursor.accept("|"):
        return Pair(first, _single(cursor, depth))
    return first


def operands(cursor: Cursor, closer: str, depth: int = 0) -> tuple[Operand, ...]:
    """Read operands separated by commas up to and with a closing sign; there may be none."""
    found: list[Operand] = []
    if cursor.accept(closer):
        return ()
    while True:
        found.append(operand(cursor, depth))
        if not cursor.accept(","):
            cursor.expect(closer, ",")
            return tuple(found)


def _single(cursor: Cursor, depth: int) -> Operand:
    token = cursor.peek()
    if token.text == "{":
        cursor.take()
        return Vector(operands(cursor, "}", cursor.nest(depth, "vectors")))
    if token.text == "[":
        return _address(cursor, depth)
    if token.text == "(":
        return _tuple(cursor, depth)
    if token.text in ("!", "-"):
        cursor.take()
        name = cursor.peek()
        if name.kind == "name" and name.text != "WARP_SZ":
            return Negated(cursor.take().text, token.text)
        cursor.seek(token.start)
        return constant(cursor)
    if token.kind == "name":
        return _named(cursor, depth)
    if token.kind in ("integer", "float") or token.text in ("+", "~"):
        return constant(cursor)
    cursor.expected("an operand")


def _named(cursor: Cursor, depth: int) -> Operand:
    token = cursor.take()
    if cursor.at("["):
        return Element(token.text, _address(cursor, depth))
    if cursor.at(",", ";", "|", "}", ")", "]"):
        return Name(token.text)
    if cursor.at("+", "-", "*", "/", "%", "<<", ">>", "(") and token.text[0] != "%":
        cursor.seek(token.start)
        return constant(cursor)
    return Name(token.text)


def _tuple(cursor: Cursor, depth: int) -> Operand:
    """Call operands, or a constant expression that begins with a parenthesis."""
    start = cursor.take().start
    depth = cursor.nest(depth, "parentheses")
    if not cursor.at(".s64", ".u64"):
        items = operands(cursor, ")", depth)
        if cursor.at(",", ";", ")", "}"):
            return Tuple(items)
    cursor.seek(start)
    return constant(cursor, depth)


def _address(cursor: Cursor, depth: int) -> Address:
    cursor.expect("[")
    depth = cursor.nest(depth, "addresses")
    start = cursor.peek().start
    value = constant(cursor)
    if isinstance(value, Float) or (isinstance(value, Symbol) and value != Symbol(value.name, value.offset)):
        span = Span(start, cursor.pos)
        cursor.fail("expected", f"found '{cursor.text[start : cursor.pos]}'; expected an address", span)
    base, offset = (None, value.value) if isinstance(value, Integer) else (Name(value.name), value.offset)
    extra: tuple[Operand, ...] = ()
    if cursor.accept(","):
        extra = operands(cursor, "]", depth)
    else:
        cursor.expect("]", "+", ",")
    return Address(base, offset, extra)
