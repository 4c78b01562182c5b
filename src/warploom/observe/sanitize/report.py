"""Findings: one for each rule and pair of places, with a count.

A report takes in those of other parts of the same grid, in their order, and is then what one report of all would be.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from warploom.diagnostics import Diagnostic, Severity
from warploom.observe.sanitize.rules import rules

if TYPE_CHECKING:
    from warploom.emulator.program import Program

LIMIT = 200  # findings of a run; what comes after is in nobody's interest


@dataclass(slots=True)
class _Found:
    message: str
    hint: str
    pc: int
    count: int = 1
    others: set[int] = field(default_factory=set[int])


class Report:
    """Collects findings, folding those that are alike."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, int], _Found] = {}
        self._beyond = Counter[tuple[str, int, int]]()  # those that there was no room for
        self._ended: list[Diagnostic] = []

    def __len__(self) -> int:
        return len(self._found)

    def again(self, code: str, pc: int, other: int, count: int = 1) -> bool:
        """Whether a finding is known already, or there is no room for it; it is counted."""
        known = self._found.get((code, pc, other))
        if known is not None:
            known.count += count
            return True
        if len(self._found) >= LIMIT:
            self._beyond[code, pc, other] += count
            return True
        return False

    def add(self, code: str, pc: int, other: int, message: str, hint: str = "", count: int = 1) -> None:
        """A finding at a program counter, against another one (-1: none)."""
        if not self.again(code, pc, other, count):
            self._found[code, pc, other] = _Found(message, hint, pc, count)

    def take(self, later: Report) -> None:
        """Take in what was found later."""
        for key, each in later._found.items():
            if not self.again(*key, each.count):
                self._found[key] = each
        for key, count in later._beyond.items():
            self.again(*key, count)
        self._ended += later._ended

    def ended(self, found: Diagnostic) -> None:
        """What ended the run."""
        self._ended.append(found)

    def told(self, pc: int) -> bool:
        """Whether something was found at a program counter."""
        return any(key[1] == pc for key in self._found)

    @property
    def endings(self) -> list[str]:
        """The rules of the trap or the deadlocks that ended the run."""
        return [each.code for each in self._ended]

    def diagnostics(self, program: Program) -> tuple[Diagnostic, ...]:
        """The findings, in the order in which they came up."""
        known = rules()
        found: list[Diagnostic] = []
        for (code, _, other), each in self._found.items():
            times = f" ({each.count:,} times)" if each.count > 1 else ""
            span = program.span_of(each.pc) if each.pc >= 0 else None
            sides = None if other < 0 else {"other line": program.line_of(other)}
            found.append(
                Diagnostic(
                    code, Severity.ERROR, each.message + times, program.source, span,
                    each.hint or known[code].cure, known[code].source, data=sides,
                )
            )  # fmt: skip
        return (*found, *(replace(each, source=program.source) for each in self._ended))
