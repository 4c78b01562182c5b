"""What parts of a grid did to global memory, put together: as if they had run one after the other, or not at all.

Parts start from the same memory, each without what the others do. Together they leave what they would have left in
their order if no part reads what an earlier one writes; what is only ever combined by operations that commute is
combined once more. For the sanitizer no two parts may touch the same bytes at all unless both only read, or only
combine, them: what it would say of the two has to be found where both are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.arena import Arena
from warploom.integrations.dask.footprint import Footprint, Runs
from warploom.numerics._compile import njit

Array = NDArray[Any]
_NOBODY = np.iinfo(np.int32).max


@njit
def _paint(first: Array, last: Array, parts: Array, low: Array, high: Array) -> None:
    for k in range(len(parts)):
        for cell in range(first[k], last[k]):
            low[cell] = min(low[cell], parts[k])
            high[cell] = max(high[cell], parts[k])


@njit
def _meet(first: Array, last: Array, parts: Array, low: Array, high: Array, any_order: bool) -> int:
    for k in range(len(parts)):
        for cell in range(first[k], last[k]):
            if low[cell] < parts[k] or (any_order and low[cell] <= high[cell] and high[cell] > parts[k]):
                return k
    return -1


class _Painted:
    """Runs of many parts, and at every byte the first and the last part that has it."""

    def __init__(self, runs: Sequence[tuple[int, Runs]]) -> None:
        starts, ends, parts = _joined(runs)
        self._edges = np.unique(np.concatenate([starts, ends]))
        self._low = np.full(len(self._edges), _NOBODY, np.int32)
        self._high = np.full(len(self._edges), -1, np.int32)
        _paint(*self._cells(starts, ends), parts, self._low, self._high)

    def _cells(self, starts: Array, ends: Array) -> tuple[Array, Array]:
        return (
            np.maximum(np.searchsorted(self._edges, starts, side="right") - 1, 0),
            np.searchsorted(self._edges, ends, side="left"),
        )

    def meets(self, runs: Sequence[tuple[int, Runs]], any_order: bool) -> int | None:
        """A byte of `runs` that an earlier part here, or in any order another, has too."""
        starts, ends, parts = _joined(runs)
        found = _meet(*self._cells(starts, ends), parts, self._low, self._high, any_order)
        return None if found < 0 else int(starts[found])


def _joined(runs: Sequence[tuple[int, Runs]]) -> tuple[Array, Array, Array]:
    none = np.zeros(0, np.int64)
    return (
        np.concatenate([none, *(each.starts for _, each in runs)]),
        np.concatenate([none, *(each.ends for _, each in runs)]),
        np.concatenate([none, *(np.full(len(each), part) for part, each in runs)]),
    )


def conflict(prints: Sequence[Footprint], arena: Arena, sanitized: bool) -> str:
    """Why parts cannot be put together, in words that go after "because"; empty where they can."""
    reads = [(part, each.reads) for part, each in enumerate(prints)]
    writes = [(part, each.writes) for part, each in enumerate(prints)]
    kinds = list(dict.fromkeys(kind for each in prints for kind in each.combined))
    combined = {
        kind: [(part, each.combined[kind][0]) for part, each in enumerate(prints) if kind in each.combined]
        for kind in kinds
    }
    changes = [each for runs in combined.values() for each in runs]
    written, changed = _Painted(writes), _Painted(changes)

    tests: list[tuple[str, Callable[[], int | None]]] = [
        ("read what other CTAs write", lambda: written.meets(reads, sanitized)),
        ("read what atomics of other CTAs change", lambda: changed.meets(reads, sanitized)),
        ("change by atomics what other CTAs write", lambda: written.meets(changes, True)),
    ]
    if sanitized:
        tests.append(("write what other CTAs write", lambda: written.meets(writes, True)))
    for kind in kinds if len(kinds) > 1 else ():
        others = [each for other in kinds if other != kind for each in combined[other]]
        own = _Painted(combined[kind])
        what = "change by atomics of one kind what other CTAs change by another"
        tests.append((what, partial(own.meets, others, True)))
    for what, test in tests:
        found = test()
        if found is not None:
            return f"CTAs {what}: {_place(arena, found)}"
    return ""


def _place(arena: Arena, offset: int) -> str:
    address = offset + GLOBAL_BASE
    segment = arena.segments[int(np.searchsorted(arena.starts, address, side="right")) - 1]
    return f"{segment.name}, byte {address - segment.start}"


def merge(prints: Sequence[Footprint], arena: Arena) -> None:
    """Bring what parts left into the arena that all started from. The parts have no conflict."""
    before = [{kind: runs.take(arena.bytes) for kind, (runs, _) in each.combined.items()} for each in prints]
    for each, was in zip(prints, before, strict=True):
        _put(arena, each.writes, each.written)
        for kind, (runs, after) in each.combined.items():
            held, old, new = (part.view(kind.dtype) for part in (runs.take(arena.bytes), was[kind], after))
            _put(arena, runs, kind.merge(held, old, new).view(np.uint8))


def _put(arena: Arena, runs: Runs, data: Array) -> None:
    runs.put(arena.bytes, data)
    for segment in np.unique(np.searchsorted(arena.starts, runs.starts + GLOBAL_BASE, side="right") - 1):
        arena.mark_written(int(arena.starts[segment]))
