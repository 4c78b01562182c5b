"""`warploom tune`: wrong options, the stored tiles, and the table of a given outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from warploom.cli import main, tune
from warploom.gpu import Timing
from warploom.kernels import Tile
from warploom.kernels.hopper.tuned_tiles import Tuned, keep, key_of, record_file
from warploom.kernels.timing.cases import KINDS, Case
from warploom.kernels.timing.tuning import Outcome, Trial, candidates

HINT = "\n  hint: `warploom tune --help` lists the arguments\n"
SHAPE = "expected M, N and K such as 4096x2112x7168\n  hint: `warploom tune --help` lists the arguments"
CASE = Case(KINDS["bf16"], 4096, 2112, 7168)
PROBLEM, PLAN = CASE.problem, CASE.plan


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--types", "bf16"], "error[usage]: nothing to tune; expected --types and --shapes, or --all\n"),
        (
            ["--all", "--repetitions", "0"],
            f"error[usage]: --repetitions: found '0'; expected an integer of at least 1{HINT}",
        ),
        (
            ["--types", "bf61", "--shapes", "1x1x1", "--forget"],
            (
                "error[usage]: --types: found 'bf61'; expected some of bf16, f16, tf32, e4m3, e4m3-accurate, s8,"
                " f16-sparse\n"
            ),
        ),
        (["--types", "bf16", "--shapes", "4096x4096x4096,64"], f"error[usage]: --shapes: found '64'; {SHAPE}\n"),
    ],
)
def test_what_cannot_be_asked(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", *options]) == 2
    assert capsys.readouterr() == ("", said)


def test_listing_and_forgetting(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "--list"]) == 0
    assert capsys.readouterr().out == f"{record_file()} has no tiles\n"
    keep("a GPU", key_of(PROBLEM, PLAN), Tuned(Tile(128, 176, 5, 2), 78, 171.254))
    keep("a GPU", "another", Tuned(Tile(64, 128, 4), 0, 9.0))
    assert main(["tune", "--list"]) == 0
    assert capsys.readouterr().out == (
        "a GPU\n"
        "  4096x2112x7168 a=bf16 b=bf16 accumulator=f32 d=bf16 a_major=k b_major=k:"
        " 128x176, cluster 2, 78 split, 171.25 us\n"
        "  another: 64x128, 9.00 us\n"
    )
    assert main(["tune", "--forget", "--types", "bf16", "--shapes", "4096x2112x7168,64x64x64"]) == 0
    assert capsys.readouterr().out == "1 tile removed\n"
    assert main(["tune", "--forget"]) == 0
    assert capsys.readouterr().out == "1 tile removed\n"
    assert not record_file().exists()


def test_a_broken_file_is_told_and_can_be_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    record_file().parent.mkdir()
    record_file().write_text("{")
    assert main(["tune", "--list"]) == 2
    assert capsys.readouterr().err == (
        f"error[kernels.tuned]: cannot use the tuned tiles in {record_file()}: the file is not JSON\n"
        "  hint: `warploom tune --forget` removes it\n"
    )
    assert main(["tune", "--forget"]) == 0
    assert main(["tune", "--list"]) == 0


def test_the_table_says_what_was_and_what_is(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = candidates(PROBLEM, PLAN)[:3]
    tried = (
        Trial(second, Timing((170.0, 171.0, 172.0, 173.0)), 0.01),
        Trial(first, Timing((180.0,)), 0.01),
        Trial(third, None, 4.0),
    )
    assert tune.report(Outcome(CASE, tried, first, second)) == 1
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    names = [tune.tile_text(each.plan.tile, each.schedule.split) for each in (second, first, third)]
    assert lines == [
        "bf16 4096x2112x7168",
        "tile microseconds spread model chosen",
        f"{names[0]} 171.50 0.6% {second.estimate:.2f} now",
        f"{names[1]} 180.00 0.0% {first.estimate:.2f} before",
        f"{names[2]} wrong {third.estimate:.2f}",
        "1 of 3 tiles give wrong results and are not chosen",
    ]
    assert tune.report(Outcome(CASE, tried[:1], second, second)) == 0
    assert "before and now" in capsys.readouterr().out
