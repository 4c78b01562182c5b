"""NVVM dialect compared with the recorded results of MLIR 22: parsing, printing, PTX and diagnostics."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("xdsl")

from warploom.nvvm.dialect import OPERATIONS, InlinePtx
from warploom_lab.mlir.record import HEADER, Answer, differences, read

RECORD = Path(__file__).parent / "mlir"
ANSWERS = list(read(RECORD))
FAMILIES = sorted({answer.operation for answer in ANSWERS})


def test_every_operation_is_recorded() -> None:
    assert {*(operation.name for operation in OPERATIONS), InlinePtx.name} == set(FAMILIES)


def test_mlir_accepts_four_hundred_operations() -> None:
    taken = Counter(not answer.refused for answer in ANSWERS)
    assert taken[True] >= 400
    header = json.loads((RECORD / HEADER).read_text())
    assert header["operations"] == len(ANSWERS)
    assert header["taken by mlir-opt"] == taken[True]


@pytest.mark.parametrize("family", FAMILIES)
def test_operations_agree_with_mlir(family: str) -> None:
    """Both syntaxes parse to one operation, the printed text and the PTX equal MLIR's, and check has no finding."""
    found = {answer.text: list(differences(answer)) for answer in ANSWERS if answer.operation == family}
    assert not {text: each for text, each in found.items() if each}


@pytest.mark.parametrize("family", FAMILIES)
def test_assemblers_accept_the_ptx(family: str) -> None:
    for answer in ANSWERS:
        if answer.operation == family:
            assert any(release.startswith("13.1") for release in answer.assembled), answer.text


def test_a_changed_instruction_is_a_difference() -> None:
    answer = next(each for each in ANSWERS if each.ptx)
    spoiled = Answer(answer.operation, answer.text, answer.target, answer.generic, (*answer.ptx, "ret;"))
    assert list(differences(spoiled))
