"""Comparison of matrix multiplications: cases, errors and records; the emulator stands in for the GPU."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from warploom.diagnostics import UsageError
from warploom.kernels.hopper.plan import HOPPER
from warploom.kernels.plan import ACCUMULATORS
from warploom.runtime.api import launch
from warploom_lab.cli import compare_problems, main
from warploom_lab.gemm import GEMM, Outcome, case, cases, compare, comparison, parse
from warploom_lab.gemm.expected import expected
from warploom_lab.gemm.inputs import make_inputs
from warploom_lab.problems import Record, Task
from warploom_lab.problems.results import ratio

CASES = list(cases(1, 2000))
FEATURES = {
    *(f"{a} by {b}, sums {s}" for (a, b), each in ACCUMULATORS.items() for s in each),
    *(f"result {word}" for word in ("f32", "f16", "bf16", "e4m3", "e5m2", "s32")),
    *(f"majors {a}{b}" for a, b in product("km", "kn")),
    *(f"{name} stored {how}" for name, how in product(("A", "B", "C", "out"), ("rows", "wide", "between"))),
    *(f"{name} shared by the batch" for name in "ABC"),
    *(f"row scales by {by}" for by in ("row", "block")),
    *(f"column scales by {by}" for by in ("column", "block", "blocks")),
    *(f"bias along {way}" for way in ("row", "column")),
    *(f"activation {name}" for name in ("relu", "gelu", "silu")),
    "fast", "sparse A", "batch", "groups", "an empty group", "rows of no group", "alpha", "C", "beta",
    "scales of each batch", "out", "a chosen tile", "a chosen share", "a size of 1", "odd sizes", "more than a tile",
}  # fmt: skip


def tiny(*features: str) -> int:
    """The number of the case with some features that has the fewest products."""
    return min((one for one in CASES if {*features} <= {*one.features}), key=lambda one: one.work).number


def options(**others: Any) -> argparse.Namespace:
    usual = {
        "name": ["gemm"],
        "cases": 6,
        "every": 1,
        "seed": 1,
        "workers": 1,
        "against": None,
        "record": None,
        "bits": 2,
        "only": None,
        "checkpoint": None,
        "target": HOPPER,
        "sanitize": False,
        "no_emulator": False,
    }
    return argparse.Namespace(**{**usual, **others})


# Cases ------------------------------------------------------------------------------------------------------


def test_a_case_depends_on_seed_and_number() -> None:
    assert [case(1, number) for number in (0, 7, 1999)] == [CASES[number] for number in (0, 7, 1999)]
    assert list(cases(2, 50)) != [replace(one, seed=2) for one in CASES[:50]]
    assert make_inputs(CASES[7]).digest == make_inputs(CASES[7]).digest != make_inputs(replace(CASES[7], seed=2)).digest


def test_2000_cases_cover_all_features() -> None:
    seen = Counter(feature for one in CASES for feature in one.features)
    assert set(seen) == FEATURES
    assert min(seen.values()) >= 10, seen.most_common()[-5:]
    for sizes in zip(*((one.m, one.n, one.k) for one in CASES), strict=True):
        assert min(sizes) == 1
        assert max(sizes) >= 1500
    assert len(GEMM.select_small_cases(1, range(2000), 100, HOPPER)) == 100


def test_matrices_are_stored_as_the_case_describes() -> None:
    for feature, axes in (("A stored wide", -2), ("A stored rows", -2), ("A stored between", 0)):
        one = case(1, tiny(feature, "majors kk"))
        a = make_inputs(one).arrays.a
        tight = -(-one.k * a.itemsize // 16) * 16
        assert a.shape[-2:] == (one.m, one.k)
        assert a.strides[axes] % 16 == 0
        assert (a.strides[0] == tight) if axes == 0 else (a.strides[-2] > tight)


# Comparison -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "features",
    [
        ("groups", "rows of no group", "an empty group"),
        ("column scales by blocks", "row scales by block"),
        ("column scales by block", "batch", "scales of each batch"),
        ("C shared by the batch", "bias along row", "activation gelu"),
        ("fast", "a chosen share", "odd sizes"),
        ("sparse A", "batch", "a chosen tile"),
        ("s8 by u8, sums s32", "result s32", "out"),
    ],
)
def test_the_emulator_agrees_with_float64(features: tuple[str, ...]) -> None:
    found = compare(Task(1, tiny(*features), "cpu", bits=True))
    assert found.wrong == ""
    assert 0 <= found.ratio <= 1
    assert found.partition is not None


@pytest.mark.parametrize("kind", ["bf16 by bf16, sums f32", "e4m3 by e4m3, sums f32", "f16 by f16, sums f16"])
def test_a_missing_product_exceeds_the_allowed_distance(kind: str) -> None:
    one = next(one for one in CASES if one.kind == kind and one.k > 700 and not one.batch and not one.ends)
    one = replace(one, m=3, n=5, result="f32", activation="", row_scales="", column_scales="", added=False, bias="")
    made = make_inputs(one)
    wanted, allowed = expected(one, made)
    assert ratio(wanted, wanted, allowed) == 0
    column = int(abs(made.arrays.b[:, 4].astype(float) * made.arrays.a[2].astype(float)).argmax())
    lost = one.alpha * float(made.arrays.a[2, column]) * float(made.arrays.b[column, 4])
    changed = wanted.copy()
    changed[2, 4] -= lost
    assert ratio(changed, wanted, allowed) > 1
    changed[2, 4] = np.nan
    assert ratio(changed, wanted, allowed) == np.inf


def altered(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Change the result of the first run of each case, which stands for the GPU's run."""
    original, runs = comparison.run_gemm, Counter[str]()

    def changed(ask: Any, arrays: Any, *rest: Any) -> Any:
        d = original(ask, arrays, *rest)
        runs["all"] += 1
        if runs["all"] == 1:
            change(d, arrays)
        return d

    monkeypatch.setattr(comparison, "run_gemm", changed)


def test_errors_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    number = tiny("out stored wide", "result f32")
    with monkeypatch.context() as patch:
        altered(patch, lambda d, _: d.__setitem__((0,) * d.ndim, 1e9))
        assert "times the allowed distance" in compare(Task(1, number, "cpu")).wrong
    with monkeypatch.context() as patch:
        altered(patch, lambda d, _: d.view("u4").__setitem__((0,) * d.ndim, d.view("u4")[(0,) * d.ndim] ^ 1))
        found = compare(Task(1, number, "cpu", bits=True))
        assert f"1 of {expected(found.case, make_inputs(found.case))[0].size} elements differ" in found.wrong
    with monkeypatch.context() as patch:
        altered(patch, lambda d, _: d.base.__setitem__((0,) * d.base.ndim, 3))
        assert compare(Task(1, number, "cpu")).wrong == "1 elements outside D were written"


def test_an_error_becomes_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise UsageError("no such GPU", code="gpu.none")

    monkeypatch.setattr(comparison, "run_gemm", refuse)
    found = compare(Task(1, 0, "cpu"))
    assert found.lost
    assert found.wrong == "UsageError: no such GPU"


@pytest.mark.parametrize("target", ["sm_100a", "sm_103a", "sm_120a"])
def test_kernels_of_a_target_are_compared_under_the_sanitizer(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    number = next(n for n in range(99) if (one := case(1, n, target)).scaling and one.work < 3_000_000)
    found = compare(Task(1, number, "cpu", target=target))
    assert (found.wrong, found.case.target) == ("", target)
    assert found.ratio <= 1
    message = Mock(message="a race")
    monkeypatch.setattr(
        comparison, "launch", lambda *args, **words: Mock(findings=[message], run=launch(*args, **words))
    )
    assert compare(Task(1, number, "cpu", target=target)).wrong == "a race"


# The command ------------------------------------------------------------------------------------------------


def test_a_record_is_compared_without_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = options(seed=104, cases=2, bits=2, record=tmp_path)
    assert compare_problems.run(chosen, "cpu") == 0
    said = capsys.readouterr().out
    assert "2 cases in" in said
    path = tmp_path / "the-emulator-seed-104.json"
    told = json.loads(path.read_text())
    assert told["command"] == "warploom-lab compare gemm --cases 2 --seed 104 --bits 2"
    record = Record.read(path, parse)
    assert [each.number for each in record.recorded] == [0, 1]
    assert main(["compare", "gemm", "--against", str(path)]) == 0
    assert "0 of 2 cases differ" in capsys.readouterr().out
    told["cases"][0]["result"] = "0" * 64
    told["cases"][1]["asked"] = "0" * 64
    path.write_text(json.dumps(told))
    assert main(["compare", "gemm", "--against", str(path)]) == 1
    said = capsys.readouterr().out
    assert "the emulator's result differs from the GPU's" in said
    assert "the inputs differ from the recorded ones; record the case again" in said


@pytest.mark.parametrize("text", ["no", "[]", '{"seed": 1, "cases": [{"number": 1}]}', '{"seed": "1", "cases": []}'])
def test_a_file_without_a_record_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(UsageError, match="is not a record of results"):
        Record.read(tmp_path / "r.json", parse)


def test_the_report_names_the_command_for_a_wrong_case(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [Outcome(CASES[0]), Outcome(CASES[3], 2.5, wrong="an element is 2.5 times too far")]
    assert compare_problems.report(outcomes, "gemm") == 1
    said = capsys.readouterr().out
    assert "warploom-lab compare gemm --seed 1 --only 3" in said
    assert "wrong: 3\n" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gemm", "mma"], "--only needs the name 'gemm' or 'attention' and no other name"),
        (["mma", "--only", "3"], "--only needs the name 'gemm' or 'attention'"),
        (["attention", "gemm"], "--only needs the name 'gemm' or 'attention'"),
        (["tensor", "--no-emulator"], "--no-emulator needs the name 'gemm' or 'attention'"),
        (["gemm", "--bits", "-1"], "--bits is -1; expected 0 or more"),
    ],
)
def test_wrong_arguments_are_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *words]) == 2
    assert said in capsys.readouterr().err
