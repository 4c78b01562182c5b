"""`warploom run --trace` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from emulator.texts import kernel

from warploom.cli import main

GEOMETRY = ["--grid", "2", "--block", "64", "--arg", "scratch:256"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(kernel("bar.sync 0;\nst.global.u32 [%rd1], %r0;\nret;"))
    Path("stuck.ptx").write_text(kernel("bar.sync 0, 128;\nret;"))


def test_a_trace_is_written_and_spoken_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "k.ptx", *GEOMETRY, "--trace", "out.json", "--trace-ctas", "0,1"]) == 0
    assert capsys.readouterr().out.startswith("trace: 12 events in 2 CTAs, in out.json\n")
    events = json.loads(Path("out.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == 12
    assert [e["args"]["name"] for e in events if e["name"] == "process_name"] == ["CTA (0, 0, 0)", "CTA (1, 0, 0)"]


def test_a_limit_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "k.ptx", *GEOMETRY, "--trace", "out.json", "--trace-events", "3"]) == 0
    told = "trace: the first 3 events of 6 in 1 CTA, in out.json; --trace-events raises the limit\n"
    assert capsys.readouterr().out.startswith(told)


def test_a_deadlock_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "stuck.ptx", *GEOMETRY, "--trace", "out.json"]) == 1
    printed = capsys.readouterr()
    assert printed.out == "trace: 4 events in 1 CTA, in out.json\n"
    assert "deadlock" in printed.err
    assert "wait: barrier 0" in Path("out.json").read_text()


def test_a_cta_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "k.ptx", *GEOMETRY, "--trace", "out.json", "--trace-ctas", "2"]) == 2
    told = "error[launch.trace]: trace: there is no CTA 2; expected 0 to 1\n"
    assert capsys.readouterr() == ("", told)
    assert not Path("out.json").exists()
