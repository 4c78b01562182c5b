"""Comparison of tensor copies: cases, answers, records and processes."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest
from misbehaving import act

from warploom.diagnostics import UsageError
from warploom.layout.tensormap import FILLS, INTERLEAVES
from warploom_lab.campaign import tensor_copy
from warploom_lab.campaign.tensor_case import TensorCase
from warploom_lab.campaign.tensor_cases import tensor_cases
from warploom_lab.campaign.tensor_copy import Answer, TensorOutcome, TensorTask, answer, compare_task
from warploom_lab.campaign.tensor_record import TensorSample, read_differences, write_differences
from warploom_lab.cli import compare_tensor, main
from warploom_lab.work.isolated import IsolatedProcesses

CASES = list(tensor_cases(2000, 1))


def load_of(case: TensorCase) -> bool:
    return case.action == "load" and not case.map.is_im2col and case.start % 1024 == 0 and not case.mask


def a_load() -> TensorCase:
    """Return a load that the emulator executes."""
    return next(case for case in filter(load_of, CASES) if answer(case, "cpu").verdict == "done")


def test_a_case_depends_on_seed_and_number() -> None:
    assert list(tensor_cases(40, 1)) == CASES[:40]
    assert [case.number for case in CASES[:40]] == list(range(40))
    assert list(tensor_cases(40, 2)) != CASES[:40]


def test_cases_cover_every_kind_of_map() -> None:
    copies = [case for case in CASES if case.action != "verdict"]
    assert len(CASES) - len(copies) == 500
    maps = {
        (case.map.rank, INTERLEAVES[case.map.interleave], case.map.swizzle_span, case.map.is_im2col) for case in copies
    }
    tiled = {(rank, 0, span, False) for rank in range(1, 6) for span in (0, 32, 64, 128)}
    pixels = {(rank, 0, span, True) for rank in range(3, 6) for span in (0, 32, 64, 128)}
    slices = {(rank, 16, span, False) for rank in range(3, 6) for span in (0, 32, 64, 128)}
    assert tiled | pixels | slices | {(rank, 32, 32, False) for rank in range(3, 6)} <= maps
    assert {case.map.elemtype for case in copies} == set(range(13))
    assert {case.reduction for case in copies} == {"", *["add", "min", "max", "inc", "dec", "and", "or", "xor"]}
    assert {FILLS[case.map.fill] for case in copies} == set(FILLS)
    assert {(case.cluster, case.mask) for case in copies if case.mask} >= {(2, 3), (4, 5)}


def test_cases_are_read_back() -> None:
    for case in CASES[:200]:
        assert TensorCase.of(case.record()) == case


def test_an_answer_has_the_memory_after_the_copy() -> None:
    case = a_load()
    found = answer(case, "cpu")
    assert (found.verdict, found.steps) == ("done", (1,))
    assert found.shared.shape == (1, case.extent)
    assert (found.shared[0, : case.start] == case.shared_memory()[: case.start]).all()
    assert (found.memory == case.global_memory()).all()
    assert answer(replace(case, expected=case.expected + 32), "cpu").steps == (3,)


def test_a_difference_is_reported_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = a_load()
    emulated = answer(case, "cpu")
    changed = emulated.shared.copy()
    changed[0, case.start + 5] ^= 1
    real = replace(emulated, shared=changed)
    monkeypatch.setattr(tensor_copy, "answer", lambda case, device: real if device == "cuda" else answer(case, device))
    outcome = compare_task(TensorTask(case))
    assert not outcome.same
    assert f"1 bytes of shared memory differ, the first at {case.start + 5}" in str(outcome)
    write_differences(tmp_path / "d.npz", [outcome, compare_task(TensorTask(case, "cpu"))])
    ((kept, before, after),) = read_differences(tmp_path / "d.npz")
    assert kept == case
    assert (before.shared == changed).all()
    assert (after.shared == emulated.shared).all()


def test_a_sample_is_compared_without_a_gpu(tmp_path: Path) -> None:
    case = a_load()
    right = compare_task(TensorTask(case, "cpu"))
    wrong = TensorOutcome(replace(case, number=case.number + 1), Answer("trapped"), Answer("done"), 1, False)
    TensorSample.of([wrong, right]).write(tmp_path / "s.npz")
    taken = TensorSample.read(tmp_path / "s.npz")
    ((found, verdict, emulated),) = taken.differing()
    assert (found, verdict, emulated.verdict) == (wrong.case, "trapped", "done")
    assert main(["compare", "tensor", "--against", str(tmp_path / "s.npz")]) == 1
    (tmp_path / "bad.npz").write_text("no")
    with pytest.raises(UsageError, match="is not a sample of tensor copies"):
        TensorSample.read(tmp_path / "bad.npz")


def test_the_emulator_agrees_with_itself_in_other_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = argparse.Namespace(
        cases=8,
        every=2,
        seed=3,
        workers=1,
        against=None,
        record=tmp_path / "r.npz",
        differences=tmp_path / "d.npz",
        checkpoint=None,
    )
    assert compare_tensor.run(options, "cpu") == 0
    assert "4 cases in" in capsys.readouterr().out
    assert list(TensorSample.read(tmp_path / "r.npz").differing()) == []
    assert read_differences(tmp_path / "d.npz") == []


def test_tensor_excludes_other_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "tensor", "mma"]) == 2
    assert "needs the name 'tensor'" in capsys.readouterr().err


# Processes --------------------------------------------------------------------------------------------------


def test_a_crash_or_hang_affects_no_other_work() -> None:
    pool = IsolatedProcesses(
        act, workers=2, timeout=6, is_reusable=lambda result: result != "last done", on_loss=lambda work: f"{work} lost"
    )
    work = ["a", "die", "b", "hang", "last", "c"]
    found = dict(pool.results(work))
    expected = ["a done", "die lost", "b done", "hang lost", "last done", "c done"]
    assert [found[at] for at in range(len(work))] == expected
