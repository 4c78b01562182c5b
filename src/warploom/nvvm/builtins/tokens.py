"""The words of CUDA C text, each with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warploom.diagnostics import Diagnostic, Severity, Source, Span
from warploom.nvvm.errors import LowerError

LONGEST_TEXT = 1 << 16
_TOKEN = re.compile(
    r"""(?P<space>(?:\s+|//[^\n]*|/\*.*?\*/)+)
    | (?P<float>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fFlL]? | \d+[eE][+-]?\d+[fFlL]?)
    | (?P<integer>(?:0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*)[uUlL]*)
    | (?P<character>'(?:[^'\\\n]|\\.)')
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign><<|>>|<=|>=|==|!=|&&|\|\||::|[-+*/%&|^~!<>=?:;,.(){}\[\]])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text: what kind it is, its text and its place. The last is of kind "end"."""

    kind: str
    text: str
    span: Span


class BuiltinError(LowerError):
    """A call that the compiler refuses, or a text that is none: what is wrong, and where."""


def problem(
    source: Source, span: Span, message: str, code: str = "builtin.text", hint: str = ""
) -> Diagnostic:
    """One finding about a text."""
    return Diagnostic(code, Severity.ERROR, message, source, span, hint)


def tokens_of(source: Source) -> list[Token]:
    """The words of a text. Errors: BuiltinError for a character that no word begins with."""
    text = source.text
    if len(text) > LONGEST_TEXT:
        raise BuiltinError(
            [problem(source, Span(0, 1), f"the text has {len(text)} characters; expected a call")]
        )
    found: list[Token] = []
    at = 0
    while at < len(text):
        word = _TOKEN.match(text, at)
        if word is None:
            raise BuiltinError([problem(source, Span(at, at + 1), f"unexpected character {text[at]!r}")])
        if word.lastgroup != "space":
            found.append(Token(str(word.lastgroup), word[0], Span(at, word.end())))
        at = word.end()
    return [*found, Token("end", "the end of the text", Span(len(text), len(text)))]
