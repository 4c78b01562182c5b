"""Verdicts of `check` on many short PTX texts, which are parsed once as one module.

    checker = Checker()
    checker([Probe("ret;"), Probe("ret 1;")], "sm_90a", (9, 1))      # -> [True, False]

A probe is a short PTX text.
"""

from collections.abc import Sequence

from warploom.check.header import find_target
from warploom.check.instruction_checker import InstructionChecker
from warploom.check.module_checker import ModuleChecker
from warploom.check.names import Names
from warploom.diagnostics import Diagnostic, Severity
from warploom.isa.binding.operands import Problem
from warploom.isa.model.form import Match
from warploom.ptx import Instruction, Module, parse_readable
from warploom_lab.ptxas.points import Version
from warploom_lab.ptxas.probe import Probe, write_module

_ANY = ("sm_90a", (9, 1))


class _WithoutExplanations(InstructionChecker):
    """Checker of instructions that omits explanations and hints to save time."""

    def explain(self, instruction: Instruction, names: Names) -> Problem:
        """Return a problem without an explanation."""
        return Problem("isa.unknown", "no form has this opcode")

    def with_hint(self, match: Match, instruction: Instruction, names: Names, problems: list[Problem]) -> list[Problem]:
        """Return the problems unchanged."""
        return problems


class Checker:
    """Function from PTX texts to verdicts of `check`. Each text is judged as if it were alone."""

    def __init__(self) -> None:
        self._probes: tuple[Probe, ...] = ()
        self._unreadable: frozenset[int] = frozenset()
        self._module: Module | None = None
        self._owners: tuple[int, ...] = ()

    def __call__(self, probes: Sequence[Probe], target: str, version: Version) -> list[bool]:
        """Return True for each PTX text in `probes` that `check` accepts."""
        if tuple(probes) != self._probes:
            self._read(tuple(probes))
        refused = set(self._unreadable)
        if self._module is not None:
            checker = ModuleChecker(self._module, find_target(target), version)
            checker.instructions = _WithoutExplanations(checker.target, version)
            found = checker.check_module()
            refused |= {_owner(each, self._owners) for each in found if each.severity is Severity.ERROR}
        return [k not in refused for k in range(len(probes))]

    def _read(self, probes: tuple[Probe, ...]) -> None:
        """Parse all PTX texts as one module, without those that cannot be parsed."""
        self._probes = probes
        left = range(len(probes))
        text, self._owners = write_module(probes, *_ANY)
        self._module, unreadable = parse_readable(text)
        if unreadable:
            # An unreadable probe can make the next one unreadable too.
            left = [k for k in left if not parse_readable(probes[k].module(*_ANY))[1]]
            text, owners = write_module([probes[k] for k in left], *_ANY)
            self._module, _ = parse_readable(text)
            self._owners = tuple(-1 if k < 0 else left[k] for k in owners)
        self._unreadable = frozenset(range(len(probes))) - set(left)


def _owner(error: Diagnostic, owners: Sequence[int]) -> int:
    assert error.source is not None
    assert error.span is not None
    line, _ = error.source.position(error.span.start)
    return owners[line - 1]
