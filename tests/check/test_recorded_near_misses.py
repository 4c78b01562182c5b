"""The reason is right, not only the verdict: of the record's refusals, some of every family, each with one word
or one operand changed; the first error names what was changed, what was found there and what may stand there.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import warploom as wl
from warploom.diagnostics import Diagnostic
from warploom.isa.model.form import Form, forms, forms_of
from warploom_lab.ptxas.cases import LEGAL, Case
from warploom_lab.ptxas.points import Point
from warploom_lab.ptxas.record import families, read

RECORD = Path(__file__).parents[1] / "evidence" / "ptxas"
FAMILIES = [family for family in families(RECORD) if family != "off-table"]
FORMS = {form.name: form for form in forms()}
EACH = 10
ELSEWHERE = frozenset({"missing", "doubled", "after the next"})
"""Changes that are of two places as much as of one."""


def known_words(form: Form) -> set[str]:
    """Every word that stands in an opcode with the same first word."""
    found: set[str] = set()
    for other in (relative for head in form.heads for relative in forms_of(head)):
        found.update(word.literal for word in other.syntax.words)
        found.update(word for words in other.vocabulary.values() for word in words)
    return found


def is_one_change(case: Case) -> bool:
    """Whether one place alone was changed, and to nothing that may stand in another form there."""
    form = FORMS.get(case.form)
    if form is None or not case.slot or case.change in ELSEWHERE or case.change == LEGAL:
        return False
    if case.slot in form.operands:
        return "there" not in case.change and "pair" not in case.change
    _, _, word = case.change.partition(" to ")
    return word not in known_words(form)


def unchanged(case: Case) -> str:
    """The opcode of a case before its change."""
    opcode = case.probe.text.rstrip(";").partition(" ")[0]
    word, to, other = case.change.partition(" to ")
    if not to:
        return opcode
    return ".".join(word if found == other else found for found in opcode.split("."))


def near_misses(family: str) -> list[tuple[Case, Point]]:
    """Some refusals of a family, at points where the opcode is taken as it was."""
    taken: set[tuple[str, str, Point]] = set()
    found: dict[tuple[str, str], list[tuple[Case, Point]]] = {}
    for case, verdicts in read(RECORD, [family]):
        if case.change == LEGAL:
            taken.update((case.form, unchanged(case), at) for at, ok in verdicts.items() if ok)
        elif is_one_change(case):
            at = next(iter(verdicts))
            if not verdicts[at] and (case.form, unchanged(case), at) in taken:
                found.setdefault((case.form, case.slot), []).append((case, at))
    slots = sorted(found)
    chance = random.Random(family)
    chance.shuffle(slots)
    return [chance.choice(found[slot]) for slot in (slots * EACH)[:EACH]]


def is_named(found: Diagnostic, case: Case) -> bool:
    """Whether a code is of the slot that was changed, or of the part at fault of a composite word there.

    Where several forms begin alike, any that has such a slot may be the one that is meant.
    """
    name, _, slot = found.code.partition("/")
    form = FORMS[case.form]
    slots = {case.slot, *(form.parts if case.slot in form.composites else ())}
    return slot in slots and bool(FORMS[name].heads & form.heads)


def is_shown(found: Diagnostic, case: Case) -> bool:
    """Whether a diagnostic stands at the word that was changed: another form could have one of its own there."""
    assert found.source is not None
    assert found.span is not None
    return found.source.text[found.span.start : found.span.end] == case.change.partition(" to ")[2]


def says_what(found: Diagnostic, case: Case) -> bool:
    """Whether a message shows what was found, and it or its hint what may stand there."""
    what, _, expected = found.message.partition("expected ")
    _, _, word = case.change.partition(" to ")
    return (word in what if word else True) and bool(expected or found.hint)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_was_changed_is_named(family: str) -> None:
    chosen = near_misses(family)
    assert len(chosen) == EACH
    wrong: list[str] = []
    shown = 0
    for case, at in chosen:
        first = next(iter(wl.check(case.probe.module(at.target, at.version)).errors), None)
        if first is None or not says_what(first, case) or not (is_named(first, case) or is_shown(first, case)):
            said = f"{first.code}: {first.message}; {first.hint}" if first else "no error"
            wrong.append(f"{case.form}/{case.slot} ({case.change}) {at} {case.probe.key}\n    {said}")
        elif not is_named(first, case):
            shown += 1
    assert wrong == [], "\n" + "\n".join(wrong)
    assert shown <= EACH // 5
