# pyright: reportUnknownMemberType=false
"""Compiled vector clocks: what each warp knows of the accesses of every other agent.

`V[row, part, agent]` holds vectors. An agent is something that accesses memory in an order of its own: a warp, the
stream of its thread copies, of its warpgroup multiplications, of its bulk copies (sources read, copies complete), or
an mbarrier, whose clock counts phases. The parts of a vector:

    KNOWN   the agent's accesses up to this clock are ordered before what follows
    FENCED  the same, with a proxy fence in between
    SOME    as KNOWN, for the lanes of the agent in MASK
    SOME_F  as FENCED, for those lanes
    MASK    a mask of lanes

The own row of a warp has in KNOWN[own] what is ordered for each lane with all others (the last warp-level
synchronisation), and in SOME[stream] which of its own asynchronous operations each lane knows to be complete. Row
`warps + w` has what only the lanes in `few[w]` have acquired.

A record of an access is `agent << 44 | clock << 16 | kind << 10 | lane << 4 | bytes`. Lane number MANY stands for
several lanes, TOGETHER for all lanes of a warp whose one instruction read one address, and OBJECT for the same at an
mbarrier, whose state lanes test for their warp.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from warploom.numerics._compile import njit

Array = NDArray[Any]

KNOWN, FENCED, SOME, SOME_F, MASK = 0, 1, 2, 3, 4
PARTS = 5
STREAMS = 5  # agents of a warp: itself, thread copies, multiplications, bulk sources read, bulk copies complete
GENERIC, THREAD_COPY, ASYNC, REMOTE_STORE, STRONG, NEAR_STORE = 0, 1, 2, 3, 4, 5  # kinds of records
WIDE = 3  # of an mbarrier, in place of SOME_F: its phases known through waits of cluster scope
MANY, TOGETHER, OBJECT = 32, 33, 34


@njit
def join(V: Array, target: int, source: int) -> None:
    """Add the knowledge of row `source` to row `target`."""
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
    """Publish the knowledge and accesses of lanes of warps to rows (-1: none), and advance their clocks."""
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
    """Add the knowledge of rows (-1: none) to lanes of warps."""
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
    """Order the accesses and knowledge of each lane of a warp for all its lanes."""
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
    """Order the knowledge and accesses of lanes before later accesses of the asynchronous proxy."""
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
    """Return True if a record is ordered before a new access of a lane (-1: all lanes) of a warp.

    With `fenced` 1, a proxy fence must lie in between.
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
        # The warp's own: a lane is in order with itself, and knows its operations to be complete once it has waited.
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
