"""`warploom sanitize`: what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

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
