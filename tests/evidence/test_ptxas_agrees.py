"""Verdicts of `check`, compared with the recorded verdicts of ptxas 12.9 and 13.1."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warploom.check import check
from warploom_lab.ptxas.checker import Checker
from warploom_lab.ptxas.points import Version
from warploom_lab.ptxas.record import Disagreement, by_text, disagreements, families, read

RECORD = Path(__file__).with_name("ptxas")
RECENT = RECORD / "recent"
EVERY = 4  # every Nth probe; `warploom-lab evidence legality --judge` compares all
SAMPLE = 40


@pytest.mark.parametrize("family", families(RECORD))
def test_check_agrees_with_ptxas(family: str) -> None:
    found = [str(each) for each in disagreements(RECORD, Checker(), [family], every=EVERY)]
    assert found[:10] == [], f"{len(found)} verdicts differ"


@pytest.mark.parametrize("family", families(RECORD))
def test_a_batch_gives_the_verdicts_of_single_probes(family: str) -> None:
    cases = [case for case, _ in read(RECORD, [family])]
    probes = [case.probe for case in cases[:: max(1, len(cases) // SAMPLE)]]
    together, alone = Checker(), by_text(is_legal)
    for target, version in (("sm_90a", (9, 1)), ("sm_75", (7, 0))):
        assert together(probes, target, version) == alone(probes, target, version)


@pytest.mark.parametrize("family", families(RECENT))
def test_check_agrees_with_the_newest_ptxas(family: str) -> None:
    found = [each for each in disagreements(RECENT, Checker(), [family], newest=True) if not too_wide(each)]
    assert [str(each) for each in found] == []


def too_wide(each: Disagreement) -> bool:
    """True if ptxas refuses a constant that does not fit into its operand. ptxas 13.1 and `check` accept it."""
    constant = re.search(r"\(?constant (\d+)", each.case.change)
    return not each.accepted and constant is not None and int(constant[1]) >= 1 << 16


def is_legal(text: str, target: str, version: Version) -> bool:
    return check(text, target, version).ok
