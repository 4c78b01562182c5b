"""Tokens of PTX text, and patterns for common statements.

`STATEMENT` matches a whole common statement at once. `TOKEN` matches one token of any text.
"""

import re
from typing import NamedTuple

from warploom.diagnostics import Span

COMMENT = r"//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*/"
LINE_MARKER = r"#[ \t]*+(?:line[ \t]++)?[0-9][^\n]*+"
TRIVIA = rf"(?:[ \t\r\n\f\v]++|{COMMENT}|{LINE_MARKER})*"
"""Blanks, comments, and the line markers of a C preprocessor."""

STRING = r'"[^"\n]*+"'
"""String literal. PTX has no escapes."""

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
_COMMA = r"[ \t]*+,[ \t]*+"
_PLACE = 3 * rf"[ \t]++({_SHORT})"

STATEMENT = re.compile(
    TRIVIA
    + "(?:"
    # 1 guard, 2 opcode, 3 operands
    + rf"(?:(@!?{NAME}){_BLANK})?({OPCODE}){_BLANK}([^;:/\"@]*+);"
    # 4 label
    + rf"|({NAME}){_BLANK}:(?!:)"
    # 5 source location that ends with its line; 6, 7, 8 its file, line and column
    + rf"|(\.loc){_PLACE}"
    # 9 name of the inlined function, 10 offset from the name; 11, 12, 13 file, line and column of the call
    + rf"(?:{_COMMA}function_name[ \t]++(\$[\w$]++)(?:\+({_SHORT}))?{_COMMA}inlined_at{_PLACE})?"
    + rf"[ \t]*+(?=[\r\n]|//)(?!{TRIVIA},)"
    + ")",
    re.ASCII,
)
LAST_GROUP_OF_INSTRUCTION = 3
LAST_GROUP_OF_LABEL = 4

DATA_LINE = re.compile(
    TRIVIA
    + r"(\.b(?:8|16|32|64))[ \t]++((?:[0-9]++[ \t]*+,[ \t]*+)*[0-9]++)"
    + rf"(?=[ \t]*+(?:[\r\n}}]|//))(?={TRIVIA}[.}}$A-Za-z_])",
    re.ASCII,
)
"""Line of integers in a `.section`."""

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
OPCODE_PATTERN = re.compile(OPCODE, re.ASCII)
OPERAND_PATTERN = re.compile(r"(?:[^,{}\[\]()]++|\{[^{}]*+\}|\[[^\[\]]*+\]|\([^()]*+\))+")
"""Text of one operand, up to a comma outside brackets."""

MALFORMED_NUMBER = re.compile(r"[0-9][\w$.]*+", re.ASCII)
STRAY_CHARACTERS = re.compile(r"[^\x21-\x7e \t\r\n\f\v]++|.", re.DOTALL)
_TRIVIA_PATTERN = re.compile(TRIVIA, re.ASCII)

LINKAGE = frozenset((".extern", ".visible", ".weak", ".common"))
STATE_SPACES = frozenset((".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex"))
DATA_DIRECTIVES = frozenset((".b8", ".b16", ".b32", ".b64"))
"""Directives of the data lines in a `.section`."""

MODULE_WORDS = frozenset(
    (".version", ".target", ".address_size", ".entry", ".func", ".visible", ".weak", ".common", ".alias")
)
"""Words that never occur in a function body. If one does, a `}` is missing before it."""

_DIRECTIVES = (".loc", ".file", ".pragma", ".section", ".branchtargets", ".calltargets", ".callprototype")
STATEMENT_WORDS = STATE_SPACES.union(LINKAGE, MODULE_WORDS, _DIRECTIVES)
"""Words that begin a statement or a module item."""


class Token(NamedTuple):
    """Token with its kind, text and offsets. The kind is the name of a group in `TOKEN`."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Position of the token in the source."""
        return Span(self.start, self.end)


def trivia_end(text: str, start: int) -> int:
    """Return the end of the blanks and comments at the offset `start`."""
    match = _TRIVIA_PATTERN.match(text, start)
    return start if match is None else match.end()
