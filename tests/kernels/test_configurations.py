"""Every kind of GEMM kernel that the library can emit: the record covers them, found nothing, and is found again."""

from __future__ import annotations

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from configurations.covering import Space, pairs_of
from configurations.space import HOPPER, WARP_LEVEL, AnyPlan, chosen_tiles, warp_tiles, words
from configurations.trial import complaints, tried

from warploom.diagnostics import UsageError

RECORD = json.loads((Path(__file__).parents[1] / "evidence" / "configurations" / "record.json").read_text())
SCHEDULES = ("lazy", "random:5")
SPILLED = 16
SPACES = {"hopper": HOPPER, "warp-level": WARP_LEVEL}


def recorded(kind: str) -> list[dict[str, Any]]:
    return [each for each in RECORD["kernels"] if each["of"] == kind]


def chosen(space: Space, entry: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(values[place] for values, place in zip(space.axes.values(), entry["choice"], strict=True))


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_every_pair_of_fields_that_can_be_is_tried(space: Space) -> None:
    """A pair of values that no kernel of the record has, no legal kernel has."""
    entries = recorded(space.name)
    choices = [chosen(space, entry) for entry in entries]
    assert [words(space.plan(choice)) for choice in choices] == [entry["plan"] for entry in entries]
    covered = {pair for choice in choices for pair in pairs_of(choice)}
    missing = [
        pair for pair in combinations(space.values(), 2) if pair[0][0] != pair[1][0] and pair not in covered
    ]
    possible = [pair for pair in missing if space.has(*pair)]
    assert possible == []


def test_every_tile_that_is_chosen_is_tried() -> None:
    assert [each["plan"] for each in recorded("chosen tiles")] == [words(plan) for _, plan in chosen_tiles()]
    assert [each["plan"] for each in recorded("tiles of warps")] == [words(plan) for plan in warp_tiles()]


def test_nothing_was_found() -> None:
    """Every kernel was checked; those of the arrays ran under every schedule."""
    for entry in RECORD["kernels"]:
        assert entry["check"] == []
        assert all(entry[name] == [] for name in SCHEDULES if name in entry or "choice" in entry)


def test_the_assembler_says_nothing() -> None:
    """No wgmma is serialised. Few kernels spill, and one of those that are chosen, by 24 bytes."""
    answers = [(entry["of"], *entry["ptxas"]) for entry in RECORD["kernels"]]
    assert all(registers and not said for _, registers, _, *said in answers)
    spilled = [(kind, spills) for kind, _, spills, *_ in answers if spills]
    assert len(spilled) <= SPILLED
    assert [spills for kind, spills in spilled if kind == "chosen tiles"] == [24]


def test_a_tile_of_warps_that_is_none_is_refused() -> None:
    plain = {name: values[0] for name, values in WARP_LEVEL.axes.items()} | {"result": "bf16"}
    with pytest.raises(UsageError, match="group of a tile is 0; expected an integer above 0"):
        WARP_LEVEL.make(**plain | {"group": 0})


def sample(count: int) -> list[AnyPlan]:
    """Some kernels of the record, by a seed."""
    entries = random.Random(11).sample([each for each in RECORD["kernels"] if "choice" in each], count)
    return [(space := SPACES[each["of"]]).plan(chosen(space, each)) for each in entries]


@pytest.mark.parametrize("plan", sample(6), ids=words)
def test_the_checker_has_nothing_to_say(plan: AnyPlan) -> None:
    assert complaints(plan) == []


@pytest.mark.parametrize(
    ("plan", "schedule"), list(zip(sample(3), (*SCHEDULES, "eager"), strict=True)), ids=str
)
def test_a_small_instance_is_right_and_silent(plan: AnyPlan, schedule: str) -> None:
    assert tried(plan, schedule, cut=True) == []
