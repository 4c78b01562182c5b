# pyright: reportUnknownMemberType=false
"""Compiled functions that compare new accesses to shared memory with the last accesses.

A granule has `1 << shift` bytes, at most 16: the size of the kernel's smallest write. A chunk has 16 bytes.
`clocks` explains agents, and `clock_arrays` records.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import inlined, njit
from warploom.observe.sanitize.clock_arrays import (
    ASYNC,
    BULK_READ,
    FENCED,
    GENERIC,
    KNOWN,
    MULTIPLICATIONS,
    REMOTE_STORE,
    SIZE,
    STRENGTH,
    THREAD_COPY,
    ClockArrays,
    is_ordered,
    is_ordered_in_warp,
    is_weak_write_of,
    join_lanes,
)

Array = NDArray[Any]

LANE_BITS = 63 << 4  # bits of the lane in a record

# Kinds of conflicts, named after the new access and the old one.
READ_WRITE, WRITE_WRITE, WRITE_READ, WRITE_ASYNC_READ, UNFENCED, UNWRITTEN, UNFENCED_READ = range(7)
COLUMNS = 6  # of a conflict: kind, position, lane, granule; record and pc of the other access
BLOCK = 9  # binary logarithm of the granules in a block
IN_BLOCK = (1 << BLOCK) - 1  # mask of the index of a granule in its block
ROOM = 128  # conflicts of one access that are kept; further ones are counted


class SharedArrays(NamedTuple):
    """Last accesses to shared memory, for compiled functions.

    The owner of a granule is the CTA in whose shared memory the granule is. Each pair of arrays has the record of an
    access and its program counter:

    - records, sites: last write of each granule
    - remote_reads[r], remote_sites[r]: last read of each granule by the CTA of rank r in the cluster, if not the owner
    - copy_reads, copy_sites: last read of each chunk by a bulk copy that an mbarrier completes

    The other arrays:

    - reads: last read of each granule by each warp of the owner, in blocks of `1 << BLOCK` granules, as
      `time << 32 | pc << 10 | lane << 4 | strength`
    - async_reads: last read of each chunk by a multiplication or a bulk group of each reader, as
      `time << 32 | bulk << 31 | pc << 10 | lane << 4`, where `bulk` is 1 for bulk groups. The readers are the warps of
      the owner and, if the kernel uses pairs of CTAs, then those of its peer.
    - last_reads[b, w]: times of the last reads of block b by reader w, 0 for none: by loads, by multiplications, and by
      bulk groups
    - origins: number of the tensor copy that made the last bulk write of each chunk, 0 for another copy
    - sources: global address from which a thread last filled each word of 4 bytes, 0 if unknown
    - out: receives the first conflicts

    `fences_copies` is set if multiplications need a proxy fence after thread copies.

    Shapes: records, sites (granules,); remote_reads, remote_sites (CTAs of a cluster, granules); reads (blocks, warps
    of a CTA, 1 << BLOCK); last_reads (blocks, readers, 3); async_reads (readers, chunks); copy_reads, copy_sites,
    origins (chunks,).
    """

    fences_copies: bool
    records: Array
    sites: Array
    reads: Array
    last_reads: Array
    async_reads: Array
    asynchronous: bool
    remote_reads: Array
    remote_sites: Array
    copy_reads: Array
    copy_sites: Array
    origins: Array
    sources: Array
    cta_granules: int
    shift: int
    out: Array


@njit
def together(index: Array, mask: Array, found: Array) -> bool:
    """Set `found` to True for each warp if all 32 lanes are in `mask` and have one index.

    Return True if there is such a warp. Shapes: index and mask (warps, 32), found (warps,).
    """
    some = False
    for i in range(len(index)):
        found[i] = True
        for lane in range(32):
            if not mask[i, lane] or index[i, lane] != index[i, 0]:
                found[i] = False
                break
        some |= found[i]
    return some


@njit
def add_conflict(
    out: Array, found: int, what: int, position: int, lane: int, granule: int, record: Any, site: Any
) -> int:
    """Write a conflict of kind `what` to row `found` of `out`, unless `out` is full. Return `found` + 1.

    The new access to `granule` is by `lane` of the caller's warp number `position`. `record` is the record of the
    earlier access, and `site` its program counter.
    """
    if found < len(out):
        out[found, 0] = what
        out[found, 1] = position
        out[found, 2] = lane
        out[found, 3] = granule
        out[found, 4] = record
        out[found, 5] = site
    return found + 1


@njit
def reader_at(slot: int, cta: int, per_cta: int, ctas: int) -> int:
    """Return the warp at position `slot` among the readers of a CTA (see `SharedArrays`)."""
    return slot * ctas + cta if slot < per_cta else (slot - per_cta) * ctas + (cta ^ 1)


@njit
def _is_morally_strong(c: ClockArrays, w: int, strength: int, record: Any) -> bool:
    """Return True if the access of `record` and an access of warp `w` are morally strong.

    Both are strong, the scope of each contains the thread of the other, and they overlap completely (PTX ISA 8.7). Warp
    `w` is in the cluster of the other access. `strength` is the strength of the access of `w`.
    """
    least = min(strength & STRENGTH, record & STRENGTH)
    if least == 0 or (strength ^ record) & SIZE:
        return False  # weak accesses are frequent, and the divisions below are slow
    return least > ((record >> 44) // c.agents != c.own[w] // c.agents)


@njit
def _may_conflict(c: ClockArrays, s: SharedArrays, w: int, lane: int, part: int, first: int, last: int) -> bool:
    # A conservative test of the granules from `first` to below `last`. If the result is True, `_check_readers` tests
    # each granule.
    V, cta, narrow = c.vectors, first // s.cta_granules, 4 - s.shift
    lane_is_ahead = c.ahead[w] != 0 and (c.ahead[w] >> lane) & 1 != 0
    row = len(c.ahead) + w if lane_is_ahead else w
    for slot in range(s.last_reads.shape[1]):
        reader = c.own[reader_at(slot, cta, c.per_cta, c.ctas)]
        seen = min(max(V[w, KNOWN, reader], V[row, KNOWN, reader]), max(V[w, part, reader], V[row, part, reader]))
        known = np.int64(seen) + 1 << 32
        agent = reader + MULTIPLICATIONS * c.per_cta
        multiplied = max(V[w, KNOWN, agent], V[row, KNOWN, agent])
        agent = reader + BULK_READ * c.per_cta
        copied = max(V[w, KNOWN, agent], V[row, KNOWN, agent])
        start = first
        while start < last:
            block, end = start >> BLOCK, min(last, (start | IN_BLOCK) + 1)
            if s.last_reads[block, slot, 0] > seen:
                for granule in range(start, end):
                    if s.reads[block, slot, granule & IN_BLOCK] >= known:
                        return True
            if s.last_reads[block, slot, 1] > multiplied or s.last_reads[block, slot, 2] > copied:
                for chunk in range(start >> narrow, (end - 1 >> narrow) + 1):
                    entry = s.async_reads[slot, chunk]
                    if (entry >> 32) > (copied if (entry >> 31) & 1 else multiplied):
                        return True
            start = end
    return False


@inlined
def _follows_reads(
    V: Array, own: Array, last_reads: Array, w: int, per_cta: int, block: int, cta: int, ctas: int
) -> bool:
    """Return True if all reads of a block by warps of its CTA happen before a write of warp `w`."""
    for slot in range(last_reads.shape[1]):
        reader = own[reader_at(slot, cta, per_cta, ctas)]
        if (
            last_reads[block, slot, 0] > V[w, KNOWN, reader]
            or last_reads[block, slot, 1] > V[w, KNOWN, reader + MULTIPLICATIONS * per_cta]
            or last_reads[block, slot, 2] > V[w, KNOWN, reader + BULK_READ * per_cta]
        ):
            return False
    return True


@njit
def _check_readers(
    c: ClockArrays, s: SharedArrays, w: int, lane: int, strength: int, granule: int, asynchronous: bool, proxy: bool,
    position: int, found: int,
) -> int:  # fmt: skip
    """Record a conflict with each read of a granule that does not happen before a write of warp `w`.

    `lane` is the writing lane, and `strength` the strength of the write. With `asynchronous`, reads by asynchronous
    operations count, too. With `proxy`, also record each read by a lane without a proxy fence between the read and the
    write. `position` and `found` are as in `add_conflict`. Return `found` plus the number of conflicts.
    """
    V, ahead, own, ctas, cta = c.vectors, c.ahead, c.own, c.ctas, granule // s.cta_granules
    for slot in range(s.last_reads.shape[1]):
        entry = s.reads[granule >> BLOCK, slot, granule & IN_BLOCK] if slot < s.reads.shape[1] else np.int64(0)
        reader = reader_at(slot, cta, c.per_cta, ctas)
        record = (own[reader] << 44) | ((entry >> 32) << 16) | (entry & (LANE_BITS | STRENGTH | SIZE))
        if entry and not _is_morally_strong(c, w, strength, record):
            ordered = is_ordered(c, w, lane, record, 0)
            if not ordered or (proxy and not is_ordered(c, w, lane, record, 1)):
                what = UNFENCED_READ if ordered else WRITE_READ
                found = add_conflict(s.out, found, what, position, lane, granule, record, (entry >> 10) & 0x1FFFFF)
        if asynchronous:
            entry = s.async_reads[slot, granule >> (4 - s.shift)]
            if entry:
                stream = BULK_READ if (entry >> 31) & 1 else MULTIPLICATIONS
                agent = own[reader] + stream * c.per_cta
                clock = entry >> 32
                if clock > V[w, KNOWN, agent] and not (
                    ahead[w] and (lane < 0 or (ahead[w] >> lane) & 1) and clock <= V[len(ahead) + w, KNOWN, agent]
                ):
                    by = (entry >> 4) & 63
                    if reader != w or not is_ordered_in_warp(c, w, lane, by, clock, stream, 0):
                        record = (agent << 44) | (clock << 16) | (by << 4)
                        site = (entry >> 10) & 0x1FFFFF
                        found = add_conflict(s.out, found, WRITE_ASYNC_READ, position, lane, granule, record, site)
    return found


@njit
def _check_remote_reads(
    c: ClockArrays, s: SharedArrays, w: int, lane: int, row: int, granule: int, fenced: int, position: int, found: int
) -> int:  # fmt: skip
    # `row` is the rank of the other CTA. If `fenced` is 1, a proxy fence must be between the two accesses.
    entry = s.remote_reads[row, granule]
    ordered = is_ordered(c, w, lane, entry, 0)
    if ordered and (fenced == 0 or is_ordered(c, w, lane, entry, 1)):
        return found
    what = UNFENCED_READ if ordered else WRITE_READ
    return add_conflict(s.out, found, what, position, lane, granule, entry, s.remote_sites[row, granule])


@njit
def _check_copy_reads(
    c: ClockArrays, s: SharedArrays, w: int, lane: int, granule: int, position: int, found: int
) -> int:
    chunk = granule >> (4 - s.shift)
    entry = s.copy_reads[chunk]
    if entry == 0 or is_ordered(c, w, lane, entry, 0):
        return found
    return add_conflict(s.out, found, WRITE_ASYNC_READ, position, lane, granule, entry, s.copy_sites[chunk])


@njit
def read_lanes(
    c: ClockArrays, s: SharedArrays, warps: Array, index: Array, mask: Array, size: int, pc: int, strength: int,
    whole: int,
) -> int:  # fmt: skip
    """Record reads of lanes, `size` bytes each. Return the number of conflicts with earlier writes.

    `index` has the byte offsets of the lanes in shared memory, and `mask` selects lanes. Morally strong accesses do not
    conflict. If all lanes of a warp read one address, the lane of the record is `whole`: OBJECT for a test of an
    mbarrier, otherwise TOGETHER. The first conflicts are stored in `s.out`. Shapes: warps (warps,); index and mask
    (warps, 32).
    """
    V, records, reads = c.vectors, s.records, s.reads
    found = 0
    one_place = np.zeros(len(warps), np.bool_)
    together(index, mask, one_place)
    for i in range(len(warps)):
        w = warps[i]
        g = c.own[w]
        slot, origin, now = w // c.ctas, c.cta_of[w] * s.cta_granules, np.int64(c.clock[w])
        good = np.int64(-1)
        for lane in range(32):
            if not mask[i, lane]:
                continue
            start = index[i, lane]
            granule, end = start >> s.shift, (start + size - 1 >> s.shift) + 1
            mine = origin <= granule < origin + s.cta_granules
            while granule < end:
                record = records[granule]
                if record == 0:
                    found = add_conflict(s.out, found, UNWRITTEN, i, lane, granule, 0, -1)
                elif record != good:
                    if ((record >> 16) & 0xFFFFFFF) <= V[w, KNOWN, record >> 44] and (
                        (record >> 10) & 63
                    ) != REMOTE_STORE:
                        good = record
                    elif is_ordered(c, w, lane, record, 0):
                        pass
                    elif not _is_morally_strong(c, w, strength, record):
                        found = add_conflict(s.out, found, READ_WRITE, i, lane, granule, record, s.sites[granule])
                if not mine:
                    row = g // c.agents
                    head = (g << 44) | (now << 16) | (GENERIC << 10)
                    before = s.remote_reads[row, granule]
                    if (before >> 10) == (head >> 10):
                        by = join_lanes((before >> 4) & 63, lane)
                        s.remote_reads[row, granule] = head | (by << 4) | strength
                    else:
                        s.remote_reads[row, granule] = head | (lane << 4) | strength
                    s.remote_sites[row, granule] = pc
                elif slot < reads.shape[1]:
                    block, place = granule >> BLOCK, granule & IN_BLOCK
                    entry = reads[block, slot, place]
                    by = whole if one_place[i] else lane
                    if (entry >> 32) == now:
                        by = join_lanes((entry >> 4) & 63, by)
                    s.last_reads[block, slot, 0] = now
                    reads[block, slot, place] = (now << 32) | (np.int64(pc) << 10) | (by << 4) | strength
                granule += 1
    return found


@njit
def write_lanes(
    c: ClockArrays, s: SharedArrays, warps: Array, index: Array, mask: Array, size: int, pc: int, kind: int,
    strength: int, agents: Array, clocks: Array,
) -> int:  # fmt: skip
    """Record writes of lanes, `size` bytes each. Return the number of conflicts with earlier accesses.

    The records of the writes of warps[i] have the agent agents[i], the time clocks[i], the kind `kind` and the strength
    `strength` (see `clocks`). `index` and `mask` are as in `read_lanes`.
    """
    V, own, records, sites, remote_reads, out, last_reads = (
        c.vectors,
        c.own,
        s.records,
        s.sites,
        s.remote_reads,
        s.out,
        s.last_reads,
    )
    found = 0
    for i in range(len(warps)):
        w = warps[i]
        head = (np.int64(agents[i]) << 44) | (np.int64(clocks[i]) << 16) | (kind << 10)
        good = np.int64(-1)
        low, high = np.int64(0), np.int64(0)  # granules without reads that may conflict
        for lane in range(32):
            if not mask[i, lane]:
                continue
            start = index[i, lane]
            granule, end = start >> s.shift, (start + size - 1 >> s.shift) + 1
            fresh = head | (lane << 4) | strength
            if not low <= granule < high:
                block, cta = granule >> BLOCK, granule // s.cta_granules
                if _follows_reads(V, own, last_reads, w, c.per_cta, block, cta, c.ctas):
                    low = max(block << BLOCK, cta * s.cta_granules)
                    high = min((block + 1) << BLOCK, (cta + 1) * s.cta_granules)
            suspicious = False
            if granule < low or end > high:
                suspicious = _may_conflict(c, s, w, lane, KNOWN, granule, end)
            while granule < end:
                record = records[granule]
                mixed = fresh
                if not record:
                    if strength and kind != GENERIC:
                        found = add_conflict(out, found, UNWRITTEN, i, lane, granule, 0, -1)
                elif record & ~LANE_BITS != good:
                    if (record >> 10) == (head >> 10) and sites[granule] == pc:
                        if ((record >> 4) & 63) != lane:
                            mixed = head | (join_lanes((record >> 4) & 63, lane) << 4) | strength
                            if not strength:
                                found = add_conflict(out, found, WRITE_WRITE, i, lane, granule, record, pc)
                    elif ((record >> 16) & 0xFFFFFFF) <= V[w, KNOWN, record >> 44] and (
                        (record >> 10) & 63
                    ) != REMOTE_STORE:
                        good = record & ~LANE_BITS
                    elif not is_ordered(c, w, lane, record, 0) and not _is_morally_strong(c, w, strength, record):
                        found = add_conflict(out, found, WRITE_WRITE, i, lane, granule, record, sites[granule])
                if suspicious:
                    found = _check_readers(c, s, w, lane, strength, granule, s.asynchronous, False, i, found)
                for row in range(len(remote_reads)):
                    entry = remote_reads[row, granule]
                    if entry and not _is_morally_strong(c, w, strength, entry):
                        found = _check_remote_reads(c, s, w, lane, row, granule, 0, i, found)
                if len(remote_reads) and s.asynchronous:
                    found = _check_copy_reads(c, s, w, lane, granule, i, found)
                if not (strength and is_weak_write_of(record, head >> 44, lane)):
                    records[granule] = mixed
                    sites[granule] = pc
                granule += 1
    return found


@njit
def read_rows(
    c: ClockArrays, s: SharedArrays, warps: Array, lanes: Array, starts: Array, sizes: Array, pc: int, agents: Array,
    clocks: Array,
) -> int:  # fmt: skip
    """Record reads by bulk copies. Return the number of conflicts with earlier writes.

    Lane lanes[i] of warps[i] reads sizes[i] bytes at offset starts[i]. The record of the read has the agent agents[i],
    which is an mbarrier, and the time clocks[i]. If agents[i] is -1, a bulk group completes the copy. Starts and sizes
    are multiples of 16 bytes. Shapes: all arrays (copies,).
    """
    found = 0
    in_chunk = (16 >> s.shift) - 1
    for i in range(len(warps)):
        w, lane = warps[i], lanes[i]
        good = np.int64(-1)
        entry = (np.int64(clocks[i]) << 32) | (1 << 31) | (np.int64(pc) << 10) | (lane << 4)
        if agents[i] >= 0:
            entry = (np.int64(agents[i]) << 44) | (np.int64(clocks[i]) << 16) | (ASYNC << 10) | (lane << 4)
        slot = w // c.ctas
        for granule in range(starts[i] >> s.shift, (starts[i] + sizes[i]) >> s.shift):
            record = s.records[granule]
            if record != good:
                if record == 0:
                    found = add_conflict(s.out, found, UNWRITTEN, i, lane, granule, 0, -1)
                elif not is_visible(c.vectors, w, record, True):
                    found = check_async(c, s, w, lane, granule, READ_WRITE, True, i, found)
                good = record
            chunk = granule >> (4 - s.shift)
            if granule & in_chunk == 0 and agents[i] >= 0:
                s.copy_reads[chunk], s.copy_sites[chunk] = entry, pc
            elif granule & in_chunk == 0:
                s.async_reads[slot, chunk] = entry
                s.last_reads[granule >> BLOCK, slot, 2] = clocks[i]
    return found


@njit
def check_initialised(
    c: ClockArrays, s: SharedArrays, warps: Array, lanes: Array, starts: Array
) -> int:  # fmt: skip
    """Return the number of uses of mbarriers that are not ordered after the mbarrier's initialisation.

    Lane lanes[i] of warps[i] uses the mbarrier at byte offset starts[i]. Shapes: all arrays (uses,).
    """
    found = 0
    for i in range(len(warps)):
        granule = starts[i] >> s.shift
        record = s.records[granule]
        if record and not is_ordered(c, warps[i], lanes[i], record, 0):
            found = add_conflict(s.out, found, READ_WRITE, i, lanes[i], granule, record, s.sites[granule])
    return found


@njit
def _needs_fence(kind: int, bulk: bool) -> bool:
    # `bulk` is set for bulk copies, and for multiplications if the rule on thread copies is on.
    return kind == GENERIC or (bulk and kind == THREAD_COPY)


@njit
def is_visible(V: Array, w: int, record: int, bulk: bool) -> bool:
    # A quick test for all lanes of the warp. If the result is False, `check_async` decides for each lane.
    kind, agent, clock = (record >> 10) & 63, record >> 44, (record >> 16) & 0xFFFFFFF
    if kind == REMOTE_STORE or clock > V[w, KNOWN, agent]:
        return False
    return not _needs_fence(kind, bulk) or clock <= V[w, FENCED, agent]


@njit
def check_async(
    c: ClockArrays, s: SharedArrays, w: int, lane: int, granule: int, what: int, bulk: bool, position: int, found: int
) -> int:  # fmt: skip
    # `lane` is -1 for an access of all lanes. `what` is the kind of the conflict if nothing orders the two accesses.
    record = s.records[granule]
    if not is_ordered(c, w, lane, record, 0):
        return add_conflict(s.out, found, what, position, lane, granule, record, s.sites[granule])
    if _needs_fence((record >> 10) & 63, bulk) and not is_ordered(c, w, lane, record, 1):
        return add_conflict(s.out, found, UNFENCED, position, lane, granule, record, s.sites[granule])
    return found


@njit
def write_rows(
    c: ClockArrays, s: SharedArrays, warps: Array, lanes: Array, starts: Array, sizes: Array, pc: int, agents: Array,
    clocks: Array, origins: Array, strength: int,
) -> int:  # fmt: skip
    """Record writes by bulk copies. Return the number of conflicts with earlier accesses.

    Lane lanes[i] of warps[i] writes sizes[i] bytes at offset starts[i]. The record of the write has the agent agents[i]
    and the time clocks[i]. origins[i] is the number of the tensor copy, 0 for another copy. `strength` is 0 for
    copies, and the strength of the updates (see `clocks`) for reductions. Starts and sizes are multiples of 16 bytes.
    Shapes: all arrays (copies,).
    """
    records = s.records
    found, narrow = 0, 4 - s.shift
    in_chunk = (16 >> s.shift) - 1
    for i in range(len(warps)):
        w, lane = warps[i], lanes[i]
        good = np.int64(-1)
        fresh = (np.int64(agents[i]) << 44) | (np.int64(clocks[i]) << 16) | (ASYNC << 10) | (lane << 4) | strength
        first, last = starts[i] >> s.shift, (starts[i] + sizes[i]) >> s.shift
        suspicious = _may_conflict(c, s, w, lane, FENCED, first, last)
        for granule in range(first, last):
            record = records[granule]
            if record == good and not suspicious and not len(s.remote_reads):
                continue
            if strength and not record:
                found = add_conflict(s.out, found, UNWRITTEN, i, lane, granule, 0, -1)
            elif record != good:
                ordered = not record or is_visible(c.vectors, w, record, True)
                if not ordered and not _is_morally_strong(c, w, strength, record):
                    found = check_async(c, s, w, lane, granule, WRITE_WRITE, True, i, found)
                good = record
            if suspicious:
                reads = s.asynchronous and granule & in_chunk == 0
                found = _check_readers(c, s, w, lane, strength, granule, reads, True, i, found)
            for row in range(len(s.remote_reads)):
                entry = s.remote_reads[row, granule]
                if entry and not _is_morally_strong(c, w, strength, entry):
                    found = _check_remote_reads(c, s, w, lane, row, granule, 1, i, found)
            if granule & in_chunk == 0 and len(s.remote_reads) and s.asynchronous:
                found = _check_copy_reads(c, s, w, lane, granule, i, found)
        records[first:last] = fresh
        s.sites[first:last] = pc
        s.origins[first >> narrow : last >> narrow] = origins[i]
    return found


@njit
def set_sources(s: SharedArrays, index: Array, mask: Array, size: int, sources: Array) -> None:
    """Record the global addresses of the data that lanes write, `size` bytes each.

    `index` has the byte offsets of the lanes in shared memory, and `mask` selects lanes. `sources` has the global
    addresses, 0 if unknown. Shapes: all (warps, 32).
    """
    words = max(size >> 2, 1)
    for i in range(len(index)):
        for lane in range(32):
            if mask[i, lane]:
                for word in range(words):
                    known = sources[i, lane] and size >= 4
                    s.sources[(index[i, lane] >> 2) + word] = sources[i, lane] + 4 * word if known else 0
