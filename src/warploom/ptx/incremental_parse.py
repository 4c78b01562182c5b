"""Incremental parsing: after an edit, only the edited statements and items are parsed again.

The text is split into pieces, one for each item of the module. The spans in a piece count from the start of the piece,
so an edit of another piece does not change them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from warploom.diagnostics import Diagnostic, Source, Span
from warploom.ptx.cursor import ERROR_LIMIT, ParsingStopped
from warploom.ptx.lexer import TOKEN
from warploom.ptx.node import Node
from warploom.ptx.parser import Parser
from warploom.ptx.tree import Block, Directive, Function, Instruction, Module, Prototype, Statement, TopLevel, Variable


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Text and parsed items of one module-scope statement, with the blanks and comments before it.

    The spans of `errors` count from the start of the piece, and may end after the piece. `first_token_end` is an offset
    in the piece. `is_independent` is True if no error in earlier pieces affects the parse of this piece.
    """

    source: Source
    items: tuple[TopLevel, ...]
    errors: tuple[Diagnostic, ...]
    first_token_end: int
    is_independent: bool


@dataclass(slots=True, eq=False)
class ParsedText:
    """Text that was parsed in pieces. `starts` holds the offset of each piece.

    There are no pieces if too many errors or too deep nesting stopped the parser. The spans of `errors` count from the
    start of the text.
    """

    text: str
    _pieces: tuple[Piece, ...] | None
    starts: tuple[int, ...]
    errors: tuple[Diagnostic, ...]

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Pieces in the order of the text. Errors: RuntimeError after `take_pieces`."""
        if self._pieces is None:
            raise RuntimeError("the pieces of this text were taken for a later text")
        return self._pieces

    def take_pieces(self) -> tuple[Piece, ...]:
        """Return the pieces and remove them from this object."""
        pieces, self._pieces = self.pieces, None
        return pieces

    @property
    def module(self) -> Module | None:
        """Module of the text; None if there are no pieces."""
        if not self.pieces:
            return None
        # The source of each item is its piece, not the text.
        return Module(tuple(item for piece in self.pieces for item in piece.items))

    def piece_at(self, offset: int) -> int:
        """Return the index of the piece that contains `offset`."""
        return max(0, bisect_right(self.starts, offset) - 1)


def parse_incrementally(text: str, before: ParsedText | None = None, name: str = "<ptx>") -> ParsedText:
    """Parse a PTX text, and reuse the pieces of its earlier version `before`.

    The call removes the pieces from `before`.
    """
    pieces = () if before is None else before.take_pieces()
    parsed = None
    if before is not None and pieces:
        parsed = _parse(text, name, _Edit(before, pieces, text))
    # Beyond the limit, only a parse of the whole text finds which errors come first.
    parsed = parsed or _parse(text, name, None)
    assert parsed is not None
    return parsed


class _Edit:
    """Difference between two versions of a text.

    The versions are equal before the offset `start`, and equal from `old_end` on. The new text is `shift` characters
    longer.
    """

    def __init__(self, before: ParsedText, pieces: tuple[Piece, ...], text: str) -> None:
        old = self.old_text = before.text
        self.pieces = pieces
        self.starts = before.starts
        self.start = _common_prefix(old, text)
        rest = min(len(old), len(text)) - self.start
        self.old_end = len(old) - _common_prefix(old[len(old) - rest :][::-1], text[len(text) - rest :][::-1])
        self.shift = len(text) - len(old)
        lines = old.count("\n", self.start, self.old_end)
        keeps_lines = text.count("\n", self.start, self.old_end + self.shift) == lines
        # Pieces whose messages contain line numbers are not reused if the edit changes line numbers.
        numbered = [k for k, piece in enumerate(pieces) if any("line" in each.message for each in piece.errors)]
        self.first_reusable = 1 + (0 if keeps_lines else max(numbered, default=0))

    def unchanged_pieces(self) -> int:
        """Return the number of reusable pieces before the edit."""
        pieces, starts = self.pieces, self.starts
        count = 0
        while count + 1 < len(pieces):
            # Recovery from an error may read beyond the piece.
            seen = starts[count + 1] + pieces[count + 1].first_token_end
            if pieces[count].errors:
                seen = starts[count + 2] if count + 2 < len(starts) else len(self.old_text)
            if seen >= self.start:
                break
            count += 1
        while count and not pieces[count].is_independent:
            count -= 1
        return count

    def same_from(self, pos: int) -> int | None:
        """Return the index of the reusable old piece at the new offset `pos`, or None."""
        offset = pos - self.shift
        if offset < self.old_end:
            return None
        k = bisect_right(self.starts, offset) - 1
        # All later pieces are then reusable, too.
        fits = k >= self.first_reusable and self.starts[k] == offset and self.pieces[k].is_independent
        return k if fits else None

    def old_offset(self, offset: int) -> int | None:
        """Return the old offset for an offset in the new text, or None for text that the edit added."""
        if offset < self.start:
            return offset
        return offset - self.shift if offset - self.shift >= self.old_end else None

    def body_at(self, offset: int) -> tuple[Block, Piece, int] | None:
        """Return the function body at an old offset, its piece, and the offset of the piece.

        Return None if there is no body, or if the body has errors.
        """
        k = max(0, bisect_right(self.starts, offset) - 1)
        piece, begin = self.pieces[k], self.starts[k]
        body = next((item.body for item in piece.items if isinstance(item, Function)), None)
        if body is None or not piece.is_independent:
            return None
        start, end = _extent(body)
        closed = piece.source.text[end - 1] == "}" and all(_start(error) < end for error in piece.errors)
        return (body, piece, begin) if start + begin == offset and closed else None


class _IncrementalParser(Parser):
    """Parser that reuses unchanged statements of an earlier version of the text.

    `reused` is the old piece with these statements, and the offset of the piece in the old text.
    """

    def __init__(self, source: Source, edit: _Edit) -> None:
        super().__init__(source)
        self.edit = edit
        self.reused: tuple[Piece, int] | None = None
        self._enclosing: list[Block | None] = []

    def _block(self, depth: int) -> Block:
        before = self._earlier_block(depth, self.cursor.peek().start)
        self._enclosing.append(before)
        try:
            return super()._block(depth) if before is None else self._edited_block(before, depth)
        finally:
            self._enclosing.pop()

    def _earlier_block(self, depth: int, start: int) -> Block | None:
        """Return the earlier version of the block at the new offset `start`, or None."""
        offset = self.edit.old_offset(start)
        if offset is None or not self.cursor.has_recovered:
            return None
        if depth == 0:
            found = self.edit.body_at(offset)
            if found is None:
                return None
            self.reused = found[1:]
            return found[0]
        enclosing = self._enclosing[-1]
        if enclosing is None or self.reused is None:
            return None
        within = offset - self.reused[1]
        k = bisect_left(enclosing.statements, within, key=lambda each: _extent(each)[0])
        statement = enclosing.statements[k] if k < len(enclosing.statements) else None
        return statement if isinstance(statement, Block) and _extent(statement)[0] == within else None

    def _edited_block(self, before: Block, depth: int) -> Block:
        """Parse a block of a function with an edit. `before` is the earlier version of the block."""
        cursor = self.cursor
        depth = cursor.nest(depth, "blocks")
        start = cursor.expect("{").start
        first = self._reuse_first(before)
        statements = list(before.statements[:first])
        edit_end = self.edit.old_end + self.edit.shift
        rest = self._reuse_rest(before, first)
        while rest is None and self._more(statements, depth, start, max(edit_end, cursor.pos + 1)):
            rest = self._reuse_rest(before, first)
        _restore_equal(statements, first, before.statements[first:rest])
        if rest is not None:
            statements += before.statements[rest:]
        return self._with_origin(Block(tuple(statements)), start)

    def _reuse_first(self, before: Block) -> int:
        """Move the cursor past the unchanged first statements of `before`. Return their number."""
        assert self.reused is not None
        piece, begin = self.reused
        start = _extent(before)[0]
        if start + begin >= self.edit.start:
            return 0
        count = bisect_right(before.statements, self.edit.start - begin, key=_end)
        while count and not _ends_itself(before.statements[count - 1], piece):
            count -= 1
        if count:
            self._skip(start, _end(before.statements[count - 1]), begin)
        return count

    def _reuse_rest(self, before: Block, first: int) -> int | None:
        """Return the index in `before` of the reusable statements at the cursor, or None.

        Unless the result is None, the cursor moves to the end of the block. The index is at least `first`.
        """
        assert self.reused is not None
        piece, begin = self.reused
        shift = begin + self.edit.shift
        start, end = _extent(before)
        at = self.cursor.pos - shift
        if at + begin < self.edit.old_end or not self.cursor.has_recovered:
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
        self._skip(at, end, shift)
        return known

    def _skip(self, start: int, end: int, shift: int) -> None:
        """Reuse the text from `start` to `end` of the old piece: move past it, and record its errors again."""
        assert self.reused is not None
        cursor = self.cursor
        cursor.diagnostics += [
            moved(error, self.source, shift) for error in self.reused[0].errors if start <= _start(error) < end
        ]
        cursor.seek(end + shift)


def _start(error: Diagnostic) -> int:
    return 0 if error.span is None else error.span.start


def _end(statement: Statement) -> int:
    return _extent(statement)[1]


def _extent(node: Statement) -> tuple[int, int]:
    assert node.origin is not None
    return node.origin[1:]


def _ends_itself(statement: Statement, piece: Piece) -> bool:
    if isinstance(statement, Variable):  # several variables may share one `;`
        return piece.source.text[_end(statement) - 1] == ";"
    return isinstance(statement, Instruction | Block)


def _restore_equal(statements: list[Statement], first: int, before: Sequence[Statement]) -> None:
    """Replace statements from index `first` on by equal ones of `before`."""
    # Node objects of unchanged statements stay the same.
    end, last = len(statements), len(before)
    known = 0
    while first < end and known < last and _restored(statements, first, before[known]):
        first, known = first + 1, known + 1
    while first < end and known < last and _restored(statements, end - 1, before[last - 1]):
        end, last = end - 1, last - 1


def _restored(statements: list[Statement], k: int, before: Statement) -> bool:
    statement = statements[k]
    if statement != before or statement.source_text != before.source_text:
        return False
    assert statement.origin is not None
    source, start, _ = statement.origin
    shift = start - _extent(before)[0]

    def move(node: Node) -> None:
        if node.origin is not None and node.origin[0] is not source:
            _set_origin(node, source, shift)

    _for_each_node(before, move)
    statements[k] = before
    return True


def _parse(text: str, name: str, edit: _Edit | None) -> ParsedText | None:
    """Parse a text in pieces, and reuse pieces that the edit does not change.

    Return None if the text has too many errors.
    """
    source = Source(name, text)
    parser = Parser(source) if edit is None else _IncrementalParser(source, edit)
    cursor = parser.cursor
    pieces: list[Piece] = []
    if edit is not None and (unchanged := edit.unchanged_pieces()):
        pieces += edit.pieces[:unchanged]
        cursor.diagnostics += _all_errors(pieces, edit.starts, source)
        cursor.seek(edit.starts[unchanged])
    try:
        more = True
        while more:
            independent = cursor.has_recovered
            if edit is not None and independent and pieces:
                same = edit.same_from(cursor.pos)
                if same is not None:
                    pieces += edit.pieces[same:]
                    break
            piece, more = _piece(parser, independent, first=not pieces)
            pieces.append(piece)
    except ParsingStopped:
        return ParsedText(text, (), (), tuple(cursor.diagnostics))
    starts = (0, *accumulate(len(piece.source.text) for piece in pieces))[:-1]
    errors = tuple(_all_errors(pieces, starts, source))
    return ParsedText(text, tuple(pieces), starts, errors) if len(errors) <= ERROR_LIMIT else None


def _piece(parser: Parser, independent: bool, *, first: bool) -> tuple[Piece, bool]:
    cursor = parser.cursor
    begin, reported = cursor.pos, len(cursor.diagnostics)
    items: list[TopLevel] = []
    more = True
    if first:
        parser.header(items)
    else:
        more = parser.item(items)
    end = cursor.pos if more else len(cursor.text)
    source = Source(parser.source.name, cursor.text[begin:end])
    move = _move_into(source, begin, parser)
    for item in items:
        _for_each_node(item, move)
    errors = tuple(moved(error, source, -begin) for error in cursor.diagnostics[reported:])
    token = TOKEN.match(cursor.text, begin)
    first_token_end = (end if token is None else token.end()) - begin
    return Piece(source, tuple(items), errors, first_token_end, independent), more


def _all_errors(pieces: Iterable[Piece], starts: Iterable[int], source: Source) -> list[Diagnostic]:
    return [moved(error, source, start) for piece, start in zip(pieces, starts, strict=False) for error in piece.errors]


def moved(found: Diagnostic, source: Source | None, shift: int) -> Diagnostic:
    """Return a copy of a diagnostic in another source. Its span is shifted by `shift` characters."""
    span = None if found.span is None else Span(found.span.start + shift, found.span.end + shift)
    return replace(found, source=source, span=span)


def _set_origin(node: Node, source: Source, shift: int) -> None:
    assert node.origin is not None
    object.__setattr__(node, "origin", (source, node.origin[1] + shift, node.origin[2] + shift))


def _for_each_node(node: Node | Prototype, action: Callable[[Node], None]) -> None:
    if isinstance(node, Node):
        action(node)
    for child in _children(node):
        if isinstance(child, Instruction):
            action(child)
        else:
            _for_each_node(child, action)


def _children(node: Node | Prototype) -> Iterable[Node | Prototype]:
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


def _move_into(source: Source, begin: int, parser: Parser) -> Callable[[Node], None]:
    """Return a function that moves a node into a piece at the text offset `begin`.

    `source` is the source of the piece.
    """
    whole = parser.source
    old_end = before_edit = behind_edit = 0
    if isinstance(parser, _IncrementalParser) and parser.reused is not None:
        old_begin, edit = parser.reused[1], parser.edit
        old_end = edit.old_end - old_begin
        before_edit = old_begin - begin
        behind_edit = before_edit + edit.shift
        parser.reused = None

    def move(node: Node) -> None:
        if node.origin is None:
            return
        old_source, start, end = node.origin
        shift = -begin if old_source is whole else before_edit if start < old_end else behind_edit
        object.__setattr__(node, "origin", (source, start + shift, end + shift))

    return move


def _common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low
