"""Operands of instructions.

`OperandReader` answers for the text of one operand from what it has read before, by pattern for the usual
shapes; `operand` reads any shape from tokens and reports its errors.
"""

from __future__ import annotations

import re

from warploom.diagnostics import Span
from warploom.ptx.constants import WARP_SIZE, WARP_SZ, constant, constant_or_name
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

_BLANKS = " \t\r\n\f\v"
_BLANK = rf"[{_BLANKS}]*+"
_MINUS = re.compile(rf"{_BLANK}-")
_NAME = re.compile(MEMBER, re.ASCII).fullmatch
_INTEGER = re.compile(rf"-?(?:[1-9][0-9]*+|0|{INTEGER})", re.ASCII).fullmatch
_FLOAT = re.compile(rf"{BITS}|{DECIMAL}", re.ASCII).fullmatch
_NEGATED = re.compile(rf"!({MEMBER})", re.ASCII).fullmatch
_ADDRESS = re.compile(
    rf"\[{_BLANK}({NAME}){_BLANK}(?:\+{_BLANK}(-?{INTEGER}){_BLANK})?\]", re.ASCII
).fullmatch
_PAIR = re.compile(rf"({MEMBER}){_BLANK}\|{_BLANK}({MEMBER})", re.ASCII).fullmatch
_SHORT = 18
"""Characters of a literal that is sure to fit in 64 bits."""

_PLAIN_VECTOR = re.compile(r"\{[^{}\[\]()|]*+\}").fullmatch
_OPERAND_SIGNS = frozenset("{[(!-+~")
_OCTAL_FAULT = re.compile(r"-?0[0-9]*[89]", re.ASCII).match


class _Unusual(Exception):
    """The operand's shape is not one of the usual ones."""


class OperandReader(dict[str, Operand]):
    """Operands by their text. Equal texts give one node, so a module holds each register name once."""

    def read(self, text: str) -> tuple[Operand, ...] | None:
        """All operands of one instruction; None where the text needs the tokens."""
        if not text:
            return ()
        text = text.replace(", ", ",")
        if "{" in text or "[" in text or "(" in text:
            parts = OPERAND_PARTS.findall(text)
            if ",".join(parts) != text:
                return None
        else:
            parts = text.split(",")
        try:
            return tuple(map(self.__getitem__, parts))
        except _Unusual:
            return None

    def __missing__(self, part: str) -> Operand:
        operand = self[part] = self._usual(part.strip(_BLANKS))
        return operand

    def _usual(self, text: str) -> Operand:
        if _NAME(text):
            return Integer.spelled(WARP_SIZE, WARP_SZ) if text == WARP_SZ else Name(text)
        if WARP_SZ in text:
            raise _Unusual
        first = text[:1]
        if first == "[" and (match := _ADDRESS(text)):
            name, offset = match.groups()
            if offset is None:
                return Address(Name(name))
            if len(offset) <= _SHORT and not _OCTAL_FAULT(offset):
                return Address(Name(name), integer(offset).value)
        elif first == "{" and _PLAIN_VECTOR(text):
            items = self.read(text[1:-1])
            if items:
                return Vector(items)
        elif _INTEGER(text):
            if len(text) <= _SHORT and not _OCTAL_FAULT(text):
                return integer(text)
        elif match := _NEGATED(text):
            return Negated(match[1])
        elif match := _PAIR(text):
            return Pair(Name(match[1]), Name(match[2]))
        elif _FLOAT(text):
            return floating(text)
        raise _Unusual


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
    if cursor.accept(closer):
        return ()
    if not _begins_operand(cursor):
        cursor.expected("an operand", f"'{closer}'")
    found: list[Operand] = []
    while True:
        before, breaks_line = cursor.pos, cursor.breaks_line()
        found.append(operand(cursor, depth))
        if cursor.accept(","):
            continue
        if breaks_line and closer == ";" and not cursor.at(";") and isinstance(found[-1], Name):
            # What was read as an operand leads its line: it begins the next statement, and a ';' is missing.
            cursor.seek(before)
        cursor.expect(closer, ",")
        return tuple(found)


def _begins_operand(cursor: Cursor) -> bool:
    token = cursor.peek()
    return token.kind in ("name", "integer", "float") or token.text in _OPERAND_SIGNS


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
        if name.kind == "name" and name.text != WARP_SZ:
            return Negated(cursor.take().text, token.text)
        cursor.seek(token.start)
        return constant_or_name(cursor)
    if token.kind == "name":
        return _named(cursor, depth)
    if not _begins_operand(cursor):
        cursor.expected("an operand")
    return constant_or_name(cursor)


def _named(cursor: Cursor, depth: int) -> Operand:
    token = cursor.peek()
    if token.text == WARP_SZ:
        return constant_or_name(cursor)
    cursor.take()
    if cursor.at("["):
        return Element(token.text, _address(cursor, depth))
    if cursor.at(",", ";", "|", "}", ")", "]"):
        return Name(token.text)
    if cursor.at("-"):
        cursor.expected("'+'", "','", "';'")
    signs = ("+",) if token.text[0] == "%" else ("+", "-", "*", "/", "%", "<<", ">>", "(")
    if cursor.at(*signs) and "." not in token.text:
        cursor.seek(token.start)
        return constant_or_name(cursor)
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
    return constant_or_name(cursor, depth)


def _address(cursor: Cursor, depth: int) -> Address:
    cursor.expect("[")
    depth = cursor.nest(depth, "addresses")
    start = cursor.peek().start
    value = constant(cursor)
    if isinstance(value, Float) or (isinstance(value, Symbol) and value != Symbol(value.name, value.offset)):
        span = Span(start, cursor.pos)
        cursor.fail("expected", f"found '{cursor.text[start : cursor.pos]}'; expected an address", span)
    if isinstance(value, Symbol) and (sign := _MINUS.match(cursor.text, start + len(value.name))):
        cursor.fail("expected", "found '-'; expected '+', ',' or ']'", Span(sign.end() - 1, sign.end()))
    base, offset = (None, value.value) if isinstance(value, Integer) else (Name(value.name), value.offset)
    extra: tuple[Operand, ...] = ()
    if cursor.accept(","):
        extra = operands(cursor, "]", depth)
    else:
        cursor.expect("]", "+", ",")
    return Address(base, offset, extra, cursor.accept(".unified"))
