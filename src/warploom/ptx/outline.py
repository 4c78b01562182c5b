"""Outline of a module, from which one kernel is parsed without the rest of the module.

A launch needs one kernel of a module. Other functions and the initial values of other variables are often most of the
text, so the outline only finds where they end.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, partial

from warploom.diagnostics import Source
from warploom.diagnostics.source import LineTable
from warploom.lazy_dataclass import dataclass
from warploom.ptx.cursor import ParsingStopped
from warploom.ptx.lexer import COMMENT, LINE_MARKER, MODULE_WORDS, NAME, STATE_SPACES, STRING
from warploom.ptx.line_info import line_table
from warploom.ptx.parser import Parser
from warploom.ptx.tree import Module, TopLevel

_OPAQUE = rf"{STRING}|{COMMENT}|{LINE_MARKER}"
_UP_TO_BRACE = re.compile(rf'(?:[^{{}}"/#]++|{_OPAQUE}|/(?![/*]))*+([{{}}])', re.ASCII)
_MODULE_WORD = re.compile(rf"\n\s*+(?:{'|'.join(map(re.escape, sorted(MODULE_WORDS)))})(?!\w)", re.ASCII)
_UP_TO_SEMICOLON = re.compile(rf'(?:[^;"/#]++|{_OPAQUE}|/(?![/*]))*+;', re.ASCII)
_BRACED = re.compile(r"\{[^{}]*+\}")
_PROTOTYPE = re.compile(r"\.call(?:prototype|targets)\b")
_NAME = re.compile(rf"(?<![\w$%.]){NAME}", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Declaration:
    """Text range of a function or of a declaration of variables.

    `names` contains the declared names. It may also contain names from initial values.
    """

    start: int
    end: int
    names: frozenset[str]
    is_function: bool


class Outline:
    """Items of a module: parsed directives, and the text ranges of functions and variables.

    `kernels` lists the names of the kernels. `sections` contains the offsets in the text at which the `.section` blocks
    start. Functions, variables and sections are not parsed.
    """

    def __init__(
        self, source: Source, kernels: Sequence[str], directives: Sequence[TopLevel], declared: Sequence[_Declaration],
        sections: Sequence[int],
    ) -> None:  # fmt: skip
        self.source = source
        self.kernels = kernels
        self._directives = directives
        self._declared = declared
        self._sections = sections
        self._by_name: defaultdict[str, list[_Declaration]] = defaultdict(list)
        for each in declared:
            for name in each.names:
                self._by_name[name].append(each)

    def module(self, kernel: str) -> Module | None:
        """Return the module without the functions and variables that the kernel cannot reach.

        Return None if the text must be parsed as a whole to find its syntax errors. The nodes have their positions in
        the whole text.
        """
        reached = self._reached(kernel)
        parser = Parser(self.source)
        items = list(self._directives)
        for each in self._declared:
            if not each.names.isdisjoint(reached):
                parser.cursor.seek(each.start)
                if not _parse_item(parser, items) or parser.cursor.pos != each.end:
                    return None
        module = Module(tuple(sorted(items, key=_start)))
        object.__setattr__(module, "origin", (self.source, 0, len(self.source.text)))
        self.source.read_line_table = partial(self._line_table, module)
        return module

    def _line_table(self, module: Module) -> LineTable:
        """Return the line table of a module. The sections contain the names of inlined functions."""
        parser = Parser(self.source)
        sections: list[TopLevel] = []
        for start in self._sections:
            parser.cursor.seek(start)
            _parse_item(parser, sections)
        return line_table(Module((*module.items, *sections)))

    def _reached(self, kernel: str) -> set[str]:
        """Return the names in the declaration of the kernel, in the declarations of these names, and so on."""
        found: set[str] = set()
        pending = {kernel}
        while pending:
            name = pending.pop()
            found.add(name)
            for each in self._by_name[name]:
                pending |= self._mentioned(each) - found
                if each.is_function and _PROTOTYPE.search(self.source.text, each.start, each.end) is not None:
                    pending |= self._tables - found
        return found

    def _mentioned(self, declaration: _Declaration) -> set[str]:
        """Return the declared names in the text of a declaration."""
        return self._by_name.keys() & _NAME.findall(self.source.text, declaration.start, declaration.end)

    @cached_property
    def _tables(self) -> set[str]:
        """Names of the variables whose initial values contain functions.

        A call by an address may use any of them.
        """
        functions = {name for each in self._declared if each.is_function for name in each.names}
        tables = (each for each in self._declared if not each.is_function and self._mentioned(each) & functions)
        return {name for each in tables for name in each.names}


def read_outline(text: str, name: str) -> Outline | None:
    """Return the outline of a PTX text with the name `name`.

    Return None if the text must be parsed as a whole to find its syntax errors.
    """
    outliner = _Outliner(Source(name, text))
    directives: list[TopLevel] = []
    outliner.header(directives)
    while _parse_item(outliner, directives):
        pass
    if outliner.cursor.diagnostics:
        return None
    return Outline(outliner.source, outliner.kernels, directives, outliner.declared, outliner.sections)


def _parse_item(parser: Parser, items: list[TopLevel]) -> bool:
    """Parse the next item of a module. Return False at the end of the text and after an error."""
    try:
        return parser.item(items) and not parser.cursor.diagnostics
    except ParsingStopped:
        return False


def _start(item: TopLevel) -> int:
    assert item.span is not None
    return item.span.start


class _Outliner(Parser):
    """Parser of directives that skips functions, variables and sections."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.kernels: list[str] = []
        self.declared: list[_Declaration] = []
        self.sections: list[int] = []

    def _top_level(self, items: list[TopLevel]) -> None:
        cursor = self.cursor
        start = cursor.peek().start
        linkage = self._linkage()
        if cursor.at(".entry", ".func"):
            function = self._signature(linkage)
            if not cursor.accept(";"):
                self._skip_braces()
                if function.kind == "entry":
                    self.kernels.append(function.name)
            self.declared.append(_Declaration(start, cursor.pos, frozenset([function.name]), True))
        elif cursor.at(*STATE_SPACES):
            end = _UP_TO_SEMICOLON.match(self.source.text, start)
            if end is None:
                cursor.expected("';'")
            cursor.seek(end.end())
            text = _BRACED.sub("", end[0])
            self.declared.append(_Declaration(start, cursor.pos, frozenset(_NAME.findall(text)), False))
        elif cursor.accept(".section"):
            cursor.skip_to("{")
            self._skip_braces()
            self.sections.append(start)
        else:
            cursor.seek(start)
            super()._top_level(items)

    def _skip_braces(self) -> None:
        """Move past a balanced pair of braces."""
        cursor, text = self.cursor, self.source.text
        start = cursor.expect("{").start
        depth = 1
        while depth and (brace := _UP_TO_BRACE.match(text, cursor.pos)) is not None:
            depth += 1 if brace[1] == "{" else -1
            cursor.seek(brace.end())
        # A word of the module's scope inside the braces means that a brace is missing.
        if depth or _MODULE_WORD.search(text, start, cursor.pos):
            cursor.expected("'}'")
