"""Merge of the footprints of several parts of a grid into one memory.

A part consists of some waves of the grid, and starts from the memory at the start of the launch. The merged memory
equals that of a run in one process if `conflict` finds no conflict.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.arena import Arena
from warploom.integrations.dask.footprint import ByteRanges, Footprint
from warploom.numerics._compile import njit

Array = NDArray[Any]
_NO_PART = np.iinfo(np.int32).max


@njit
def _mark_parts(first: Array, last: Array, parts: Array, lowest: Array, highest: Array) -> None:
    for k in range(len(parts)):
        for cell in range(first[k], last[k]):
            lowest[cell] = min(lowest[cell], parts[k])
            highest[cell] = max(highest[cell], parts[k])


@njit
def _find_overlap(first: Array, last: Array, parts: Array, lowest: Array, highest: Array, any_order: bool) -> int:
    for k in range(len(parts)):
        for cell in range(first[k], last[k]):
            if lowest[cell] < parts[k] or (any_order and highest[cell] > parts[k]):
                return k
    return -1


class _Owners:
    """Index from each byte to the first and the last part of the grid that accessed the byte."""

    def __init__(self, ranges: Sequence[tuple[int, ByteRanges]]) -> None:
        starts, ends, parts = _concatenated(ranges)
        # The bounds of all ranges divide the memory into cells, with one entry for each cell.
        self._bounds = np.unique(np.concatenate([starts, ends]))
        self._lowest = np.full(len(self._bounds), _NO_PART, np.int32)
        self._highest = np.full(len(self._bounds), -1, np.int32)
        _mark_parts(*self._cells(starts, ends), parts, self._lowest, self._highest)

    def _cells(self, starts: Array, ends: Array) -> tuple[Array, Array]:
        first = np.searchsorted(self._bounds, starts, side="right") - 1
        return np.maximum(first, 0), np.searchsorted(self._bounds, ends, side="left")

    def overlap(self, ranges: Sequence[tuple[int, ByteRanges]], any_order: bool) -> int | None:
        """Return the start of a range that overlaps an indexed range of an earlier part, or None.

        Each entry of `ranges` is the number of a part and its ranges. If `any_order` is set, later parts count too.
        """
        starts, ends, parts = _concatenated(ranges)
        found = _find_overlap(*self._cells(starts, ends), parts, self._lowest, self._highest, any_order)
        return None if found < 0 else int(starts[found])


def _concatenated(ranges: Sequence[tuple[int, ByteRanges]]) -> tuple[Array, Array, Array]:
    none = np.zeros(0, np.int64)
    return (
        np.concatenate([none, *(each.starts for _, each in ranges)]),
        np.concatenate([none, *(each.ends for _, each in ranges)]),
        np.concatenate([none, *(np.full(len(each), part) for part, each in ranges)]),
    )


def conflict(footprints: Sequence[Footprint], arena: Arena, sanitized: bool) -> str:
    """Return the reason why footprints of parts cannot be merged, or "" if they can.

    If `sanitized` is set, parts may share a byte only if all read the byte, or all change it by one reduction. The
    reason continues a sentence after "because".
    """
    reads = [(part, each.reads) for part, each in enumerate(footprints)]
    writes = [(part, each.writes) for part, each in enumerate(footprints)]
    kinds = list(dict.fromkeys(kind for each in footprints for kind in each.combined))
    combined = {
        kind: [(part, each.combined[kind][0]) for part, each in enumerate(footprints) if kind in each.combined]
        for kind in kinds
    }
    changes = [each for ranges in combined.values() for each in ranges]
    writers, changers = _Owners(writes), _Owners(changes)

    # The sanitizer finds a race between two parts only if one process runs both.
    tests: list[tuple[str, Callable[[], int | None]]] = [
        ("read bytes that other CTAs write", partial(writers.overlap, reads, sanitized)),
        ("read bytes that atomics of other CTAs change", partial(changers.overlap, reads, sanitized)),
        ("apply atomics to bytes that other CTAs write", partial(writers.overlap, changes, True)),
    ]
    if sanitized:
        tests.append(("write bytes that other CTAs write", partial(writers.overlap, writes, True)))
    for kind in kinds if len(kinds) > 1 else ():
        others = [each for other in kinds if other != kind for each in combined[other]]
        name = "apply atomics of one kind to bytes that other CTAs change by another kind"
        tests.append((name, partial(_Owners(combined[kind]).overlap, others, True)))
    for name, test in tests:
        found = test()
        if found is not None:
            address = found + GLOBAL_BASE
            segment = arena.segments[int(np.searchsorted(arena.starts, address, side="right")) - 1]
            return f"CTAs {name}: {segment.name}, byte {address - segment.start}"
    return ""


def merge(footprints: Sequence[Footprint], arena: Arena) -> None:
    """Apply the footprints of all parts to `arena`, which contains the memory before the launch.

    The function `conflict` must have found no conflict.
    """
    before = [{kind: ranges.gather(arena.bytes) for kind, (ranges, _) in each.combined.items()} for each in footprints]
    for each, old in zip(footprints, before, strict=True):
        _write(arena, each.writes, each.written)
        for kind, (ranges, after) in each.combined.items():
            states = (ranges.gather(arena.bytes), old[kind], after)
            _write(arena, ranges, kind.merge(*(state.view(kind.dtype) for state in states)).view(np.uint8))


def _write(arena: Arena, ranges: ByteRanges, data: Array) -> None:
    ranges.scatter(arena.bytes, data)
    for segment in np.unique(np.searchsorted(arena.starts, ranges.starts + GLOBAL_BASE, side="right") - 1):
        arena.mark_written(int(arena.starts[segment]))
