"""Tokens of CUDA C text, with their spans."""

import re
from dataclasses import dataclass

from warploom.diagnostics import Diagnostic, Severity, Source, Span
from warploom.nvvm.errors import LowerError

_LONGEST_TEXT = 1 << 16
_TOKEN = re.compile(
    r"""(?P<space>(?:\s+|//[^\n]*|/\*.*?\*/)+)
    | (?P<float>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fFlL]? | \d+[eE][+-]?\d+[fFlL]?)
    | (?P<integer>(?:0[xX][\da-fA-F](?:'?[\da-fA-F])*|0[bB][01](?:'?[01])*|0(?:'?[0-7])*|[1-9](?:'?\d)*)[uUlL]*)
    | (?P<character>'(?:[^'\\\n]|\\.)')
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign><<|>>|<=|>=|==|!=|&&|\|\||::|[-+*/%&|^~!<>=?:;,.(){}\[\]])
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """Token with its kind, text and span. The last token has the kind "end"."""

    kind: str
    text: str
    span: Span


class BuiltinError(LowerError):
    """Error for a call that the compiler refuses, or for text that is no call of a builtin."""


def diagnostic_at(source: Source, span: Span, message: str, code: str = "builtin.text", hint: str = "") -> Diagnostic:
    """Return an error at a span of a text."""
    return Diagnostic(code, Severity.ERROR, message, source, span, hint)


def tokens_of(source: Source) -> list[Token]:
    """Return the tokens of a text. Errors: BuiltinError builtin.text for an unexpected character."""
    text = source.text
    if len(text) > _LONGEST_TEXT:
        raise BuiltinError([diagnostic_at(source, Span(0, 1), f"the text has {len(text)} characters; expected a call")])
    found: list[Token] = []
    at = 0
    while at < len(text):
        if (word := _TOKEN.match(text, at)) is None:
            raise BuiltinError([diagnostic_at(source, Span(at, at + 1), f"unexpected character {text[at]!r}")])
        if word.lastgroup != "space":
            found.append(Token(str(word.lastgroup), word[0], Span(at, word.end())))
        at = word.end()
    return [*found, Token("end", "the end of the text", Span(len(text), len(text)))]
