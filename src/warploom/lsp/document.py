"""A text that is open in an editor, and what is known of it."""

from __future__ import annotations

from functools import cached_property

from warploom.check.header import HEADER_ITEMS, check_header
from warploom.check.incremental_check import IncrementalChecker
from warploom.check.report import Report
from warploom.isa.model.availability import Target, Version
from warploom.lsp.positions import Lines
from warploom.ptx import Block, Function, Instruction, Module
from warploom.ptx.incremental_parse import ParsedText, Piece, parse_incrementally


class View:
    """One version of a text: what was read of it, and what is wrong with it. Each is found when it is asked for."""

    def __init__(
        self, text: str, encoding: str, rechecker: IncrementalChecker, before: ParsedText | None
    ) -> None:
        self.text = text
        self._encoding = encoding
        self._rechecker = rechecker
        self._before = before

    @cached_property
    def lines(self) -> Lines:
        """Its lines."""
        return Lines(self.text, self._encoding)

    @cached_property
    def reading(self) -> ParsedText:
        """What can be read."""
        before, self._before = self._before, None
        return parse_incrementally(self.text, before)

    @property
    def known(self) -> ParsedText | None:
        """What was read of this version or, where nobody has asked yet, of an earlier one."""
        return self.__dict__.get("reading", self._before)

    @cached_property
    def report(self) -> Report:
        """What is wrong."""
        return self._rechecker.report(self.reading)

    @cached_property
    def judged_by(self) -> tuple[Target, Version] | None:
        """Target and PTX version of the text; None where its head cannot be read."""
        items = self.reading.pieces[0].items if self.reading.pieces else ()
        if len(items) < HEADER_ITEMS:
            return None
        target, ptx, _ = check_header(Module(items), None, None)
        return target, ptx

    def instruction_at(self, offset: int) -> tuple[Instruction, int] | None:
        """The instruction that an offset is in, and where its piece begins."""
        if not self.reading.pieces:
            return None
        k = self.reading.piece_at(offset)
        piece, start = self.reading.pieces[k], self.reading.starts[k]
        for item in piece.items:
            if isinstance(item, Function) and item.body is not None:
                found = _instruction_in(item.body, offset - start)
                if found is not None:
                    return found, start
        return None

    def pieces(self) -> list[tuple[Piece, int]]:
        """The pieces of the text, and where each begins."""
        return list(zip(self.reading.pieces, self.reading.starts, strict=True))


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
    """A text that changes. `view` is the version that it has now."""

    def __init__(self, name: str, text: str, encoding: str = "utf-16") -> None:
        self._encoding = encoding
        self._rechecker = IncrementalChecker(name)
        self.view = View(text, encoding, self._rechecker, None)

    def replace(self, text: str) -> None:
        """The text is another."""
        self.view = View(text, self._encoding, self._rechecker, self.view.known)

    def change(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """A range of positions has another text."""
        view = self.view
        first, last = view.lines.offset(*start), view.lines.offset(*end)
        self.replace(view.text[:first] + text + view.text[max(first, last) :])
