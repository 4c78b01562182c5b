# pyright: reportUnknownMemberType=false
"""Compiled vector clocks, which hold the accesses that happen before the next access of each warp.

A vector clock has one component for each agent. An agent performs accesses in an order of its own. It is a warp; one of
the four sorts of asynchronous operations of a warp (thread copies, warpgroup multiplications, bulk copies whose sources
are read, bulk copies that are complete); or an mbarrier, whose clock counts complete phases. Component a of the clock
of warp w is the latest time at which an access of agent a happens before the next access of w. An agent and a time
together are an epoch, which identifies an access. To release is to join the clock of a warp into the clock of a
barrier, an mbarrier or a memory location. To acquire is to join such a clock into the clock of a warp. A join takes the
maximum of each component.

`V[row, part, agent]` holds all vector clocks. The parts of a clock:

    KNOWN   accesses of the agent up to this time happen before
    FENCED  the same accesses, and a proxy fence comes after them
    SOME    as KNOWN, but only for the lanes of the agent in MASK
    SOME_F  as FENCED, but only for the lanes of the agent in MASK
    MASK    lanes of the agent, as bits

In the clock of a warp, its own component has another sense. KNOWN holds the last time at which all its lanes were
synchronised, and SOME of an asynchronous agent holds the operations that each issuing lane knows to be complete. Row
`total + w`, after the rows of all `total` warps, is the clock of those lanes of warp w that have acquired more than the
others. `few[w]` holds these lanes as bits.

A record of an access is `agent << 44 | time << 16 | kind << 10 | lane << 4 | bytes`, where `bytes` is a mask of the
bytes of a granule. Lane number MANY stands for several lanes. TOGETHER stands for all lanes of a warp whose one
instruction read one address, and OBJECT for the same at an mbarrier, which lanes test for their warp.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from warploom.numerics._compile import njit

Array = NDArray[Any]

KNOWN, FENCED, SOME, SOME_F, MASK = 0, 1, 2, 3, 4
PARTS = 5
STREAMS = 5  # agents of a warp: see `clocks.THREAD_COPIES` and the following
GENERIC, THREAD_COPY, ASYNC, REMOTE_STORE, STRONG, NEAR_STORE = 0, 1, 2, 3, 4, 5  # kinds of records
WIDE = 3  # in place of SOME_F for an mbarrier: its phases known from waits of cluster scope
MANY, TOGETHER, OBJECT = 32, 33, 34


@njit
def join(V: Array, target: int, source: int) -> None:
    """Join the vector clock of row `source` into that of row `target`."""
    n = V.shape[2]
    for part in range(4):
        for agent in range(n):
            V[target, part, agent] = max(V[target, part, agent], V[source, part, agent])
    for agent in range(n):
        V[target, MASK, agent] |= V[source, MASK, agent]


@njit
def release(
    V: Array, clock: Array, few: Array, own: Array, per_cta: int, base: int, warps: Array, lanes: Array, full: Array,
    rows: Array,
) -> None:  # fmt: skip
    """Join the clocks of lanes of warps into rows (-1: none), and advance the time of these warps."""
    total = len(clock)
    for i in range(len(warps)):
        w, row = warps[i], rows[i]
        if row < 0:
            continue
        join(V, row, w)
        if few[w]:
            join(V, row, total + w)
        g = own[w]
        for column in (g, base + w if base >= 0 else g):
            if full[i]:
                V[row, KNOWN, column] = max(V[row, KNOWN, column], clock[w])
            else:
                V[row, SOME, column] = max(V[row, SOME, column], clock[w])
                V[row, MASK, column] |= lanes[i]
        for stream in range(1, STREAMS):
            column = g + stream * per_cta
            V[row, KNOWN, column] = max(V[row, KNOWN, column], V[w, SOME, column])
    for i in range(len(warps)):
        if rows[i] >= 0:
            clock[warps[i]] += 1


@njit
def acquire(V: Array, few: Array, warps: Array, lanes: Array, full: Array, rows: Array) -> None:
    """Join rows (-1: none) into the clocks of lanes of warps."""
    total = len(few)
    for i in range(len(warps)):
        w = warps[i]
        if rows[i] < 0:
            continue
        if full[i]:
            join(V, w, rows[i])
        else:
            join(V, total + w, rows[i])
            few[w] |= lanes[i]


@njit
def synchronise(
    V: Array, clock: Array, few: Array, own: Array, per_cta: int, base: int, warps: Array
) -> None:  # fmt: skip
    """Order the earlier accesses of every lane of a warp before the later accesses of all its lanes."""
    total = len(clock)
    for i in range(len(warps)):
        w = warps[i]
        g = own[w]
        if few[w]:
            join(V, w, total + w)
            V[total + w] = 0
            few[w] = 0
        V[w, KNOWN, g] = clock[w]
        if base >= 0:
            V[w, KNOWN, base + w] = clock[w]
        for stream in range(1, STREAMS):
            column = g + stream * per_cta
            V[w, KNOWN, column] = max(V[w, KNOWN, column], V[w, SOME, column])
        clock[w] += 1


@njit
def proxy_fence(
    V: Array, clock: Array, few: Array, own: Array, per_cta: int, base: int, warps: Array, lanes: Array, full: Array
) -> None:  # fmt: skip
    """Order what happens before a proxy fence of lanes before later accesses of the asynchronous proxy."""
    total, n = len(clock), V.shape[2]
    for i in range(len(warps)):
        w = warps[i]
        g = own[w]
        for row in (w, total + w):
            if row == w or few[w]:
                for agent in range(n):
                    V[row, FENCED, agent] = max(V[row, FENCED, agent], V[row, KNOWN, agent])
                    if agent != g and (base < 0 or agent != base + w) and V[row, SOME, agent] > V[row, SOME_F, agent]:
                        V[row, SOME_F, agent] = V[row, SOME, agent]
        for column in (g, base + w if base >= 0 else g):
            if full[i]:
                V[w, FENCED, column] = clock[w]
            else:
                V[w, SOME_F, column] = clock[w]
                V[w, MASK, column] |= lanes[i]
        for stream in range(1, STREAMS):
            column = g + stream * per_cta
            V[w, FENCED, column] = max(V[w, FENCED, column], V[w, SOME, column])
        clock[w] += 1


@njit
def is_ordered(V: Array, few: Array, g: Any, per_cta: int, w: Any, lane: int, record: Any, fenced: int) -> bool:
    """Return True if a recorded access happens before a new access of a lane (-1: all lanes) of a warp.

    If `fenced` is 1, a proxy fence must be between the two accesses.
    """
    agent = record >> 44
    clock = (record >> 16) & 0xFFFFFFF
    by = (record >> 4) & 63
    if ((record >> 10) & 63) == REMOTE_STORE:
        return clock <= V[w, WIDE, agent] or (
            few[w] != 0 and (lane < 0 or (few[w] >> lane) & 1 != 0) and clock <= V[len(few) + w, WIDE, agent]
        )
    if clock <= V[w, KNOWN + fenced, agent]:
        return True
    distance = agent - g
    if distance >= 0 and distance < STREAMS * per_cta and distance % per_cta == 0:
        # An access of this warp: a lane is ordered with itself, and after a wait with its asynchronous operations.
        if lane >= 0 and by != lane and by < TOGETHER:
            return False
        if distance == 0:
            return fenced == 0 or (clock <= V[w, SOME_F, g] and (lane < 0 or (by < 32 and (V[w, MASK, g] >> by) & 1)))
        return clock <= V[w, SOME + fenced, agent]
    if clock <= V[w, SOME + fenced, agent] and (by == OBJECT or (by < 32 and (V[w, MASK, agent] >> by) & 1)):
        return True
    if few[w] and (lane < 0 or (few[w] >> lane) & 1):
        row = len(few) + w
        if clock <= V[row, KNOWN + fenced, agent]:
            return True
        if clock <= V[row, SOME + fenced, agent] and (by == OBJECT or (by < 32 and (V[row, MASK, agent] >> by) & 1)):
            return True
    return False
