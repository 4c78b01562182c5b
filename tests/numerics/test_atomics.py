"""Compiled atomics compute what the operations of the same name compute, each lane on what the last one left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warploom.isa.instructions.reductions import HALVES, combine, update
from warploom.isa.model.types import TYPES
from warploom_lab.campaign import patterns

Array = NDArray[Any]

INTEGERS = [(op, f"{sign}{bits}") for op in ("add", "min", "max") for sign in "us" for bits in (32, 64)]
BITS = [(op, f"b{bits}") for op in ("and", "or", "xor", "exch") for bits in (32, 64)]
FLOATS = [("add", "f32"), ("add", "f64")]
PAIRS = [(op, word) for op in ("add", "min", "max") for word in HALVES]
CASES = [*INTEGERS, *BITS, ("inc", "u32"), ("dec", "u32"), *FLOATS, *PAIRS]


def _drawn(type: str, kind: str, seed: int, count: int) -> Array:
    bits = TYPES[type].bits
    element = patterns.element_of(type)
    raw = patterns.draw(seed, 2 * count).reshape(count, 2)[:, : bits // patterns.container_bits(element)]
    return patterns.registers(element, kind, bits, raw)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("op", "type"), CASES)
def test_lanes_follow_each_other(op: str, type: str, shared: bool) -> None:
    for number, kind in enumerate(patterns.KINDS):
        _compare(op, type, seed=100 * number, kind=kind, places=number + 1, shared=shared)


def _compare(op: str, type: str, seed: int, kind: str, places: int, shared: bool) -> None:
    dtype = TYPES[type].dtype
    memory, values = _drawn(type, kind, seed, 8), _drawn(type, kind, seed + 1, 64).reshape(2, 32)
    at = (patterns.draw(seed + 2, 64) % np.uint64(places)).astype(np.int64).reshape(2, 32)
    mask = (patterns.draw(seed + 3, 64) & np.uint64(7) != 0).reshape(2, 32)
    expected, old = memory.copy(), np.zeros((2, 32), memory.dtype)
    act = combine(op, type, "shared" if shared else "global")
    for warp, lane in np.argwhere(mask):
        place = at[warp, lane]
        old[warp, lane] = expected[place]
        new = act(expected[place : place + 1].view(dtype), values[warp, lane : lane + 1].view(dtype))
        expected[place] = np.ascontiguousarray(new).view(memory.dtype)[0]
    found, index = np.zeros_like(old), at * memory.itemsize
    update(op, type, not shared).apply(memory, index, mask, values, values, found)
    np.testing.assert_array_equal(found, old)
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("width", [2, 4, 8])
def test_a_swap_stores_where_it_finds_what_it_asks_for(width: int) -> None:
    memory = np.array([5, 6], f"u{width}")
    values = np.arange(10, 42, dtype=memory.dtype)[None]
    compares = np.full((1, 32), 6, memory.dtype)
    compares[0, 9] = 17
    index = np.zeros((1, 32), np.int64)
    index[0, 7:] = width
    found = np.zeros((1, 32), memory.dtype)
    update("cas", f"b{8 * width}", False).apply(memory, index, np.ones((1, 32), np.bool_), values, compares, found)
    assert memory.tolist() == [5, 19]
    assert found[0].tolist() == [5] * 7 + [6, 17, 17] + [19] * 22
