"""The file of tuned tiles: it gives back what was kept, is used where it holds, and is refused where it is broken."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import pytest

import warploom as wl
from warploom.kernels import Epilogue, Plan, Tile
from warploom.kernels.hopper.cost_model import choose, schedules
from warploom.kernels.hopper.plan import SMALL
from warploom.kernels.hopper.tuned_tiles import Tuned, choose_tuned, forget, keep, key_of, read, record_file
from warploom.kernels.problem import Problem

GPU = "NVIDIA H200"
PROBLEM = Problem(4096, 2112, 7168, 1, "bf16", "bf16", "k", "k")
PLAN = Plan(tile=SMALL)
KEY = key_of(PROBLEM, PLAN)
FOUND = Tuned(Tile(128, 176, 5, 2), 78, 171.25)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path / "cache"))


def test_what_is_kept_is_there_again() -> None:
    assert read() == {}
    keep(GPU, KEY, FOUND)
    keep("another", KEY, replace(FOUND, split=0))
    keep(GPU, "another", replace(FOUND, microseconds=1.0))
    assert read() == {
        GPU: {KEY: FOUND, "another": replace(FOUND, microseconds=1.0)},
        "another": {KEY: replace(FOUND, split=0)},
    }
    keep(GPU, KEY, replace(FOUND, split=3))
    assert read()[GPU][KEY] == replace(FOUND, split=3)
    assert [path.name for path in record_file().parent.iterdir()] == ["tuned.json"]


def test_a_key_says_everything_but_the_tile() -> None:
    assert KEY == "4096x2112x7168 a=bf16 b=bf16 accumulator=f32 d=bf16 a_major=k b_major=k"
    others: list[tuple[Problem, Plan]] = [
        (replace(PROBLEM, m=4095), PLAN),
        (replace(PROBLEM, n=2113), PLAN),
        (replace(PROBLEM, k=7167), PLAN),
        (replace(PROBLEM, batch=2), PLAN),
        *((PROBLEM, replace(PLAN, **changed)) for changed in (
            {"a": "f16", "b": "f16"}, {"a": "f16", "b": "f16", "accumulator": "f16", "d": "f16"}, {"d": "f32"},
            {"a_major": "m"}, {"b_major": "n"}, {"batched": True}, {"promotion_stages": 2},
            {"unaligned": True}, {"sparse": True},
        )),
        *((PROBLEM, replace(PLAN, epilogue=Epilogue(**changed))) for changed in (
            {"scaled": True}, {"row_scales": True}, {"column_scales": True}, {"addend": "bf16"}, {"bias": "row"},
            {"bias": "column"}, {"activation": "relu"}, {"activation": "gelu"},
        )),
    ]  # fmt: skip
    keys = {key_of(problem, plan) for problem, plan in others}
    assert len(keys) == len(others)
    assert KEY not in keys
    assert key_of(PROBLEM, PLAN.with_tile(Tile())) == KEY


def test_the_choice_is_the_file_s_and_else_the_model_s() -> None:
    assert choose_tuned(GPU, PROBLEM, PLAN) == choose(PROBLEM, PLAN)
    other = Tile(64, 128, 4)
    even, cut = schedules(PROBLEM, PLAN.with_tile(replace(other, cluster=2)))
    for share in (even, cut):
        keep(GPU, KEY, Tuned(replace(other, cluster=2), share.split, 1.0))
        assert choose_tuned(GPU, PROBLEM, PLAN) == (PLAN.with_tile(replace(other, cluster=2)), share)
    assert choose_tuned("another", PROBLEM, PLAN) == choose(PROBLEM, PLAN)


def test_a_share_that_there_is_no_more_gives_way_to_the_model_s() -> None:
    keep(GPU, KEY, Tuned(Tile(64, 128, 4, 2), 12345, 1.0))
    plan, share = choose_tuned(GPU, PROBLEM, PLAN)
    assert plan.tile == Tile(64, 128, 4, 2)
    assert share in list(schedules(PROBLEM, plan))


def entry(**changed: Any) -> str:
    return json.dumps({"format": 1, "gpus": {GPU: {KEY: asdict(FOUND) | changed}}})


TILE = asdict(FOUND.tile)
NO_TILE = f"the entry '{KEY}' is not a tile of this release"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the file is not JSON"),
        ('{"format": 1', "the file is not JSON"),
        ("\xff", "the file is not JSON"),
        ("[" * 100_000, "the file is not JSON"),
        ("[]", "expected format 1"),
        ('{"format": 2, "gpus": {}}', "expected format 1"),
        ('{"format": 1}', "'gpus' in the file is not a table"),
        ('{"format": 1, "gpus": {"a": 3}}', "'a' in the file is not a table"),
        (entry(tile=3), "'tile' in the file is not a table"),
        (entry(tile={"rows": 64}), NO_TILE),
        (entry(tile=TILE | {"more": 1}), NO_TILE),
        (entry(tile={name: value for name, value in TILE.items() if name != "blocks"}), NO_TILE),  # an older release
        (entry(tile=TILE | {"rows": "64"}), NO_TILE),
        (entry(tile=TILE | {"rows": True}), NO_TILE),
        (entry(tile=TILE | {"pingpong": 1}), NO_TILE),
        (entry(split=-1), NO_TILE),
        (entry(split=None), NO_TILE),
        (entry(microseconds=0.0), NO_TILE),
        (entry(microseconds="__import__('os')"), NO_TILE),
        (" " * ((16 << 20) + 1), "the file is longer than 16 MiB"),
    ],
)
def test_a_broken_file_is_a_sentence(text: str, why: str) -> None:
    record_file().parent.mkdir()
    record_file().write_bytes(text.encode("latin-1"))
    for ask in (read, lambda: choose_tuned(GPU, PROBLEM, PLAN), lambda: keep(GPU, KEY, FOUND)):
        with pytest.raises(wl.UsageError) as error:
            ask()
        (found,) = error.value.diagnostics
        assert found.code == "kernels.tuned"
        assert found.message == f"cannot use the tuned tiles in {record_file()}: {why}"
        assert found.hint == "`warploom tune --forget` removes it"
    assert forget() == 1
    assert read() == {}


def test_a_tile_that_no_kernel_can_have_is_a_sentence() -> None:
    keep(GPU, KEY, Tuned(Tile(100, 100, 4), 0, 1.0))
    with pytest.raises(wl.UsageError, match="a tile in the file is illegal: the tile has 100 rows"):
        choose_tuned(GPU, PROBLEM, PLAN)


def test_every_field_of_a_tile_is_kept() -> None:
    odd = Tile(64, 96, 7, 2, 16, pingpong=True, buffers=1, across=2)
    few_rows, tall = Tile(64, 16, 5, exchanged=True, parts=4), Tile(256, 128, 4, blocks=2)
    tiles = (odd, few_rows, tall)
    assert all(any(getattr(tile, field.name) != field.default for tile in tiles) for field in fields(Tile))
    for tile in tiles:
        keep(GPU, KEY, Tuned(tile, 0, 1.0))
        assert read()[GPU][KEY] == Tuned(tile, 0, 1.0)


def test_forgetting() -> None:
    assert forget() == 0
    for gpu in ("a", "b"):
        for key in ("x", "y"):
            keep(gpu, key, FOUND)
    assert forget({"x", "z"}) == 2
    assert {gpu: set(kept) for gpu, kept in read().items()} == {"a": {"y"}, "b": {"y"}}
    assert forget({"x"}) == 0
    assert forget({"y"}) == 2
    assert read() == {}
    keep("a", "x", FOUND)
    keep("a", "y", FOUND)
    assert forget() == 2
    assert not record_file().exists()


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert read() == {}
    with pytest.raises(wl.UsageError, match=r"cannot write .*tuned\.json: "):
        keep(GPU, KEY, FOUND)
