"""Incremental checking: after an edit, only what may have other findings is checked again.

The findings of a body depend on its text, the target, the PTX version, and the declarations outside that its names
refer to. They are stored with these declarations. The findings of one instruction depend on the instruction and on
what its names refer to. In a changed body, they are reused if all declarations in the body are the same.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import warploom.isa  # noqa: F401  # pyright: ignore[reportUnusedImport] -- declares every form
from warploom.check.bodies import Body, Facts, FunctionUse, Step
from warploom.check.instruction_checker import InstructionChecker
from warploom.check.module_checker import TABLES, ModuleChecker, check_parsed
from warploom.check.names import Names
from warploom.check.report import Report
from warploom.diagnostics import Diagnostic, Source, Span
from warploom.isa.model.availability import Target, Version
from warploom.ptx import Block, Function, Instruction, Label, Module, Variable
from warploom.ptx.incremental_parse import ParsedText

_WORD = re.compile(r"[A-Za-z_$%][\w$]*", re.ASCII)
_MOST_CORRECT = 200_000
"""Correct instructions that are remembered."""

_REGISTERS, _PARAMETERS, _SIMILAR, _LINE = "(registers)", "(parameters)", "(similar)", "(line)"
"""Keys that are not words of a text."""

_UNDECLARED = "name/undeclared"


@dataclass(frozen=True, slots=True)
class _InstructionResults:
    """Results for the instructions of a body, by their identity.

    `correct` are those without findings; `found` holds the findings of the others and their offsets. The results are
    valid while the body has the same `declarations` and its `words` refer to the same objects `outside`. `facts` are
    the facts of the body checks.
    """

    declarations: Sequence[object]
    words: frozenset[str]
    outside: Mapping[str, object]
    correct: set[int]
    found: dict[int, tuple[int, Sequence[Diagnostic]]]
    facts: Facts


@dataclass(frozen=True, slots=True)
class _BodyResults:
    """Results for the body of a function, and the `context` on which its findings depend.

    `suggested` holds the similar names that were searched for.
    """

    function: Function
    context: Mapping[str, object]
    found: tuple[Diagnostic, ...]
    use: FunctionUse
    suggested: Mapping[str, str]
    instructions: _InstructionResults


class IncrementalChecker:
    """Checker of the versions of one text. Each report equals that of `check`."""

    def __init__(self, name: str = "<ptx>") -> None:
        self.name = name
        self._instructions: InstructionChecker | None = None
        self._results: dict[int, _BodyResults] = {}

    def report(self, parsed: ParsedText) -> Report:
        """Check the next version of the text."""
        whole = Source(self.name, parsed.text)
        syntax_errors = sorted(
            (replace(error, source=whole) for error in parsed.errors),
            key=lambda error: error.span.start if error.span else 0,
        )
        starts: dict[int, int] = {}
        line = 1
        for piece, start in zip(parsed.pieces, parsed.starts, strict=True):
            starts[id(piece.source)] = start
            piece.source.first_line = line
            line += piece.source.text.count("\n")
        found = check_parsed(parsed.module, syntax_errors, None, None, self._module_checker)
        return Report(_placed(each, starts, whole) for each in found)

    def _module_checker(self, module: Module, target: Target, ptx: Version) -> ModuleChecker:
        instructions = self._instructions
        if (
            instructions is None
            or (instructions.target, instructions.ptx) != (target, ptx)
            or instructions.known_correct > _MOST_CORRECT
        ):
            instructions = self._instructions = InstructionChecker(target, ptx)
            self._results = {}
        before, self._results = self._results, {}
        return _ReusingChecker(module, instructions, before, self._results)


class _ReusingChecker(ModuleChecker):
    """Checker of a module that reuses results of an earlier version, and stores its own in `results`."""

    def __init__(
        self,
        module: Module,
        instructions: InstructionChecker,
        before: Mapping[int, _BodyResults],
        results: dict[int, _BodyResults],
    ) -> None:
        super().__init__(module, instructions.target, instructions.ptx)
        self.instructions = instructions
        self._before = before
        self._results = results
        self._by_name = {known.function.name: known.instructions for known in before.values()}
        self._reused: _InstructionResults | None = None
        self._found: dict[int, tuple[int, Sequence[Diagnostic]]] = {}
        self._new: list[Instruction] = []
        self._facts = Facts()

    def check_body(self, function: Function, block: Block, names: Names) -> FunctionUse:
        """Check a body, or reuse its earlier results if its context is the same."""
        known = self._before.get(id(function))
        earlier = self._by_name.get(function.name) if known is None else known.instructions
        parameters: dict[str, object] = {
            name: (names.role(name), variable) for name, variable in names.variables.items()
        }
        parameters |= names.registers
        outside = {} if earlier is None else self._outside(earlier.words, parameters)
        same_outside = earlier is not None and earlier.outside == outside
        searched = len(self.names.suggested)
        if (
            known is None
            or not same_outside
            or known.context != self._context(known.found, function, searched)
        ):
            first = len(self.diagnostics)
            self._reused = earlier if same_outside else None
            use, results = self._check_changed_body(function, block, names, parameters)
            found = tuple(self.diagnostics[first:])
            suggested = dict(islice(self.names.suggested.items(), searched, None))
            context = self._context(found, function, searched)
            known = _BodyResults(function, context, found, use, suggested, results)
        else:
            self.diagnostics += known.found
            self.names.suggested |= known.suggested
        self._results[id(function)] = known
        return known.use

    def _check_changed_body(
        self, function: Function, block: Block, names: Names, parameters: Mapping[str, object]
    ) -> tuple[FunctionUse, _InstructionResults]:
        declarations = _declarations(block)
        reused = self._reused
        if reused is not None and not (
            len(reused.declarations) == len(declarations)
            and all(map(operator.is_, reused.declarations, declarations))
        ):
            reused = self._reused = None
        self._found, self._new, self._facts = {}, [], Facts()
        self.correct = set() if reused is None else {*reused.correct}
        use = super().check_body(function, block, names)
        if reused is None:
            words = frozenset(_WORD.findall(block.source_text or ""))
        else:
            texts = (instruction.source_text or "" for instruction in self._new)
            words = reused.words.union(*(_WORD.findall(text) for text in texts))
            self.correct.intersection_update(map(id, block.instructions()))
        outside = self._outside(words, parameters)
        results = _InstructionResults(declarations, words, outside, self.correct, self._found, self._facts)
        return use, results

    def new_body(self, function: Function) -> Body:
        """Return the body of a function with the facts of its earlier version."""
        earlier = Facts() if self._reused is None else self._reused.facts
        return Body(function, self.target, self.ptx, earlier, self._facts)

    def check_instruction(
        self, instruction: Instruction, names: Names, shapes: dict[int, int], body: Body
    ) -> Sequence[Diagnostic]:
        """Check an instruction, or reuse its earlier findings."""
        key = id(instruction)
        start = 0 if instruction.origin is None else instruction.origin[1]
        known = None if self._reused is None else self._reused.found.get(key)
        if known is None:
            self._new.append(instruction)
            found = super().check_instruction(instruction, names, shapes, body)
            # The suggestion of a similar name depends on all earlier searches, so it is not reused.
            if any(each.code == _UNDECLARED for each in found):
                return found
        else:
            body.steps.append(Step(instruction, names))
            found = [_moved(each, instruction.source, start - known[0]) for each in known[1]]
            self.diagnostics += found
        if found:
            self._found[key] = start, found
        else:
            self.correct.add(key)
        return found

    def _outside(self, words: frozenset[str], parameters: Mapping[str, object]) -> dict[str, object]:
        """Return the objects outside of a body that words refer to."""
        names = self.names
        found: dict[str, object] = {word: names.variables[word] for word in words & names.variables.keys()}
        for word in words & self.functions.keys():
            function = self.functions[word]
            found[word] = (function.kind, function.linkage, function.returns, function.params)
        if names.registers or names.ranges:
            found[_REGISTERS] = (dict(names.registers), dict(names.ranges))
        found[_PARAMETERS] = {word: parameters[word] for word in words & parameters.keys()}
        return found

    def _context(self, found: Iterable[Diagnostic], function: Function, searched: int) -> dict[str, object]:
        """Return the context on which the findings of a body depend.

        An undeclared name depends on the visible names and on the similar names that were `searched` before. Other
        messages contain line numbers, which depend on the first line of the function.
        """
        context: dict[str, object] = {}
        for each in found:
            if each.code == _UNDECLARED and _SIMILAR not in context:
                visible = frozenset({*self.names.names(), *self.functions})
                context[_SIMILAR] = (dict(islice(self.names.suggested.items(), searched)), visible)
            if "line " in each.message:
                context[_LINE] = 0 if function.source is None else function.source.first_line
        return context


def _declarations(block: Block) -> list[object]:
    """Return the declarations of a block in order: braces, variables, labels, tables with labels."""
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
            found += _declarations(statement)
        elif statement.name in TABLES:
            found += (statement, label)
        label = ""
    return [*found, "}"]


def _placed(found: Diagnostic, starts: Mapping[int, int], whole: Source) -> Diagnostic:
    """Return a finding in a piece as a finding in the whole text."""
    start = starts.get(id(found.source))
    return found if start is None else _moved(found, whole, start)


def _moved(found: Diagnostic, source: Source | None, shift: int) -> Diagnostic:
    if found.span is None:
        return found
    return replace(found, source=source, span=Span(found.span.start + shift, found.span.end + shift))
