"""The cost model of the GEMM kernels beside times that an H200 took (`kernels_speed/h200.json`)."""

from __future__ import annotations

import json
from collections import defaultdict
from math import exp, log, sqrt
from pathlib import Path
from statistics import mean
from typing import Any

from warploom.kernels import Plan, Tile
from warploom.kernels.hopper.cost_model import microseconds, schedules
from warploom.kernels.hopper.plan import PROMOTION_STAGES
from warploom.kernels.problem import Problem

RECORD = json.loads((Path(__file__).parent / "kernels_speed" / "h200.json").read_text())
TYPES = {
    "bf16": ("bf16", "f32", "bf16", 0),
    "f16": ("f16", "f32", "f16", 0),
    "e4m3": ("e4m3", "f32", "bf16", 0),
    "e4m3_accurate": ("e4m3", "f32", "bf16", PROMOTION_STAGES),
    "tf32": ("tf32", "f32", "f32", 0),
    "s8": ("s8", "s32", "s32", 0),
}


def told(row: list[Any]) -> tuple[float, float]:
    """The model's microseconds and the GPU's: the geometric mean of both regimes."""
    kind, m, n, k, rows, columns, cluster, alternate, split, steady, rested, *_ = row
    operand, sums, d, promoted = TYPES[kind]
    problem = Problem(m, n, k, 1, operand, operand, "k", "k")
    plan = Plan(
        operand, operand, sums, d, promotion_stages=promoted, unaligned=problem.is_unaligned(d),
        tile=Tile(rows, columns, 2, cluster, pingpong=bool(alternate), buffers=1 if alternate else 2),
    )  # fmt: skip
    share = next(each for each in schedules(problem, plan) if each.split == split)
    return microseconds(problem, plan, share), sqrt(steady * rested)


def test_the_model_is_near_the_record() -> None:
    errors = [abs(log(model / found)) for model, found in map(told, RECORD["times"])]
    assert len(errors) > 1300
    assert mean(errors) < 0.08


def test_what_the_model_prefers_is_quick() -> None:
    """In the geometric mean over kinds and sizes, 2 % from the quickest at most."""
    by_problem: dict[tuple[Any, ...], list[tuple[float, float]]] = defaultdict(list)
    for row in RECORD["times"]:
        if row[6] > 1 and row[1] <= row[4]:
            continue  # clusters that `ways` leaves out
        by_problem[tuple(row[:4])].append(told(row))
    losses = [min(pairs)[1] / min(found for _, found in pairs) for pairs in by_problem.values()]
    assert exp(mean(map(log, losses))) < 1.02
