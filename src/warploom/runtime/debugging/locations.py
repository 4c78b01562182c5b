"""Locations that a user names, and the instructions that may follow an instruction."""

from __future__ import annotations

from warploom.diagnostics import UsageError
from warploom.emulator.blocks import names_in
from warploom.emulator.program import Program
from warploom.observe.debug.lines import LineIndex
from warploom.ptx.flow import EXIT

_CODE = "debug.location"


def find_instructions(program: Program, where: str | int) -> frozenset[int]:
    """Return the program counters of the instructions at a location.

    `where` is a line of the PTX text, `FILE:LINE`, `kind KIND`, `pc NUMBER`, a label or the name of a function.
    `LineIndex` describes them.

    Errors: UsageError debug.location.
    """
    index, text = program.analysis(LineIndex), str(where).strip()
    kind, _, rest = text.partition(" ")
    file, _, line = text.rpartition(":")
    if text.isdecimal():
        return frozenset(index.at_line(int(text)))
    if kind == "pc" and rest.isdecimal():
        if int(rest) >= len(program.steps):
            raise UsageError(f"there is no instruction {rest}; the last is {len(program.steps) - 1}", code=_CODE)
        return frozenset({int(rest)})
    if kind == "kind" and rest:
        return frozenset(index.of_kind(rest.strip()))
    if file and line.isdecimal():
        return frozenset(index.at_source(file, int(line)))
    entries = {program.kernel.name, *program.functions}
    return frozenset(index.at_function(text) if text in entries else index.at_label(text))


def everywhere(program: Program) -> frozenset[int]:
    """Return all instructions."""
    return frozenset(range(len(program.steps)))


def exits(program: Program) -> frozenset[int]:
    """Return the instructions at which lanes may leave the kernel."""
    return frozenset(pc for pc, following in enumerate(program.following) if EXIT in following)


def line_keys(program: Program) -> list[object]:
    """Return the source line of each instruction, as a value that can be compared.

    Without a source line, it is the line of the PTX text.
    """
    lines = map(program.source_line, range(len(program.steps)))
    return [program.line_of(pc) if line is None else (line.file, line.line) for pc, line in enumerate(lines)]


def multiplied(program: Program) -> frozenset[str]:
    """Return the names of the registers of matrix multiplications, whose values may be cached."""
    steps = (step for step in program.steps if step.binding.form.multiplies)
    return frozenset(name for step in steps for name in names_in(*step.instruction.operands))


def waits(program: Program) -> frozenset[int]:
    """Return the instructions at which warps may have to wait for others."""
    return frozenset(pc for pc, step in enumerate(program.steps) if step.binding.form.suspends)


def following(program: Program, pc: int, calls: tuple[int, ...], *, into: bool) -> frozenset[int]:
    """Return the instructions that a lane may come to after the instruction at `pc`.

    `calls` are the open calls of the lane. `into` is True to include the instructions of called functions.
    """
    step = program.steps[pc]
    found = {after for after in program.following[pc] if after != EXIT}
    control = step.binding.form.control
    if control == "call" and into:
        named = {*names_in(*step.instruction.operands)} & program.functions.keys()
        found.update(program.functions[name].entry for name in named or program.functions)
    elif control == "return" and calls:
        found.add(calls[-1] + 1)
    return frozenset(found)


def beyond_line(program: Program, pc: int, calls: tuple[int, ...], *, into: bool) -> frozenset[int]:
    """Return the first instructions of other lines that a lane may come to from the instruction at `pc`.

    The result contains the instructions of called functions if `into` is True, and those after open calls.
    """
    keys = program.analysis(line_keys)
    found: set[int] = set()
    seen, pending = {pc}, [pc]
    while pending:
        here = pending.pop()
        inner = {after for after in program.following[here] if after != EXIT}
        found |= following(program, here, calls, into=into) - inner
        found.update(after for after in inner if keys[after] != keys[pc])
        fresh = inner - found - seen
        seen |= fresh
        pending += fresh
    return frozenset(found)


def line_starts(program: Program) -> frozenset[int]:
    """Return the instructions that a lane may come to from another line, or at the start of the kernel."""
    keys, before = program.analysis(line_keys), program.analysis(all_preceding)
    found = {pc for pc, each in enumerate(before) if any(keys[other] != keys[pc] for other in each)}
    return frozenset(found | {program.entry})


def all_preceding(program: Program) -> list[frozenset[int]]:
    """Return, for each program counter, the instructions that a lane may execute directly before.

    The first instruction of a function follows each of its calls, and the instruction after a call follows the
    function's returns.
    """
    found: list[set[int]] = [set() for _ in program.steps]
    calls = [pc for pc, step in enumerate(program.steps) if step.binding.form.control == "call"]
    for pc, step in enumerate(program.steps):
        after = following(program, pc, (), into=True)
        if step.binding.form.control == "return" and step.function != program.kernel.name:
            after |= {call + 1 for call in calls}
        for each in after:
            if each < len(found):
                found[each].add(pc)
    return [frozenset(each) for each in found]
