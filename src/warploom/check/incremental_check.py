"""Judging a text again after an edit: a body is judged anew where it, or what it names, is another.

A body's findings follow from its text, from the target and the PTX version, and from what the names in it are
declared as outside. So they are kept with what those were. What is found of one instruction follows from the
instruction and from what names mean where it stands: in a body that is another, it is kept where all that declares
names is the same.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import warploom.isa  # noqa: F401  # pyright: ignore[reportUnusedImport] -- declares every form
from warploom.check.bodies import Body, Facts, Step, Used
from warploom.check.found import Found
from warploom.check.functions import TABLES, Walk
from warploom.check.names import Names
from warploom.check.report import Report
from warploom.check.statements import Statements
from warploom.check.texts import judged
from warploom.diagnostics import Diagnostic, Source, Span
from warploom.isa.model.availability import Target, Version
from warploom.ptx import Block, Function, Instruction, Label, Module, Variable
from warploom.ptx.incremental_parse import ParsedText

_WORD = re.compile(r"[A-Za-z_$%][\w$]*", re.ASCII)
_MOST_RIGHT = 200_000
"""Instructions that are known to be right, beyond which they are forgotten."""

_REGISTERS, _GIVEN, _SIMILAR, _LINE = "(registers)", "(given)", "(similar)", "(line)"
"""What is no word of a text."""

_UNDECLARED = "name/undeclared"


@dataclass(frozen=True, slots=True)
class _Context:
    """Where a body stands: the line, the similar names that were looked for before, and all names there are."""

    line: int
    suggested: Mapping[str, str]
    visible: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was found of instructions, by their identity: those that are `right`, and what is wrong with others, with
    where each began. It holds where what the body `declares` is the same, and what its `words` stand for `outside`.
    `facts` are those of its checks.
    """

    declares: Sequence[object]
    words: frozenset[str]
    outside: Mapping[str, object]
    right: set[int]
    found: dict[int, tuple[int, Sequence[Found]]]
    facts: Facts


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found in a body, and what that follows from beside its text: what of its context it `needed`,
    and what its words stood for outside. `suggested` are the similar names that were looked for.
    """

    function: Function
    needed: Mapping[str, object]
    found: tuple[Found, ...]
    used: Used
    suggested: Mapping[str, str]
    judged: _Judged


class Rechecker:
    """Judges the versions of one text, one after the other, as `check` judges each."""

    def __init__(self, name: str = "<ptx>") -> None:
        self.name = name
        self._statements: Statements | None = None
        self._known: dict[int, _Known] = {}

    def report(self, reading: ParsedText) -> Report:
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
    """A walk that takes from an earlier one what was found in the bodies that are the same, and of the instructions
    that are.
    """

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
        self._by_name = {known.function.name: known.judged for known in before.values()}
        self._kept: _Judged | None = None
        self._found: dict[int, tuple[int, Sequence[Found]]] = {}
        self._new: list[Instruction] = []
        self._facts = Facts()

    def body(self, function: Function, block: Block, names: Names) -> Used:
        """The body, as it was found before where nothing that it follows from is another."""
        known = self._before.get(id(function))
        judged = self._by_name.get(function.name) if known is None else known.judged
        given = _given(names)
        outside = {} if judged is None else self._outside(judged.words, given)
        context = self._context(function)
        if known is None or known.judged.outside != outside or known.needed != _needed(known.found, context):
            first, suggested = len(self.found), len(self.names.suggested)
            kept = judged if judged is not None and judged.outside == outside else None
            used, judged = self._judge(function, block, names, given, kept)
            found = tuple(self.found[first:])
            asked = dict(islice(self.names.suggested.items(), suggested, None))
            known = _Known(function, _needed(found, context), found, used, asked, judged)
        else:
            self.found += known.found
            self.names.suggested |= known.suggested
        self._known[id(function)] = known
        return known.used

    def _judge(
        self,
        function: Function,
        block: Block,
        names: Names,
        given: Mapping[str, object],
        before: _Judged | None,
    ) -> tuple[Used, _Judged]:
        """Judge a body. Of an earlier version, whose words mean the same outside, what still holds is kept."""
        declares = _declared(block)
        self._kept = before if before is not None and _are_same(before.declares, declares) else None
        self._found, self._new, self._facts = {}, [], Facts()
        self.right = set() if self._kept is None else {*self._kept.right}
        used = super().body(function, block, names)
        if self._kept is None:
            words = frozenset(_WORD.findall(block.source_text or ""))
        else:
            texts = (instruction.source_text or "" for instruction in self._new)
            words = self._kept.words.union(*(_WORD.findall(text) for text in texts))
            self.right.intersection_update(map(id, block.instructions()))
        outside = self._outside(words, given)
        return used, _Judged(declares, words, outside, self.right, self._found, self._facts)

    def begun(self, function: Function) -> Body:
        """The body of a function, with what is known of an earlier version of it."""
        earlier = Facts() if self._kept is None else self._kept.facts
        return Body(function, self.target, self.ptx, earlier, self._facts)

    def instruction(
        self, instruction: Instruction, names: Names, shapes: dict[int, int], body: Body
    ) -> Sequence[Found]:
        """An instruction; what is wrong with it, as it was found before where that still holds."""
        key = id(instruction)
        start = 0 if instruction.origin is None else instruction.origin[1]
        known = None if self._kept is None else self._kept.found.get(key)
        if known is None:
            self._new.append(instruction)
            found = super().instruction(instruction, names, shapes, body)
            # Which name is similar to one that is not declared, all the names tell that were looked for before.
            if any(each.code == _UNDECLARED for each in found):
                return found
        else:
            body.steps.append(Step(instruction, names))
            found = [_moved(each, instruction.source, start - known[0]) for each in known[1]]
            self.found += found
        if found:
            self._found[key] = start, found
        else:
            self.right.add(key)
        return found

    def _outside(self, words: frozenset[str], given: Mapping[str, object]) -> dict[str, object]:
        """What words stand for outside of a body to which names are `given`."""
        names = self.names
        found: dict[str, object] = {word: names.variables[word] for word in words & names.variables.keys()}
        for word in words & self.functions.keys():
            function = self.functions[word]
            found[word] = (function.kind, function.linkage, function.returns, function.params)
        if names.registers or names.ranges:
            found[_REGISTERS] = (dict(names.registers), dict(names.ranges))
        found[_GIVEN] = {word: given[word] for word in words & given.keys()}
        return found

    def _context(self, function: Function) -> _Context:
        return _Context(
            0 if function.source is None else function.source.first_line,
            dict(self.names.suggested),
            frozenset({*self.names.names(), *self.functions}),
        )


def _given(names: Names) -> dict[str, object]:
    """The parameters of a function, and what they are."""
    found: dict[str, object] = {name: (names.role(name), each) for name, each in names.variables.items()}
    return found | dict(names.registers)


def _declared(block: Block) -> list[object]:
    """What gives names their meaning in a block, in its order: braces, declarations, labels and tables with the
    labels that they are named by.
    """
    found: list[object] = ["{"]
    label = ""
    for statement in block.statements:
        if isinstance(statement, Instruction):
            label = ""
            continue
        if isinstance(statement, Label):
            found.append(statement)
            label = statement.name
            continue
        if isinstance(statement, Variable):
            found.append(statement)
        elif isinstance(statement, Block):
            found += _declared(statement)
        elif statement.name in TABLES:
            found += (statement, label)
        label = ""
    return [*found, "}"]


def _are_same(some: Sequence[object], others: Sequence[object]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))


def _needed(found: Iterable[Found], context: _Context) -> dict[str, object]:
    """What of its context a body's findings tell."""
    needed: dict[str, object] = {}
    for each in found:
        if each.code == _UNDECLARED:
            needed[_SIMILAR] = (context.suggested, context.visible)
        if "line " in each.message:
            needed[_LINE] = context.line
    return needed


def _placed(found: Diagnostic, starts: Mapping[int, int], whole: Source) -> Diagnostic:
    """A finding in a piece as one in the whole text."""
    start = starts.get(id(found.source))
    return found if start is None else _moved(found, whole, start)


def _moved(found: Diagnostic, source: Source | None, by: int) -> Diagnostic:
    if found.span is None:
        return found
    return replace(found, source=source, span=Span(found.span.start + by, found.span.end + by))
