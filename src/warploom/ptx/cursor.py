"""A place in a token stream, the errors found there, and the way on after an error."""

from __future__ import annotations

from typing import NoReturn

from warploom.diagnostics import Diagnostic, Severity, Source, Span, WarploomError
from warploom.ptx.lexer import BAD_NUMBER, SPACES, STRAY, TOKEN, Token

NESTING_LIMIT = 64
ERROR_LIMIT = 100
NEAR = 200
"""Characters from an error to what may have been broken by it."""

MODULE_WORDS = frozenset(
    (".version", ".target", ".address_size", ".entry", ".func", ".visible", ".weak", ".common", ".alias")
)
"""Words that never stand in a function body: where one does, a `}` is missing."""

_SECTION = "PTX ISA 4"


class PtxSyntaxError(WarploomError):
    """A text that is not PTX; carries every syntax diagnostic found.

    Errors: ptx.syntax/expected, ptx.syntax/header, ptx.syntax/character, ptx.syntax/string,
    ptx.syntax/comment, ptx.syntax/number, ptx.syntax/constant, ptx.syntax/nesting, ptx.syntax/limit
    """


class Unreadable(Exception):
    """One statement could not be read; its diagnostic is recorded and reading goes on after it."""


class Hopeless(Exception):
    """Reading stops: the nesting is too deep or the errors are too many."""


class Cursor:
    """Tokens of one source, read one ahead and on demand."""

    __slots__ = ("_ahead", "_unended", "diagnostics", "pos", "source", "text")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.pos = 0
        """Where reading goes on: the end of the last token taken."""
        self.diagnostics: list[Diagnostic] = []
        self._ahead: Token | None = None
        self._unended = False

    def seek(self, pos: int) -> None:
        """Go on reading at an offset."""
        self.pos = pos
        self._ahead = None

    def peek(self) -> Token:
        """The next token, not taken."""
        token = self._ahead
        if token is None:
            token = self._ahead = self._lex()
        return token

    @property
    def begins_anew(self) -> bool:
        """Whether what follows is read, and its faults are told, as if nothing had been wrong before."""
        if self._unended:
            return False
        last = self.diagnostics[-1].span if self.diagnostics else None
        return last is None or last.end + NEAR <= self.pos

    def take(self) -> Token:
        """The next token, taken."""
        token = self.peek()
        self.pos = token.end
        self._ahead = None
        return token

    def at(self, *texts: str) -> bool:
        """True when the next token is one of these words or signs."""
        return self.peek().text in texts

    def accept(self, text: str) -> bool:
        """Take the next token if it is this word or sign."""
        if self.peek().text != text:
            return False
        self.take()
        return True

    def expect(self, text: str, *others: str) -> Token:
        """Take a word or sign that must stand here; `others` are what could have stood here too."""
        if self.peek().text != text:
            self.expected(*(repr(sign) for sign in (*others, text)))
        return self.take()

    def expect_kind(self, kind: str, what: str) -> Token:
        """Take a token of a kind that must stand here."""
        if self.peek().kind != kind:
            self.expected(what)
        return self.take()

    def expected(self, *what: str) -> NoReturn:
        """Record that the next token is not one of `what`, and give up the statement."""
        token = self.peek()
        *first, last = what
        wanted = f"{', '.join(first)} or {last}" if first else last
        self._unended = "';'" in what and self._leads_line(token)
        hint = "the statement before this line has no ';'" if self._unended else ""
        self.fail(
            "expected", f"found {describe(token)}; expected {wanted}", Span(token.start, token.end), hint
        )

    def report(self, rule: str, message: str, span: Span, hint: str = "") -> None:
        """Record an error and go on."""
        if self.diagnostics and self._follows(self.diagnostics[-1], span):
            return
        if len(self.diagnostics) >= ERROR_LIMIT:
            message = f"more than {ERROR_LIMIT} syntax errors; reading stops here"
            self._record("limit", message, span, "")
            raise Hopeless
        self._record(rule, message, span, hint)

    def fail(self, rule: str, message: str, span: Span, hint: str = "") -> NoReturn:
        """Record an error and give up the statement."""
        self.report(rule, message, span, hint)
        raise Unreadable

    def nest(self, depth: int, what: str) -> int:
        """The next depth of nesting; too deep a text is not read further."""
        if depth >= NESTING_LIMIT:
            token = self.peek()
            message = f"{what} are nested more than {NESTING_LIMIT} deep"
            self._record("nesting", message, Span(token.start, token.end), "")
            raise Hopeless
        return depth + 1

    def recover(self, start: int, *, body: bool) -> None:
        """After an error in the statement at `start`, find where the next statement begins.

        That is after the next `;`, or at a token that leads its line where a `;` is missing before it, or
        before a word that only stands at module scope. In a function body it is also before a `}` that the
        statement did not open; at module scope, after one that closes.
        """
        fault = self._ahead or self._lex(quiet=True)
        if self._unended:
            self._unended = False
            return
        self.seek(start)
        depth = 0
        while True:
            token = self._lex(quiet=True)
            reached = token.start >= fault.start
            if token.kind == "end" or (reached and token.start > start and token.text in MODULE_WORDS):
                return
            if token.text == "}":
                if reached and depth <= 0 and body:
                    return
                depth -= 1
            elif token.text == "{":
                depth += 1
            self.seek(token.end)
            if reached and token.text == ";":
                return
            if reached and token.text == "}" and depth <= 0 and not body:
                after = self._lex(quiet=True)
                self.seek(after.end if after.text == ";" else token.end)
                return

    def skip_to(self, *texts: str) -> None:
        """Go on at the next of these signs, or before a word that only stands at module scope."""
        while (token := self._lex(quiet=True)).kind != "end":
            if token.text in texts or token.text in MODULE_WORDS:
                return
            self.seek(token.end)

    def breaks_line(self) -> bool:
        """True when the next token stands on a later line than the last one taken."""
        return "\n" in self.text[self.pos : self.peek().start]

    def _follows(self, known: Diagnostic, span: Span) -> bool:
        """True for a fault that a known one explains: at its place, or after a stray character."""
        if known.span is None:
            return False
        between = self.text[known.span.end : min(span.start, known.span.end + NEAR)]
        passed_over = known.code.endswith("/character") and len(between) < NEAR and not between.strip()
        return known.span.start == span.start or passed_over

    def _leads_line(self, token: Token) -> bool:
        return token.kind != "end" and token.text not in ("}", ";") and self.breaks_line()

    def _record(self, rule: str, message: str, span: Span, hint: str) -> None:
        self.diagnostics.append(
            Diagnostic(f"ptx.syntax/{rule}", Severity.ERROR, message, self.source, span, hint, _SECTION)
        )

    def _lex(self, quiet: bool = False) -> Token:
        pos = self.pos
        while True:
            match = TOKEN.match(self.text, pos)
            if match is not None and match.lastgroup is not None:
                kind = match.lastgroup
                return Token(kind, match[kind], match.start(kind), match.end(kind))
            spaces = SPACES.match(self.text, pos)
            start = pos if spaces is None else spaces.end()
            rule, message, stop = self._refusal(start)
            if rule != "character":
                break
            # A stray character is reported once and passed over: what stands around it may be sound.
            if not quiet:
                self.report(rule, message, Span(start, stop))
            pos = stop
        token = Token("punctuation", self.text[start:stop], start, stop)
        if not quiet:
            # Kept as the next token, so that recovery sees where the fault lies.
            self._ahead = token
            self.fail(rule, message, Span(start, stop))
        return token

    def _refusal(self, start: int) -> tuple[str, str, int]:
        """Rule, message and end of something that is no token."""
        text = self.text
        if text.startswith("/*", start):
            return "comment", "found a comment that does not end; expected '*/'", len(text)
        if text[start] == '"':
            newline = text.find("\n", start)
            stop = len(text) if newline < 0 else newline
            return "string", "found a string that does not end on its line; expected '\"'", stop
        if (number := BAD_NUMBER.match(text, start)) is not None:
            message = f"found '{number[0]}', which is no number; {_number_help(number[0])}"
            return "number", message, number.end()
        stray = STRAY.match(text, start)
        stop = start + 1 if stray is None else stray.end()
        return "character", f"found {_show(text[start:stop])}, which is no part of PTX", stop


def describe(token: Token) -> str:
    """A token as a message names it."""
    if token.kind == "end":
        return "the end of the text"
    text = token.text if len(token.text) <= 40 else f"{token.text[:39]}…"
    return text if token.kind == "string" else f"'{text}'"


def _number_help(text: str) -> str:
    prefix = text[:2]
    if prefix in ("0f", "0F"):
        return "expected 8 hexadecimal digits after 0f"
    if prefix in ("0d", "0D"):
        return "expected 16 hexadecimal digits after 0d"
    if prefix in ("0x", "0X"):
        return "expected hexadecimal digits after 0x"
    if prefix in ("0b", "0B"):
        return "expected binary digits after 0b"
    return "expected digits, 0x, 0b, 0f or 0d"


def _show(text: str) -> str:
    first = text[0]
    shown = f"'{text}'" if text.isprintable() and not text.isspace() and len(text) <= 40 else ""
    code = f"U+{ord(first):04X}"
    if len(text) > 1:
        return shown or f"{len(text)} characters beginning with {code}"
    return f"{shown} ({code})" if shown else code
