"""Record of ptxas verdicts: its header, both verdicts in every family, and the hand-written probes."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from warploom.isa.model.form import forms
from warploom_lab.ptxas.cases import OFF_TABLE, off_table
from warploom_lab.ptxas.points import TARGETS, VERSIONS, Point
from warploom_lab.ptxas.record import HEADER, Verdicts, families, read

RECORD = Path(__file__).with_name("ptxas")
ENOUGH = 40_000


@pytest.fixture(scope="module")
def recorded() -> list[tuple[str, Verdicts]]:
    return [(case.family, verdicts) for case, verdicts in read(RECORD)]


def test_the_header_counts_the_verdicts(recorded: list[tuple[str, Verdicts]]) -> None:
    counts: Counter[Point] = Counter()
    for _, verdicts in recorded:
        counts.update(verdicts.keys())
    header = json.loads((RECORD / HEADER).read_text())
    assert header["verdicts"] == counts.total() > ENOUGH
    assert set(header["targets"]) == {at.target for at in counts} == set(TARGETS)
    assert set(header["versions"]) >= {f"{major}.{minor}" for major, minor in VERSIONS}
    assert set(header["ptxas"]) == {at.release for at in counts} == {"12.9", "13.1", "newest"}


def test_every_family_has_both_verdicts(recorded: list[tuple[str, Verdicts]]) -> None:
    seen: dict[str, set[bool]] = {}
    for family, verdicts in recorded:
        seen.setdefault(family, set()).update(verdicts.values())
    assert set(seen) == set(families(RECORD))
    assert {family for family, kinds in seen.items() if kinds != {True, False}} == set()


def test_hand_written_probes_have_the_expected_verdicts() -> None:
    expected = {case.probe: case for case in off_table((RECORD / "off-table.txt").read_text())}
    judged = {case.probe: verdicts for case, verdicts in read(RECORD, [OFF_TABLE])}
    assert judged.keys() == expected.keys()
    for probe, case in expected.items():
        assert judged[probe][case.points[0]] is (case.change == "accept"), probe.key


def test_forms_without_verdicts_are_listed() -> None:
    later = {form.name for form in forms() if all(row.ptx > VERSIONS[-1] for row in form.rows)}
    listed = (RECORD / "README.md").read_text().partition("## Forms without verdicts")[2]
    assert set(re.findall(r"^\| `(\w+\.\w+)`", listed, re.MULTILINE)) == later
