"""The cost model of the GEMM kernels beside times that an H200 took (`kernels_speed/h200.json`)."""

from __future__ import annotations

import json
from collections import defaultdict
from math import ceil, exp, log
from pathlib import Path
from statistics import mean
from typing import Any

from warploom.kernels import Plan, Tile
from warploom.kernels.cost import Share, microseconds
from warploom.kernels.problem import Problem

RECORD = json.loads((Path(__file__).parent / "kernels_speed" / "h200.json").read_text())
TYPES = {
    "bf16": ("bf16", "f32", "bf16", 0),
    "e4m3": ("e4m3", "f32", "bf16", 0),
    "e4m3_accurate": ("e4m3", "f32", "bf16", 4),
    "tf32": ("tf32", "f32", "f32", 0),
    "s8": ("s8", "s32", "s32", 0),
}


def told(row: list[Any]) -> tuple[float, float] | None:
    """The model's microseconds and the GPU's; None where tiles are cut in a way that is never chosen."""
    kind, m, n, k, rows, columns, cluster, alternate, split, found, _ = row
    operand, sums, d, promoted = TYPES[kind]
    plan = Plan(
        operand, operand, sums, d, promoted=promoted,
        tile=Tile(rows, columns, 2, cluster, alternate=bool(alternate), buffers=1 if alternate else 2),
    )  # fmt: skip
    tiles, clusters = ceil(m / (rows * cluster)) * ceil(n / columns), 132 // cluster
    if split and cluster == 1 and tiles > clusters:
        return None
    ctas = (clusters if split else min(clusters, tiles)) * cluster
    share = Share(ctas, split, tiles, ceil(k / plan.depth))
    return microseconds(Problem(m, n, k, 1, operand, operand, "k", "k"), plan, share), found


def test_the_model_is_near_the_record() -> None:
    errors = [abs(log(pair[0] / pair[1])) for row in RECORD["times"] if (pair := told(row)) is not None]
    assert len(errors) > 350
    assert mean(errors) < 0.07


def test_what_the_model_prefers_is_quick() -> None:
    """In the geometric mean over kinds and sizes, 5 % from the quickest at most."""
    by_problem: dict[tuple[Any, ...], list[tuple[float, float]]] = defaultdict(list)
    for row in RECORD["times"]:
        if (pair := told(row)) is not None:
            by_problem[tuple(row[:4])].append(pair)
    losses = [min(pairs)[1] / min(found for _, found in pairs) for pairs in by_problem.values()]
    assert exp(mean(map(log, losses))) < 1.05
