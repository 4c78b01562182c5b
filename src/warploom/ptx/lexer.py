"""Tokens of PTX text, and the patterns that read whole statements at once.

Two readers share these patterns. `STATEMENT` recognises one usual statement of a function body in a single
match; whatever it does not recognise, and every error, goes through the tokens of `TOKEN`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from warploom.ptx.tree import Float, Integer

COMMENT = r"//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/"
LINE_MARKER = r"#[ \t]*+(?:line[ \t]++)?[0-9][^\n]*+"
TRIVIA = rf"(?:[ \t\r\n\f\v]++|{COMMENT}|{LINE_MARKER})*"
"""Blanks, comments, and what a C preprocessor leaves to tell where a line came from."""

STRING = r'"[^"\n]*+"'
"""A string; PTX has no escapes."""

NAME = r"(?:[A-Za-z_][\w$]*+|[$%][\w$]++)"
MEMBER = NAME + r"(?:\.[A-Za-z_][\w$]*+)*"
WORD = r"\w++(?:::\w++)*"
OPCODE = rf"[A-Za-z_][\w$]*+(?:\.{WORD})*"
INTEGER = r"(?:0[xX][0-9A-Fa-f]++|0[bB][01]++|[0-9]++)U?+"
_POWER = "[eE][+-]?[0-9]++"
DECIMAL = rf"(?:[0-9]++\.[0-9]*+(?:{_POWER})?|[0-9]++{_POWER}|\.[0-9]++(?:{_POWER})?)(?![\w$.])"
BITS = r"0[fF][0-9A-Fa-f]{8}|0[dD][0-9A-Fa-f]{16}"

_SHORT = "[1-9][0-9]{0,8}+|0"
_BLANK = r"[ \t\r\n\f\v]*+"

STATEMENT = re.compile(
    TRIVIA
    + "(?:"
    # 1 guard, 2 opcode, 3 operands
    + rf"(?:(@!?{NAME}){_BLANK})?({OPCODE}){_BLANK}([^;:/\"@]*+);"
    # 4 label
    + rf"|({NAME}){_BLANK}:(?!:)"
    # 5 source location that ends with its line; 6, 7, 8 its file, line and column
    + rf"|(\.loc)[ \t]++({_SHORT})[ \t]++({_SHORT})[ \t]++({_SHORT})[ \t]*+(?=[\r\n]|//)(?!{TRIVIA},)"
    + ")",
    re.ASCII,
)
LAST_OF_INSTRUCTION = 3
LAST_OF_LABEL = 4

DATA_LINE = re.compile(
    TRIVIA
    + r"(\.b(?:8|16|32|64))[ \t]++((?:[0-9]++[ \t]*+,[ \t]*+)*[0-9]++)"
    + rf"(?=[ \t]*+(?:[\r\n}}]|//))(?={TRIVIA}[.}}$A-Za-z_])",
    re.ASCII,
)
"""A line of integers in a `.section`."""

DATA = frozenset((".b8", ".b16", ".b32", ".b64"))
"""What a line of a `.section` begins with."""

SPACES = re.compile(TRIVIA, re.ASCII)
OPERAND_PARTS = re.compile(r"(?:[^,{}\[\]()]++|\{[^{}]*+\}|\[[^\[\]]*+\]|\([^()]*+\))+")
"""The text of one operand between commas that stand in no bracket."""

TOKEN = re.compile(
    TRIVIA
    + "(?:"
    + rf"(?P<string>{STRING})"
    + rf"|(?P<float>{BITS}(?![\w$])|{DECIMAL})"
    + rf"|(?P<integer>{INTEGER}(?![\w$]))"
    + rf"|(?P<word>\.{WORD}|\.[A-Za-z_$][\w$]*+)"
    + rf"|(?P<name>{MEMBER})"
    + r"|(?P<punctuation><<|>>|<=|>=|==|!=|&&|\|\||::|/(?!\*)|[{}()\[\],;:=<>+\-*%!~&^|?@])"
    + r"|(?P<end>\Z)"
    + ")",
    re.ASCII,
)
STRAY = re.compile(r"[^\x21-\x7e \t\r\n\f\v]++|.", re.DOTALL)
BAD_NUMBER = re.compile(r"[0-9][\w$.]*+", re.ASCII)
OPCODE_TEXT = re.compile(OPCODE, re.ASCII)


class Token(NamedTuple):
    """One token: its kind (the names of `TOKEN`'s groups), text and place."""

    kind: str
    text: str
    start: int
    end: int


def integer_value(text: str) -> int:
    """Value of an integer literal: decimal, octal (leading 0), hexadecimal or binary, maybe with a `U`."""
    digits = text.rstrip("U")
    if digits[:2] in ("0x", "0X"):
        return int(digits, 16)
    if digits[:2] in ("0b", "0B"):
        return int(digits, 2)
    if digits[0] == "0" and len(digits) > 1:
        return int(digits, 8)
    return int(digits)


def integer(text: str) -> Integer:
    """An integer literal, with an optional minus in front."""
    value = -integer_value(text[1:].lstrip()) if text[0] == "-" else integer_value(text)
    constant = Integer(value)
    return constant if constant.text == text else Integer.spelled(value, text)


def floating(text: str) -> Float:
    """A floating-point literal: `0f` and 8 digits, `0d` and 16 digits, or a decimal."""
    width = {"0f": 32, "0d": 64}.get(text[:2].lower())
    if width is not None:
        return Float(int(f"0x{text[2:]}", 0), width).spelled(text)
    return Float.decimal(float(text)).spelled(text)
