"""Pictures of the kernels: the positions that they draw."""

from __future__ import annotations

import numpy as np
import pytest

from warploom.kernels.hopper.attention_plan import AttentionPlan
from warploom.kernels.hopper.plan import Tile
from warploom_lab.pages.kernel_pictures import TOKENS, blocks, schedule, tile_places


@pytest.mark.parametrize(("left", "right"), [(None, 0), (400, 0), (130, 70), (0, 0)])
def test_the_blocks_are_those_with_visible_keys(left: int | None, right: int) -> None:
    plan = AttentionPlan("bf16", 128, 128, right=True, left=left is not None)
    distance = np.arange(TOKENS) - np.arange(TOKENS)[:, None]  # of a key from the diagonal of its row
    visible = (distance <= right) & (distance >= -(TOKENS if left is None else left))
    found = blocks(plan, left or 0, right)
    assert sorted(row for row, *_ in found) == list(range(0, TOKENS, plan.rows))
    for row, first, last, lower, upper in found:
        for block in range(TOKENS // plan.keys):
            part = visible[row : row + plan.rows, block * plan.keys : (block + 1) * plan.keys]
            assert (first <= block <= last) == part.any()
            assert (lower <= block < upper) == part.all()


def test_each_tile_has_one_place() -> None:
    found = tile_places(5, 3, 2).tolist()
    assert sorted(found) == [[row, column] for row in range(5) for column in range(3)]
    assert found[:4] == [[0, 0], [1, 0], [0, 1], [1, 1]]  # down a group of two rows, then the next column


@pytest.mark.parametrize("tile", [Tile(128, 256, 4), Tile(64, 256, 4, pingpong=True)])
def test_a_stage_is_copied_before_it_is_multiplied_and_not_again_until_then(tile: Tile) -> None:
    events = list(schedule(tile, 4))
    copies = [(number, stage, start, end) for row, start, end, number, stage in events if row == 0]
    uses = [(number, stage, start, end) for row, start, end, number, stage in events if row and stage != "store"]
    for place, (number, stage, _, end) in enumerate(copies):
        mine = [use for use in uses if use[:2] == (number, stage) and use[2] >= end]
        later = [copy[2] for copy in copies[place + 1 :] if copy[1] == stage]
        assert mine
        assert not later or min(use[3] for use in mine) <= later[0]
