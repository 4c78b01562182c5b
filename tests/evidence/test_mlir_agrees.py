"""The dialect beside what MLIR 22's tools said of it: reading, printing, PTX, and the judgement of `check`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("xdsl")

from warploom.nvvm.dialect import OPERATIONS
from warploom_lab.mlir.record import HEADER, Answer, differences, read

RECORD = Path(__file__).parent / "mlir"
ANSWERS = list(read(RECORD))
FAMILIES = sorted({answer.operation for answer in ANSWERS})


def test_every_operation_is_on_record() -> None:
    assert {operation.name for operation in OPERATIONS} == set(FAMILIES)


def test_there_are_four_hundred_that_mlir_takes() -> None:
    taken = Counter(not answer.refused for answer in ANSWERS)
    assert taken[True] >= 400
    header = json.loads((RECORD / HEADER).read_text())
    assert header["operations"] == len(ANSWERS)
    assert header["taken by mlir-opt"] == taken[True]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_mlir_says(family: str) -> None:
    """MLIR's two spellings are one operation here, printed as MLIR prints it; its PTX is llc's; check is content."""
    found = {answer.text: list(differences(answer)) for answer in ANSWERS if answer.operation == family}
    assert not {text: each for text, each in found.items() if each}


@pytest.mark.parametrize("family", FAMILIES)
def test_assemblers_took_the_ptx(family: str) -> None:
    for answer in ANSWERS:
        if answer.operation == family:
            assert any(release.startswith("13.1") for release in answer.assembled), answer.text


def test_another_word_is_a_difference() -> None:
    answer = next(each for each in ANSWERS if each.ptx)
    spoiled = Answer(answer.operation, answer.text, answer.target, answer.generic, (*answer.ptx, "ret;"))
    assert list(differences(spoiled))
