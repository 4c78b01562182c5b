"""Acceptance of illegal and nearly legal NVVM operations compared with the recorded results of MLIR 22."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("xdsl")

from warploom.nvvm.dialect import OPERATIONS, InlinePtx
from warploom_lab.mlir.acceptance import GROUPS, HEADER, differences, group_of, ptx_difference, read, refusal
from warploom_lab.mlir.mutants import CHANGES

RECORD = Path(__file__).parent / "mlir"
JUDGEMENTS = list(read(RECORD))
FAMILIES = sorted({judgement.operation.split(".")[1] for judgement in JUDGEMENTS})
SAMPLE = 12
"""One of so many accepted operations is lowered to PTX."""


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    """Message of Warploom's verifier, or "", by the text of the operation."""
    return {judgement.text: refusal(judgement.text) for judgement in JUDGEMENTS}


def test_every_operation_has_illegal_forms() -> None:
    names = {*(operation.name for operation in OPERATIONS), InlinePtx.name}
    assert names == {judgement.operation for judgement in JUDGEMENTS}
    assert names == {judgement.operation for judgement in JUDGEMENTS if judgement.stage == "verify"}
    assert len({judgement.text for judgement in JUDGEMENTS}) == len(JUDGEMENTS) >= 3000
    assert {*CHANGES, "dictionary", "drawn", "spelling", "words"} == {judgement.kind for judgement in JUDGEMENTS}


@pytest.mark.parametrize("family", FAMILIES)
def test_acceptance_equals_that_of_mlir(family: str, found: dict[str, str]) -> None:
    different = [
        (judgement.text, judgement.message, found[judgement.text])
        for judgement in JUDGEMENTS
        if judgement.operation.split(".")[1] == family and group_of(judgement, found[judgement.text]) is None
    ]
    assert not different


def test_every_known_difference_occurs(found: dict[str, str]) -> None:
    counts = Counter(group_of(judgement, found[judgement.text]) for judgement in JUDGEMENTS)
    recorded = json.loads((RECORD / HEADER).read_text())["differences"]
    assert {group.name: counts[group.name] for group in GROUPS} == recorded
    readme = (RECORD / "README.md").read_text()
    assert all(f"**{group.name}**" in readme for group in GROUPS)


def test_every_refusal_is_one_sentence_with_a_place(found: dict[str, str]) -> None:
    for text, message in found.items():
        if message:
            assert message.startswith("<text>:"), text
            assert "malformed" not in message, text


def test_ptx_equals_that_of_llc(found: dict[str, str]) -> None:
    accepted = [judgement for judgement in JUDGEMENTS if judgement.ptx and not found[judgement.text]]
    different = {judgement.text: ptx_difference(judgement) for judgement in accepted[::SAMPLE]}
    assert not {text: each for text, each in different.items() if each}


def test_a_wrong_judgement_is_a_difference() -> None:
    accepted = next(
        each for each in JUDGEMENTS if each.ptx and each.operation == "nvvm.prefetch" and "unknown" not in each.text
    )
    assert list(differences(replace(accepted, stage="verify")))
    assert list(differences(replace(accepted, ptx=(*accepted.ptx, "ret;"))))
