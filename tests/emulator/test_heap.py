"""Heap of malloc and free."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.emulator.faults import Fault
from warploom.emulator.heap import ALIGNMENT, LEAST, Heap

START, SIZE = 1 << 20, 1024


def _heap() -> tuple[Heap, SimpleNamespace]:
    segments = SimpleNamespace(starts=np.full(SIZE // LEAST, START + SIZE), ends=np.full(SIZE // LEAST, START + SIZE))
    return Heap(segments, 0, START, SIZE), segments


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from([1, 16, 64, 256]), st.booleans()), max_size=80))
def test_live_allocations_are_aligned_and_disjoint_and_all_that_accesses_reach(
    steps: list[tuple[int, int, bool]],
) -> None:
    heap, segments = _heap()
    live: dict[int, int] = {}
    for number, align, frees in steps:
        if frees and live:
            address = sorted(live)[number % len(live)]
            heap.free(address)
            del live[address]
            with pytest.raises(Fault) as error:
                heap.free(address)
            assert error.value.code == "emulator.free"
        else:
            address = heap.allocate(number, align)
            if address:
                assert address % max(align, ALIGNMENT) == 0
                live[address] = number
            elif not live:
                assert number + 2 * align + 32 > SIZE
        reached = [(a, e) for a, e in zip(segments.starts.tolist(), segments.ends.tolist(), strict=True) if e > a]
        assert reached == [(a, a + size) for a, size in sorted(live.items()) if size]
        assert (np.diff(segments.starts) >= 0).all()
        ends = [START, *(a + size for a, size in sorted(live.items()))]
        assert all(end <= begin for end, begin in zip(ends, [*sorted(live), START + SIZE], strict=True))


def test_freed_memory_is_used_again_when_the_heap_is_full() -> None:
    heap, _ = _heap()
    found = []
    while address := heap.allocate(16):
        found.append(address)
    assert len(found) == SIZE // 32
    heap.free(found[3])
    heap.free(found[4])
    assert heap.allocate(48) == found[3]
    assert heap.allocate(1) == 0
