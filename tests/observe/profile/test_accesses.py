"""What accesses cost, against the model counted lane by lane, and against answers known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from warploom.observe.profile.costs import count_sectors, count_wavefronts

Array = NDArray[Any]
LANES = np.arange(32)
ALL = np.ones((1, 32), np.bool_)


def counted(index: list[int], lanes: list[bool], size: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The costs of one warp, by the words of the model: phases, banks, words, sectors and lines as sets."""
    a_phase = min(32, 128 // max(size, 4))  # lanes that ask for 128 bytes at most
    phases: list[int] = []
    for first in range(0, 32, a_phase):
        banks: dict[int, set[int]] = {}
        for lane in range(first, first + a_phase):
            if lanes[lane]:
                for byte in range(index[lane], index[lane] + size):
                    banks.setdefault(byte // 4 % 32, set()).add(byte // 4)
        phases.append(max(map(len, banks.values()), default=0))
    reached = {byte for lane in range(32) if lanes[lane] for byte in range(index[lane], index[lane] + size)}
    return (sum(map(bool, phases)), sum(phases), max(phases)), (
        -(-len(reached) // 32),
        len({byte // 32 for byte in reached}),
        len({byte // 128 for byte in reached}),
    )


def totals(count: Callable[..., None], index: Array, lanes: Array, size: int) -> tuple[int, ...]:
    found = np.zeros(4, np.int64)
    count(found, index, lanes, size)
    return tuple(found.tolist())


@given(st.data(), st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([8, 64, 1024]))
def test_costs_are_those_of_the_model(data: st.DataObject, size: int, reach: int) -> None:
    warps = data.draw(st.integers(1, 3))
    index = size * np.array(
        data.draw(st.lists(st.lists(st.integers(0, reach), min_size=32, max_size=32), min_size=warps, max_size=warps))
    )
    lanes = np.array(
        data.draw(st.lists(st.lists(st.booleans(), min_size=32, max_size=32), min_size=warps, max_size=warps))
    )
    expected = [counted(index[warp].tolist(), lanes[warp].tolist(), size) for warp in range(warps)]
    accesses = int(lanes.any(axis=1).sum())
    least, taken, ways = zip(*(shared for shared, _ in expected), strict=True)
    assert totals(count_wavefronts, index, lanes, size) == (accesses, sum(least), sum(taken), max(ways))
    beyond = (sum(column) for column in zip(*(beyond for _, beyond in expected), strict=True))
    assert totals(count_sectors, index, lanes, size) == (accesses, *beyond)


@pytest.mark.parametrize(
    ("index", "size", "expected"),
    [
        (4 * LANES, 4, (1, 1, 1)),
        (8 * LANES, 4, (1, 2, 2)),
        (128 * LANES, 4, (1, 32, 32)),
        (132 * LANES, 4, (1, 1, 1)),  # a pitch of 33 words
        (0 * LANES, 4, (1, 1, 1)),  # one word for all
        (LANES, 1, (1, 1, 1)),
        (8 * LANES, 8, (2, 2, 1)),
        (16 * LANES, 16, (4, 4, 1)),
        (128 * LANES, 16, (4, 32, 8)),  # rows of a tile without a swizzle
        (128 * LANES + 16 * (LANES % 8), 16, (4, 4, 1)),  # and with one
        (0 * LANES, 16, (4, 4, 1)),
    ],
)
def test_wavefronts(index: Array, size: int, expected: tuple[int, int, int]) -> None:
    assert totals(count_wavefronts, index[None], ALL, size) == (1, *expected)


@pytest.mark.parametrize(
    ("index", "size", "expected"),
    [
        (4 * LANES, 4, (4, 4, 1)),
        (4 * LANES + 4, 4, (4, 5, 2)),
        (8 * LANES, 4, (4, 8, 2)),
        (128 * LANES, 4, (4, 32, 32)),
        (0 * LANES, 4, (1, 1, 1)),
        (16 * LANES, 16, (16, 16, 4)),
        (32 * LANES, 32, (32, 32, 8)),
    ],
)
def test_sectors(index: Array, size: int, expected: tuple[int, int, int]) -> None:
    assert totals(count_sectors, index[None], ALL, size) == (1, *expected)


def test_a_warp_without_lanes_costs_nothing() -> None:
    index, none = np.zeros((2, 32), np.int64), np.zeros((2, 32), np.bool_)
    assert not any((*totals(count_wavefronts, index, none, 16), *totals(count_sectors, index, none, 4)))
