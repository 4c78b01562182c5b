"""Comparison of attention: cases, bounds and records; the emulator stands in for the GPU."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from warploom.kernels.hopper.plan import HOPPER
from warploom.runtime.api import launch
from warploom_lab.attention import ATTENTION, Case, Runner, case, cases, compare, comparison, parse
from warploom_lab.attention.inputs import make_inputs, spans
from warploom_lab.cli import compare_problems, main
from warploom_lab.problems import Record, Task
from warploom_lab.problems.results import ratio

CASES = list(cases(1, 500))
USUAL = Case(tokens=(60,), keys=(300,), heads=2, seed=1)


def tiny(*features: str, without: str = "an empty sequence") -> int:
    """The number of the case with some features that has the least work."""
    found = [one for one in CASES if {*features} <= {*one.features} and without not in one.features]
    return min(found, key=lambda one: one.work).number


# Cases ------------------------------------------------------------------------------------------------------


def test_a_case_depends_on_seed_and_number() -> None:
    assert [case(1, number) for number in (0, 7, 499)] == [CASES[number] for number in (0, 7, 499)]
    assert list(cases(2, 50)) != [replace(one, seed=2) for one in CASES[:50]]
    assert make_inputs(CASES[7]).digest == make_inputs(CASES[7]).digest != make_inputs(replace(CASES[7], seed=2)).digest


def test_500_cases_cover_all_features() -> None:
    seen = Counter(feature for one in CASES for feature in one.features)
    assert min(seen.values()) >= 15, seen.most_common()[-5:]
    assert len(seen) == 45
    assert {one.type for one in CASES} == {"bf16", "f16", "e4m3"}
    assert len({one.head for one in CASES}) > 20
    assert max(max(one.keys) for one in CASES) > 1900
    small = ATTENTION.select_small_cases(1, range(500), 64, "")
    assert Counter(CASES[number].kind for number in small).most_common()[-1][1] >= 5


def test_memory_of_no_sequence_is_nan() -> None:
    for one in (USUAL, replace(USUAL, padding=9), replace(USUAL, tokens=(1,), page=16), replace(USUAL, storage="wide")):
        made = make_inputs(one)
        k = made.operands.k.base.view(made.operands.k.dtype)
        outside = k.size - 300 * one.heads_kv * 64
        assert np.isnan(k.astype(np.float32)).sum() == outside, one
    assert [(span.tokens.stop, span.keys.stop) for span in spans(replace(USUAL, packed=True))] == [(60, 300)]


# Bounds -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"type": "f16"},
        {"values": "large"},
        {"values": "tiny", "type": "f16", "scale": 3e4},
        {"target": "sm_80"},
        {"tokens": (2,), "keys": (700,)},
        {"gradients": True},
        {"gradients": True, "type": "f16", "head": 128, "head_v": 128},
    ],
    ids=str,
)
@pytest.mark.parametrize("fault", ["a block of keys is missing", "the mask is off by one", "another scale"])
def test_a_wrong_result_exceeds_its_bound(change: dict[str, Any], fault: str) -> None:
    one = replace(USUAL, right=0, **change)
    faults: dict[str, Case] = {
        "a block of keys is missing": replace(one, left=one.keys[0] - 128),
        "the mask is off by one": replace(one, right=1),
        "another scale": replace(one, scale=(one.scale or one.head**-0.5) * 1.05),
    }
    # The inputs of both cases are equal.
    wanted, found = (Runner(each).expected() for each in (one, faults[fault]))
    exceeded = {name for name, bounds in wanted.items() if ratio(found[name][0], *bounds) > 1}
    assert exceeded == wanted.keys()
    assert all(ratio(values, values, allowed) == 0 for values, allowed in wanted.values())


@pytest.mark.parametrize("head", [64, 128, 192, 256])
@pytest.mark.parametrize(
    "fault",
    [
        {"left": 100}, {"right": 1}, {"factors": (1.0, 1.5, 2.0)}, {"factors": (1.0, 1.0, 2.5)},
        {"factor_arrays": "qkv"},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_result_of_e4m3_exceeds_its_bound(fault: dict[str, Any], head: int) -> None:
    one = replace(USUAL, type="e4m3", head=head, head_v=head, tokens=(300,), right=0, factors=(1.0, 1.0, 2.0))
    wanted, found = (Runner(each).expected() for each in (one, replace(one, **fault)))
    exceeded = {name for name, bounds in wanted.items() if ratio(found[name][0], *bounds) > 1}
    assert exceeded == ({"o"} if fault == {"factors": (1.0, 1.0, 2.5)} else {"o", "lse"})


def test_a_wrong_logarithm_exceeds_its_bound() -> None:
    wanted, allowed = Runner(USUAL).expected()["lse"]
    assert ratio(wanted + 1e-4, wanted, allowed) > 1
    assert ratio(wanted / np.log(2), wanted, allowed) > 1


# Comparison -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "features",
    [
        ("packed", "stored fused"),
        ("padded", "results stored heads", "grouped queries"),
        ("pages", "another head size of V"),
        ("bf16, gradients", "stored wide"),
    ],
)
def test_the_emulator_agrees_with_float64(features: tuple[str, ...]) -> None:
    found = compare(Task(1, tiny(*features), "cpu", bits=True, sanitize=True))
    assert found.wrong == ""
    assert 0 < found.ratio <= 1


def altered(monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the result of the first run of each case, which stands for the GPU's run."""
    original, runs = Runner.run, Counter[str]()

    def changed(self: Runner, *args: Any, **words: Any) -> dict[str, Any]:
        found = original(self, *args, **words)
        runs["all"] += 1
        if runs["all"] == 1:
            change(found)
        return found

    monkeypatch.setattr(Runner, "run", changed)


def test_errors_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    number = tiny("results stored wide", "logarithms given", "bf16, sm_90a")

    def far(found: dict[str, Any]) -> None:
        found["o"][(0,) * found["o"].ndim] = 9

    def flip(found: dict[str, Any]) -> None:
        found["lse"].view("u4")[(-1,) * found["lse"].ndim] ^= 1

    def outside(found: dict[str, Any]) -> None:
        found["o"].base[(0,) * found["o"].ndim] = 3

    for change, message in (
        (far, "an element of o differs from float64 by"),
        (outside, "1 elements outside o were written"),
        (flip, "elements of lse differ, the first at"),
    ):
        with monkeypatch.context() as patch:
            altered(patch, change)
            assert message in compare(Task(1, number, "cpu", bits=True)).wrong


def test_a_finding_of_the_sanitizer_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    message = Mock(message="a race")

    def found(*args: Any, **words: Any) -> Any:
        launch(*args, **words)
        return Mock(findings=[message])

    monkeypatch.setattr(comparison, "launch", found)
    assert compare(Task(1, tiny("bf16, sm_80"), "cpu", sanitize=True)).wrong == "a race"


def test_dq_is_compared_only_in_a_fixed_order() -> None:
    results: dict[str, Any] = dict.fromkeys(("dq", "dk", "dv"))
    one = replace(USUAL, gradients=True)
    assert Runner(one).with_fixed_bits(results).keys() == {"dk", "dv"}
    assert Runner(replace(one, deterministic=True)).with_fixed_bits(results).keys() == {"dq", "dk", "dv"}


# The command ------------------------------------------------------------------------------------------------


def options(**others: Any) -> argparse.Namespace:
    usual = {
        "name": ["attention"], "cases": 500, "every": 1, "seed": 1, "workers": 1, "against": None, "record": None,
        "bits": 2, "only": tiny("bf16, sm_80"), "checkpoint": None, "target": HOPPER, "sanitize": False,
        "no_emulator": False,
    }  # fmt: skip
    return argparse.Namespace(**{**usual, **others})


@pytest.mark.parametrize("no_emulator", [False, True])
def test_a_record_is_compared_without_a_gpu(
    no_emulator: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare_problems.run(options(record=tmp_path, no_emulator=no_emulator), "cpu") == 0
    assert "1 cases in" in capsys.readouterr().out
    path = tmp_path / "the-emulator-seed-1.json"
    told = json.loads(path.read_text())
    assert told["command"].startswith("warploom-lab compare attention --cases 500 --seed 1 --bits 2")
    assert len(Record.read(path, parse).recorded) == 1
    assert main(["compare", "attention", "--against", str(path)]) == 0
    assert "0 of 1 cases differ" in capsys.readouterr().out
    told["cases"][0]["result"] = "0" * 64
    path.write_text(json.dumps(told))
    assert main(["compare", "attention", "--against", str(path)]) == 1
    assert "the emulator's result differs from the GPU's" in capsys.readouterr().out


def test_the_sanitizer_needs_no_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "attention", "--sanitize", "--only", str(tiny("f16, sm_80"))]) == 0
    assert "f16, sm_80" in capsys.readouterr().out
