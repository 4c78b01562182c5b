"""Cost model of the GEMM kernels, compared with the times of an H200 (`kernels_speed/`)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from math import ceil, exp, log, prod, sqrt
from pathlib import Path
from statistics import mean
from typing import Any

from warploom.kernels import Plan, Tile
from warploom.kernels.hopper.cost_model import TileSchedule, configurations, microseconds, schedules, tile_counts
from warploom.kernels.hopper.plan import PROMOTION_STAGES, SMALL
from warploom.kernels.problem import Problem
from warploom.kernels.timing.cases import KINDS, Case

FOLDER = Path(__file__).parent / "kernels_speed"
RECORD = json.loads((FOLDER / "h200.json").read_text())
UNCUT = [row for row in RECORD["times"] if not row[8]]  # one cluster added the parts of cut tiles
RANDOM = json.loads((FOLDER / "random_h200.json").read_text())
TYPES = {
    "bf16": ("bf16", "f32", "bf16", 0),
    "f16": ("f16", "f32", "f16", 0),
    "e4m3": ("e4m3", "f32", "bf16", 0),
    "e4m3_accurate": ("e4m3", "f32", "bf16", PROMOTION_STAGES),
    "tf32": ("tf32", "f32", "f32", 0),
    "s8": ("s8", "s32", "s32", 0),
}


def times(row: list[Any]) -> tuple[float, float, float]:
    """Return the microseconds of the model, of the GPU at full power, and of the GPU after a rest."""
    kind, m, n, k, rows, columns, cluster, alternate, split, steady, rested, *_ = row
    operand, sums, d, promoted = TYPES[kind]
    problem = Problem(m, n, k, 1, operand, operand, "k", "k")
    plan = Plan(
        operand, operand, sums, d, promotion_stages=promoted, unaligned=problem.is_unaligned(d),
        tile=Tile(rows, columns, 2, cluster, pingpong=bool(alternate), buffers=1 if alternate else 2),
    )  # fmt: skip
    share = next(each for each in schedules(problem, plan) if each.split == split)
    return microseconds(problem, plan, share), steady, rested


def random_times() -> dict[int, list[tuple[float, float, bool]]]:
    """Return (microseconds of the model, microseconds of the GPU, is considered) by the number of the problem."""
    cases = [Case(KINDS[kind], *sizes) for kind, *sizes, _, _ in RANDOM["problems"]]
    names = RANDOM["times_columns"][1:-3]
    found: dict[int, list[tuple[float, float, bool]]] = defaultdict(list)
    considered: dict[int, set[tuple[Tile, int]]] = {}
    for number, *shape, split, ctas, time in RANDOM["times"]:
        case = cases[number]
        if number not in considered:
            options = configurations(case.problem, case.plan)
            considered[number] = {(tiled.tile, schedule.split) for tiled, schedule in options}
        tile = Tile(**{name: type(getattr(SMALL, name))(value) for name, value in zip(names, shape, strict=True)})
        plan = case.plan.with_tile(tile)
        tiles = prod(tile_counts(case.problem, plan)) * case.problem.batch
        schedule = TileSchedule(ctas, split, tiles, ceil(case.k / plan.stage_k))
        estimate = microseconds(case.problem, plan, schedule)
        found[number].append((estimate, time, (tile, split) in considered[number]))
    return found


def losses(problems: Iterable[list[tuple[float, float]]]) -> list[float]:
    """Return the time of the model's choice over the shortest time for each problem."""
    return [min(pairs)[1] / min(found for _, found in pairs) for pairs in problems]


def test_the_model_is_close_to_the_record() -> None:
    errors = [abs(log(model / steady)) for model, steady, _ in map(times, UNCUT)]
    assert len(errors) > 800
    assert mean(errors) < 0.085


def test_the_choices_of_the_model_are_fast() -> None:
    """The geometric mean over kinds and sizes is at most 2.5 % above the fastest choices.

    The time of a choice is the geometric mean of those at full power and after a rest.
    """
    by_problem: dict[tuple[Any, ...], list[tuple[float, float]]] = defaultdict(list)
    for row in UNCUT:
        if row[6] > 1 and row[1] <= row[4]:
            continue  # clusters that the model does not consider
        model, steady, rested = times(row)
        by_problem[tuple(row[:4])].append((model, sqrt(steady * rested)))
    assert exp(mean(map(log, losses(by_problem.values())))) < 1.025


def test_the_model_is_close_for_random_problems() -> None:
    errors = [abs(log(model / found)) for times in random_times().values() for model, found, _ in times]
    assert len(errors) > 4500
    assert mean(errors) < 0.09


def test_the_choices_of_the_model_are_fast_for_random_problems() -> None:
    """The geometric mean is at most 4 % above the fastest candidates."""
    found = [
        min((model, time) for model, time, is_considered in times if is_considered)[1]
        / min(time for _, time, _ in times)
        for times in random_times().values()
    ]
    assert len(found) > 300
    assert exp(mean(map(log, found))) < 1.04
