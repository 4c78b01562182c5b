"""Application of the fixes that the hint of a finding names, and what the sanitizer finds afterwards.

A hint is right if one of its fixes removes the finding and leads to no new finding. The edits of each fix are applied
to the text of the mutant, and the sanitizer runs the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from observe.sanitize import mutations, subjects
from observe.sanitize.protocol import subjects as protocol
from observe.sanitize.protocol import verdicts
from observe.sanitize.verdicts import verdict

import warploom as wl
from warploom.diagnostics import Diagnostic, WarploomError
from warploom.diagnostics.edits import apply_edits

Outcome: TypeAlias = Literal["removed", "alternative", "kept", "new finding", "illegal", "no edit"]

RIGHT: tuple[Outcome, ...] = ("removed", "alternative")
"""Outcomes of a right hint: its first fix or another of its fixes removes the finding."""

Sanitize: TypeAlias = Callable[[str], Sequence[Diagnostic]]
Edits: TypeAlias = Sequence[dict[str, Any]]


def applied(mutant: str, finding: Diagnostic, found: Sequence[Diagnostic], sanitize: Sanitize) -> Outcome:
    """Apply the fixes of `finding`, one of the findings of a mutant, and return the outcome."""
    fixes: Sequence[Edits] = (finding.data or {}).get("fixes", ())
    if not fixes:
        return "no edit"
    outcomes: Iterator[Outcome] = (_fixed(mutant, finding, found, fix, sanitize) for fix in fixes)
    first: Outcome = next(outcomes)
    return "alternative" if first not in RIGHT and "removed" in outcomes else first


def _fixed(mutant: str, finding: Diagnostic, found: Sequence[Diagnostic], fix: Edits, sanitize: Sanitize) -> Outcome:
    """Compare the findings of a mutant with those after the edits of a fix."""
    try:
        later = sanitize(apply_edits(mutant, fix))
    except WarploomError:
        return "illegal"
    keys = {(each.code, _line_before(_line(each), fix)) for each in later}
    if (finding.code, _line(finding)) in keys:
        return "kept"
    return "removed" if keys <= {(each.code, _line(each)) for each in found} else "new finding"


def _line_before(line: int, fix: Edits) -> int:
    """Return the line that a line of the fixed text had before the edits of a fix."""
    added = 0
    for each in sorted(fix, key=lambda each: (each["line"], each["column"])):
        if line > each["line"] + added:
            added += each["with"].count("\n") - each["replace"].count("\n")
    return line - added


def _line(finding: Diagnostic) -> int:
    if finding.span is None or finding.source is None:
        return 0
    return finding.source.position(finding.span.start)[0]


def hint_of(mutant: FaultyMutant) -> tuple[str, Outcome] | None:
    """Apply the fixes of the first finding of a mutant. Return the rule and the outcome, or None without a finding."""
    found = mutant.sanitize(mutant.text)
    if not found:
        return None
    return found[0].code, applied(mutant.text, found[0], found, mutant.sanitize)


# Mutants of both programmes ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FaultyMutant:
    """A mutant that breaks a rule: its name, its text, and its sanitizer runs."""

    name: str
    text: str
    sanitize: Sanitize


def faulty_mutants(kernel: str, kind: str) -> Iterator[FaultyMutant]:
    """Yield the faulty mutants of one kind of change, in both programmes, of the kernel with a name."""
    if kernel in subjects.SUBJECTS and kind in mutations.KINDS:
        first = subjects.SUBJECTS[kernel]
        for mutant in mutations.mutants(first.module(), first.entry, [kind]):
            if verdict(kernel, mutant).rules:
                place = f"{kernel}:{mutant.kind}:{mutant.place}"
                yield FaultyMutant(place, str(mutant.module), partial(_first, first))
    if kernel in protocol.SUBJECTS and kind in verdicts.OPERATORS:
        second = protocol.SUBJECTS[kernel]
        for mutant in verdicts.mutants(second.module, [kind]):
            place = verdicts.key(kernel, mutant)
            if place not in verdicts.UNDECIDED and verdicts.rules(kernel, mutant):
                yield FaultyMutant(place, str(mutant.module), partial(_second, second))


def _first(subject: subjects.Subject, text: str) -> Sequence[Diagnostic]:
    return subject.run(wl.parse(text), sanitize=True, raises=False)[0].findings


def _second(subject: protocol.Subject, text: str) -> Sequence[Diagnostic]:
    return subject.sanitize(wl.parse(text), verdicts.SCHEDULES).findings
