"""Memory of launches on a GPU: whose it is, what stays, what is made while a graph is recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warploom as wl
from warploom.kernels.prepared import Workspaces

WORDS, FLAGS = 1000, 10


class Memory:
    """A GPU's memory: what lies where, and the streams that are being recorded, in which nothing may be made."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        self.zeroed: set[int] = set()
        self.recorded: set[int] = set()
        self.next = 4096

    def allocate(self, size: int) -> int:
        assert not self.recorded, "memory is asked for while a graph is recorded"
        self.next += 1 << 20
        self.sizes[self.next] = size
        return self.next

    def free(self, address: int) -> None:
        del self.sizes[address]

    def upload(self, address: int, data: Any) -> None:
        assert data.dtype == np.uint8
        assert data.size == self.sizes[address]
        assert not data.any()
        self.zeroed.add(address)

    def wait(self) -> None: ...

    def is_recording(self, stream: int) -> bool:
        return stream in self.recorded


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def workspaces(memory: Memory) -> Workspaces:
    return Workspaces(memory)  # type: ignore[arg-type]


def test_streams_have_memory_of_their_own_and_keep_it(memory: Memory, workspaces: Workspaces) -> None:
    first, second = (workspaces.get(stream, WORDS, FLAGS) for stream in (1, 2))
    assert len({*first, *second}) == 4
    assert workspaces.get(1, WORDS // 2, FLAGS) == first
    assert workspaces.get(2, WORDS, FLAGS) == second
    for partial, flags in (first, second):
        assert memory.sizes[partial] >= 4 * WORDS
        assert memory.sizes[flags] >= 4 * FLAGS
        assert flags in memory.zeroed


def test_many_streams_have_no_more_than_they_need(memory: Memory, workspaces: Workspaces) -> None:
    for stream in range(20):
        workspaces.get(stream, WORDS, FLAGS)
    assert sorted(set(memory.sizes.values())) == [4 * FLAGS, 4 * WORDS]
    assert len(memory.sizes) == 2 * 21


def test_what_a_stream_has_grown_out_of_stays_where_it_was(memory: Memory, workspaces: Workspaces) -> None:
    """A graph may hold it. It is never more than what the stream has now."""
    before = workspaces.get(1, WORDS, FLAGS)
    after = workspaces.get(1, WORDS + 1, FLAGS)
    assert set(before).isdisjoint(after)
    assert {*before, *after} <= memory.sizes.keys()
    assert memory.sizes[after[0]] >= 2 * memory.sizes[before[0]]


def test_a_stream_that_is_recorded_gets_what_was_made_before(memory: Memory, workspaces: Workspaces) -> None:
    workspaces.prepare(WORDS, FLAGS)
    memory.recorded.add(7)
    partial, flags = workspaces.get(7, WORDS, FLAGS)
    assert memory.sizes[partial] >= 4 * WORDS
    assert flags in memory.zeroed
    assert workspaces.get(7, WORDS, FLAGS) == (partial, flags)
    memory.recorded.add(8)
    with pytest.raises(wl.UsageError, match="a graph is being recorded") as refused:
        workspaces.get(8, WORDS, FLAGS)
    assert refused.value.diagnostics[0].code == "kernels.recording"
    memory.recorded.clear()
    assert set(workspaces.get(8, WORDS, FLAGS)).isdisjoint((partial, flags))


def test_a_spare_piece_that_is_too_small_is_given_back(memory: Memory, workspaces: Workspaces) -> None:
    workspaces.prepare(WORDS, FLAGS)
    workspaces.prepare(2 * WORDS, FLAGS)
    assert sorted(memory.sizes.values()) == [4 * FLAGS, 8 * WORDS]
