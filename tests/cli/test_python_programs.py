"""Python programs as input of `warploom run` and `warploom sanitize`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from warploom.cli import main

PROGRAM = """\
import sys
import numpy as np
import helper
import warploom as wl
from warploom.author import pointer, special, u32

@wl.kernel(target="sm_80")
def race(out: pointer(u32)):
    i = special("tid.x")
    out[i] = out[63 - i]

out = np.zeros(64, np.uint32)
race[1, 64](out)
print("arguments", len(sys.argv), helper.NAME)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text('NAME = "beside"', encoding="utf-8")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def test_run_executes_the_program(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.argv, list(sys.path)
    assert main(["run", str(program)]) == 0
    assert capsys.readouterr().out == "arguments 1 beside\n1 launch on the emulator; no findings\n"
    assert (sys.argv, sys.path) == before


def test_sanitize_reports_the_findings_of_its_launches(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sanitize", str(program)]) == 1
    said = capsys.readouterr().out
    assert "sanitize.race/global" in said
    assert said.endswith("1 launch on the emulator; 1 finding\n")


def test_the_schedule_reaches_the_launches(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(program), "--schedule", "random:1"]) == 0
    assert main(["run", str(program), "--schedule", "late"]) == 2
    assert "late" in capsys.readouterr().err


def test_options_of_one_launch_are_refused(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (["--grid", "1"], ["--workers", "2"], ["--memory", "1"], ["--explore", "2"], ["--time"]):
        assert main(["run", str(program), *option]) == 2
        assert f"{option[0]} does not apply to a Python program" in capsys.readouterr().err
    assert main(["sanitize", "absent.py"]) == 2


def test_a_program_that_fails_keeps_its_status(program: Path) -> None:
    program.write_text("raise SystemExit(3)", encoding="utf-8")
    with pytest.raises(SystemExit, match="3"):
        main(["run", str(program)])
