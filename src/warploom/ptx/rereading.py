"""Reading a text again after an edit: only what the edit touched.

A text is cut into pieces, each an item of the module with the blanks before it. Every piece is a source of its
own, and the places of its nodes count from its start: so it stays what it is while others change and move.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

from warploom.diag import Diagnostic, Source, Span
from warploom.ptx.cursor import ERROR_LIMIT, Hopeless
from warploom.ptx.lexer import TOKEN
from warploom.ptx.parser import Parser
from warploom.ptx.tree import Block, Directive, Function, Module, Node, Prototype, TopLevel

_place = object.__setattr__


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """An item of a module, or several that one statement declares, and the blanks and comments before it.

    Units: the spans of `errors` count from the start of the piece, and may lie behind its end. `lead` is where
    its first token ends. `anew` says whether it is read as if nothing had been wrong before it.
    """

    source: Source
    items: tuple[TopLevel, ...]
    errors: tuple[Diagnostic, ...]
    lead: int
    anew: bool


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What was read of a text: pieces that make it up, and where each begins.

    There are none where reading stopped, at a nesting too deep or at too many errors; `errors` are in the order
    in which they were found, and their spans count from the start of the text.
    """

    text: str
    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]
    errors: tuple[Diagnostic, ...]

    @property
    def module(self) -> Module | None:
        """The module, whose items have the pieces as their sources; None where there are no pieces."""
        if not self.pieces:
            return None
        return Module(tuple(item for piece in self.pieces for item in piece.items))

    def piece_at(self, offset: int) -> int:
        """The number of the piece that holds an offset of the text."""
        return max(0, bisect_right(self.starts, offset) - 1)


def reread(text: str, before: Reading | None = None, name: str = "<ptx>") -> Reading:
    """Read a text of which an earlier version was read: the same as `parse_readable`, in less time."""
    edit = _Edit(before, text) if before is not None and before.pieces else None
    reading = _read(text, name, edit)
    if reading is None:  # more errors than are told: which of them come first is for a whole reading to say
        reading = _read(text, name, None)
        assert reading is not None
    return reading


class _Edit:
    """What two versions of a text have in common."""

    def __init__(self, before: Reading, text: str) -> None:
        self.before = before
        self.first = _common(before.text, text)
        longest = min(len(before.text), len(text)) - self.first
        self.behind = len(before.text) - _common_end(before.text, text, longest)
        self.moved = len(text) - len(before.text)
        lines = before.text.count("\n", self.first, self.behind)
        same_lines = text.count("\n", self.first, self.behind + self.moved) == lines
        self.soonest = 1 if same_lines else 1 + _last_of_line(before.pieces)

    def kept(self) -> int:
        """How many pieces from the start on hold as they are: reading them looked at nothing behind `first`."""
        pieces, starts = self.before.pieces, self.before.starts
        kept = 0
        while kept + 1 < len(pieces):
            # What is not right is looked for beyond the piece it is in.
            ends = starts[kept + 1] + pieces[kept + 1].lead
            if pieces[kept].errors:
                ends = starts[kept + 2] if kept + 2 < len(starts) else len(self.before.text)
            if ends >= self.first:
                break
            kept += 1
        while kept and not pieces[kept].anew:
            kept -= 1
        return kept

    def resumed(self, pos: int) -> int | None:
        """The piece of the earlier text from which on all is as it was, where reading has come to `pos`."""
        starts = self.before.starts
        if pos - self.moved < self.behind:
            return None
        k = bisect_right(starts, pos - self.moved) - 1
        fits = k >= self.soonest and starts[k] == pos - self.moved and self.before.pieces[k].anew
        return k if fits else None


def _last_of_line(pieces: tuple[Piece, ...]) -> int:
    """The last piece with an error that tells the number of a line; 0 where there is none."""
    told = (
        k for k in range(len(pieces) - 1, 0, -1) if any("line" in error.message for error in pieces[k].errors)
    )
    return next(told, 0)


def _read(text: str, name: str, edit: _Edit | None) -> Reading | None:
    parser = Parser(Source(name, text))
    cursor = parser.cursor
    kept = 0 if edit is None else edit.kept()
    pieces: list[Piece] = []
    if edit is not None and kept:
        pieces += edit.before.pieces[:kept]
        cursor.diagnostics += _placed(pieces, edit.before.starts, parser.source)
        cursor.seek(edit.before.starts[kept])
    try:
        more = True
        while more:
            known = len(pieces)
            anew = cursor.begins_anew
            resumed = edit.resumed(cursor.pos) if edit is not None and anew and known else None
            if edit is not None and resumed is not None:
                pieces += edit.before.pieces[resumed:]
                break
            piece, more = _piece(parser, anew, first=not known)
            pieces.append(piece)
    except Hopeless:
        return Reading(text, (), (), tuple(cursor.diagnostics))
    starts = (0, *accumulate(len(piece.source.text) for piece in pieces))[:-1]
    errors = tuple(_placed(pieces, starts, parser.source))
    return Reading(text, tuple(pieces), starts, errors) if len(errors) <= ERROR_LIMIT else None


def _piece(parser: Parser, anew: bool, *, first: bool) -> tuple[Piece, bool]:
    """Read the next piece; whether there are more."""
    cursor = parser.cursor
    begin, told = cursor.pos, len(cursor.diagnostics)
    items: list[TopLevel] = []
    more = True
    if first:
        parser.header(items)
    else:
        more = parser.item(items)
    end = cursor.pos if more else len(cursor.text)
    source = Source(parser.source.name, cursor.text[begin:end])
    for item in items:
        _rebase(item, source, begin)
    errors = tuple(_moved(error, source, -begin) for error in cursor.diagnostics[told:])
    return Piece(source, tuple(items), errors, _lead(cursor.text, begin, end), anew), more


def _lead(text: str, begin: int, end: int) -> int:
    match = TOKEN.match(text, begin)
    return (end if match is None else match.end()) - begin


def _placed(pieces: Iterable[Piece], starts: Iterable[int], source: Source) -> list[Diagnostic]:
    """The errors of pieces as errors of the whole text."""
    return [
        _moved(error, source, start)
        for piece, start in zip(pieces, starts, strict=False)
        for error in piece.errors
    ]


def _moved(error: Diagnostic, source: Source, by: int) -> Diagnostic:
    span = None if error.span is None else Span(error.span.start + by, error.span.end + by)
    return replace(error, source=source, span=span)


def _rebase(node: Node | Prototype, source: Source, begin: int) -> None:
    """Give a node and what is in it another source, whose text begins elsewhere."""
    if isinstance(node, Node) and node.origin is not None:
        _, start, end = node.origin
        _place(node, "origin", (source, start - begin, end - begin))
    match node:
        case Function(params=params, returns=returns, directives=directives, body=body):
            inner: Iterable[Node | Prototype] = (
                *params,
                *returns,
                *directives,
                *(() if body is None else (body,)),
            )
        case Block(statements):
            inner = statements
        case Directive(args=args, body=lines):
            inner = (*(arg for arg in args if isinstance(arg, Prototype)), *(lines or ()))
        case Prototype(returns=returns, params=params, directives=directives):
            inner = (*returns, *params, *directives)
        case _:
            return
    for each in inner:
        _rebase(each, source, begin)


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common from the start on."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: str, other: str, longest: int) -> int:
    """How many characters two texts have in common up to the end, `longest` at most."""
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        same = one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return low
