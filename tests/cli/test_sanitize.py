"""`warploom sanitize`: what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from warploom.cli import main
from warploom.observe.sanitize.rules import rules

RULE = rules()["sanitize.race/lanes"]


def _run(folder: Path, example: str, *options: str) -> int:
    path = folder / "k.ptx"
    text = RULE.text(example).replace(", .param .align 64 .b8 map[128]", "")
    path.write_text(text.replace("    mov.b64 %rd1, map;\n    cvta.param.u64 %rd1, %rd1;\n", ""), encoding="utf-8")
    return main(["sanitize", str(path), "--grid", "1", "--block", "64", "--arg", "scratch:4096", *options])


def test_a_clean_kernel_has_no_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(tmp_path, RULE.good) == 0
    assert capsys.readouterr().out == "no findings\n"


def test_a_finding_has_its_rule_place_and_cure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(tmp_path, RULE.bad) == 1
    out = capsys.readouterr().out
    for part in ("error[sanitize.race/lanes]", "k.ptx:", "ld.shared.u32", RULE.cure, RULE.source, "1 finding\n"):
        assert part in out


def test_programs_get_json_and_sarif(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(tmp_path, RULE.bad, "--format", "json") == 1
    (record,) = json.loads(capsys.readouterr().out)
    assert record["code"] == RULE.code
    assert _run(tmp_path, RULE.bad, "--format", "sarif") == 1
    log = json.loads(capsys.readouterr().out)
    assert log["runs"][0]["results"][0]["ruleId"] == RULE.code


def test_misuse_is_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sanitize", str(tmp_path / "none.ptx"), "--grid", "1", "--block", "1"]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_every_rule_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for code, rule in rules().items():
        assert main(["explain", code]) == 0
        assert rule.what in capsys.readouterr().out


# `[expect]` --------------------------------------------------------------------------------------------------

KERNEL = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r1;
    BODY
    ret;
}
"""
LAUNCH = """kernel.file = "k.ptx"
launch.grid = 1
launch.block = 32
argument = [{ buffer = "d" }]

[buffer.d]
dtype = "uint32"
shape = [32]
distribution = "zeros"

[expect]
reference = "file"
file = "right.npy"
result = "d"
exact = true
"""


def _launch_file(folder: Path, body: str = "", wrong: int = 0) -> Path:
    right = np.arange(32, dtype=np.uint32)
    right[:wrong] += 1
    np.save(folder / "right.npy", right)
    (folder / "k.ptx").write_text(KERNEL.replace("BODY", body), encoding="utf-8")
    path = folder / "launch.toml"
    path.write_text(LAUNCH, encoding="utf-8")
    return path


def test_the_expected_result_is_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sanitize", str(_launch_file(tmp_path))]) == 0
    assert capsys.readouterr().out == "no findings\n"


def test_a_wrong_result_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _launch_file(tmp_path, wrong=3)
    assert main(["sanitize", str(path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{path}:11:1: error[launch-file/expect]: expect: under eager, d is wrong: 3 of 32 elements")
    assert "d[0] is 0, expected 1" in out
    assert out.endswith("1 finding\n")
    assert main(["sanitize", str(path), "--format", "json", "--schedule", "lazy"]) == 1
    (record,) = json.loads(capsys.readouterr().out)
    assert record["code"] == "launch-file/expect"
    assert "under lazy" in record["message"]


def test_a_result_that_is_wrong_under_one_schedule_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = """.shared .align 16 .b32 s[4];
    st.shared.u32 [s], 5;
    cp.async.ca.shared.global [s], [%rd1+112], 16;
    ld.shared.u32 %r2, [s];
    setp.eq.u32 %p1, %r2, 5;
    @%p1 st.global.u32 [%rd2], 99;"""
    main(["sanitize", str(_launch_file(tmp_path, body))])
    out = capsys.readouterr().out
    assert "under lazy, d is wrong" in out
    assert "under eager" not in out


def test_a_trap_is_reported_instead_of_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sanitize", str(_launch_file(tmp_path, "trap;", wrong=3))]) == 1
    out = capsys.readouterr().out
    assert "error[emulator.trap]" in out
    assert out.endswith("1 finding\n")
