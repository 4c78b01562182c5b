"""Compiled vector clocks of `phase_aliasing`, and the search for ambiguous waits by parity.

`V[row, column]` holds one vector clock in each row. The component of a warp is a tick, and the component of an mbarrier
is its number of complete phases. Each warp and each CTA barrier has a row. Each mbarrier has two: the clock that its
arrivals release to in the open phase, and the clock that a complete phase lets warps acquire.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit

Array = NDArray[Any]

COLUMNS = 5  # of an ambiguous test: position or column of the warp, lane or pc, mbarrier, phase, complete phases
ROOM = 64


@njit
def _join(V: Array, target: int, source: int) -> None:
    for column in range(V.shape[1]):
        V[target, column] = max(V[target, column], V[source, column])


@njit
def publish(V: Array, tick: Array, own: Array, warps: Array, rows: Array) -> None:
    """Release: join the clocks of warps into rows, and advance the ticks of the warps."""
    for i in range(len(warps)):
        _join(V, rows[i], warps[i])
        V[rows[i], own[warps[i]]] = tick[warps[i]]
    for i in range(len(warps)):
        tick[warps[i]] += 1


@njit
def learn(V: Array, warps: Array, rows: Array) -> None:
    """Acquire: join the clocks of rows into the clocks of warps."""
    for i in range(len(warps)):
        _join(V, warps[i], rows[i])


@njit
def arrive(
    V: Array, tick: Array, own: Array, first: int, warps: Array, found: Array, lanes: Array, site: Array, pc: int
) -> None:  # fmt: skip
    """Record arrivals of lanes at mbarriers (-1: none)."""
    for i in range(len(warps)):
        w, last = warps[i], np.int64(-1)
        for lane in range(lanes.shape[1]):
            which = found[i, lane]
            if lanes[i, lane] and which >= 0 and which != last:
                last = which
                _join(V, first + which, w)
                V[first + which, own[w]] = tick[w]
                site[which] = pc
    for i in range(len(warps)):
        tick[warps[i]] += 1


@njit
def look(
    V: Array, tick: Array, warps: Array, found: Array, lanes: Array, asked: Array, count: Array, start: Array,
    column: Array, place: Array, seen_phase: Array, seen_tick: Array, seen_site: Array, pc: int, out: Array,
) -> int:  # fmt: skip
    """Record tests of mbarriers by parity. Return the number of ambiguous tests.

    A test is ambiguous if a phase other than the expected one may answer it. The first ambiguous tests are in `out`.
    """
    found_wrong = 0
    for i in range(len(warps)):
        w, last = warps[i], np.int64(-1)
        for lane in range(32):
            which = found[i, lane]
            if not lanes[i, lane] or which < 0 or which == last:
                continue
            last = which
            complete = count[which] - start[which]
            known = max(V[w, column[which]] - start[which], 0)
            parity = np.int64(asked[i, lane]) & 1
            phase = known if (known & 1) == parity else known - 1
            if complete > phase + 1:
                if found_wrong < len(out):
                    out[found_wrong, 0] = i
                    out[found_wrong, 1] = lane
                    out[found_wrong, 2] = which
                    out[found_wrong, 3] = phase
                    out[found_wrong, 4] = complete
                found_wrong += 1
            if (complete & 1) != parity:
                seen_phase[which, place[w]] = complete - 1
                seen_tick[which, place[w]] = tick[w]
                seen_site[which, place[w]] = pc
    return found_wrong


@njit
def know(
    V: Array, first: int, warps: Array, found: Array, lanes: Array, count: Array, column: Array
) -> None:  # fmt: skip
    """Record that lanes found phases of mbarriers complete."""
    for i in range(len(warps)):
        w, last = warps[i], np.int64(-1)
        for lane in range(32):
            which = found[i, lane]
            if lanes[i, lane] and which >= 0 and which != last:
                last = which
                _join(V, w, first + which)
                V[w, column[which]] = max(V[w, column[which]], count[which])


@njit
def complete(
    V: Array, arriving: int, arrived: int, objects: Array, count: Array, start: Array, column: Array, per_cta: int,
    agents: int, seen_phase: Array, seen_tick: Array, seen_site: Array, out: Array,
) -> int:  # fmt: skip
    """Complete phases of mbarriers. Return the number of tests that may come too late.

    Such a test looks for the previous phase, and nothing orders it before the completion of this one. The first of them
    are in `out`.
    """
    found = 0
    for k in range(len(objects)):
        which = objects[k]
        phase = count[which] - start[which]
        for c in range(seen_phase.shape[1]):
            at = c // per_cta * agents + c % per_cta
            if seen_phase[which, c] == phase - 1 and V[arriving + which, at] < seen_tick[which, c]:
                if found < len(out):
                    out[found, 0] = c
                    out[found, 1] = seen_site[which, c]
                    out[found, 2] = which
                    out[found, 3] = phase - 1
                    out[found, 4] = phase
                found += 1
        count[which] += 1
        _join(V, arrived + which, arriving + which)
        V[arrived + which, column[which]] = count[which]
    return found


@njit
def meet(V: Array, tick: Array, own: Array, warps: Array) -> None:
    """Synchronise warps: give each warp the join of their vector clocks, and advance their ticks."""
    for i in range(1, len(warps)):
        _join(V, warps[0], warps[i])
    for i in range(len(warps)):
        V[warps[0], own[warps[i]]] = tick[warps[i]]
        tick[warps[i]] += 1
    for i in range(1, len(warps)):
        V[warps[i]] = V[warps[0]]
