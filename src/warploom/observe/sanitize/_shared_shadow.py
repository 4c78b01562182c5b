# pyright: reportUnknownMemberType=false
"""Compiled shadow of shared memory: the last accesses to each granule, and conflicts with them.

A granule is 4 bytes. `records` has its last write (see `_clocks`), and `sites` the program counter of that write.
`reads` has the last read of a granule by each warp of its own CTA, and `async_reads` the last asynchronous read of a
chunk of 16 bytes. `far` has the last read of a granule from each other CTA of the cluster, as a record. The entries of
`reads` and `async_reads`:

    reads        time << 32 | strong << 31 | pc << 10 | lane << 4 | bytes
    async_reads  time << 32 | bulk << 31 | pc << 10 | lane << 4
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit
from warploom.observe.sanitize._clocks import (
    ASYNC,
    FENCED,
    GENERIC,
    KNOWN,
    MANY,
    REMOTE_STORE,
    SOME,
    STRONG,
    is_ordered,
)

Array = NDArray[Any]

_LANE = 63 << 4  # bits of the lane in a record

# Kinds of conflicts, named after the new access and the old one.
READ_WRITE, WRITE_WRITE, WRITE_READ, WRITE_ASYNC_READ, UNFENCED, UNWRITTEN, SWIZZLE, UNFENCED_READ = range(8)
COLUMNS = 8  # of a conflict: kind, position, lane, granule; agent, time, pc and lane of the other access
ROOM = 128


@njit
def together(index: Array, mask: Array) -> Array:
    """Return True for the warps whose 32 lanes all have the same index. Shapes: (warps, 32) to (warps,)."""
    found = np.ones(len(index), np.bool_)
    for i in range(len(index)):
        for lane in range(32):
            if not mask[i, lane] or index[i, lane] != index[i, 0]:
                found[i] = False
                break
    return found


@njit
def _note(
    out: Array, found: int, what: int, position: int, lane: int, granule: int, agent: Any, clock: Any, pc: Any, by: Any
) -> int:  # fmt: skip
    if found < len(out):
        out[found, 0] = what
        out[found, 1] = position
        out[found, 2] = lane
        out[found, 3] = granule
        out[found, 4] = agent
        out[found, 5] = clock
        out[found, 6] = pc
        out[found, 7] = by
    return found + 1


@njit
def _check_readers(
    V: Array, few: Array, own: Array, per_cta: int, w: int, lane: int, covered: int, strong: bool, granule: int,
    cta: int, ctas: int, slots: int, reads: Array, async_reads: Array, asynchronous: bool, proxy: bool, position: int,
    out: Array, found: int,
) -> int:  # fmt: skip
    """Note the reads of a granule of CTA `cta` that are not ordered before a write of a lane of warp `w`."""
    g = own[w]
    for slot in range(slots):
        entry = reads[slot, granule]
        if entry and (entry & covered) and not (strong and (entry >> 31) & 1):
            reader = slot * ctas + cta
            record = (own[reader] << 44) | ((entry >> 32) << 16) | (entry & 0x3F0)
            if reader == w and lane >= 0 and ((entry >> 4) & 63) == MANY and covered != 15:
                continue  # several lanes have accessed single bytes of the granule, perhaps others than this write
            ordered = is_ordered(V, few, g, per_cta, w, lane, record, 0)
            if not ordered or (proxy and not is_ordered(V, few, g, per_cta, w, lane, record, 1)):
                found = _note(
                    out, found, UNFENCED_READ if ordered else WRITE_READ, position, lane, granule, own[reader],
                    entry >> 32, (entry >> 10) & 0x1FFFFF, (entry >> 4) & 63,
                )  # fmt: skip
        if asynchronous:
            entry = async_reads[slot, granule >> 2]
            if entry:
                reader = slot * ctas + cta
                agent = own[reader] + (3 if (entry >> 31) & 1 else 2) * per_cta
                clock = entry >> 32
                if clock > V[w, KNOWN, agent] and not (
                    few[w] and (lane < 0 or (few[w] >> lane) & 1) and clock <= V[len(few) + w, KNOWN, agent]
                ):
                    by = (entry >> 4) & 63
                    if reader != w or clock > V[w, SOME, agent] or (lane >= 0 and by != lane):
                        found = _note(
                            out, found, WRITE_ASYNC_READ, position, lane, granule, agent, clock,
                            (entry >> 10) & 0x1FFFFF, by,
                        )  # fmt: skip
    return found


@njit
def _check_far(
    V: Array, few: Array, g: Any, per_cta: int, w: int, lane: int, entry: Any, site: Any, granule: int, fenced: int,
    position: int, out: Array, found: int,
) -> int:  # fmt: skip
    """Note a read from another CTA that is not ordered before a write of a lane of a warp.

    If `fenced` is 1, a proxy fence must be between the two accesses.
    """
    ordered = is_ordered(V, few, g, per_cta, w, lane, entry, 0)
    if ordered and (fenced == 0 or is_ordered(V, few, g, per_cta, w, lane, entry, 1)):
        return found
    return _note(
        out, found, UNFENCED_READ if ordered else WRITE_READ, position, lane, granule, entry >> 44,
        (entry >> 16) & 0xFFFFFFF, site, (entry >> 4) & 63,
    )  # fmt: skip


@njit
def read_lanes(
    V: Array, clock: Array, few: Array, own: Array, per_cta: int, warps: Array, index: Array, mask: Array, size: int,
    records: Array, sites: Array, reads: Array, far: Array, far_sites: Array, agents: int, ctas: int, cta_of: Array,
    pc: int, strong: bool, whole: int, cta_granules: int, out: Array,
) -> int:  # fmt: skip
    """Record reads of lanes, `size` bytes each. Return the number of conflicts with earlier writes.

    `whole` is the lane number for a warp whose lanes all read one address. The first conflicts are in `out`.
    """
    found = 0
    slots = len(reads)
    one_place = together(index, mask)
    for i in range(len(warps)):
        w = warps[i]
        g = own[w]
        slot, cta, now = w // ctas, cta_of[w], np.int64(clock[w])
        good = np.int64(-1)
        for lane in range(32):
            if not mask[i, lane]:
                continue
            start = index[i, lane]
            granule, end = start >> 2, (start + size + 3) >> 2
            mine = granule // cta_granules == cta
            covered = 15 if size >= 4 else ((1 << size) - 1) << (start & 3)
            while granule < end:
                record = records[granule]
                if record == 0:
                    found = _note(out, found, UNWRITTEN, i, lane, granule, -1, 0, -1, -1)
                elif record != good and (record & covered):
                    if ((record >> 16) & 0xFFFFFFF) <= V[w, KNOWN, record >> 44] and (
                        (record >> 10) & 63
                    ) != REMOTE_STORE:
                        good = record
                    elif is_ordered(V, few, g, per_cta, w, lane, record, 0):
                        pass
                    elif not (strong and ((record >> 10) & 63) == STRONG) and not (
                        covered != 15 and ((record >> 4) & 63) == MANY and (record >> 44) == g
                    ):
                        found = _note(
                            out, found, READ_WRITE, i, lane, granule, record >> 44, (record >> 16) & 0xFFFFFFF,
                            sites[granule], (record >> 4) & 63,
                        )  # fmt: skip
                if not mine:
                    row = g // agents
                    head = (g << 44) | (now << 16) | ((STRONG if strong else GENERIC) << 10)
                    before = far[row, granule]
                    if (before >> 10) == (head >> 10):
                        by = lane if ((before >> 4) & 63) == lane else MANY
                        far[row, granule] = head | (by << 4) | covered | (before & 15)
                    else:
                        far[row, granule] = head | (lane << 4) | covered
                    far_sites[row, granule] = pc
                elif slot < slots:
                    entry = reads[slot, granule]
                    by = whole if one_place[i] else lane
                    held = covered
                    if (entry >> 32) == now:
                        held |= entry & 15
                        if ((entry >> 4) & 63) != by:
                            by = MANY
                    reads[slot, granule] = (
                        (now << 32) | ((1 << 31) if strong else 0) | (np.int64(pc) << 10) | (by << 4) | held
                    )
                granule += 1
    return found


@njit
def write_lanes(
    V: Array, clock: Array, few: Array, own: Array, per_cta: int, warps: Array, index: Array, mask: Array, size: int,
    records: Array, sites: Array, reads: Array, async_reads: Array, asynchronous: bool, far: Array, far_sites: Array,
    ctas: int, pc: int, kind: int, agents: Array, clocks: Array, cta_granules: int, out: Array,
) -> int:  # fmt: skip
    """Record writes of lanes, `size` bytes each. Return the number of conflicts with earlier accesses.

    Each warp's writes are accesses of an agent at a time: `agents` and `clocks`. The first conflicts are in `out`.
    """
    found = 0
    slots = len(reads)
    strong = kind == STRONG
    for i in range(len(warps)):
        w = warps[i]
        g = own[w]
        head = (np.int64(agents[i]) << 44) | (np.int64(clocks[i]) << 16) | (kind << 10)
        good = np.int64(-1)
        for lane in range(32):
            if not mask[i, lane]:
                continue
            start = index[i, lane]
            granule, end = start >> 2, (start + size + 3) >> 2
            cta = granule // cta_granules
            covered = 15 if size >= 4 else ((1 << size) - 1) << (start & 3)
            fresh = head | (lane << 4) | covered
            while granule < end:
                record = records[granule]
                mixed = fresh
                if record and record != good:
                    same = (record >> 10) == (head >> 10) and sites[granule] == pc
                    if same:
                        if ((record >> 4) & 63) != lane:
                            mixed = head | (MANY << 4) | covered
                        mixed |= record & 15
                    elif record & covered and not (strong and ((record >> 10) & 63) == STRONG):
                        if ((record >> 16) & 0xFFFFFFF) <= V[w, KNOWN, record >> 44] and (
                            (record >> 10) & 63
                        ) != REMOTE_STORE:
                            good = record
                        elif is_ordered(V, few, g, per_cta, w, lane, record, 0):
                            pass
                        elif not (covered != 15 and ((record >> 4) & 63) == MANY and (record >> 44) == g):
                            found = _note(
                                out, found, WRITE_WRITE, i, lane, granule, record >> 44,
                                (record >> 16) & 0xFFFFFFF, sites[granule], (record >> 4) & 63,
                            )  # fmt: skip
                doubtful = False
                for slot in range(slots):
                    entry = reads[slot, granule]
                    if entry and (entry >> 32) > V[w, KNOWN, own[slot * ctas + cta]]:
                        doubtful = True
                    if asynchronous:
                        entry = async_reads[slot, granule >> 2]
                        agent = own[slot * ctas + cta] + (3 if (entry >> 31) & 1 else 2) * per_cta
                        if entry and (entry >> 32) > V[w, KNOWN, agent]:
                            doubtful = True
                if doubtful:
                    found = _check_readers(
                        V, few, own, per_cta, w, lane, covered, strong, granule, cta, ctas, slots, reads, async_reads,
                        asynchronous, False, i, out, found,
                    )  # fmt: skip
                for row in range(len(far)):
                    entry = far[row, granule]
                    if entry & covered and not (strong and ((entry >> 10) & 63) == STRONG):
                        found = _check_far(
                            V, few, g, per_cta, w, lane, entry, far_sites[row, granule], granule, 0, i, out, found
                        )  # fmt: skip
                records[granule] = mixed
                sites[granule] = pc
                granule += 1
    return found


@njit
def read_rows(
    V: Array, few: Array, own: Array, per_cta: int, warps: Array, lanes: Array, starts: Array, sizes: Array,
    records: Array, sites: Array, async_reads: Array, ctas: int, pc: int, clocks: Array, cta_granules: int,
    out: Array,
) -> int:  # fmt: skip
    """Record reads by bulk copies, each of a row of bytes. Return the number of conflicts.

    Shapes: all (rows,). Units: starts and sizes in bytes, multiples of 16.
    """
    found = 0
    for i in range(len(warps)):
        w, lane = warps[i], lanes[i]
        good = np.int64(-1)
        entry = (np.int64(clocks[i]) << 32) | (1 << 31) | (np.int64(pc) << 10) | (lane << 4)
        slot = w // ctas
        for granule in range(starts[i] >> 2, (starts[i] + sizes[i]) >> 2):
            record = records[granule]
            if record != good:
                if record == 0:
                    found = _note(out, found, UNWRITTEN, i, lane, granule, -1, 0, -1, -1)
                else:
                    found = _check_async(V, few, own, per_cta, w, lane, record, granule, sites, i, out, found)
                good = record
            if granule & 3 == 0:
                async_reads[slot, granule >> 2] = entry
    return found


@njit
def _check_async(
    V: Array, few: Array, own: Array, per_cta: int, w: int, lane: int, record: int, granule: int, sites: Array,
    position: int, out: Array, found: int,
) -> int:  # fmt: skip
    """Note a write that is not ordered before an asynchronous access of a lane (-1: all lanes) of a warp."""
    g = own[w]
    kind = (record >> 10) & 63
    if not is_ordered(V, few, g, per_cta, w, lane, record, 0):
        return _note(
            out, found, READ_WRITE, position, lane, granule, record >> 44, (record >> 16) & 0xFFFFFFF,
            sites[granule], (record >> 4) & 63,
        )  # fmt: skip
    if kind in (GENERIC, STRONG) and not is_ordered(V, few, g, per_cta, w, lane, record, 1):
        return _note(
            out, found, UNFENCED, position, lane, granule, record >> 44, (record >> 16) & 0xFFFFFFF,
            sites[granule], (record >> 4) & 63,
        )  # fmt: skip
    return found


@njit
def write_rows(
    V: Array, few: Array, own: Array, per_cta: int, warps: Array, lanes: Array, starts: Array, sizes: Array,
    records: Array, sites: Array, reads: Array, async_reads: Array, far: Array, far_sites: Array, ctas: int, pc: int,
    agents: Array, clocks: Array, tags: Array, tag: int, cta_granules: int, out: Array,
) -> int:  # fmt: skip
    """Record writes by bulk copies, each of a row of bytes. Return the number of conflicts.

    Each write is an access of an agent at a time: `agents` and `clocks`. The written chunks of 16 bytes get `tag`,
    which identifies the swizzle. Shapes: all (rows,).
    """
    found = 0
    slots = len(reads)
    for i in range(len(warps)):
        w, lane = warps[i], lanes[i]
        good = np.int64(-1)
        fresh = (np.int64(agents[i]) << 44) | (np.int64(clocks[i]) << 16) | (ASYNC << 10) | (lane << 4) | 15
        cta = starts[i] // 4 // cta_granules
        for granule in range(starts[i] >> 2, (starts[i] + sizes[i]) >> 2):
            record = records[granule]
            if record and record != good:
                before = found
                found = _check_async(V, few, own, per_cta, w, lane, record, granule, sites, i, out, found)
                if found > before and before < len(out) and out[before, 0] == READ_WRITE:
                    out[before, 0] = WRITE_WRITE
                good = record
            doubtful = False
            for slot in range(slots):
                entry = reads[slot, granule]
                if entry and (entry >> 32) > V[w, FENCED, own[slot * ctas + cta]]:
                    doubtful = True
                if granule & 3 == 0:
                    entry = async_reads[slot, granule >> 2]
                    agent = own[slot * ctas + cta] + (3 if (entry >> 31) & 1 else 2) * per_cta
                    if entry and (entry >> 32) > V[w, KNOWN, agent]:
                        doubtful = True
            if doubtful:
                found = _check_readers(
                    V, few, own, per_cta, w, lane, 15, False, granule, cta, ctas, slots, reads, async_reads,
                    granule & 3 == 0, True, i, out, found,
                )  # fmt: skip
            for row in range(len(far)):
                entry = far[row, granule]
                if entry:
                    found = _check_far(
                        V, few, own[w], per_cta, w, lane, entry, far_sites[row, granule], granule, 1, i, out, found
                    )  # fmt: skip
            records[granule] = fresh
            sites[granule] = pc
            if granule & 3 == 0:
                tags[granule >> 2] = tag
    return found


@njit
def read_tiles(
    V: Array, few: Array, own: Array, per_cta: int, groups: Array, origins: Array, starts: Array, chunks: Array,
    chunk_mask: int, phase: int, low: int, high: int, records: Array, sites: Array, async_reads: Array,
    tags: Array, tag: int, ctas: int, pc: int, clocks: Array, cta_granules: int, out: Array,
) -> int:  # fmt: skip
    """Record reads of matrices by warpgroups. Return the number of conflicts.

    A matrix has chunks of 16 bytes at starts[g] + chunks[k], swizzled. If it leaves its window [low, high), the result
    is -1 - g.

    Shapes: groups (warpgroups, 4) are warps; origins (byte offset of the CTA's window) and starts (warpgroups,).
    """
    found = 0
    for i in range(len(starts)):
        leader = groups[i, 0]
        slot = leader // ctas
        entry = (np.int64(clocks[i]) << 32) | (np.int64(pc) << 10) | (MANY << 4)
        good = common = np.int64(-1)
        told = False
        for k in range(len(chunks)):
            address = starts[i] + chunks[k]
            address ^= (((address >> 7) - phase) & chunk_mask) << 4
            if address < low or address + 16 > high:
                return -1 - i
            chunk = (origins[i] + address - low) >> 4
            async_reads[slot, chunk] = entry
            for granule in range(4 * chunk, 4 * chunk + 4):
                record = records[granule]
                if record == good or record & ~_LANE == common:
                    continue
                good = record
                if record == 0:
                    found = _note(out, found, UNWRITTEN, i * 4, -1, granule, -1, 0, -1, -1)
                    continue
                if not told and ((record >> 10) & 63) == ASYNC and tags[chunk] and tags[chunk] != tag:
                    told = True
                    found = _note(
                        out, found, SWIZZLE, i * 4, -1, granule, record >> 44, tags[chunk], sites[granule], -1
                    )  # fmt: skip
                kind, agent, clock = (record >> 10) & 63, record >> 44, (record >> 16) & 0xFFFFFFF
                whole = kind not in (
                    ASYNC,
                    REMOTE_STORE,
                )  # True if all four warps know the write, whichever lane made it
                for member in range(4):
                    w = groups[i, member]
                    whole = whole and clock <= V[w, KNOWN, agent]
                    whole = whole and (kind not in (GENERIC, STRONG) or clock <= V[w, FENCED, agent])
                    before = found
                    found = _check_async(
                        V, few, own, per_cta, w, -1, record, granule, sites, i * 4 + member, out, found
                    )  # fmt: skip
                    if found > before:
                        break
                if whole:
                    common = record & ~_LANE
    return found
