"""Results of `lower` for calls of builtins, compared with the recorded results of nvcc."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from warploom.nvvm import lower
from warploom.nvvm.builtins import BUILTINS
from warploom_lab.nvcc.compiler import Answer, counted, kernel
from warploom_lab.nvcc.record import HEADER, PROBES, Case, agrees, cases, disagreements, lowered, read

RECORD = Path(__file__).parent / "nvcc"
RECORDED = read(RECORD)


def test_recorded_calls_are_lowered_as_nvcc_lowers_them() -> None:
    assert [(case, recorded, made) for case, recorded, made in disagreements(RECORDED)] == []


def test_the_record_contains_every_call() -> None:
    assert {case for case, _ in RECORDED} == set(cases((RECORD / PROBES).read_text()))
    header = json.loads((RECORD / HEADER).read_text())
    assert header["calls"] == len(RECORDED)
    assert header["accepted"] == sum(bool(answer.instruction) for _, answer in RECORDED)


def test_nvcc_accepts_a_call_of_every_builtin() -> None:
    taken = [case.call for case, answer in RECORDED if answer.instruction]
    for builtin in BUILTINS:
        assert any(f"{builtin.name}(" in call for call in taken)


ACCEPTED = [case for case, answer in RECORDED if answer.instruction and case.target == "sm_90a"]
INSTRUCTION = re.compile(r"\bw?g?mma\.(?:load|store|mma)[^;]*;")


def shape_of(instruction: str) -> tuple[str, list[str]]:
    """Return the opcode and the numbers of registers of the vectors. LLVM prints no rounding."""
    return instruction.split(maxsplit=1)[0].removesuffix(".rn"), re.findall(r"\{\d+\}", instruction)


@pytest.mark.parametrize("case", ACCEPTED[7::61], ids=lambda case: case.call)
def test_the_instruction_is_in_the_lowered_kernel(case: Case) -> None:
    ptx = lower(kernel(case.call), source="builtin")
    assert [shape_of(counted(each)) for each in INSTRUCTION.findall(ptx)] == [shape_of(lowered(case).instruction)]


def test_a_different_instruction_or_message_is_a_disagreement() -> None:
    taken = Answer("wmma.store.d.sync.aligned.row.m8n8k4.f64 [%], {2}, %;")
    assert agrees(taken, taken)
    assert not agrees(taken, Answer("", ("'rowcol' operand can be 0 or 1 only",)))
    assert not agrees(Answer("", ("one", "two")), Answer("", ("another",)))
    assert counted("wgmma.x\n {%r1, %r2,\n%r3}, %rd2, 0;") == "wgmma.x {3}, %, 0;"
