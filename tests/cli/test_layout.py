"""`warploom layout`: what it prints, the commands of its page, and every mistake in a sentence."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from warploom.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "layouts.md").read_text()
HALF = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
GROUP = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
TENSOR = "tcgen05.mma.cta_group::2.kind::f16"
BOX = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"

Captured = pytest.CaptureFixture[str]


def printed(capsys: Captured, line: str) -> str:
    assert main(["layout", *shlex.split(line)]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    return found.out


@pytest.mark.parametrize("line", re.findall(r"(?m)^    warploom layout ((?:.*\\\n)*.*)$", PAGE))
def test_the_commands_of_the_page_work(capsys: Captured, line: str) -> None:
    assert printed(capsys, line.replace("\\\n", " "))


@pytest.mark.parametrize(("line", "answer"), re.findall(r"(?m)^    warploom layout (.*)\n    (\w+: .*)$", PAGE))
def test_the_answers_of_the_page_are_right(capsys: Captured, line: str, answer: str) -> None:
    assert printed(capsys, line) == f"{answer}\n"


@pytest.mark.parametrize(("line", "file"), re.findall(r"<!-- warploom layout (.*) -o docs/(\S+) -->", PAGE))
def test_the_pictures_of_the_page_are_made_by_it(capsys: Captured, line: str, file: str) -> None:
    picture = Path(__file__).parents[2] / "docs" / file
    assert printed(capsys, line) == picture.read_text("utf-8")


def test_a_table(capsys: Captured) -> None:
    lines = printed(capsys, f"{HALF} C").splitlines()
    assert lines[:3] == [
        "C: mma m16n8k16 f32 C  (T32,V4) -> (M16,N8)",
        "       0     1     2     3     4     5     6     7",
        " 0  T0:0  T0:1  T1:0  T1:1  T2:0  T2:1  T3:0  T3:1",
    ]
    assert len(lines) == 18


def test_without_an_operand_all_are_shown(capsys: Captured) -> None:
    heads = [line[: line.index(":")] for line in printed(capsys, SPARSE).splitlines() if "->" in line]
    assert heads == ["D", "A", "B", "C", "metadata"]
    assert printed(capsys, f"{HALF} --lane 31 --item 0").count("lane 31, item 0") == 4


def test_a_terminal_gets_colours(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = printed(capsys, f"{HALF} B")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    coloured = printed(capsys, f"{HALF} B")
    assert "\x1b[" in coloured
    words = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert [line.rstrip() for line in words.splitlines() if line.strip()] == plain.splitlines()


def test_data(capsys: Captured) -> None:
    told = json.loads(printed(capsys, f"{GROUP} --swizzle 32 --json"))
    assert told["instruction"] == GROUP
    assert [each["operand"] for each in told["operands"]] == ["D", "A", "B"]
    assert [each["columns"][2] for each in told["operands"]] == ["lane", "byte", "byte"]
    only = json.loads(printed(capsys, f"{GROUP} B --json --byte 34"))["operands"][0]
    assert only["entries"] == [[2, 1, 34, 0, 8]]
    rows = printed(capsys, f"{GROUP} --swizzle 32 --csv").splitlines()
    assert rows[0] == "operand,row,col,lane,item,register,bit,byte,bank"
    assert rows[1] == "D,0,0,0,0,0,0,,"
    assert rows[-1].startswith("B,7,15,,,,0,")


def test_tensor_memory(capsys: Captured) -> None:
    given = "--idesc 0x8040010"  # M = 128, N = 16, all of f16 but D
    assert printed(capsys, f"{TENSOR} D {given} --cta 1 --tlane 70 --tcol 3").splitlines() == [
        "D: row 70, column 11: CTA 1, tlane 70, tcol 3, bits 0 to 31"
    ]
    assert printed(capsys, f"{TENSOR} A {given} --row 2 --column 5").splitlines() == [
        "A: row 2, column 5: CTA 0, tlane 2, tcol 2, bits 16 to 31",
        "A: row 2, column 5: CTA 0, tlane 66, tcol 2, bits 16 to 31",
    ]
    told = json.loads(printed(capsys, f"{TENSOR} {given} --swizzle 32 --json"))["operands"]
    assert [(each["operand"], each["columns"][2]) for each in told] == [("D", "cta"), ("A", "byte"), ("B", "byte")]
    rows = printed(capsys, f"{TENSOR} {given} --csv").splitlines()
    assert rows[0] == "operand,row,col,cta,tlane,tcol,bit,byte,bank"
    assert rows[1] == "D,0,0,0,0,0,0,,"


def test_a_file_is_written(capsys: Captured, tmp_path: Path) -> None:
    for form, begin in (("svg", "<svg"), ("html", "<!doctype html>"), ("text", "A: "), ("csv", "operand")):
        file = tmp_path / form
        assert printed(capsys, f"{HALF} A --{form} -o {file}") == ""
        assert file.read_text("utf-8").startswith(begin)
    assert main(["layout", HALF, "A", "-o", str(tmp_path / "no" / "file")]) == 2
    assert "cannot be written: there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{HALF} A --row 99", "A has no element at row 99; it has row 0 to 15"),
        (f"{HALF} A --lane -1 --item 8", "A has no element at lane -1, item 8; it has lane 0 to 31, item 0 to 7"),
        (f"{HALF} A --byte 3", "A is in registers; --byte does not apply to it"),
        (f"{GROUP} a-desc --lane 3", "A is in shared memory; --lane does not apply to it"),
        (f"{HALF} A --svg --lane 3", "--lane selects entries and --svg shows all of them; expected one of the two"),
        (f"{HALF} --svg", "--svg draws one operand; expected one of D, A, B, C"),
        (f"{HALF} E", f"{HALF} has no operand 'E'; expected D, A, B, C"),
        (f"{GROUP} B --swizzle 33", "the descriptor's swizzle is 33 bytes; expected 0, 32, 64 or 128"),
        (f"{GROUP} B --descriptor x", "--descriptor: found 'x'; expected a number such as 0x8100490"),
        (f"{GROUP} B --descriptor -1", "-1 is not a matrix descriptor; expected an unsigned 64-bit value"),
        (f"{GROUP} B --descriptor 1 --swizzle 0", "--swizzle is a field of --descriptor; expected one of them"),
        (f"{HALF} --selector 1", f"no operand of {HALF} depends on a sparsity selector"),
        (TENSOR, "the shape and the types of a multiplication in tensor memory are in its instruction descriptor;"),
        (f"{TENSOR} D --idesc x", "--idesc: found 'x'; expected a number such as 0x8100490"),
        (f"{TENSOR} D --idesc 0x8040010 --lane 3", "D is in tensor memory; --lane does not apply to it"),
        (f"{TENSOR} D --idesc 0x8040010 --tlane 128", "D has no element at tlane 128; it has tlane 0 to 127"),
        (f"{HALF} D --idesc 1", f"D of {HALF} does not depend on an instruction descriptor"),
        (f"{BOX} --box 8,64 --element f16", "--box: found '8,64'; expected sizes such as 64x32"),
        (f"{BOX} --box 8x64", "--element is missing"),
        (f"{BOX} --element f16", "--element needs --box"),
        (f"{BOX} --box 1x1x1x1x1x1 --element f16", "a box has 6 dimensions; expected 1 to 5"),
        (f"{BOX} --box 8x8 --element f16 --swizzle 16", "unknown swizzle of 16 bytes; expected 0, 32, 64, 128"),
        (f"{BOX} --box 8x8 --element f17", "unknown element type 'f17' of a tensor map; expected u8, u16, u32,"),
        (f"{BOX} --box 8x3 --element f16", "the tensor map cannot be used: the box is 6 bytes along dimension 0"),
        (f"{BOX}", "the layout of a box depends on its tensor map; expected the fields of a tensor map"),
    ],
)  # fmt: skip
def test_misuse_ends_in_one_sentence(capsys: Captured, line: str, message: str) -> None:
    assert main(["layout", *shlex.split(line)]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith(f"error[usage]: {message}")
    assert "Traceback" not in found.err


@pytest.mark.parametrize(
    ("partial", "opcode"),
    [
        ("wgmma.mma_async.m64n64", "wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16"),
        ("nvvm.wgmma.mma_async", "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16"),
        ("mma.m16n8k8.tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ],
)
def test_a_partial_opcode_is_completed(capsys: Captured, partial: str, opcode: str) -> None:
    assert main(["layout", partial, "A", "--lane", "0", "--item", "0"]) == 0
    completed = capsys.readouterr()
    assert completed.err.startswith(f"note: showing {opcode} for '{partial}'")
    assert main(["layout", opcode, "A", "--lane", "0", "--item", "0"]) == 0
    assert capsys.readouterr() == (completed.out, "")


def test_a_concept_leads_to_its_page(capsys: Captured) -> None:
    assert main(["layout", "swizzle"]) == 2
    said = capsys.readouterr().err
    assert "'swizzle' is a concept, not an instruction" in said
    assert "warploom explain swizzle" in said
