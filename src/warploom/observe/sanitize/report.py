"""Report of the sanitizer: one finding for each rule and pair of instructions, with a count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from warploom.diagnostics import Diagnostic, Severity
from warploom.emulator.program import Program
from warploom.observe.sanitize.rules import rules

LIMIT = 200  # findings of a run; further ones are only counted


@dataclass(slots=True)
class _Found:
    message: str
    hint: str
    pc: int
    count: int = 1
    others: set[int] = field(default_factory=set[int])


class Report:
    """Collector of findings.

    A finding has a rule and a pair of instructions. Repeated findings are only counted.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, int], _Found] = {}
        self._uncollected = Counter[tuple[str, int, int]]()  # occurrences of findings beyond the limit
        self._ended: list[Diagnostic] = []

    def __len__(self) -> int:
        return len(self._found)

    def is_known(self, code: str, pc: int, other: int, count: int = 1) -> bool:
        """Return True if a finding is recorded or the report is full. In this case, count it.

        `pc` is the instruction of the finding. `other` is the conflicting instruction, -1 for none. `count` is the
        number of new occurrences.
        """
        known = self._found.get((code, pc, other))
        if known is not None:
            known.count += count
            return True
        if len(self._found) >= LIMIT:
            self._uncollected[code, pc, other] += count
            return True
        return False

    def add(self, code: str, pc: int, other: int, message: str, hint: str = "", count: int = 1) -> None:
        """Add a finding, or count it if the report has one with this rule and pair of instructions.

        `code` is the rule code. `pc` and `other` are as in `is_known`. A `hint` replaces the rule's remedy.
        """
        if not self.is_known(code, pc, other, count):
            self._found[code, pc, other] = _Found(message, hint, pc, count)

    def merge(self, later: Report) -> None:
        """Add the findings of `later`, the report on CTAs that follow in launch order."""
        for key, each in later._found.items():
            if not self.is_known(*key, each.count):
                self._found[key] = each
        for key, count in later._uncollected.items():
            self.is_known(*key, count)
        self._ended += later._ended

    def add_end(self, found: Diagnostic) -> None:
        """Add `found`, the trap or deadlock that ended the run."""
        self._ended.append(found)

    def has_finding_at(self, pc: int) -> bool:
        """Return True if the report has a finding at the instruction `pc`."""
        return any(key[1] == pc for key in self._found)

    @property
    def endings(self) -> list[str]:
        """Rule codes of the traps and deadlocks that ended the run."""
        return [each.code for each in self._ended]

    def diagnostics(self, program: Program) -> tuple[Diagnostic, ...]:
        """Return the findings as diagnostics, in order of their first occurrence."""
        known = rules()
        found: list[Diagnostic] = []
        for (code, _, other), each in self._found.items():
            times = f" ({each.count:,} times)" if each.count > 1 else ""
            span = program.span_of(each.pc) if each.pc >= 0 else None
            sides = None if other < 0 else program.data_of(other, "other line", "other source")
            found.append(
                Diagnostic(
                    code, Severity.ERROR, each.message + times, program.source, span,
                    each.hint or known[code].cure, known[code].source, data=sides,
                )
            )  # fmt: skip
        return (*found, *(replace(each, source=program.source) for each in self._ended))
