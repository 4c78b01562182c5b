"""Cursor over the tokens of a source, with syntax errors and recovery."""

from typing import NoReturn

from warploom.diagnostics import Diagnostic, Severity, Source, Span, WarploomError
from warploom.diagnostics.wording import one_of
from warploom.ptx.lexer import MALFORMED_NUMBER, MODULE_WORDS, STRAY_CHARACTERS, TOKEN, Token, trivia_end

NESTING_LIMIT = 64
ERROR_LIMIT = 100
ERROR_REACH = 200
"""Maximum distance in characters at which an error may be a consequence of an earlier error."""

MISSING_SEMICOLON = "the statement before this line has no ';'"
_SECTION = "PTX ISA 4"


class PtxSyntaxError(WarploomError):
    """Exception for a PTX text with syntax errors. `diagnostics` holds all of them.

    Errors: ptx.syntax/expected, ptx.syntax/header, ptx.syntax/character, ptx.syntax/string, ptx.syntax/comment,
    ptx.syntax/number, ptx.syntax/constant, ptx.syntax/nesting, ptx.syntax/limit
    """


class Unreadable(Exception):
    """Exception that abandons one statement. Its error is already recorded."""


class ParsingStopped(Exception):
    """Exception that ends parsing after too many errors or too deep nesting."""


class Cursor:
    """Position in the tokens of one source, with one token of lookahead."""

    __slots__ = ("_ahead", "_unended", "diagnostics", "pos", "source", "text")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.pos = 0
        """Offset at which the last taken token ends."""
        self.diagnostics: list[Diagnostic] = []
        self._ahead: Token | None = None
        self._unended = False

    def seek(self, pos: int) -> None:
        """Move to the offset `pos` of the text."""
        self.pos = pos
        self._ahead = None

    def peek(self) -> Token:
        """Return the next token without moving the cursor."""
        token = self._ahead
        if token is None:
            token = self._ahead = self._lex()
        return token

    @property
    def has_recovered(self) -> bool:
        """True if no earlier error affects the parse of the text after the cursor."""
        if self._unended:
            return False
        last = self.diagnostics[-1].span if self.diagnostics else None
        return last is None or last.end + ERROR_REACH <= self.pos

    def take(self) -> Token:
        """Return the next token, and move the cursor past it."""
        token = self.peek()
        self.pos = token.end
        self._ahead = None
        return token

    def at(self, *texts: str) -> bool:
        """Return True if the text of the next token is one of `texts`."""
        return self.peek().text in texts

    def accept(self, text: str) -> bool:
        """Return True and move past the next token if that token is `text`."""
        if self.peek().text != text:
            return False
        self.take()
        return True

    def expect(self, text: str, *others: str) -> Token:
        """Return the next token, which must be `text`, and move past the token.

        For another token, record an error and raise Unreadable. The error message lists `others` as legal, too.
        """
        if self.peek().text != text:
            self.expected(*(repr(sign) for sign in (*others, text)))
        return self.take()

    def expect_kind(self, kind: str, what: str) -> Token:
        """Return the next token, which must have the kind `kind`, and move past the token.

        For another kind, record the error "expected `what`" and raise Unreadable.
        """
        if self.peek().kind != kind:
            self.expected(what)
        return self.take()

    def expected(self, *what: str) -> NoReturn:
        """Record an error at the next token and raise Unreadable. The message lists `what` as expected."""
        token = self.peek()
        wanted = one_of(what)
        can_begin_statement = token.kind != "end" and token.text not in ("}", ";")
        self._unended = "';'" in what and can_begin_statement and self.breaks_line()
        hint = MISSING_SEMICOLON if self._unended else ""
        self.fail("expected", f"found {describe(token)}; expected {wanted}", token.span, hint)

    def unexpected(self, rule: str, start: int, expected: str) -> NoReturn:
        """Record an error in the text from `start` to the cursor, and raise Unreadable."""
        self.fail(rule, f"found '{self.text[start : self.pos]}'; expected {expected}", Span(start, self.pos))

    def report(self, rule: str, message: str, span: Span, hint: str = "") -> None:
        """Record a diagnostic with the code `ptx.syntax/{rule}`."""
        # One cause gets one diagnostic.
        if self.diagnostics and self._follows(self.diagnostics[-1], span):
            return
        if len(self.diagnostics) >= ERROR_LIMIT:
            message = f"more than {ERROR_LIMIT} syntax errors; parsing stops here"
            self._record("limit", message, span, "")
            raise ParsingStopped
        self._record(rule, message, span, hint)

    def fail(self, rule: str, message: str, span: Span, hint: str = "") -> NoReturn:
        """Record a diagnostic with the code `ptx.syntax/{rule}`, and raise Unreadable."""
        self.report(rule, message, span, hint)
        raise Unreadable

    def nest(self, depth: int, what: str) -> int:
        """Return `depth` + 1, or stop parsing at the limit. The error names `what`, such as "blocks"."""
        if depth >= NESTING_LIMIT:
            self._record("nesting", f"{what} are nested more than {NESTING_LIMIT} deep", self.peek().span, "")
            raise ParsingStopped
        return depth + 1

    def recover(self, start: int, *, body: bool) -> None:
        """Move to the next statement after an error in the statement at offset `start`.

        `body` is True in a function body.
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
            # Such a word begins an item, so a `;` is missing.
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
            # This brace ends the item with the error.
            if reached and token.text == "}" and depth <= 0 and not body:
                after = self._lex(quiet=True)
                self.seek(after.end if after.text == ";" else token.end)
                return

    def skip_to(self, *texts: str) -> None:
        """Move to the next token in `texts`, or to the next word that must begin an item of the module."""
        while (token := self._lex(quiet=True)).kind != "end":
            if token.text in texts or token.text in MODULE_WORDS:
                return
            self.seek(token.end)

    def breaks_line(self) -> bool:
        """Return True if a line break precedes the next token."""
        return "\n" in self.text[self.pos : self.peek().start]

    def _follows(self, known: Diagnostic, span: Span) -> bool:
        """Return True if a new error at `span` has the same cause as the error `known`."""
        if known.span is None:
            return False
        between = self.text[known.span.end : min(span.start, known.span.end + ERROR_REACH)]
        is_stray = known.code.endswith("/character") and len(between) < ERROR_REACH and not between.strip()
        return known.span.start == span.start or is_stray

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
            start = trivia_end(self.text, pos)
            rule, message, stop = self._lexical_error(start)
            if rule != "character":
                break
            # A stray character is reported once and skipped, because the text around it may be correct.
            if not quiet:
                self.report(rule, message, Span(start, stop))
            pos = stop
        token = Token("punctuation", self.text[start:stop], start, stop)
        if not quiet:
            # Recovery starts from the token with the error.
            self._ahead = token
            self.fail(rule, message, Span(start, stop))
        return token

    def _lexical_error(self, start: int) -> tuple[str, str, int]:
        """Return rule, message and end offset of an error at the offset `start`."""
        text = self.text
        if text.startswith("/*", start):
            return "comment", "found a comment that does not end; expected '*/'", len(text)
        if text[start] == '"':
            newline = text.find("\n", start)
            stop = len(text) if newline < 0 else newline
            return "string", "found a string that does not end on its line; expected '\"'", stop
        if (number := MALFORMED_NUMBER.match(text, start)) is not None:
            digits = _DIGITS.get(number[0][:2].lower(), "digits, 0x, 0b, 0f or 0d")
            return "number", f"found '{number[0]}', which is not a number; expected {digits}", number.end()
        stray = STRAY_CHARACTERS.match(text, start)
        stop = start + 1 if stray is None else stray.end()
        return "character", f"found {_shown(text[start:stop])}, which is not allowed in PTX", stop


_DIGITS = {
    "0f": "8 hexadecimal digits after 0f",
    "0d": "16 hexadecimal digits after 0d",
    "0x": "hexadecimal digits after 0x",
    "0b": "binary digits after 0b",
}


def describe(token: Token) -> str:
    """Return the text of a token for error messages."""
    if token.kind == "end":
        return "the end of the text"
    text = token.text if len(token.text) <= 40 else f"{token.text[:39]}…"
    return text if token.kind == "string" else f"'{text}'"


def _shown(text: str) -> str:
    shown = f"'{text}'" if text.isprintable() and not text.isspace() and len(text) <= 40 else ""
    code = f"U+{ord(text[0]):04X}"
    if len(text) > 1:
        return shown or f"{len(text)} characters beginning with {code}"
    return f"{shown} ({code})" if shown else code
