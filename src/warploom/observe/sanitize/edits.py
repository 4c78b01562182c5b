"""Edits of the instructions of a kernel.

The functions return a fix of one edit, or () if the kernel has no text or the edit does not apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warploom.diagnostics import Diagnostic, Span
from warploom.diagnostics.edits import Edit, Fix
from warploom.emulator.program import Program
from warploom.isa.binding.bind import bind
from warploom.isa.binding.operands import span_of


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


def instruction_text(program: Program, pc: int) -> str:
    """Return the text of an instruction, or "" if the kernel has no text."""
    span = program.span_of(pc)
    return "" if span is None or program.source is None else program.source.text[span.start : span.end]


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
    return tuple(tuple(edit for fix in each for edit in fix) for each in zip(*fixes, strict=False))


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
