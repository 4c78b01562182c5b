"""Comparison of the sanitizer's findings on a mutant with the verdict on the mutant."""

from __future__ import annotations

from observe.sanitize.mutations import Mutant
from observe.sanitize.subjects import Subject
from observe.sanitize.verdicts import verdict


def codes(subject: Subject, mutant: Mutant) -> list[str]:
    """Return the rules of the findings under the default schedule, without `sanitize.`."""
    done, _ = subject.run(mutant.module, sanitize=True, raises=False)
    found = (finding.code.removeprefix("sanitize.") for finding in done.findings)
    return ["deadlock" if code == "emulator.deadlock" else code for code in found]


def outcome(subject: Subject, mutant: Mutant) -> tuple[str, list[str]]:
    """Return the outcome of a mutant, as in `protocol.verdicts`, and the rules of its findings."""
    expected, reported = verdict(subject.name, mutant), codes(subject, mutant)
    if not expected.rules:
        return ("wrongly reported" if reported else "silent"), reported
    if not reported:
        return "missed", reported
    if not set(reported) & set(expected.rules):
        return "misnamed", reported
    return ("one finding" if len(reported) == 1 else "more findings"), reported
