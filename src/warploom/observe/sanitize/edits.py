"""Edits of a kernel's text that fix a finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warploom.diagnostics import Diagnostic, Source, Span, UsageError
from warploom.emulator.program import Program
from warploom.isa.binding.bind import bind
from warploom.isa.binding.operands import span_of

_LISTED = 4  # most edits of a fix in a hint


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacement of the text `old` by the text `new`.

    `old` begins at a line and a column, which count from 1. It is empty for an insertion, and `new` is empty for a
    deletion. `where` is a phrase with the place, such as "before line 42".
    """

    line: int
    column: int
    old: str
    new: str
    where: str

    @property
    def data(self) -> dict[str, int | str]:
        """Edit as data of a diagnostic, which `apply_edits` accepts."""
        return {"line": self.line, "column": self.column, "replace": self.old, "with": self.new}

    @property
    def phrase(self) -> str:
        """Edit as an imperative phrase."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        if not old:
            return f"insert `{new}` {self.where}"
        return f"replace `{old}` with `{new}` {self.where}" if new else f"delete `{old}` {self.where}"


Fix = tuple[Edit, ...]
"""Edits that fix a finding together."""


def apply_edits(text: str, edits: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of a kernel after the edits of one fix of a finding.

    `edits` is an element of `data["fixes"]` of a finding. Each edit has the keys `line`, `column`, `replace` and
    `with`. The positions refer to the text before all edits.

    Errors: UsageError sanitize.edit if the text at the position of an edit differs from `replace`.
    """
    source = Source("", text)
    changes: list[tuple[int, int, str]] = []
    for each in edits:
        line, column, old = each["line"], each["column"], each["replace"]
        start = source.line_start(line) + column - 1 if line <= text.count("\n") + 1 else len(text)
        if not text.startswith(old, start):
            found = text[start : start + len(old)]
            message = f"line {line}, column {column} contains {found!r}; the edit expects {old!r}"
            raise UsageError(message, code="sanitize.edit")
        changes.append((start, start + len(old), each["with"]))
    # The stable sort keeps the order of several insertions at one position.
    for start, end, new in sorted(changes, key=lambda change: change[:2])[::-1]:
        text = text[:start] + new + text[end:]
    return text


def insert_before(program: Program, pc: int, text: str, where: str = "") -> Fix:
    """Return the insertion of statements before an instruction, or () if the kernel has no text."""
    span = program.span_of(pc)
    if span is None or program.source is None:
        return ()
    indent = _indent(program, span)
    new = f"{text} " if indent is None else f"{text}\n{indent}"
    return _edit(program, pc, Span(span.start, span.start), new, where or f"before {program.place_of(pc)}")


def insert_after(program: Program, pc: int, text: str) -> Fix:
    """Return the insertion of statements after an instruction, or () if the kernel has no text."""
    span = program.span_of(pc)
    if span is None or program.source is None:
        return ()
    indent = _indent(program, span)
    new = f" {text}" if indent is None else f"\n{indent}{text}"
    return _edit(program, pc, Span(span.end, span.end), new, f"after {program.place_of(pc)}")


def insert_guard(program: Program, pc: int, guard: str) -> Fix:
    """Return the insertion of a guard before an instruction, or () if the kernel has no text."""
    span = program.span_of(pc)
    place = f"before {program.place_of(pc)}"
    return () if span is None else _edit(program, pc, Span(span.start, span.start), f"@{guard} ", place)


def delete(program: Program, pc: int) -> Fix:
    """Return the deletion of an instruction, or () if the kernel has no text."""
    return _edit(program, pc, program.span_of(pc), "")


def replace_operand(program: Program, pc: int, operand: str, new: str) -> Fix:
    """Return the replacement of the operand with the name `operand`, or () if the instruction lacks it."""
    step = program.steps[pc]
    bound = step.binding.operands.get(operand)
    span = None if bound is None else span_of(step.instruction, ("operand", *bound.at))
    return _edit(program, pc, span, new)


def replace_word(program: Program, pc: int, old: str, new: str) -> Fix:
    """Return the replacement of a word of the opcode, or () if the opcode lacks it or becomes illegal.

    An empty `new` removes the word.
    """
    instruction = program.steps[pc].instruction
    if old not in instruction.words or not instruction.word_spans:
        return ()
    index = instruction.words.index(old)
    opcode = ".".join((*instruction.words[:index], *filter(None, [new]), *instruction.words[index + 1 :]))
    if isinstance(bind(replace(instruction, opcode=opcode)), Diagnostic):
        return ()
    span = instruction.word_spans[index]
    return _edit(program, pc, span if new else Span(span.start - 1, span.end), new)


def delete_guard(program: Program, pc: int) -> Fix:
    """Return the deletion of the guard of an instruction, or () if the instruction has none."""
    instruction = program.steps[pc].instruction
    return () if instruction.guard is None else _edit(program, pc, span_of(instruction, ("guard",)), "")


def operand_text(program: Program, pc: int, operand: str) -> str:
    """Return the text of the operand with the name `operand`, or "" if it is unknown."""
    step = program.steps[pc]
    bound = step.binding.operands.get(operand)
    span = None if bound is None else span_of(step.instruction, ("operand", *bound.at))
    return "" if span is None or program.source is None else program.source.text[span.start : span.end]


def combine(fixes: Sequence[Sequence[Fix]]) -> tuple[Fix, ...]:
    """Return the fixes of several conflicts with one cause.

    `fixes` has the alternative fixes of each conflict. Fix k of the result consists of fix k of every conflict.
    """
    return tuple(tuple(dict.fromkeys(edit for fix in each for edit in fix)) for each in zip(*fixes, strict=False))


def with_fixes(found: Diagnostic, fixes: Iterable[Fix], who: str = "") -> Diagnostic:
    """Return a finding with alternative fixes in its hint and its data. `who` completes the hint."""
    fixes = tuple(filter(None, fixes))
    if not fixes:
        return found
    phrases = "; or ".join(map(_phrase, fixes))
    data = {**(found.data or {}), "fixes": [[each.data for each in fix] for fix in fixes]}
    return replace(found, hint=f"{found.hint}; {phrases}{who}", data=data)


def _phrase(fix: Fix) -> str:
    """Return a phrase with the first edits of a fix."""
    more = f" and {len(fix) - _LISTED} more" if len(fix) > _LISTED else ""
    return " and ".join(each.phrase for each in fix[:_LISTED]) + more


def _edit(program: Program, pc: int, span: Span | None, new: str, where: str = "") -> Fix:
    source = program.source
    if span is None or source is None or source.text[span.start : span.end] == new:
        return ()
    line, column = source.position(span.start)
    return (Edit(line, column, source.text[span.start : span.end], new, where or f"in {program.place_of(pc)}"),)


def _indent(program: Program, span: Span) -> str | None:
    """Return the blanks before a statement in its line, or None if another statement precedes it."""
    assert program.source is not None
    text = program.source.text
    before = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    return before if not before.strip() else None
