"""`warploom report` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import read
from emulator.texts import kernel

from warploom.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "gemm_warp_specialised.toml"
GEOMETRY = ["--grid", "2", "--block", "64", "--arg", "scratch:256"]
LARGEST = 3_000_000


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(kernel("bar.sync 0;\nst.global.u32 [%rd1], %r0;\nret;"))
    Path("stuck.ptx").write_text(kernel("bar.sync 0, 128;\nret;"))


def test_the_report_of_the_main_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(EXAMPLE)]) == 0
    said = "gemm_warp_specialised.html: no findings; c is within its bound; 498 events in 1 CTA\n"
    assert capsys.readouterr() == (said, "")
    page = Path("gemm_warp_specialised.html").read_text(encoding="utf-8")
    assert len(page.encode()) < LARGEST
    timeline = json.loads(read(page).scripts["data"])["timeline"]
    assert len(timeline["track"]) == 498
    assert "<td>c is within its bound</td>" in page


def test_wrong_elements_have_a_table_and_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    Path("wrong.toml").write_text(
        'kernel.file = "k.ptx"\nlaunch = { grid = 2, block = 64 }\nargument = [{ buffer = "y" }]\n'
        '[buffer.x]\ndtype = "uint32"\nshape = [8, 16]\ndistribution = "arange"\n'
        '[buffer.y]\ndtype = "uint32"\nshape = [8, 16]\ndistribution = "zeros"\n'
        '[expect]\nreference = "copy"\na = "x"\nresult = "y"\n'
    )
    assert main(["report", "wrong.toml"]) == 1
    assert "y is wrong: 64 of 128 elements are outside the bound; " in capsys.readouterr().out
    page = Path("wrong.html").read_text(encoding="utf-8")
    assert '<a href="#errors">Errors</a>' in page
    assert '<th scope="row">wrong elements</th><td>rows 4-7</td>' in page
    assert '<th scope="row">never written</th><td>64 elements keep their initial values</td>' in page
    (picture,) = (attributes for tag, attributes in read(page).found if tag == "svg")
    assert picture["aria-label"] == "Wrong elements of y: rows 4-7"


def test_a_ptx_file_takes_the_schedule_that_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    for options, schedule in (
        ((), "lazy"),
        (("--schedule", "eager"), "eager"),
        (("--schedule", "random:3"), "random:3"),
    ):
        assert main(["report", "k.ptx", *GEOMETRY, *options, "-o", "out.html"]) == 0
        assert f"<td>{schedule}</td>" in Path("out.html").read_text(encoding="utf-8")
    assert capsys.readouterr().out.count("no findings") == 3


def test_which_ctas_are_traced_and_how_much(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["report", "k.ptx", *GEOMETRY, "--trace-ctas", "1", "--trace-events", "3"]
    assert main(asked) == 0
    assert capsys.readouterr().out.endswith("; the first 3 events of 6 in 1 CTA\n")
    assert "CTA (1, 0, 0)" in Path("k.html").read_text(encoding="utf-8")


def test_a_deadlock_has_its_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "stuck.ptx", *GEOMETRY]) == 1
    assert capsys.readouterr().out == "stuck.html: 1 finding; 4 events in 1 CTA\n"
    page = Path("stuck.html").read_text(encoding="utf-8")
    assert "sanitize.deadlock" in page
    assert "wait: barrier 0" in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "no/out.html"], "--output: no/out.html cannot be written: there is no folder no"),
        (["-o", "."], "--output: . cannot be written: it is a folder"),
        (["--trace-events", "0"], "--trace-events: found '0'; expected an integer of at least 1"),
        (["--trace-ctas", "one"], "--trace-ctas: found 'one'; expected integers such as 0,1"),
        (["--trace-ctas", "2"], "trace: there is no CTA 2; expected 0 to 1"),
    ],
)
def test_misuse(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "k.ptx", *GEOMETRY, *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f": {said}\n" in printed.err
    assert not list(Path().glob("*.html"))
