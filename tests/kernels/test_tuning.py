"""Tuning: what the model takes to be near is tried, the quickest right one is kept, a wrong one never."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernels.numpy_peer import Clock, NumPy

from warploom.kernels import Compressed, Tile, decompress
from warploom.kernels.hopper.cost_model import choose, configurations, microseconds
from warploom.kernels.hopper.dispatch import HopperDispatch
from warploom.kernels.hopper.tuned_tiles import Tuned, choose_tuned, keep, key_of, read
from warploom.kernels.prepared import PreparedGemm
from warploom.kernels.problem import Operands
from warploom.kernels.timing.cases import KINDS, SIZES, Case
from warploom.kernels.timing.speed import Bench
from warploom.kernels.timing.tuning import MAX_CANDIDATES, candidates, tune

GPU = "NVIDIA H200"
CASE = Case(KINDS["bf16"], 256, 192, 128)
PROBLEM, PLAN = CASE.problem, CASE.plan


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))


def kept() -> Tuned | None:
    return read().get(GPU, {}).get(key_of(PROBLEM, PLAN))


class Launches:
    """Launches that multiply at once; those whose tile is among the `wrong` forget a column."""

    def __init__(self, *wrong: Tile) -> None:
        self.wrong = wrong
        self.made: list[HopperDispatch] = []

    def __call__(self, dispatch: HopperDispatch, _: Operands) -> Any:
        self.made.append(dispatch)

        def launch(arrays: Operands) -> None:
            arrays.out[...] = arrays.a.astype(np.float64) @ arrays.b.astype(np.float64)
            if dispatch.plan.tile in self.wrong:
                arrays.out[:, 3] = 0

        return launch


def tuned(launches: Launches, **times: float) -> tuple[Any, list[tuple[str, int, int]]]:
    """The outcome, and what was told on the way; each candidate takes as long as its place says, or as is said here."""
    told: list[tuple[str, int, int]] = []
    clock = Clock(**{str(place): 10.0 + place for place in range(MAX_CANDIDATES + 1)} | times)
    bench = Bench(GPU, NumPy(), clock, lambda: None, 5)
    return tune(bench, CASE, launches, lambda *step: told.append(step)), told


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["bf16", "e4m3-accurate"])
def test_candidates_are_those_the_model_takes_to_be_near(name: str, size: tuple[int, int, int]) -> None:
    case = Case(KINDS[name], *size)
    problem, plan = case.problem, case.plan
    found = candidates(problem, plan)
    best = found[0]
    assert (best.plan, best.schedule) == choose(problem, plan)
    assert len(found) == len(set(found)) <= MAX_CANDIDATES
    assert [each.estimate for each in found] == sorted(each.estimate for each in found)
    assert found[-1].estimate <= 1.4 * best.estimate
    assert size != (8192, 8192, 8192) or {each.schedule.split == 0 for each in found} == {True, False}
    near = [
        time for way in configurations(problem, plan) if (time := microseconds(problem, *way)) <= 1.4 * best.estimate
    ]
    assert len(found) == min(len(near), MAX_CANDIDATES)


def test_the_quickest_is_kept_and_chosen_from_then_on() -> None:
    before = candidates(PROBLEM, PLAN)
    outcome, told = tuned(Launches(), **{"5": 3.0})
    assert (outcome.before, outcome.now) == (before[0], before[5])
    assert [each.microseconds for each in outcome.trials] == sorted(each.microseconds for each in outcome.trials)
    assert kept() is not None
    assert (kept().tile, kept().split) == (before[5].plan.tile, before[5].schedule.split)
    assert choose_tuned(GPU, PROBLEM, PLAN) == (before[5].plan, before[5].schedule)
    again, _ = tuned(Launches())
    assert (again.before, again.now) == (before[5], before[0])
    assert told[0] == (f"building tile 1 of {len(before)}", 0, len(before) + 1)
    assert told[-1] == ("timing", len(before), len(before) + 1)


def test_what_was_chosen_before_is_tried_though_the_model_would_not() -> None:
    far = Tile(64, 64, 2)
    keep(GPU, key_of(PROBLEM, PLAN), Tuned(far, 0, 1.0))
    launches = Launches()
    outcome, _ = tuned(launches)
    assert outcome.before.plan.tile == far
    assert sum(dispatch.plan.tile == far for dispatch in launches.made) == 1


def test_every_candidate_is_run_with_its_own_share() -> None:
    launches = Launches()
    tuned(launches)
    found = candidates(PROBLEM, PLAN)
    assert [(each.plan, each.schedule) for each in launches.made] == [(each.plan, each.schedule) for each in found]


def test_a_wrong_candidate_is_never_chosen() -> None:
    quick = candidates(PROBLEM, PLAN)[2].plan.tile
    outcome, _ = tuned(Launches(quick), **{"2": 0.5})
    wrong = [each for each in outcome.trials if each.timing is None]
    assert wrong
    assert all(each.candidate.plan.tile == quick for each in wrong)
    assert outcome.trials[-1] in wrong
    assert outcome.now.plan.tile != quick


def test_nothing_is_kept_where_all_are_wrong() -> None:
    outcome, _ = tuned(Launches(*(each.plan.tile for each in candidates(PROBLEM, PLAN))))
    assert outcome.now is None
    assert kept() is None


def test_a_launch_takes_what_the_command_gives_it() -> None:
    """The signature that `warploom tune` calls, which no machine without a GPU can run."""
    from inspect import signature

    assert [*signature(PreparedGemm).parameters] == ["dispatch", "kernel", "operands"]
    assert [*signature(PreparedGemm.__call__).parameters][1:] == ["alpha", "beta", "a", "b", "c", "out", "vectors"]
    assert Operands._fields[:4] == ("a", "b", "c", "out")


def test_a_sparse_kind_is_tuned_by_what_is_stored_of_a() -> None:
    def prepare(dispatch: HopperDispatch, _: Operands) -> Any:
        assert dispatch.plan.sparse

        def launch(arrays: Operands) -> None:
            a = decompress(Compressed(arrays.a, arrays.metadata, CASE.k))
            arrays.out[...] = a.astype(np.float64) @ arrays.b.astype(np.float64)

        return launch

    clock = Clock(**{str(place): 10.0 + place for place in range(MAX_CANDIDATES + 1)})
    case = Case(KINDS["f16-sparse"], CASE.m, CASE.n, CASE.k)
    bench = Bench(GPU, NumPy(), clock, lambda: None, 5)
    outcome = tune(bench, case, prepare, lambda *_: None)
    assert outcome.now is not None
    assert all(each.timing is not None for each in outcome.trials)
