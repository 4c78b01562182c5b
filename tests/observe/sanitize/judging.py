"""What the sanitizer said of a mutant, against the verdict on it."""

from __future__ import annotations

from observe.sanitize.mutations import Mutant
from observe.sanitize.subjects import Subject
from observe.sanitize.verdicts import verdict


def codes(subject: Subject, mutant: Mutant) -> list[str]:
    """The rules reported under the default schedule, in order, without `sanitize.`."""
    done, _ = subject.run(mutant.module, sanitize=True, raises=False)
    found = (finding.code.removeprefix("sanitize.") for finding in done.findings)
    return list(dict.fromkeys("deadlock" if code == "emulator.deadlock" else code for code in found))


def outcome(subject: Subject, mutant: Mutant) -> tuple[str, list[str]]:
    """found, misnamed or missed; silent or wrongly reported for what the manual allows; and the rules reported."""
    expected, reported = verdict(subject.name, mutant), codes(subject, mutant)
    if not expected.rules:
        return ("wrongly reported" if reported else "silent"), reported
    if not reported:
        return "missed", reported
    return ("found" if set(reported) & set(expected.rules) else "misnamed"), reported
