"""Recorded trials of every kind of GEMM kernel: coverage, findings, and a sample that runs again."""

from __future__ import annotations

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from warploom.diagnostics import UsageError
from warploom_lab.configurations.covering_array import Space, pairs_of
from warploom_lab.configurations.space import SPACES, WARP_LEVEL, AnyPlan, chosen_tiles, describe, warp_tiles
from warploom_lab.configurations.trial import check_findings, run_instance

RECORD = json.loads((Path(__file__).parents[1] / "evidence" / "configurations" / "record.json").read_text())
SCHEDULES = ("lazy", "random:5")
SPILLED = 30


def recorded(kind: str) -> list[dict[str, Any]]:
    return [each for each in RECORD["kernels"] if each["of"] == kind]


def chosen(space: Space, entry: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(values[place] for values, place in zip(space.axes.values(), entry["choice"], strict=True))


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_every_legal_pair_of_fields_is_recorded(space: Space) -> None:
    """Every pair of values of a legal kernel occurs in the record."""
    entries = recorded(space.name)
    choices = [chosen(space, entry) for entry in entries]
    assert [describe(space.plan(choice)) for choice in choices] == [entry["plan"] for entry in entries]
    covered = {pair for choice in choices for pair in pairs_of(choice)}
    missing = [pair for pair in combinations(space.values(), 2) if pair[0][0] != pair[1][0] and pair not in covered]
    possible = [pair for pair in missing if space.has(*pair)]
    assert possible == []


def test_every_tile_of_the_cost_model_is_recorded() -> None:
    assert [each["plan"] for each in recorded("chosen tiles")] == [describe(plan) for _, plan in chosen_tiles()]
    assert [each["plan"] for each in recorded("tiles of warps")] == [describe(plan) for plan in warp_tiles()]


def test_the_record_has_no_findings() -> None:
    """Every kernel was checked, and the kernels of the arrays ran under every schedule."""
    for entry in RECORD["kernels"]:
        assert entry["check"] == []
        assert all(entry[name] == [] for name in SCHEDULES if name in entry or "choice" in entry)


def test_the_assembler_has_no_messages() -> None:
    """Few kernels spill, and none of them has a tile of the cost model."""
    answers = [(entry["of"], *entry["ptxas"]) for entry in RECORD["kernels"]]
    assert all(registers and not messages for _, registers, _, *messages in answers)
    spilled = [kind for kind, _, spills, *_ in answers if spills]
    assert len(spilled) <= SPILLED
    assert "chosen tiles" not in spilled


def test_an_illegal_tile_is_refused() -> None:
    plain = {name: values[0] for name, values in WARP_LEVEL.axes.items()} | {"result": "bf16"}
    with pytest.raises(UsageError, match="group of a tile is 0; expected an integer above 0"):
        WARP_LEVEL.make(**plain | {"group": 0})


def sample(count: int) -> list[AnyPlan]:
    """Return a random sample of the recorded kernels."""
    entries = random.Random(11).sample([each for each in RECORD["kernels"] if "choice" in each], count)
    return [(space := SPACES[each["of"]]).plan(chosen(space, each)) for each in entries]


@pytest.mark.parametrize("plan", sample(6), ids=describe)
def test_the_checker_has_no_findings(plan: AnyPlan) -> None:
    assert check_findings(plan) == []


@pytest.mark.parametrize(("plan", "schedule"), list(zip(sample(3), (*SCHEDULES, "eager"), strict=True)), ids=str)
def test_a_small_instance_is_correct(plan: AnyPlan, schedule: str) -> None:
    assert run_instance(plan, schedule) == []
