"""Text that is open in an editor, and its analysis.

The incremental parse splits a text into pieces. A piece is one item of the module with the comments before the item.
"""

from functools import cached_property

from warploom.check.header import HEADER_ITEMS, check_header
from warploom.check.incremental_check import IncrementalChecker
from warploom.check.report import Report
from warploom.isa.model.availability import Target, Version
from warploom.lsp.positions import Lines
from warploom.ptx import Block, Function, Instruction, Module
from warploom.ptx.incremental_parse import ParsedText, Piece, parse_incrementally


class View:
    """One version of a document's text."""

    def __init__(self, text: str, encoding: str, checker: IncrementalChecker, before: ParsedText | None) -> None:
        self.text = text
        self._encoding = encoding
        self._checker = checker
        self._before = before

    @cached_property
    def lines(self) -> Lines:
        """Lines of the text."""
        return Lines(self.text, self._encoding)

    @cached_property
    def parsed(self) -> ParsedText:
        """Incremental parse of the text."""
        before, self._before = self._before, None
        return parse_incrementally(self.text, before)

    @property
    def latest_parse(self) -> ParsedText | None:
        """Latest parse: of this version if it is parsed already, otherwise of an earlier version, or None."""
        return self.__dict__.get("parsed", self._before)

    @cached_property
    def report(self) -> Report:
        """Diagnostics of the text."""
        return self._checker.report(self.parsed)

    @cached_property
    def target_and_version(self) -> tuple[Target, Version] | None:
        """Target and PTX version of the text, or None if its header has syntax errors."""
        items = self.parsed.pieces[0].items if self.parsed.pieces else ()
        if len(items) < HEADER_ITEMS:
            return None
        target, ptx, _ = check_header(Module(items), None, None)
        return target, ptx

    def instruction_at(self, offset: int) -> tuple[Instruction, int] | None:
        """Return the instruction at an offset and the start of its piece, or None without an instruction."""
        if not self.parsed.pieces:
            return None
        piece, start = self.pieces()[self.parsed.piece_at(offset)]
        for item in piece.items:
            if isinstance(item, Function) and item.body is not None:
                found = _instruction_in(item.body, offset - start)
                if found is not None:
                    return found, start
        return None

    def pieces(self) -> list[tuple[Piece, int]]:
        """Return the pieces of the incremental parse with their offsets in the text."""
        return list(zip(self.parsed.pieces, self.parsed.starts, strict=True))


def _instruction_in(block: Block, offset: int) -> Instruction | None:
    for statement in block.statements:
        span = statement.span
        if span is None or not span.start <= offset <= span.end:
            continue
        if isinstance(statement, Instruction):
            return statement
        if isinstance(statement, Block):
            return _instruction_in(statement, offset)
    return None


class Document:
    """Document that is open in an editor. `view` is the latest version of the text."""

    def __init__(self, name: str, text: str, encoding: str = "utf-16") -> None:
        self._encoding = encoding
        self._checker = IncrementalChecker(name)
        self.view = View(text, encoding, self._checker, None)

    def replace(self, text: str) -> None:
        """Replace the whole text by `text`."""
        self.view = View(text, self._encoding, self._checker, self.view.latest_parse)

    def change(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Replace the text between the editor positions `start` and `end` (line, character)."""
        view = self.view
        first, last = view.lines.offset(*start), view.lines.offset(*end)
        self.replace(view.text[:first] + text + view.text[max(first, last) :])
