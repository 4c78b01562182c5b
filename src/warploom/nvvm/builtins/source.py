"""CUDA C text parsed by pycparser, with the span of each node.

pycparser reads C. Therefore CUDA's specifiers become alignment specifiers, and C++ casts become C casts. pycparser gets
one token per line. The line of a node minus 2 is the index of its token.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pycparser.c_parser import CParser, ParseError  # pyright: ignore[reportMissingTypeStubs]

from warploom.diagnostics import Diagnostic, Severity, Source, Span
from warploom.nvvm.builtins.c_types import TYPEDEFS, WORDS
from warploom.nvvm.errors import LowerError

FRAGMENT = "kernel"
"""Name of the kernel made from statements outside a function."""
SECTION = "__colon__"
"""Name that stands for a colon of an `asm` statement, which is parsed as a call of `__asm__`."""
_TOKEN = re.compile(
    r"""(?P<space>(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)+)
    | (?P<directive>\#(?:[^\\\n]|\\.)*)
    | (?P<float>(?:0[xX][\da-fA-F]*\.?[\da-fA-F]*[pP][+-]?\d+
        | (?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+)[fFlL]?)
    | (?P<integer>(?:0[xX][\da-fA-F](?:'?[\da-fA-F])*|0[bB][01](?:'?[01])*|0(?:'?[0-7])*|[1-9](?:'?\d)*)[uUlL]*)
    | (?P<character>'(?:[^'\\\n]|\\.[\da-fA-F]*)')
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<name>[A-Za-z_]\w*)
    | (?P<unclosed>/\*|")
    | (?P<sign><<<|>>>|\.\.\.|<<=|>>=|[-+*/%&|^<>=!]=|\+\+|--|->|<<|>>|&&|\|\||::|[-+*/%&|^~!<>=?:;,.(){}\[\]])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_OPEN = {"(": ")", "[": "]", "{": "}"}
_SPECIFIERS = frozenset({"__global__", "__device__", "__shared__", "__constant__", "__managed__"})
_BOUNDS = frozenset({"__launch_bounds__", "__maxnreg__", "__cluster_dims__"})
_CASTS = frozenset({"static_cast", "reinterpret_cast", "const_cast"})
_QUALIFIERS = frozenset({"const", "volatile", "restrict", "__restrict__"})
_WORDS = {
    "constexpr": "const", "__restrict__": "restrict", "__restrict": "restrict", "__align__": "_Alignas",
    "alignas": "_Alignas", "__asm__": "asm", "__volatile__": "volatile",
    **dict.fromkeys(("__host__", "__forceinline__", "__noinline__", "__inline__", "inline", "register"), ""),
}  # fmt: skip
_UNSUPPORTED = {
    "struct": "a struct", "union": "a union", "class": "a class", "template": "a template", "goto": "a goto statement",
    "namespace": "a namespace", "using": "a using declaration", "auto": "a deduced type", "operator": "an operator",
    "typename": "a template", "new": "new", "delete": "delete", "try": "an exception", "throw": "an exception",
    "virtual": "a virtual function", "this": "a class", "::": "a qualified name", "...": "a variadic function",
    "<<<": "the launch of a kernel", "dynamic_cast": "dynamic_cast", "decltype": "a deduced type",
    "static_assert": "static_assert", "friend": "a class", "volatile": "a volatile access",
    "__block_size__": "__block_size__",
}  # fmt: skip
_ALTERNATIVES = {
    "template": "a function for each type", "struct": "a variable for each member", "::": "a name without ::",
    "auto": "a type", "new": "an array", "<<<": "a launch by `wl.launch` or `warploom run`", "goto": "a loop or an if",
    "volatile": "asm volatile for an access that must stay", "__block_size__": "__launch_bounds__ and __cluster_dims__",
}  # fmt: skip
"""Legal text in place of words in `_UNSUPPORTED`."""
_CONTROL = frozenset({"if", "for", "while", "switch", "return", "sizeof", "else", "do", "case"})
_BEFORE_EXPRESSION = frozenset("=([,?:+-*/%&|^~!<>") | {"return", "&&", "||", "<<", ">>", "==", "!=", "<=", ">="}


class BuiltinError(LowerError):
    """Error for a call that cicc refuses, or for text outside the supported CUDA C."""


def diagnostic_at(source: Source, span: Span, message: str, code: str = "builtin.text", hint: str = "") -> Diagnostic:
    """Return an error at a span of a text."""
    return Diagnostic(code, Severity.ERROR, message, source, span, hint)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    span: Span


class CudaText:
    """CUDA C text with its syntax tree.

    `is_fragment` is True for text without the definition of a function. It becomes the body of a kernel.

    Errors: BuiltinError builtin.text
    """

    def __init__(self, text: str, name: str = "<text>") -> None:
        self.source = Source(name, text)
        self._tokens = list(self._read())
        self._close = self._brackets()
        if not self._tokens:
            raise self.error("expected a function or a call of a builtin, got an empty text", Span(0, 0))
        self.is_fragment = not any(self._is_definition(at) for at in range(len(self._tokens)))
        self._tree: Any = self._parse()

    def nodes(self) -> list[Any]:
        """Return the declarations and definitions of the text in order."""
        return [each for each in self._tree.ext if type(each).__name__ != "Typedef" or each.coord.line > 1]

    def error(self, message: str, span: Span, hint: str = "", code: str = "builtin.text") -> BuiltinError:
        """Return an error at a span."""
        message = re.sub(r"[\w#]{80,}", lambda found: f"{found[0][:60]}…", message)
        return BuiltinError([diagnostic_at(self.source, span, message, code, hint)])

    def span(self, node: Any) -> Span:
        """Return the span of the token at which a node of the tree begins."""
        while node.coord is None:  # pycparser gives no position to a list of initializers without elements
            _, node = node.children()[0]
        return self._span(node.coord.line - 2)

    def arguments(self, call: Any) -> tuple[Span, ...]:
        """Return the spans of the arguments of a call."""
        at: int = call.coord.line
        first, end = at - 1, at
        found: list[Span] = []
        close = self._close[at - 1]
        while end < close:
            end += 1
            if self._tokens[end].text == "," or end == close:
                if first + 1 < end:
                    found.append(Span(self._span(first + 1).start, self._span(end - 1).end))
                first = end
            else:
                end = self._close.get(end, end)
        return tuple(found)

    def whole(self, call: Any) -> Span:
        """Return the span of a call with its arguments."""
        at = call.coord.line - 2
        return Span(self._span(at).start, self._span(self._close[at + 1]).end)

    # Tokens -------------------------------------------------------------------------------------------------

    def _span(self, at: int) -> Span:
        end = len(self.source.text)
        return self._tokens[at].span if 0 <= at < len(self._tokens) else Span(end, end)

    def _text(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _read(self) -> Iterator[_Token]:
        text, at = self.source.text, 0
        while at < len(text):
            word, span = _TOKEN.match(text, at), Span(at, at + 1)
            if word is None:
                raise self.error(f"unexpected character {text[at]!r}", span)
            span = Span(at, word.end())
            if word.lastgroup == "unclosed":
                raise self.error(f"the {'comment' if word[0] == '/*' else 'string'} is not closed", span)
            directive = re.match(r"#\s*(\w*)", word[0])
            # Preprocessors print lines such as `# 100 "kernel.cu"`.
            if directive and not re.fullmatch(r"include|pragma|line|\d*", directive[1]):
                expected = "expected text after preprocessing"
                raise self.error(f"cannot lower the directive #{directive[1]}; {expected}", span)
            if word.lastgroup not in ("space", "directive"):
                yield _Token(str(word.lastgroup), word[0], span)
            at = word.end()

    def _brackets(self) -> dict[int, int]:
        """Return the index of the closing bracket by the index of the opening one."""
        stack: list[int] = []
        found: dict[int, int] = {}
        for at, token in enumerate(self._tokens):
            if token.kind != "sign":
                continue
            if token.text in _OPEN:
                stack.append(at)
            elif token.text in _OPEN.values():
                if not stack or _OPEN[self._text(stack[-1])] != token.text:
                    expected = f"expected '{_OPEN[self._text(stack[-1])]}', " if stack else "unexpected "
                    raise self.error(f"{expected}{'got ' * bool(stack)}'{token.text}'", token.span)
                found[stack.pop()] = at
        if stack:
            raise self.error(f"'{self._text(stack[-1])}' is not closed", self._span(stack[-1]))
        return found

    def _is_definition(self, at: int) -> bool:
        """Return True if the token is the name in the definition of a function."""
        token = self._tokens[at]
        close = self._close.get(at + 1, -1) if self._text(at + 1) == "(" else -1
        typed = self._text(at - 1) in ("*", ")") or (at > 0 and self._tokens[at - 1].kind == "name")
        return token.kind == "name" and token.text not in _CONTROL and typed and self._text(close + 1) == "{"

    # Rewriting ----------------------------------------------------------------------------------------------

    def _lines(self) -> list[str]:
        """Return each token as C for pycparser. Errors: BuiltinError for words outside the supported CUDA C."""
        lines = [_WORDS.get(token.text, token.text) for token in self._tokens]
        depth = int(self.is_fragment)
        for at, token in enumerate(self._tokens):
            following, close = self._text(at + 1), self._close.get(at + 1, 0)
            depth += (token.text == "{") - (token.text == "}")
            match token.text:
                case word if word in _UNSUPPORTED and lines[at] == word:
                    expected = _ALTERNATIVES.get(word, "C with CUDA's specifiers")
                    raise self.error(f"cannot lower {_UNSUPPORTED[word]}; expected {expected}", token.span)
                case "extern" if following.startswith('"'):
                    lines[at + 1] = ""
                    if (end := self._close.get(at + 2)) is not None and self._text(at + 2) == "{":
                        lines[at] = lines[at + 2] = lines[end] = ""
                case word if word in _SPECIFIERS:
                    lines[at] = f"_Alignas({word})"
                case word if word in _BOUNDS and following == "(":
                    lines[at] = f"_Alignas({word}"
                    lines[close] += ")"
                case word if word in _CASTS:
                    self._cast(lines, at)
                case word if word in WORDS and following == "(" and depth > 0:
                    is_declarator = [self._text(at + 2), self._text(at + 3)] == ["*", ")"]
                    if self._text(at - 1) in _BEFORE_EXPRESSION and not is_declarator:
                        lines[at] = f"(({lines[at]})"
                        lines[close] += ")"
                case "asm" | "__asm__":
                    self._asm(lines, at)
                case "&" if self._text(at - 1) in WORDS and self._tokens[at + 1].kind == "name":
                    raise self.error("cannot lower a reference; expected a pointer", token.span)
                case _ if token.kind == "integer":
                    lines[at] = token.text.replace("'", "")
                case _:
                    pass
        return lines

    def _cast(self, lines: list[str], at: int) -> None:
        """Rewrite `static_cast<T>(x)` to `((T)(x))`."""
        end = at + 2
        while self._text(end) in WORDS | _QUALIFIERS | {"*"}:
            end += 1
        close = self._close.get(end + 1)
        if self._text(at + 1) != "<" or self._text(end) != ">" or close is None:
            raise self.error(f"expected {self._text(at)}<TYPE>(VALUE), got {self._text(end)}", self._span(end))
        lines[at], lines[at + 1], lines[end] = "((", "", ")"
        lines[close] += ")"

    def _asm(self, lines: list[str], at: int) -> None:
        """Rewrite an `asm` statement to a call of `__asm__`."""
        lines[at], start = "__asm__", at + 1
        if self._text(start) in ("volatile", "__volatile__"):
            lines[start], start = "", start + 1
        for each in range(start + 1, self._close.get(start, 0)):
            if self._text(each) in (":", "::"):
                separator = f", {SECTION}" * len(self._text(each))
                lines[each] = separator + ", " * (self._text(each + 1) not in (":", "::", ")"))

    # Parsing ------------------------------------------------------------------------------------------------

    def _parse(self) -> Any:
        head = f"typedef int {', '.join(TYPEDEFS)}; "
        head += f"_Alignas(__global__) void {FRAGMENT}(void) {{" if self.is_fragment else ""
        lines = [head, *self._lines(), ";}" if self.is_fragment else ""]
        parser: Any = CParser()
        try:
            return parser.parse("\n".join(lines))
        except ParseError as error:
            raise self._syntax_error(parser, str(error)) from None
        except RecursionError:
            token = parser._tokens.peek()
            raise self.error("the text is nested too deeply", self._span(token.lineno - 2 if token else 0)) from None

    def _syntax_error(self, parser: Any, message: str) -> BuiltinError:
        place = re.match(r":(\d+):\d+: (.*)", message)
        if place is not None:
            at = int(place[1]) - 2
        else:
            token = parser._tokens.peek()
            at = len(self._tokens) if token is None else token.lineno - 2
        got = self._text(at) or "the end of the text"
        kinds = [token.kind for token in self._tokens[at - 1 : at + 1]] if at else []
        if kinds == ["name", "name"] and self._text(at - 1) not in _CONTROL:
            return self.error(f"unknown type '{self._text(at - 1)}' before '{self._text(at)}'", self._span(at - 1))
        if "Invalid expression" in message:
            return self.error(f"expected an expression, got {got}", self._span(at))
        if "before" in message or place is None:
            return self.error(f"unexpected {got}; expected a declaration or a statement", self._span(at))
        return self.error(f"{place[2][0].lower()}{place[2][1:]} at {got}", self._span(at))
