"""Causes of elements that a launch does not write."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warploom.observe.provenance.case import Cause
from warploom.observe.writers import Writers

_TILE = 8  # tiles have a multiple of this number of rows and columns


def unwritten_cause(name: str, shape: Sequence[int], index: Sequence[int], writers: Writers) -> Cause:
    """Return the cause for an element of the array `name` that no CTA writes."""
    element = f"{name}[{', '.join(map(str, index))}]"
    missing = _missing_cta(shape, index, writers)
    if missing is None:
        return Cause("not written", f"no CTA of the grid writes {element}")
    axis, cta = missing
    if axis < 0:
        return Cause("not written", f"CTA {cta} writes the elements around {element}, but not this one")
    grid = " x ".join(str(extent) for extent in _without_ones(writers.grid))
    return Cause(
        f"grid too small along {'xyz'[axis]}", f"CTA {cta} would write {element}; the grid is {grid}"
    )  # fmt: skip


def _without_ones(grid: Sequence[int]) -> Sequence[int]:
    last = max((axis for axis in range(3) if grid[axis] > 1), default=0)
    return grid[: last + 1]


def _missing_cta(
    shape: Sequence[int], index: Sequence[int], writers: Writers
) -> tuple[int, tuple[int, int, int]] | None:  # fmt: skip
    """Return the CTA that would write an element, and the axis along which the grid is too short, or -1.

    Return None if the CTA is not known.

    The CTAs write tiles at equal distances along the axes of the array.
    """
    written = np.flatnonzero(writers.pcs >= 0)
    if not len(written):
        return None
    positions = np.stack(np.unravel_index(written, tuple(shape)), axis=1)
    width, height, _ = writers.grid
    numbers = writers.ctas[written]
    ctas = np.stack([numbers % width, numbers // width % height, numbers // (width * height)], axis=1)
    found = [0, 0, 0]
    is_used = [False] * 3
    pending: list[int] = []
    for axis in range(len(shape)):
        step = _step(positions[:, axis], ctas, writers.grid)
        if step is None:
            pending.append(axis)
            continue
        along, first, distance = step
        found[along], is_used[along] = (index[axis] - first) // distance, True
    for axis in pending:
        extent = int(positions[:, axis].max()) + 1
        free = [k for k in (1, 0, 2) if not is_used[k] and writers.grid[k] == 1]
        if axis == len(shape) - 1:
            free = [k for k in (0, 1, 2) if k in free]
        if index[axis] >= extent:
            if not free or extent % _TILE:
                return None
            found[free[0]], is_used[free[0]] = index[axis] // extent, True
    outside = [k for k in range(3) if found[k] >= writers.grid[k]]
    return outside[0] if outside else -1, (found[0], found[1], found[2])


def _step(
    positions: np.ndarray[tuple[int], np.dtype[np.intp]], ctas: np.ndarray[tuple[int, int], np.dtype[np.int64]],
    grid: Sequence[int],
) -> tuple[int, int, int] | None:  # fmt: skip
    """Return the axis of the grid along which the tiles lie, the first position, and their distance."""
    for along in range(3):
        if grid[along] < 2:
            continue
        firsts = np.full(grid[along], np.iinfo(np.int64).max)
        np.minimum.at(firsts, ctas[:, along], positions)
        distances = np.unique(np.diff(firsts))
        if len(distances) == 1 and 0 < distances[0] < 1 << 40:
            return along, int(firsts[0]), int(distances[0])
    return None
