"""Incremental check: after an edit, only code whose diagnostics may have changed is checked again."""

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import warploom.isa  # noqa: F401  # pyright: ignore[reportUnusedImport] -- declares every form
from warploom.check.body import Body, FlowResults, Step
from warploom.check.cta_groups import FunctionUse
from warploom.check.instruction_checker import InstructionChecker
from warploom.check.module_checker import TABLES, ModuleChecker, check_parsed
from warploom.check.names import Names
from warploom.check.report import Report
from warploom.diagnostics import Diagnostic, Source
from warploom.isa.model.availability import Target, Version
from warploom.ptx import Block, Function, Instruction, Label, Module, Variable
from warploom.ptx.incremental_parse import ParsedText, moved

_WORD = re.compile(r"[A-Za-z_$%][\w$]*", re.ASCII)
_MOST_CORRECT = 200_000
"""Number of remembered correct instructions after which the checker forgets all of them."""

_REGISTERS, _PARAMETERS, _SIMILAR, _LINE = "(registers)", "(parameters)", "(similar)", "(line)"
"""Keys of contexts that cannot be words of a text."""

_UNDECLARED = "name/undeclared"


@dataclass(slots=True)
class _Results:
    """Results for the body of a function."""

    function: Function
    declarations: Sequence[object]  # in the body
    correct: set[int]  # identities of the instructions without diagnostics
    use: FunctionUse = field(default_factory=FunctionUse)
    found: tuple[Diagnostic, ...] = ()  # for the whole body
    context: Mapping[str, object] = field(default_factory=dict[str, object])
    words: frozenset[str] = frozenset()  # in the body
    outside: Mapping[str, object] = field(default_factory=dict[str, object])  # declarations outside of the body
    suggested: Mapping[str, str] = field(default_factory=dict[str, str])  # similar name of each undeclared name
    # Offset in the text and diagnostics of each other instruction, by `id`.
    instruction_findings: dict[int, tuple[int, Sequence[Diagnostic]]] = field(
        default_factory=dict[int, tuple[int, Sequence[Diagnostic]]]
    )
    flow: FlowResults = field(default_factory=FlowResults)


class IncrementalChecker:
    """Checker of successive versions of one text. The reports equal the reports of `check`."""

    def __init__(self, name: str = "<ptx>") -> None:
        self.name = name
        self._instructions: InstructionChecker | None = None
        self._results: dict[int, _Results] = {}

    def report(self, parsed: ParsedText) -> Report:
        """Check the next version of the text and return the report.

        `parsed` shares the unchanged parts with the earlier version.
        """
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
        # A diagnostic for a part of the text moves to its place in the whole text.
        return Report(
            each if (start := starts.get(id(each.source))) is None else moved(each, whole, start) for each in found
        )

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
    """Checker of one version of a module that reuses results of the version before."""

    def __init__(
        self, module: Module, instructions: InstructionChecker, before: Mapping[int, _Results],
        results: dict[int, _Results],
    ) -> None:  # fmt: skip
        super().__init__(module, instructions.target, instructions.ptx)
        self.instructions = instructions
        self._before = before
        self._results = results
        self._by_name = {known.function.name: known for known in before.values()}
        self._reused: _Results | None = None
        self._new: list[Instruction] = []

    def check_body(self, function: Function, block: Block, names: Names) -> FunctionUse:
        """Check a body in the scope `names`, or reuse the results of an earlier check."""
        known = self._before.get(id(function))
        earlier = known or self._by_name.get(function.name)
        parameters: dict[str, object] = {
            name: (names.role(name), variable) for name, variable in names.variables.items()
        }
        parameters |= names.registers
        same_outside = earlier is not None and earlier.outside == self._outside(earlier.words, parameters)
        searched = len(self.names.suggested)
        context = {} if known is None else self._context(known.found, function, searched)
        if known is not None and same_outside and known.context == context:
            self.diagnostics += known.found
            self.names.suggested |= known.suggested
            self._results[id(function)] = known
            return known.use
        declarations = _declarations(block)
        self._reused = None
        if same_outside and earlier is not None and len(earlier.declarations) == len(declarations):
            self._reused = earlier if all(map(operator.is_, earlier.declarations, declarations)) else None
        correct = set[int]() if self._reused is None else {*self._reused.correct}
        results = self._results[id(function)] = self._current = _Results(function, declarations, correct)
        self.correct = correct
        self._new = []
        first = len(self.diagnostics)
        results.use = super().check_body(function, block, names)
        results.found = tuple(self.diagnostics[first:])
        results.context = self._context(results.found, function, searched)
        results.suggested = dict(islice(self.names.suggested.items(), searched, None))
        if self._reused is None:
            results.words = frozenset(_WORD.findall(block.source_text or ""))
        else:
            texts = (instruction.source_text or "" for instruction in self._new)
            results.words = self._reused.words.union(*(_WORD.findall(text) for text in texts))
            correct.intersection_update(map(id, block.instructions()))
        results.outside = self._outside(results.words, parameters)
        return results.use

    def new_body(self, function: Function) -> Body:
        """Return an empty body that can reuse the flow results of the function's earlier version."""
        earlier = FlowResults() if self._reused is None else self._reused.flow
        return Body(function, self.target, self.ptx, earlier, self._current.flow)

    def check_instruction(
        self, instruction: Instruction, names: Names, shapes: dict[int, int], body: Body
    ) -> Sequence[Diagnostic]:
        """Add an instruction to the body, and return its new or reused diagnostics."""
        key = id(instruction)
        start = 0 if instruction.origin is None else instruction.origin[1]
        known = None if self._reused is None else self._reused.instruction_findings.get(key)
        if known is None:
            self._new.append(instruction)
            found = super().check_instruction(instruction, names, shapes, body)
            # The suggestion of a similar name depends on all earlier searches, so it is not reused.
            if any(each.code == _UNDECLARED for each in found):
                return found
        else:
            body.steps.append(Step(instruction, names))
            found = [moved(each, instruction.source, start - known[0]) for each in known[1]]
            self.diagnostics += found
        if found:
            self._current.instruction_findings[key] = start, found
        else:
            self.correct.add(key)
        return found

    def _outside(self, words: frozenset[str], parameters: Mapping[str, object]) -> dict[str, object]:
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
        """Return the context on which the diagnostics `found` for a body depend.

        `searched` is the number of similar names that were found before the check of the body.
        """
        context: dict[str, object] = {}
        for each in found:
            # The hint for an undeclared name depends on earlier searches and on the visible names.
            if each.code == _UNDECLARED and _SIMILAR not in context:
                visible = frozenset({*self.names.names(), *self.functions})
                context[_SIMILAR] = (dict(islice(self.names.suggested.items(), searched)), visible)
            # Such a message depends on the function's first line.
            if "line " in each.message:
                context[_LINE] = 0 if function.source is None else function.source.first_line
        return context


def _declarations(block: Block) -> list[object]:
    """Return the declarations of a block in order: braces, variables, labels, and tables with labels."""
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
