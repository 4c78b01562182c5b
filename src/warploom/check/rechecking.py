"""Judging a text again after an edit: a body is judged anew where it, or what it names, is another.

A body's findings follow from its text, from the target and the PTX version, and from what the names in it are
declared as outside. So they are kept with what those were.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice

import warploom.isa  # noqa: F401  # pyright: ignore[reportUnusedImport] -- declares every form
from warploom.check.bodies import Used
from warploom.check.found import Found
from warploom.check.functions import Walk
from warploom.check.names import Names
from warploom.check.report import Report
from warploom.check.statements import Statements
from warploom.check.texts import judged
from warploom.diag import Diagnostic, Source, Span
from warploom.isa.availability import Target, Version
from warploom.ptx import Block, Function, Module
from warploom.ptx.rereading import Reading

_WORD = re.compile(r"[A-Za-z_$%][\w$]*", re.ASCII)
_MOST_RIGHT = 200_000
"""Instructions that are known to be right, beyond which they are forgotten."""

_REGISTERS, _SIMILAR, _LINE = "(registers)", "(similar)", "(line)"
"""What is no word of a text."""


@dataclass(frozen=True, slots=True)
class _Context:
    """Where a body stands: the line, the similar names that were looked for before, and all names there are."""

    line: int
    suggested: Mapping[str, str]
    visible: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found in a body, and what that follows from beside its text: what its `words` were declared as,
    and where it matters what similar names there were and on which line it began. `suggested` are the similar
    names that were looked for.
    """

    function: Function
    words: frozenset[str]
    outside: Mapping[str, object]
    found: tuple[Found, ...]
    used: Used
    suggested: Mapping[str, str]


class Rechecker:
    """Judges the versions of one text, one after the other, as `check` judges each."""

    def __init__(self, name: str = "<ptx>") -> None:
        self.name = name
        self._statements: Statements | None = None
        self._known: dict[int, _Known] = {}

    def report(self, reading: Reading) -> Report:
        """What is wrong with a text."""
        whole = Source(self.name, reading.text)
        unreadable = sorted(
            (replace(error, source=whole) for error in reading.errors),
            key=lambda error: error.span.start if error.span else 0,
        )
        starts: dict[int, int] = {}
        line = 1
        for piece, start in zip(reading.pieces, reading.starts, strict=True):
            starts[id(piece.source)] = start
            piece.source.first_line = line
            line += piece.source.text.count("\n")
        found = judged(reading.module, unreadable, None, None, self._walk)
        return Report(_placed(each, starts, whole) for each in found)

    def _walk(self, module: Module, target: Target, ptx: Version) -> Walk:
        statements = self._statements
        if (
            statements is None
            or (statements.target, statements.ptx) != (target, ptx)
            or statements.known_right > _MOST_RIGHT
        ):
            statements = self._statements = Statements(target, ptx)
            self._known = {}
        before, self._known = self._known, {}
        return _WalkAgain(module, statements, before, self._known)


class _WalkAgain(Walk):
    """A walk that takes from an earlier one what was found in the bodies that are the same."""

    def __init__(
        self,
        module: Module,
        statements: Statements,
        before: Mapping[int, _Known],
        known: dict[int, _Known],
    ) -> None:
        super().__init__(module, statements.target, statements.ptx)
        self.statements = statements
        self._before = before
        self._known = known

    def body(self, function: Function, block: Block, names: Names) -> Used:
        """The body, as it was found before where nothing that it follows from is another."""
        known = self._before.get(id(function))
        words = frozenset(_WORD.findall(function.source_text or "")) if known is None else known.words
        outside = self._outside(words)
        context = self._context(function)
        if known is None or known.outside != outside | _needed(known.found, context):
            first, suggested = len(self.found), len(self.names.suggested)
            used = super().body(function, block, names)
            found = tuple(self.found[first:])
            asked = dict(islice(self.names.suggested.items(), suggested, None))
            known = _Known(function, words, outside | _needed(found, context), found, used, asked)
        else:
            self.found += known.found
            self.names.suggested |= known.suggested
        self._known[id(function)] = known
        return known.used

    def _outside(self, words: frozenset[str]) -> dict[str, object]:
        """What words stand for outside of functions."""
        names = self.names
        found: dict[str, object] = {word: names.variables[word] for word in words & names.variables.keys()}
        for word in words & self.functions.keys():
            function = self.functions[word]
            found[word] = (function.kind, function.linkage, function.returns, function.params)
        if names.registers or names.ranges:
            found[_REGISTERS] = (dict(names.registers), dict(names.ranges))
        return found

    def _context(self, function: Function) -> _Context:
        return _Context(
            0 if function.source is None else function.source.first_line,
            dict(self.names.suggested),
            frozenset({*self.names.names(), *self.functions}),
        )


def _needed(found: Iterable[Found], context: _Context) -> dict[str, object]:
    """What of its context a body's findings tell."""
    needed: dict[str, object] = {}
    for each in found:
        if each.code == "name/undeclared":
            needed[_SIMILAR] = (context.suggested, context.visible)
        if "line " in each.message:
            needed[_LINE] = context.line
    return needed


def _placed(found: Diagnostic, starts: Mapping[int, int], whole: Source) -> Diagnostic:
    """A finding in a piece as one in the whole text."""
    start = starts.get(id(found.source))
    if start is None or found.span is None:
        return found
    return replace(found, source=whole, span=Span(found.span.start + start, found.span.end + start))
