"""Probes made from Forms."""

from __future__ import annotations

from itertools import combinations

import pytest

from warploom.diagnostics import UsageError
from warploom.isa.model.form import forms
from warploom.ptx import parse
from warploom_lab.ptxas.cases import LEGAL, all_cases, cases_of, off_table
from warploom_lab.ptxas.instruction_text import combinations_of, opcode_words
from warploom_lab.ptxas.points import TARGETS, VERSIONS, Point, first_version
from warploom_lab.ptxas.record import by_text


def test_a_legal_opcode_matches_its_form() -> None:
    for form in forms():
        for row in form.rows:
            slots = next(combinations_of(form, row))
            words = tuple(opcode_words(form, slots))
            assert form.match(words) is not None, (form.name, words)


def test_every_pair_of_words_is_covered() -> None:
    for form in forms():
        for row in form.rows:
            seen = {
                (i, slots[i], j, slots[j])
                for slots in combinations_of(form, row)
                for i, j in combinations(row.cells, 2)
            }
            wanted = {(i, a, j, b) for i, j in combinations(row.cells, 2) for a in row.cells[i] for b in row.cells[j]}
            assert wanted <= seen, form.name


def test_cases_of_a_form_have_one_change() -> None:
    form = next(form for form in forms() if form.name == "matrix.ldmatrix")
    texts: dict[str, str] = {}
    for case in cases_of(form):
        if case.slot == "r":
            texts.setdefault(case.change, case.probe.text)
    assert texts["of f"] == "ldmatrix.sync.aligned.m8n8.x1.b16 {%f0}, [%rd0];"
    assert texts["2 registers"] == "ldmatrix.sync.aligned.m8n8.x1.b16 {%r[0:2]}, [%rd0];"
    assert texts["missing"] == "ldmatrix.sync.aligned.m8n8.x1.b16 [%rd0];"
    changed = {case.probe.text for case in cases_of(form) if case.slot == "shape"}
    assert "ldmatrix.sync.aligned.m16n16.x1.b16 {%r0}, [%rd0];" in changed


def test_cases_are_many_and_distinct() -> None:
    cases = list(all_cases(["matrix", "mbarrier"]))
    assert len(cases) == len({case.probe.key for case in cases}) > 5_000
    assert {case.family for case in cases} == {"matrix", "mbarrier"}
    assert any(case.change == LEGAL for case in cases)
    assert {at.target for case in cases for at in case.points} == set(TARGETS)
    for case in cases:
        for at in case.points:
            assert at.version in VERSIONS
            assert at.version >= first_version(at.target)
            assert Point.read(str(at)) == at


def test_legal_probes_are_parsed() -> None:
    legal = [case.probe for case in all_cases() if case.change == LEGAL]
    assert len(legal) > 5_000
    read = by_text(lambda text, target, version: str(parse(text)) == text)
    assert all(read(legal[::20], "sm_90a", (9, 1)))


@pytest.mark.parametrize("line", ["sm_90a 9.1 ret;", "sm_91 9.1 accept ret;", "sm_90a 9.1 perhaps ret;"])
def test_a_wrong_line_of_hand_written_probes_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match="line 2 of the hand-written probes"):
        list(off_table(f"# about\n{line}\n"))
