"""Places of the words and operands of an instruction, found again in its text."""

from __future__ import annotations

from functools import lru_cache

from warploom.diagnostics import Source, Span
from warploom.ptx.cursor import MODULE_WORDS, Cursor
from warploom.ptx.declarations import LINKAGE, SPACES
from warploom.ptx.lexer import OPCODE_TEXT

_OPENERS = frozenset("([{")
_DIRECTIVES = (".loc", ".file", ".pragma", ".section", ".branchtargets", ".calltargets", ".callprototype")
_STATEMENT_WORDS = frozenset((*SPACES, *LINKAGE, *MODULE_WORDS, *_DIRECTIVES))
_CLOSERS = frozenset(")]}")
_LAST = 2  # one instruction is often asked for many of its places in a row


@lru_cache(maxsize=_LAST)
def word_spans(source: Source, start: int, end: int) -> tuple[Span, ...]:
    """Places of an instruction's opcode words."""
    return tuple(_words(_at_instruction(source, start)))


@lru_cache(maxsize=_LAST)
def operand_spans(source: Source, start: int, end: int) -> tuple[Span, ...]:
    """Places of an instruction's operands."""
    cursor = _at_instruction(source, start)
    _words(cursor)
    return _between_commas(cursor, end - 1)


def _at_instruction(source: Source, start: int) -> Cursor:
    """A cursor behind the guard, if there is one."""
    cursor = Cursor(source)
    cursor.seek(start)
    if cursor.accept("@"):
        cursor.accept("!")
        cursor.take()
    return cursor


def _words(cursor: Cursor) -> list[Span]:
    """Places of the words of the opcode that stands next, which is taken."""
    words: list[Span] = []
    opcode = OPCODE_TEXT.match(cursor.text, cursor.peek().start)
    if opcode is not None:
        cursor.seek(opcode.end())
        words = _split(opcode[0], opcode.start())
    while continues_opcode(cursor):
        token = cursor.take()
        words.append(Span(token.start + 1, token.end))
    return words


def continues_opcode(cursor: Cursor) -> bool:
    """True where a word of the opcode stands apart; on a new line, no word that begins a statement."""
    token = cursor.peek()
    return token.kind == "word" and not (cursor.breaks_line() and token.text in _STATEMENT_WORDS)


@lru_cache(maxsize=_LAST)
def item_spans(source: Source, span: Span) -> tuple[Span, ...]:
    """Places of the items in the brackets of the operand at `span`; of the two names of a pair."""
    cursor = Cursor(source)
    cursor.seek(span.start)
    while cursor.pos < span.end and not cursor.at(*_OPENERS):
        cursor.take()
    if cursor.pos >= span.end:
        return ()
    cursor.take()
    return _between_commas(cursor, span.end - 1)


def _split(text: str, start: int) -> list[Span]:
    spans: list[Span] = []
    for word in text.split("."):
        spans.append(Span(start, start + len(word)))
        start += len(word) + 1
    return spans


def _between_commas(cursor: Cursor, end: int) -> tuple[Span, ...]:
    spans: list[Span] = []
    first = last = -1
    depth = 0
    while cursor.peek().start < end:
        token = cursor.take()
        if depth == 0 and token.text == ",":
            spans.append(Span(first, last))
            first = -1
            continue
        depth += (token.text in _OPENERS) - (token.text in _CLOSERS)
        if depth < 0:
            break
        first = token.start if first < 0 else first
        last = token.end
    if first >= 0:
        spans.append(Span(first, last))
    return tuple(spans)
