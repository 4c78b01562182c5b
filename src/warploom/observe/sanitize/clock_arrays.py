# pyright: reportUnknownMemberType=false
"""Vector clocks as arrays, records of accesses, and the compiled functions that use both.

`clocks` describes vector clocks.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit

Array = NDArray[Any]

CTA, CLUSTER, GPU = 0, 1, 2  # memory scopes; a system scope counts as GPU scope

THREAD_COPIES, MULTIPLICATIONS, BULK_READ, BULK_DONE = (1, 2, 3, 4)  # agents of a warp besides itself
STREAMS = 5  # agents of a warp
GROUPS = 64  # newest committed groups whose times are kept, for each warp (copies: for each lane)

KNOWN, FENCED, FENCED_GLOBAL, SOME, SOME_F, SOME_GLOBAL, MASK, FENCED_MASK = range(8)
PARTS = 8
"""Parts of a vector clock.

    KNOWN          all accesses of the agent up to this time happen before the next access
    FENCED         as KNOWN, and a proxy fence for shared memory is between these accesses and the next access
    FENCED_GLOBAL  as KNOWN, and a proxy fence for global memory is between these accesses and the next access
    SOME           as KNOWN, but only for accesses by the agent's lanes in MASK
    SOME_F, SOME_GLOBAL   as FENCED and FENCED_GLOBAL, but only for accesses by the agent's lanes in FENCED_MASK
    MASK, FENCED_MASK     lanes of the agent, as bits

An access happens before the next access only if KNOWN or SOME shows it, whatever the fenced parts are.

In the clock of warp w, KNOWN of w is the last time at which all lanes of w were synchronised. SOME of a class of w's
asynchronous operations is the time up to which each lane knows that the operations it issued are complete. Some lanes
of w may have acquired more than the others: `ahead[w]` has these lanes as bits, and row `Clocks.warps + w` is their
clock. `fencing[w]` has the lanes that have executed a proxy fence. Its fenced parts are in the same row.

Lanes of warp w may also synchronise with each other. All accesses of lane j up to the time `lane_times[w, i, j]`
happen before the next access of lane i; times before KNOWN of w may be missing. `operations[w, i, k]` is SOME of the
class k of w's asynchronous operations at the last synchronisation of lane i. `fence_times[w]` has SOME_F and
SOME_GLOBAL of w at the last synchronisation of any lanes. `covered[w, f, j]` is the last time of lane j that another
lane knew when it executed a fence for shared memory (f = 0) or global memory. `partial[w]` is set if lanes have
synchronised since the last synchronisation of the whole warp. `published[w, j]` is the last time of lane j that any
release by some lanes contains.
"""

GENERIC, THREAD_COPY, ASYNC, REMOTE_STORE, NEAR_STORE = range(5)  # kinds of records
STRENGTH, SIZE = 3, 3 << 2
"""Bits of a record with its strength.

The strength is 0 for a weak access. For a strong access, the bits STRENGTH are 1 plus its scope, and the bits SIZE are
the binary logarithm of the bytes of an element, modulo 4. Accesses are aligned, so that two elements of one size
overlap completely or not at all.
"""
SHARED_FENCE, GLOBAL_FENCE = 1, 2
"""Offsets of the fenced parts of a clock from the parts KNOWN and SOME."""
WIDE = SOME_F  # in place of SOME_F for an mbarrier: its phases known from waits of cluster scope
MANY, TOGETHER, OBJECT = 32, 33, 34
"""Lane numbers in records: several lanes, a uniform read of a warp, a test of an mbarrier.

A larger number is an aligned group of lanes (see `LANE_SETS`). The record of an access is
`agent << 44 | time << 16 | kind << 10 | lane << 4 | strength`.
"""


def _lane_sets() -> Array:
    groups = [((1 << size) - 1) << first for size in (16, 8, 4, 2) for first in range(0, 32, size)]
    # A record has room for 64 numbers, so that the last pair of lanes has none.
    return np.array([*(1 << lane for lane in range(32)), *(3 * [0xFFFFFFFF]), *groups[:29]], np.int64)


def _unions(sets: Array) -> Array:
    numbers = [number for number in range(64) if number not in (TOGETHER, OBJECT)]
    order = sorted(numbers, key=lambda k: int(sets[k]).bit_count())
    found = [[next(k for k in order if (a | b) & ~int(sets[k]) == 0) for b in sets.tolist()] for a in sets.tolist()]
    return np.array(found, np.int64)


LANE_SETS = _lane_sets()
"""Lanes, as bits, of each lane number in records: single, aligned groups of 2, 4, 8 and 16, and all."""
UNION = _unions(LANE_SETS)
"""Number of the smallest set of lanes that contains the sets with two numbers."""


class ClockArrays(NamedTuple):
    """Arrays and counts of `Clocks` that compiled functions use."""

    vectors: Array
    clock: Array
    ahead: Array
    fencing: Array
    partial: Array
    lane_times: Array
    operations: Array
    fence_times: Array
    covered: Array
    published: Array
    own: Array
    per_cta: int
    base: int
    agents: int
    ctas: int
    cta_of: Array
    cluster_of: Array
    copy_issued: Array
    copy_done: Array
    bulk_done: Array
    bulk_waits: Array


@njit
def join(V: Array, target: int, source: int) -> None:
    """Set each component of row `target` of `V` to the maximum of rows `target` and `source`."""
    n = V.shape[2]
    for part in range(MASK):
        for agent in range(n):
            V[target, part, agent] = max(V[target, part, agent], V[source, part, agent])
    for part in (MASK, FENCED_MASK):
        for agent in range(n):
            V[target, part, agent] |= V[source, part, agent]


@njit
def release(c: ClockArrays, warps: Array, lanes: Array, full: Array, rows: Array) -> None:
    """Release the clocks of lanes to the clocks at `rows`. See `Clocks.release`."""
    V, clock, ahead, own, per_cta, base = c.vectors, c.clock, c.ahead, c.own, c.per_cta, c.base
    total = len(clock)
    for i in range(len(warps)):
        w, row = warps[i], rows[i]
        if row < 0:
            continue
        join(V, row, w)
        if ahead[w] or c.fencing[w]:
            join(V, row, total + w)
        g = own[w]
        released = lanes[i] if full[i] else _publish(c, w, lanes[i])
        for column in (g, base + w if base >= 0 else g):
            if full[i]:
                V[row, KNOWN, column] = max(V[row, KNOWN, column], clock[w])
            else:
                V[row, SOME, column] = max(V[row, SOME, column], clock[w])
                V[row, MASK, column] |= released
        for stream in range(1, STREAMS):
            column = g + stream * per_cta
            V[row, KNOWN, column] = max(V[row, KNOWN, column], V[w, SOME, column])
        column = g + THREAD_COPIES * per_cta
        for lane in range(32):
            # Some lanes may have waited for all their copies, while others have not.
            done = c.copy_done[w, lane]
            if (lanes[i] >> lane) & 1 and done > V[w, SOME, column] and done >= c.copy_issued[w, lane]:
                V[row, SOME, column] = max(V[row, SOME, column], done)
                V[row, MASK, column] |= 1 << lane
    for i in range(len(warps)):
        if rows[i] >= 0:
            clock[warps[i]] += 1


@njit
def _publish(c: ClockArrays, w: int, lanes: int) -> int:
    # Record a release by some lanes. Return these lanes, and those with which they have synchronised, as bits.
    released = lanes
    known = c.vectors[w, KNOWN, c.own[w]]
    for i in range(32):
        if (lanes >> i) & 1:
            c.published[w, i] = c.clock[w]
            if c.partial[w]:
                for j in range(32):
                    if c.lane_times[w, i, j] > known:
                        c.published[w, j] = max(c.published[w, j], c.lane_times[w, i, j])
                        released |= 1 << j
    return released


@njit
def _acquire_lanes(c: ClockArrays, w: int, lanes: int, full: bool, row: int) -> None:
    # Times of lanes of the same warp that the clock at `row` has, and that synchronisations of the warp do not cover.
    V, g = c.vectors, c.own[w]
    since = V[w, KNOWN, g]
    known = 0 if full else V[row, KNOWN, g]  # a full warp acquires KNOWN for all its lanes
    some = V[row, SOME, g] if V[row, MASK, g] else 0
    if max(known, some) <= since:
        return
    c.partial[w] = True
    for i in range(32):
        if (lanes >> i) & 1:
            for j in range(32):
                time = max(known, min(some, c.published[w, j])) if (V[row, MASK, g] >> j) & 1 else known
                c.lane_times[w, i, j] = max(c.lane_times[w, i, j], time)


@njit
def _join_warp(c: ClockArrays, w: int, row: int) -> None:
    # SOME of own thread copies counts copies for which all lanes have waited. Other warps release copies of some lanes.
    V, ahead_row, column = c.vectors, len(c.ahead) + w, c.own[w] + THREAD_COPIES * c.per_cta
    kept, time, lanes = V[w, SOME, column], V[row, SOME, column], V[row, MASK, column]
    _complete_copies(c, w, -1, row)
    join(V, w, row)
    V[w, SOME, column] = kept
    if row == ahead_row:
        V[ahead_row] = 0
        c.ahead[w] = c.fencing[w] = 0
    if lanes == 0:
        return
    for lane in range(32):
        if (lanes >> lane) & 1 == 0 and c.copy_issued[w, lane] > V[w, KNOWN, column]:
            V[ahead_row, SOME, column] = max(V[ahead_row, SOME, column], time)
            V[ahead_row, MASK, column] |= lanes
            c.ahead[w] = -1
            return
    V[w, KNOWN, column] = max(V[w, KNOWN, column], time)


@njit
def _complete_copies(c: ClockArrays, w: int, lanes: int, row: int) -> None:
    # The lanes `lanes` learn that the thread copies are complete that the clock at `row` has.
    V, column = c.vectors, c.own[w] + THREAD_COPIES * c.per_cta
    for lane in range(32):
        if (lanes & V[row, MASK, column]) >> lane & 1:
            c.copy_done[w, lane] = max(c.copy_done[w, lane], V[row, SOME, column])


@njit
def acquire(c: ClockArrays, warps: Array, lanes: Array, full: Array, rows: Array) -> None:
    """Acquire the clocks at `rows` for lanes. See `Clocks.acquire`."""
    for i in range(len(warps)):
        if rows[i] >= 0:
            _acquire(c, warps[i], lanes[i], full[i], rows[i])


@njit
def _acquire(c: ClockArrays, w: int, lanes: int, full: bool, row: int) -> None:
    _acquire_lanes(c, w, lanes, full, row)
    if full:
        _join_warp(c, w, row)
    else:
        join(c.vectors, len(c.ahead) + w, row)
        _complete_copies(c, w, lanes, row)
        c.ahead[w] |= lanes


@njit
def synchronise(c: ClockArrays, warps: Array) -> None:
    """Synchronise all lanes of each warp. See `Clocks.synchronise`."""
    for w in warps:
        _synchronise(c, w)


@njit
def _synchronise(c: ClockArrays, w: int) -> None:
    V, clock, base, g = c.vectors, c.clock, c.base, c.own[w]
    if c.ahead[w] or c.fencing[w]:
        _join_warp(c, w, len(clock) + w)
    for column in (g, base + w if base >= 0 else g):
        V[w, KNOWN, column] = clock[w]
    for part in (SOME_F, SOME_GLOBAL):
        c.fence_times[w, part - SOME_F] = V[w, part, g]
    for stream in range(1, STREAMS):
        column = g + stream * c.per_cta
        V[w, KNOWN, column] = max(V[w, KNOWN, column], V[w, SOME, column])
    c.partial[w] = False
    clock[w] += 1


@njit
def leave_barriers(
    c: ClockArrays, keys: Array, first: int, barrier_of: Array, lanes_at: Array, live: Array, left: Array
) -> int:  # fmt: skip
    """Complete the CTA barriers with the given keys. Return the number of warps that leave them.

    Row 0 of `left` receives the warps, and row 1 their keys. `first` is the row of the clock with key 0. The other
    arguments are as in `Clocks.leave_barriers`; `live` has the live lanes of each warp as bits.
    """
    last = np.int64(-1)
    for key in keys:
        last = max(last, key)
    complete = np.zeros(last + 1, np.bool_)
    for key in keys:
        complete[key] = True
    count = 0
    for w in range(len(barrier_of)):
        key = barrier_of[w]
        if 0 <= key <= last and complete[key]:
            full = lanes_at[w] == live[w]
            _acquire(c, w, lanes_at[w], full, first + key)
            if full:
                _synchronise(c, w)
            left[0, count], left[1, count] = w, key
            barrier_of[w], lanes_at[w] = -1, 0
            count += 1
    for key in keys:
        c.vectors[first + key] = 0
    return count


@njit
def synchronise_lanes(c: ClockArrays, warps: Array, lanes: Array) -> None:
    """Synchronise some lanes of each warp. See `Clocks.synchronise_lanes`."""
    V, clock, ahead = c.vectors, c.clock, c.ahead
    for k in range(len(warps)):
        w, members = warps[k], lanes[k]
        g = c.own[w]
        if ahead[w] & members:
            ahead[w] |= members
        if c.fencing[w] & members:
            c.fencing[w] |= members
        c.fence_times[w] = V[w, SOME_F:MASK, g]
        first = 0
        while (members >> first) & 1 == 0:
            first += 1
        times, done = c.lane_times[w, first], c.operations[w, first]
        for i in range(first + 1, 32):
            if (members >> i) & 1:
                for j in range(32):
                    times[j] = max(times[j], c.lane_times[w, i, j])
                for stream in range(1, STREAMS):
                    done[stream] = max(done[stream], c.operations[w, i, stream])
        for stream in range(1, STREAMS):
            done[stream] = max(done[stream], V[w, SOME, g + stream * c.per_cta])
        for j in range(32):
            if (members >> j) & 1:
                times[j] = clock[w]
        for i in range(first + 1, 32):
            if (members >> i) & 1:
                c.lane_times[w, i] = times
                c.operations[w, i] = done
        c.partial[w] = True
        clock[w] += 1


@njit
def proxy_fence(
    c: ClockArrays, warps: Array, lanes: Array, full: Array, in_shared: bool, in_global: bool
) -> None:  # fmt: skip
    """Record a proxy fence of lanes in shared or global memory. See `Clocks.proxy_fence`."""
    V, clock, ahead, per_cta, base = c.vectors, c.clock, c.ahead, c.per_cta, c.base
    total, n = len(clock), V.shape[2]
    for i in range(len(warps)):
        w = warps[i]
        g = c.own[w]
        # Other lanes know a fence of some lanes only after they have synchronised with them.
        row = w if full[i] else total + w
        if not full[i]:
            c.fencing[w] |= lanes[i]
        for fence in (SHARED_FENCE, GLOBAL_FENCE):
            if not (in_shared if fence == SHARED_FENCE else in_global):
                continue
            for source in (w, total + w):
                if source == w or ahead[w]:
                    for agent in range(n):
                        V[row, fence, agent] = max(V[row, fence, agent], V[source, KNOWN, agent])
                        if agent != g and (base < 0 or agent != base + w):
                            V[row, SOME + fence, agent] = max(V[row, SOME + fence, agent], V[source, SOME, agent])
                            V[row, FENCED_MASK, agent] |= V[source, MASK, agent]
            for column in (g, base + w if base >= 0 else g):
                if full[i]:
                    V[w, fence, column] = clock[w]
                else:
                    V[w, SOME + fence, column] = clock[w]
                    V[w, FENCED_MASK, column] |= lanes[i] | (_cover(c, w, lanes[i], fence) if c.partial[w] else 0)
            for stream in range(1, STREAMS):
                column = g + stream * per_cta
                V[w, fence, column] = max(V[w, fence, column], V[w, SOME, column])
        clock[w] += 1


@njit
def _cover(c: ClockArrays, w: int, lanes: int, fence: int) -> int:
    # Record that a fence of some lanes is behind the accesses of lanes with which they have synchronised. Return the
    # latter lanes, as bits.
    found = 0
    for j in range(32):
        for i in range(32):
            if (lanes >> i) & 1 and c.lane_times[w, i, j] > c.vectors[w, KNOWN, c.own[w]]:
                c.covered[w, fence - 1, j] = max(c.covered[w, fence - 1, j], c.lane_times[w, i, j])
                found |= 1 << j
    return found


@njit
def commit_copies(ends: Array, groups: Array, clock: Array, warps: Array, lanes: Array) -> None:
    """Close the open groups of thread copies of lanes. See `Clocks.commit_copies`."""
    for i in range(len(warps)):
        w = warps[i]
        for lane in range(32):
            if lanes[i, lane]:
                ends[w, groups[w, lane] % GROUPS, lane] = clock[w]
                groups[w, lane] += 1
        clock[w] += 1


@njit
def commit_multiplications(c: ClockArrays, numbers: Array, clocks: Array, groups: Array) -> None:
    """Close the open wgmma group of each warpgroup. See `Clocks.commit_multiplications`.

    `numbers` and `clocks` are `Clocks.multiplication_groups` and `Clocks.multiplication_clocks`.
    """
    for i in range(len(groups)):
        for w in groups[i]:
            at = numbers[w] % GROUPS
            clocks[KNOWN, w, at] = c.clock[w]
            for part in (FENCED, FENCED_GLOBAL):
                clocks[part, w, at] = c.vectors[w, part, c.own[w]]
            numbers[w] += 1
            c.clock[w] += 1


@njit
def wait_multiplications(c: ClockArrays, numbers: Array, clocks: Array, groups: Array, pending: int) -> None:
    """Complete all but the newest `pending` wgmma groups. See `Clocks.wait_multiplications`.

    `numbers` and `clocks` are as in `commit_multiplications`.
    """
    V = c.vectors
    for i in range(len(groups)):
        leader = groups[i, 0]
        done = numbers[leader] - pending
        column = c.own[leader] + MULTIPLICATIONS * c.per_cta
        if done <= 0:
            continue
        for w in groups[i]:
            for part in (KNOWN, SOME):
                V[w, part, column] = max(V[w, part, column], done)
            # A multiplication is complete only after all lanes of the four warps have issued it.
            if pending < GROUPS:
                for other in groups[i]:
                    agent, at = c.own[other], (done - 1) % GROUPS
                    for part in (KNOWN, FENCED, FENCED_GLOBAL):
                        V[w, part, agent] = max(V[w, part, agent], clocks[part, other, at])


@njit
def wait_copies(c: ClockArrays, ends: Array, groups: Array, warps: Array, lanes: Array, pending: int) -> None:
    """Complete groups of thread copies of lanes. See `Clocks.wait_copies`."""
    for i in range(len(warps)):
        w = warps[i]
        done, issued = c.copy_done[w], c.copy_issued[w]
        for lane in range(32):
            group = groups[w, lane] - pending
            if lanes[i, lane] and group > 0:
                done[lane] = max(done[lane], ends[w, (group - 1) % GROUPS, lane])
        # A lane without copies in flight knows as much as any lane.
        known = np.int32(0)
        for lane in range(32):
            known = max(known, done[lane])
        for lane in range(32):
            if issued[lane] > done[lane]:
                known = min(known, done[lane])
        column = c.own[w] + THREAD_COPIES * c.per_cta
        c.vectors[w, SOME, column] = max(c.vectors[w, SOME, column], known)


@njit
def wait_bulk(
    c: ClockArrays, ends: Array, groups: Array, warps: Array, lanes: Array, pending: int, read_only: bool
) -> None:  # fmt: skip
    """Complete bulk groups of lanes. See `Clocks.wait_bulk`."""
    for i in range(len(warps)):
        w, lane = warps[i], lanes[i]
        group, end = groups[w, lane] - pending, np.int32(0)
        if group > 0 and pending < GROUPS:
            end = ends[w, lane, (group - 1) % GROUPS]
        if not read_only:
            done = c.bulk_done[w, lane]
            for time in range(max(done, end - GROUPS) + 1, end + 1):
                c.bulk_waits[w, lane, time % GROUPS] = c.clock[w]
            c.bulk_done[w, lane] = max(done, end)
        for stream in range(BULK_READ, BULK_READ + 1 if read_only else BULK_DONE + 1):
            column = c.own[w] + stream * c.per_cta
            c.vectors[w, SOME, column] = max(c.vectors[w, SOME, column], end)


@njit
def join_lanes(one: Any, other: Any) -> Any:
    """Return the lane number of the lanes with two lane numbers."""
    return one if one == other else UNION[one, other]


@njit
def is_weak_write_of(record: Any, agent: Any, lane: Any) -> bool:
    """Return True if `record` describes a weak write by a lane of `agent` (its bits from 44 on).

    A later strong write of the same lane must not replace the record, because it does not order the weak write before
    the accesses of other lanes.
    """
    weak = (record >> 10) & 63 == GENERIC and record & STRENGTH == 0
    return record != 0 and record >> 44 == agent and weak and (record >> 4) & 63 == lane


@njit
def is_ordered_in_warp(c: ClockArrays, w: Any, lane: int, by: int, clock: Any, stream: int, fenced: int) -> bool:
    """Return True if an access of warp `w` at time `clock` happens before a new access of a lane.

    `by` is the lane number in the record of the earlier access. `stream` is 0, or the class of the asynchronous
    operation that made the access. Synchronisations of the whole warp are not considered. The other arguments are as in
    `is_ordered`.
    """
    V, g = c.vectors, c.own[w]
    known = V[w, KNOWN, g]
    if lane >= 0 and by != lane and by not in (TOGETHER, OBJECT) and (stream or clock > known):
        # All lanes of the earlier access must have synchronised with this lane.
        for other in range(32):
            since = known + 1 if stream else clock
            if other != lane and (LANE_SETS[by] >> other) & 1 and c.lane_times[w, lane, other] < since:
                return False
        if stream:
            return fenced == 0 and clock <= c.operations[w, lane, stream]
    if stream == THREAD_COPIES and lane >= 0 and by == lane and fenced == 0:
        return clock <= c.copy_done[w, lane]
    if stream:
        return clock <= V[w, SOME + fenced, g + stream * c.per_cta]
    if fenced == 0:
        return True
    # Other lanes know the fences of lane `by` that precede its last synchronisation with them.
    time = V[w, SOME + fenced, g] if lane < 0 or by == lane else c.fence_times[w, fenced - 1]
    if clock <= time and (lane < 0 or (by < 32 and (V[w, FENCED_MASK, g] >> by) & 1 != 0)):
        return True
    lane_is_ahead = is_ahead(c, w, lane, fenced)
    if lane_is_ahead and clock <= V[len(c.ahead) + w, KNOWN + fenced, g]:
        return True
    for other in range(32):
        if (LANE_SETS[by] >> other) & 1 and clock > c.covered[w, fenced - 1, other]:
            return False
    return lane_is_ahead or c.fencing[w] == 0


@njit
def is_ahead(c: ClockArrays, w: Any, lane: int, fenced: int) -> bool:
    """Return True if the second clock of warp `w` (see `ahead`) applies to a lane.

    If `fenced` is not 0, return True if the fenced parts of this clock apply. A `lane` of -1 stands for all
    lanes.
    """
    lanes = c.ahead[w] | c.fencing[w] if fenced else c.ahead[w]
    return lanes != 0 and (lane < 0 or (lanes >> lane) & 1 != 0)


@njit
def is_released(c: ClockArrays, row: int, agent: Any, owner: Any, by: int, clock: Any, fenced: int) -> bool:
    """Return True if the clock at `row` contains an access of `agent` at the time `clock`.

    `by` is the lane number in the record of the access. `owner` is the warp of `agent`, or -1 if the agent is not a
    warp. `fenced` is as in `is_ordered`.
    """
    V = c.vectors
    if clock <= V[row, KNOWN + fenced, agent]:
        return True
    if clock > V[row, SOME + fenced, agent]:
        return False
    if by in (TOGETHER, OBJECT):
        return True  # a release by any lane covers an instruction of the whole warp
    known = V[row, FENCED_MASK if fenced else MASK, agent]
    for lane in range(32):
        missing = (known >> lane) & 1 == 0 or (owner >= 0 and fenced == 0 and clock > c.published[owner, lane])
        if missing and (LANE_SETS[by] >> lane) & 1:
            return False
    return True


@njit
def is_ordered(c: ClockArrays, w: Any, lane: int, record: Any, fenced: int) -> bool:
    """Return True if the access of `record` happens before a new access of a lane of warp `w`.

    A `lane` of -1 stands for all lanes. `fenced` is 0, or SHARED_FENCE if a proxy fence must be between
    the two accesses.
    """
    V, ahead, g, per_cta = c.vectors, c.ahead, c.own[w], c.per_cta
    agent = record >> 44
    clock = (record >> 16) & 0xFFFFFFF
    by = (record >> 4) & 63
    lane_is_ahead = is_ahead(c, w, lane, fenced)
    if ((record >> 10) & 63) == REMOTE_STORE:
        return clock <= V[w, WIDE, agent] or (lane_is_ahead and clock <= V[len(ahead) + w, WIDE, agent])
    if clock <= V[w, KNOWN + fenced, agent]:
        return True
    distance = agent - g
    if distance >= 0 and distance < STREAMS * per_cta and distance % per_cta == 0:
        stream = distance // per_cta
        if stream == THREAD_COPIES and lane_is_ahead and is_released(c, len(ahead) + w, agent, -1, by, clock, fenced):
            return True
        return is_ordered_in_warp(c, w, lane, by, clock, stream, fenced)
    rank, local = agent // c.agents, agent % c.agents
    owner = local * c.ctas + c.cta_of[w] - g // c.agents + rank if local < per_cta else -1
    return is_released(c, w, agent, owner, by, clock, fenced) or (
        lane_is_ahead and is_released(c, len(ahead) + w, agent, owner, by, clock, fenced)
    )
