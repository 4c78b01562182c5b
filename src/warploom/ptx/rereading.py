"""Reading a text again after an edit: only what the edit touched.

A text is cut into pieces, each an item of the module with the blanks before it. Every piece is a source of its
own, and the places of its nodes count from its start: so it stays what it is while others change and move. Of a
function that the edit is in, the statements are taken over that it did not touch, block by block.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from warploom.diagnostics import Diagnostic, Source, Span
from warploom.ptx.cursor import ERROR_LIMIT, Hopeless
from warploom.ptx.lexer import TOKEN
from warploom.ptx.parser import Parser
from warploom.ptx.tree import (
    Block,
    Directive,
    Function,
    Instruction,
    Module,
    Node,
    Prototype,
    Statement,
    TopLevel,
    Variable,
)

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
class _Read:
    """What a reading holds."""

    text: str
    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]
    errors: tuple[Diagnostic, ...]


class Reading:
    """What was read of a text: pieces that make it up, and where each begins.

    There are none where reading stopped, at a nesting too deep or at too many errors; `errors` are in the order
    in which they were found, and their spans count from the start of the text.

    A reading is given up where the text is read again after an edit: its nodes are in the next one then, in other
    places, and it answers no more. Errors: RuntimeError where a reading is asked that was given up
    """

    __slots__ = ("_read",)

    def __init__(self, read: _Read) -> None:
        self._read: _Read | None = read

    def _held(self) -> _Read:
        if self._read is None:
            raise RuntimeError("this reading was given up for that of a later text")
        return self._read

    def give_up(self) -> _Read:
        """What it holds, which it holds no more."""
        held, self._read = self._held(), None
        return held

    @property
    def text(self) -> str:
        """The text that was read."""
        return self._held().text

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces, in their order."""
        return self._held().pieces

    @property
    def starts(self) -> tuple[int, ...]:
        """Where in the text each piece begins."""
        return self._held().starts

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What could not be read."""
        return self._held().errors

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
    """Read a text of which an earlier version was read: the same as `parse_readable`, in less time. The earlier
    reading is given up.
    """
    held = None if before is None else before.give_up()
    edit = _Edit(held, text) if held is not None and held.pieces else None
    read = _read(text, name, edit)
    if read is None:  # more errors than are told: which of them come first is for a whole reading to say
        read = _read(text, name, None)
        assert read is not None
    return Reading(read)


class _Edit:
    """What two versions of a text have in common."""

    def __init__(self, before: _Read, text: str) -> None:
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

    def earlier(self, start: int) -> int | None:
        """Where in the earlier text a sign stood that is at `start`; None for one that the edit brought."""
        if start < self.first:
            return start
        return start - self.moved if start - self.moved >= self.behind else None

    def body_at(self, offset: int) -> tuple[Block, Piece, int] | None:
        """The body that began at an offset of the earlier text, its piece and where that began; None where it
        was not read as if nothing had been wrong before it, or did not end with a `}`.
        """
        k = max(0, bisect_right(self.before.starts, offset) - 1)
        piece, begin = self.before.pieces[k], self.before.starts[k]
        body = next((item.body for item in piece.items if isinstance(item, Function)), None)
        if body is None or not piece.anew:
            return None
        start, end = _extent(body)
        closed = piece.source.text[end - 1] == "}" and all(_start(error) < end for error in piece.errors)
        return (body, piece, begin) if start + begin == offset and closed else None


def _last_of_line(pieces: tuple[Piece, ...]) -> int:
    """The last piece with an error that tells the number of a line; 0 where there is none."""
    told = (
        k for k in range(len(pieces) - 1, 0, -1) if any("line" in error.message for error in pieces[k].errors)
    )
    return next(told, 0)


class _Again(Parser):
    """A reading that takes over from an earlier one the statements that an edit did not touch."""

    def __init__(self, source: Source, edit: _Edit) -> None:
        super().__init__(source)
        self.edit = edit
        self.taken: tuple[Piece, int] | None = None
        """The piece that statements were taken from, and where it began."""
        self._around: list[Block | None] = []

    def _block(self, depth: int) -> Block:
        before = self._before(depth, self.cursor.peek().start)
        self._around.append(before)
        try:
            return super()._block(depth) if before is None else self._again(before, depth)
        finally:
            self._around.pop()

    def _before(self, depth: int, start: int) -> Block | None:
        """What the block was before that begins at `start`."""
        offset = self.edit.earlier(start)
        if offset is None or not self.cursor.begins_anew:
            return None
        if depth == 0:
            found = self.edit.body_at(offset)
            if found is None:
                return None
            block, piece, begin = found
            self.taken = piece, begin
        else:
            around = self._around[-1]
            if around is None or self.taken is None:
                return None
            within = offset - self.taken[1]
            k = bisect_left(around.statements, within, key=lambda each: _extent(each)[0])
            statement = around.statements[k] if k < len(around.statements) else None
            if not isinstance(statement, Block) or _extent(statement)[0] != within:
                return None
            block = statement
        return block

    def _again(self, before: Block, depth: int) -> Block:
        """Read a block that the edit is in, or that stands behind it."""
        cursor = self.cursor
        depth = cursor.nest(depth, "blocks")
        start = cursor.expect("{").start
        first = self._untouched(before)
        statements = list(before.statements[:first])
        edited = self.edit.behind + self.edit.moved
        resumed = self._resumed(before, first)
        while resumed is None and self._more(statements, depth, start, max(edited, cursor.pos + 1)):
            resumed = self._resumed(before, first)
        _keep(statements, first, before.statements[first:resumed])
        if resumed is not None:
            statements += before.statements[resumed:]
        return self._placed(Block(tuple(statements)), start)

    def _untouched(self, before: Block) -> int:
        """How many of the first statements were read without a look at what the edit changed. They are as if read."""
        assert self.taken is not None
        piece, begin = self.taken
        start = _extent(before)[0]
        if start + begin >= self.edit.first:
            return 0
        count = bisect_right(before.statements, self.edit.first - begin, key=_end)
        while count and not _ends_itself(before.statements[count - 1], piece):
            count -= 1
        if count:
            end = _end(before.statements[count - 1])
            self._skip(start, end, begin)
        return count

    def _resumed(self, before: Block, first: int) -> int | None:
        """The statement of the earlier block, behind the `first` ones, from which on all is as it was, where
        reading has come to it; the rest of the block is as if read then.
        """
        assert self.taken is not None
        piece, begin = self.taken
        by = begin + self.edit.moved
        start, end = _extent(before)
        at = self.cursor.pos - by
        if at + begin < self.edit.behind or not self.cursor.begins_anew:
            return None
        known = bisect_right(before.statements, at, lo=first, key=_end)
        if not known and at != start + 1:
            return None
        if known:
            last = before.statements[known - 1]
            if _end(last) != at or not _ends_itself(last, piece):
                return None
        left = sum(at <= _start(error) < end for error in piece.errors)
        if len(self.cursor.diagnostics) + left > ERROR_LIMIT:
            return None
        self._skip(at, end, by)
        return known

    def _skip(self, start: int, end: int, by: int) -> None:
        """Go on behind a part of the earlier piece, whose errors are found again."""
        assert self.taken is not None
        cursor = self.cursor
        cursor.diagnostics += [
            _moved(error, self.source, by) for error in self.taken[0].errors if start <= _start(error) < end
        ]
        cursor.seek(end + by)


def _start(error: Diagnostic) -> int:
    return 0 if error.span is None else error.span.start


def _end(statement: Statement) -> int:
    return _extent(statement)[1]


def _extent(node: Statement) -> tuple[int, int]:
    assert node.origin is not None
    return node.origin[1:]


def _ends_itself(statement: Statement, piece: Piece) -> bool:
    """Whether a statement ends with a sign of its own, so that reading it needs no look at what follows."""
    if isinstance(statement, Variable):  # several may share one `;`
        return piece.source.text[_end(statement) - 1] == ";"
    return isinstance(statement, Instruction | Block)


def _keep(statements: list[Statement], first: int, before: Sequence[Statement]) -> None:
    """Put, from `first` on, those of an earlier text in the place of the statements that are written as they are:
    the first ones and the last ones.
    """
    end, last = len(statements), len(before)
    known = 0
    while first < end and known < last and _kept(statements, first, before[known]):
        first, known = first + 1, known + 1
    while first < end and known < last and _kept(statements, end - 1, before[last - 1]):
        end, last = end - 1, last - 1


def _kept(statements: list[Statement], k: int, before: Statement) -> bool:
    statement = statements[k]
    if statement != before or statement.source_text != before.source_text:
        return False
    assert statement.origin is not None
    source, start, _ = statement.origin
    _shift(before, source, start - _extent(before)[0])
    statements[k] = before
    return True


def _read(text: str, name: str, edit: _Edit | None) -> _Read | None:
    source = Source(name, text)
    parser = Parser(source) if edit is None else _Again(source, edit)
    cursor = parser.cursor
    kept = 0 if edit is None else edit.kept()
    pieces: list[Piece] = []
    if edit is not None and kept:
        pieces += edit.before.pieces[:kept]
        cursor.diagnostics += _placed(pieces, edit.before.starts, source)
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
        return _Read(text, (), (), tuple(cursor.diagnostics))
    starts = (0, *accumulate(len(piece.source.text) for piece in pieces))[:-1]
    errors = tuple(_placed(pieces, starts, source))
    return _Read(text, tuple(pieces), starts, errors) if len(errors) <= ERROR_LIMIT else None


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
    move = _Move(source, begin, parser)
    for item in items:
        move.node(item)
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


def _inner(node: Node | Prototype) -> Iterable[Node | Prototype]:
    """What stands in a node."""
    match node:
        case Function(params=params, returns=returns, directives=directives, body=body):
            return (*params, *returns, *directives, *(() if body is None else (body,)))
        case Block(statements):
            return statements
        case Directive(args=args, body=lines):
            return (*(arg for arg in args if isinstance(arg, Prototype)), *(lines or ()))
        case Prototype(returns=returns, params=params, directives=directives):
            return (*returns, *params, *directives)
        case _:
            return ()


def _shift(node: Node | Prototype, source: Source, by: int) -> None:
    """Give a node, and what is in it that has not got it yet, another source, in which it stands elsewhere."""
    if isinstance(node, Node) and node.origin is not None and node.origin[0] is not source:
        _place(node, "origin", (source, node.origin[1] + by, node.origin[2] + by))
    for each in _inner(node):
        _shift(each, source, by)


class _Move:
    """Gives nodes the source of their piece. They were read from the whole text, or taken from an earlier piece."""

    def __init__(self, source: Source, begin: int, parser: Parser) -> None:
        self.source = source
        self.whole = parser.source
        self.read = -begin
        self.edited = self.before = self.behind = 0
        if isinstance(parser, _Again) and parser.taken is not None:
            began, edit = parser.taken[1], parser.edit
            self.edited = edit.behind - began
            self.before = began - begin
            self.behind = self.before + edit.moved
            parser.taken = None

    def node(self, node: Node | Prototype) -> None:
        """A node and what is in it."""
        one = self._one
        if isinstance(node, Node):
            one(node)
        for each in _inner(node):
            if isinstance(each, Instruction):
                one(each)
            else:
                self.node(each)

    def _one(self, node: Node) -> None:
        if node.origin is None:
            return
        source, start, end = node.origin
        by = self.read if source is self.whole else self.before if start < self.edited else self.behind
        _place(node, "origin", (self.source, start + by, end + by))


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
