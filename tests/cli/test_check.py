"""`warploom check` and `warploom explain`: output and exit status."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from warploom.cli import main

GOOD = ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() { ret; }\n"
BAD = ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() { .reg .b32 r; add.sat.u32 r, r, 1; ret; }\n"


@pytest.fixture(name="files")
def fixture_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.ptx").write_text(GOOD)
    Path("bad.ptx").write_text(BAD)


@pytest.mark.usefixtures("files")
def test_a_clean_file_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "good.ptx"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("files")
def test_findings_are_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "good.ptx", "bad.ptx"]) == 1
    first, *_ = capsys.readouterr().out.splitlines()
    assert first == "bad.ptx:4:35: error[integer.add/type]: 'add.sat.u32' has '.u32' for type; expected '.s32'"


@pytest.mark.usefixtures("files")
def test_other_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "json", "bad.ptx"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["file"], found["code"]) == ("bad.ptx", "integer.add/type")
    assert main(["check", "--format", "sarif", "bad.ptx", "good.ptx"]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["integer.add/type"]


@pytest.mark.usefixtures("files")
def test_source_lines_are_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    text = BAD.replace("add.sat", ".loc 1 7 3\nadd.sat") + '.file 1 "gemm.cu"\n'
    Path("lines.ptx").write_text(text)
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    for file in ("lines.ptx", "-"):
        assert main(["check", file]) == 1
        assert "\n  source: gemm.cu:7\n" in capsys.readouterr().out


@pytest.mark.usefixtures("files")
def test_target_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cluster.ptx").write_text(GOOD.replace("ret;", "barrier.cluster.arrive; ret;"))
    assert main(["check", "cluster.ptx"]) == 0
    assert main(["check", "--arch", "sm_80", "--ptx-version", "7.0", "cluster.ptx"]) == 1
    assert "needs sm_90 or higher; the target is sm_80" in capsys.readouterr().out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "none.ptx"], "error[ptx.file]: there is no file none.ptx\n"),
        (
            ["check", "--arch", "sm_90b", "good.ptx"],
            "error[check.target]: unknown target 'sm_90b'\n  hint: did you mean sm_90?\n",
        ),
        (
            ["check", "--ptx-version", "12", "good.ptx"],
            (
                "error[check.ptx-version]: the PTX version is '12'; expected a string such as '8.7' or a pair such as"
                " (8, 7)\n"
            ),
        ),
        (["explain", "wgma"], "error[usage]: unknown rule or instruction 'wgma'\n  hint: did you mean wgmma?\n"),
    ],
)
def test_misuse_is_status_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("subject", "parts"),
    [
        ("name/undeclared", ["# name/undeclared", "mov.b32 %r0, %r99;"]),
        ("mma.half/shape", ["# \\<form>/\\<slot>", "## mma.half", "| `m16n8k8` |", "(T32,V4) -> (M16,N8)"]),
        ("wgmma.half", ["## wgmma.half", "8 to 256 by 8", "(T128,V4) -> (M64,N8)", "PTX ISA 9.7.15.5.2"]),
        ("ldmatrix.sync", ["## matrix.ldmatrix\n", "## matrix.ldmatrix-widened\n", "`r`"]),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", ["## mma.half"]),
        ("elect", ["elect.sync d|p, membermask;"]),
        ("gpu.stream", ["# gpu.stream"]),
        ("swizzle", ["# swizzle", "exclusive or", "`warploom layout wgmma.mma_async", "`docs/layouts.md`"]),
        ("Tensor-Map", ["# tensor map", "`warploom explain tensor`"]),
        ("mbarrier", ["# mbarrier\n", "transaction count", "## mbarrier.init", "Use it in one thread"]),
        ("mma.m16n8k16.bf16", ["- `mma.float`: Multiplies", "- `sparse.float`: "]),
        (
            "wgmma.mma_async.m64n64",
            [
                "# wgmma.mma_async.m64n64\n",
                "- `wgmma.half`: Starts `D = A*B`",
                "as in `wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32`",
                "- `wgmma.sparse-integer`: ",
            ],
        ),
        ("C7508", ["# gpu.c7508", ".minnctapersm 1"]),
    ],
)
def test_explain(subject: str, parts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", subject]) == 0
    page = capsys.readouterr().out
    assert [part for part in parts if part not in page] == []


def test_an_operation_of_mlir_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("xdsl")
    assert main(["explain", "nvvm.wgmma.mma_async"]) == 0
    page = capsys.readouterr().out
    assert "## nvvm.wgmma.mma_async\n" in page
    assert "descriptorA" in page
    assert main(["explain", "nvvm.wgmma.mma_asink"]) == 2
    assert "did you mean nvvm.wgmma.mma_async?" in capsys.readouterr().err
