"""Instructions of a program by PTX line, source line, label, function and kind."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import did_you_mean, one_of
from warploom.emulator.program import Program, Step
from warploom.isa.model import effects
from warploom.isa.model.form import Form

Pcs = tuple[int, ...]
"""Program counters in ascending order."""
_CODE = "debug.location"


def _is_copy(form: Form) -> bool:
    moves = any(each.kind != "read" and not each.value for each in form.effects_of(effects.Access))
    return form.effect(effects.Issue) is not None and not form.multiplies and moves


def _accesses(form: Form, kind: str) -> bool:
    plain = not form.multiplies and not _is_copy(form)
    return plain and any(each.kind in (kind, "update") for each in form.effects_of(effects.Access))


_KINDS: Mapping[str, Callable[[Form], bool]] = {
    "load": lambda form: _accesses(form, "read"),
    "store": lambda form: _accesses(form, "write"),
    "copy": _is_copy,
    "multiply": lambda form: form.multiplies,
    "barrier": lambda form: form.effect(effects.Barrier) is not None,
    "wait": lambda form: form.effect(effects.Wait) is not None,
    "arrive": lambda form: form.effect(effects.Arrive) is not None,
    "fence": lambda form: form.effect(effects.Fence) is not None,
    "exit": lambda form: form.control in ("exit", "trap"),
}
KINDS = tuple(_KINDS)
"""Kinds of instructions. Their effects decide the kind.

An atomic update is a load and a store. A return from the kernel is an exit.
"""


class LineIndex:
    """Instructions of a program by their location.

    Use `program.analysis(LineIndex)`, which builds the index once.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._lines: dict[int, list[int]] = {}
        self._sources: dict[str, dict[int, list[int]]] = {}  # file -> line -> program counters
        self._labels: dict[str, set[int]] = {}
        for pc, step in enumerate(program.steps):
            if (line := program.line_of(pc)) > 0:
                self._lines.setdefault(line, []).append(pc)
            source = program.source_line(pc)
            for each in () if source is None else {(each.file, each.line) for each in source.chain()}:
                self._sources.setdefault(each[0], {}).setdefault(each[1], []).append(pc)
            for scope in step.scope.enclosing():
                for name, target in scope.labels.items():
                    self._labels.setdefault(name, set()).add(target)

    def at_line(self, line: int) -> Pcs:
        """Return the instructions of a PTX line, or of the next line with instructions.

        Errors: UsageError debug.location if no line from `line` on has an instruction.
        """
        return self._from(self._lines, line, "the PTX text")

    def at_source(self, file: str, line: int) -> Pcs:
        """Return the first instructions of a source line, or of the next line with instructions.

        `file` is a path of the line table, its last parts, or the name of the PTX text. A compiler may place the
        instructions of a line in several places, and the result has the first of each place. A line also has the
        instructions of the functions that were inlined there.

        Errors: UsageError debug.location for an unknown or ambiguous file, or if the file has no instruction from
            `line` on.
        """
        source = self.program.source
        if source is not None and _ends_with(source.name, file):
            return self.at_line(line)
        found = [each for each in self._sources if _ends_with(each, file)]
        if len(found) > 1:
            raise UsageError(f"several files are called '{file}': {one_of(sorted(found))}", code=_CODE)
        if not found:
            known = [PurePath(each).name for each in self._sources]
            hint = did_you_mean(PurePath(file).name, known, "'")
            raise UsageError(f"no instruction comes from a file '{file}'", code=_CODE, hint=hint)
        pcs = self._from(self._sources[found[0]], line, f"'{found[0]}'")
        return tuple(pc for pc in pcs if pc - 1 not in pcs)

    def at_label(self, name: str) -> Pcs:
        """Return the instructions at a label, one for each block that declares the label.

        Errors: UsageError debug.location for an unknown label.
        """
        found = self._labels.get(name)
        if found is None:
            raise UsageError(f"unknown label '{name}'", code=_CODE, hint=did_you_mean(name, self._labels, "'"))
        return tuple(sorted(pc for pc in found if pc < len(self.program.steps)))

    def at_function(self, name: str) -> Pcs:
        """Return the first instruction of the kernel, or of a device function that it may call.

        Errors: UsageError debug.location for an unknown function.
        """
        program = self.program
        entries = {program.kernel.name: program.entry} | {
            each.name: each.entry for each in program.functions.values()
        }  # fmt: skip
        if name not in entries:
            hint = did_you_mean(name, entries, "'")
            raise UsageError(f"the kernel does not call a function '{name}'", code=_CODE, hint=hint)
        return (entries[name],)

    def of_kind(self, kind: str) -> Pcs:
        """Return the instructions of a kind in `KINDS`, or those whose opcode begins with the words `kind`.

        Errors: UsageError debug.location if the program has no such instruction.
        """
        select = _KINDS.get(kind)
        if select is None:
            found = self._where(lambda step: f"{step.instruction.opcode}.".startswith(f"{kind}."))
        elif kind == "exit":
            found = self._where(lambda step: select(step.binding.form) or self._leaves_kernel(step))
        else:
            found = self._where(lambda step: select(step.binding.form))
        if not found:
            opcodes = {step.instruction.opcode for step in self.program.steps}
            hint = did_you_mean(kind, [*KINDS, *opcodes], "'") if select is None else ""
            raise UsageError(f"the program has no instruction of the kind '{kind}'", code=_CODE, hint=hint)
        return found

    def _leaves_kernel(self, step: Step) -> bool:
        return step.binding.form.control == "return" and step.function == self.program.kernel.name

    def _where(self, select: Callable[[Step], bool]) -> Pcs:
        return tuple(pc for pc, step in enumerate(self.program.steps) if select(step))

    @staticmethod
    def _from(lines: Mapping[int, Iterable[int]], line: int, where: str) -> Pcs:
        if line < 1:
            raise UsageError(f"the line is {line}; expected at least 1", code=_CODE)
        order = sorted(lines)
        position = bisect_left(order, line)
        if position == len(order):
            last = f"; the last line with an instruction is {order[-1]}" if order else ""
            raise UsageError(f"{where} has no instruction from line {line} on{last}", code=_CODE)
        return tuple(lines[order[position]])


def _ends_with(path: str, end: str) -> bool:
    """Return True if `end` has the last parts of a path, or the whole path."""
    parts = PurePath(end).parts
    return bool(parts) and PurePath(path).parts[-len(parts) :] == parts
