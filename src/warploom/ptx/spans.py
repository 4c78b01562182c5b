"""Positions of the opcode words and operands of an instruction."""

from functools import lru_cache

from warploom.diagnostics import Source, Span
from warploom.ptx.cursor import Cursor
from warploom.ptx.lexer import OPCODE_PATTERN, STATEMENT_WORDS

_OPENERS = frozenset("([{")
_CLOSERS = frozenset(")]}")
_CACHED = 2  # successive diagnostics often concern the same instruction


@lru_cache(maxsize=_CACHED)
def word_spans(source: Source, start: int, end: int) -> tuple[Span, ...]:
    """Return the positions of the opcode words of the instruction between `start` and `end`."""
    return tuple(_take_opcode(_behind_guard(source, start)))


@lru_cache(maxsize=_CACHED)
def operand_spans(source: Source, start: int, end: int) -> tuple[Span, ...]:
    """Return the positions of the operands of the instruction between `start` and `end`."""
    cursor = _behind_guard(source, start)
    _take_opcode(cursor)
    return _between_commas(cursor, end - 1)


@lru_cache(maxsize=_CACHED)
def item_spans(source: Source, span: Span) -> tuple[Span, ...]:
    """Return the positions of the items of one operand, such as the elements of a vector."""
    cursor = Cursor(source)
    cursor.seek(span.start)
    while cursor.pos < span.end and not cursor.at(*_OPENERS):
        cursor.take()
    if cursor.pos >= span.end:
        return ()
    cursor.take()
    return _between_commas(cursor, span.end - 1)


def continues_opcode(cursor: Cursor) -> bool:
    """Return True if the next token is a further word of the opcode, such as `.sat` after a blank."""
    token = cursor.peek()
    return token.kind == "word" and not (cursor.breaks_line() and token.text in STATEMENT_WORDS)


def _behind_guard(source: Source, start: int) -> Cursor:
    cursor = Cursor(source)
    cursor.seek(start)
    if cursor.accept("@"):
        cursor.accept("!")
        cursor.take()
    return cursor


def _take_opcode(cursor: Cursor) -> list[Span]:
    spans: list[Span] = []
    opcode = OPCODE_PATTERN.match(cursor.text, cursor.peek().start)
    if opcode is not None:
        cursor.seek(opcode.end())
        start = opcode.start()
        for word in opcode[0].split("."):
            spans.append(Span(start, start + len(word)))
            start += len(word) + 1
    while continues_opcode(cursor):
        token = cursor.take()
        spans.append(Span(token.start + 1, token.end))
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
