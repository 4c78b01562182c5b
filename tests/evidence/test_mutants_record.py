"""The recorded mutants of compiled kernels have the right outcomes; see `mutants/README.md`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warploom_lab.mutants.equivalent import PLACES, REASONS
from warploom_lab.mutants.kinds import KINDS, WRONG
from warploom_lab.mutants.run import RIGHT, SCHEDULES
from warploom_lab.mutants.subjects import SUBJECTS

RECORD = Path(__file__).with_name("mutants") / "mutants.json"


def recorded() -> list[dict[str, Any]]:
    data = json.loads(RECORD.read_text(encoding="utf-8"))
    assert tuple(data["schedules"]) == SCHEDULES
    return data["mutants"]


def test_the_record_has_kinds_and_kernels_enough() -> None:
    mutants = [each for each in recorded() if each["kind"]]
    assert {each["kernel"] for each in mutants} == {subject.name for subject in SUBJECTS}
    assert {each["kind"] for each in mutants} == set(KINDS)
    assert len(KINDS) >= 12
    assert len(SUBJECTS) >= 10


def test_no_mutant_is_missed_or_wrongly_reported() -> None:
    assert [each for each in recorded() if each["verdict"] not in RIGHT] == []
    assert [each for each in recorded() if not each["kind"] and each["codes"]] == []


def test_each_mutant_has_a_code_of_its_kind_or_a_reason() -> None:
    for each in recorded():
        if each["kind"]:
            kind = KINDS[each["kind"]]
            allowed = {*kind.breaks, *((WRONG,) if kind.wrong else ())}
            assert bool(allowed & set(each["codes"])) != (each["reason"] in REASONS), each


def test_every_judged_place_has_a_reason() -> None:
    assert set(PLACES.values()) <= set(REASONS)
