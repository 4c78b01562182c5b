"""Parsers of the operands of instructions."""

import re

from warploom.diagnostics import Span
from warploom.ptx.constants import WARP_SIZE, WARP_SZ, constant, constant_or_name, floating, integer
from warploom.ptx.cursor import Cursor
from warploom.ptx.lexer import BITS, DECIMAL, INTEGER, MEMBER, NAME, OPERAND_PATTERN
from warploom.ptx.operands import Address, Element, Float, Integer, Name, Negated, Operand, Pair, Symbol, Tuple, Vector

_BLANKS = " \t\r\n\f\v"
_BLANK = rf"[{_BLANKS}]*+"
_MINUS = re.compile(rf"{_BLANK}-")
_NAME = re.compile(MEMBER, re.ASCII).fullmatch
_INTEGER = re.compile(rf"-?(?:[1-9][0-9]*+|0|{INTEGER})", re.ASCII).fullmatch
_FLOAT = re.compile(rf"{BITS}|{DECIMAL}", re.ASCII).fullmatch
_NEGATED = re.compile(rf"!({MEMBER})", re.ASCII).fullmatch
_ADDRESS = re.compile(rf"\[{_BLANK}({NAME}){_BLANK}(?:\+{_BLANK}(-?{INTEGER}){_BLANK})?\]", re.ASCII).fullmatch
_PAIR = re.compile(rf"({MEMBER}){_BLANK}\|{_BLANK}({MEMBER})", re.ASCII).fullmatch
_SHORT = 18
"""Characters of the longest literal that fits in 64 bits in every base."""

_PLAIN_VECTOR = re.compile(r"\{[^{}\[\]()|]*+\}").fullmatch
_FIRST_SIGNS = frozenset("{[(!-+~")
_BAD_OCTAL = re.compile(r"-?0[0-9]*[89]", re.ASCII).match


class _UnusualOperand(Exception):
    """Exception for an operand that must be parsed from tokens."""


class OperandCache(dict[str, Operand]):
    """Cache of operands in common forms, by their text. Equal texts share one node."""

    def parse(self, text: str) -> tuple[Operand, ...] | None:
        """Return all operands of one instruction, or None if an operand has another form."""
        if not text:
            return ()
        text = text.replace(", ", ",")
        if "{" in text or "[" in text or "(" in text:
            parts = OPERAND_PATTERN.findall(text)
            if ",".join(parts) != text:
                return None
        else:
            parts = text.split(",")
        try:
            return tuple(map(self.__getitem__, parts))
        except _UnusualOperand:
            return None

    def __missing__(self, part: str) -> Operand:
        operand = self[part] = self._parse_one(part.strip(_BLANKS))
        return operand

    def _parse_one(self, text: str) -> Operand:
        if _NAME(text):
            return Integer.spelled(WARP_SIZE, WARP_SZ) if text == WARP_SZ else Name(text)
        if WARP_SZ in text:
            raise _UnusualOperand
        first = text[:1]
        if first == "[" and (match := _ADDRESS(text)):
            name, offset = match.groups()
            if offset is None:
                return Address(Name(name))
            if len(offset) <= _SHORT and not _BAD_OCTAL(offset):
                return Address(Name(name), integer(offset).value)
        elif first == "{" and _PLAIN_VECTOR(text):
            items = self.parse(text[1:-1])
            if items:
                return Vector(items)
        elif _INTEGER(text):
            if len(text) <= _SHORT and not _BAD_OCTAL(text):
                return integer(text)
        elif match := _NEGATED(text):
            return Negated(match[1])
        elif match := _PAIR(text):
            return Pair(Name(match[1]), Name(match[2]))
        elif _FLOAT(text):
            return floating(text)
        raise _UnusualOperand


def operand(cursor: Cursor, depth: int = 0) -> Operand:
    """Parse one operand of any form from tokens.

    `depth` is the number of enclosing brackets and braces.

    Errors: ptx.syntax/expected, ptx.syntax/constant, ptx.syntax/nesting
    """
    first = _single(cursor, depth)
    if cursor.accept("|"):
        return Pair(first, _single(cursor, depth))
    return first


def operands(cursor: Cursor, closer: str, depth: int = 0) -> tuple[Operand, ...]:
    """Parse operands up to the token `closer`, and move past that token. The list may be empty."""
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
            # The name is the first token of its line, so it begins the next statement and a ';' is missing.
            cursor.seek(before)
        cursor.expect(closer, ",")
        return tuple(found)


def _begins_operand(cursor: Cursor) -> bool:
    token = cursor.peek()
    return token.kind in ("name", "integer", "float") or token.text in _FIRST_SIGNS


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
    """Parse the parenthesized operands of a call, or a constant expression in parentheses."""
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
        cursor.unexpected("expected", start, "an address")
    if isinstance(value, Symbol) and (sign := _MINUS.match(cursor.text, start + len(value.name))):
        cursor.fail("expected", "found '-'; expected '+', ',' or ']'", Span(sign.end() - 1, sign.end()))
    base, offset = (None, value.value) if isinstance(value, Integer) else (Name(value.name), value.offset)
    extra: tuple[Operand, ...] = ()
    if cursor.accept(","):
        extra = operands(cursor, "]", depth)
    else:
        cursor.expect("]", "+", ",")
    return Address(base, offset, extra, cursor.accept(".unified"))
