"""Attention on the emulator returns the bits of an H200, and the sanitizer has no findings.

`warploom-lab compare attention --against FILE` compares all cases of a record.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom_lab.attention import ATTENTION, case, compare, parse
from warploom_lab.problems import Record, Task

RECORDS = sorted(Path(__file__).with_name("attention").glob("*.json"))
SMALL = [case(1, number) for number in sorted(ATTENTION.select_small_cases(1, range(500), 64, ""))]
KINDS = sorted({one.kind for one in SMALL})


def test_a_record_has_every_kind() -> None:
    assert RECORDS
    assert len(KINDS) == 11
    for path in RECORDS:
        record = Record.read(path, parse)
        assert {"command", "gpu", "driver", "cuda", "warploom"} <= record.about.keys()
        assert {case(record.seed, each.number).kind for each in record.recorded} == {*KINDS}
        assert len(record.recorded) >= 50


@pytest.mark.parametrize("kind", KINDS)
def test_the_emulator_returns_the_bits_of_the_gpu(kind: str) -> None:
    """Compare the case of each kind with the least work."""
    for record in (Record.read(path, parse) for path in RECORDS):
        those = [each for each in record.recorded if case(record.seed, each.number).kind == kind]
        assert min(those, key=lambda each: case(record.seed, each.number).work).difference(record.seed) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_the_emulator_agrees_with_float64(kind: str) -> None:
    """Run the case of each kind with the most work, under the sanitizer."""
    one = max((one for one in SMALL if one.kind == kind), key=lambda one: one.work)
    assert compare(Task(1, one.number, "cpu", sanitize=True)).wrong == ""
