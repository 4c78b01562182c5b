# pyright: reportUnknownMemberType=false
"""Compiled shadow of global memory: the last write of each granule of 4 bytes, and its last two reads.

A record is `wave << 55 | warp << 44 | time << 16 | kind << 10 | lane << 4 | bytes`, where `warp` is the index of a
resident warp. `clocks` defines the parts of vector clocks and the kinds of records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.numerics._compile import njit
from warploom.observe.sanitize._shared_shadow import note
from warploom.observe.sanitize.clocks import (
    ASYNC,
    FENCED,
    GENERIC,
    KNOWN,
    MANY,
    MASK,
    SOME,
    SOME_F,
    STREAMS,
    STRONG,
    TOGETHER,
    ClockArrays,
)

Array = NDArray[Any]

READ_WRITE, WRITE_WRITE, WRITE_READ, UNFENCED = 0, 1, 2, 4
REDUCTION, LOAD = 5, 6  # kinds of records: bulk copies that reduce in global memory, and bulk copies that read it
SLOT = (
    18  # bits of the phase in the time of a LOAD; the bits above are the mbarrier, and its CTA's rank replaces the lane
)


class GlobalArrays(NamedTuple):
    """Last accesses to global memory, as compiled functions take them (see the module)."""

    records: Array
    sites: Array
    reads: Array
    read_sites: Array
    out: Array


@njit
def _known(c: ClockArrays, wave: int, w: int, lane: int, record: Any, fenced: int) -> bool:
    """Return True if a recorded access happens before a new access of a lane of a warp.

    If `fenced` is 1, a proxy fence must be between the two accesses.
    """
    V, few, own, per_cta, base, cluster_of = c.vectors, c.few, c.own, c.per_cta, c.base, c.cluster_of
    other = (record >> 44) & 0x7FF
    clock = (record >> 16) & 0xFFFFFFF
    by = (record >> 4) & 63
    kind = (record >> 10) & 63
    copied = kind in (ASYNC, REDUCTION, LOAD)
    total = len(few)
    if ((record >> 55) & 0xFF) != wave:
        if base < 0:
            return False
        heard = base + total
        return V[w, KNOWN, heard] > 0 or (few[w] != 0 and V[total + w, KNOWN, heard] > 0)
    if copied:
        if cluster_of[other] != cluster_of[w]:
            if base < 0:
                return False
            if V[w, KNOWN, base + other] > 0 or V[w, SOME, base + other] > 0:
                return True
            held = few[w] != 0 and (few[w] >> lane) & 1 != 0
            return held and (V[total + w, KNOWN, base + other] > 0 or V[total + w, SOME, base + other] > 0)
        if kind == LOAD:
            column = by * c.agents + STREAMS * per_cta + (clock >> SLOT)
            phase = clock & ((1 << SLOT) - 1)
            if phase <= V[w, KNOWN, column]:
                return True
            return few[w] != 0 and (few[w] >> lane) & 1 != 0 and phase <= V[total + w, KNOWN, column]
        column = own[other] + 4 * per_cta
        if clock <= V[w, KNOWN, column]:
            return True
        return other == w and lane == by and clock <= V[w, SOME, column]
    if other == w:
        if fenced:
            return clock <= V[w, FENCED, own[w]] or (clock <= V[w, SOME_F, own[w]] and lane == by)
        return by in (lane, TOGETHER) or clock <= V[w, KNOWN, own[w]]
    column = base + other if base >= 0 else -1
    if cluster_of[other] == cluster_of[w]:
        column = own[other]
    if column < 0:
        return False
    if clock <= V[w, KNOWN + fenced, column]:
        return True
    if clock <= V[w, SOME + fenced, column] and by < 32 and (V[w, MASK, column] >> by) & 1:
        return True
    if few[w] and (few[w] >> lane) & 1:
        if clock <= V[total + w, KNOWN + fenced, column]:
            return True
        return clock <= V[total + w, SOME + fenced, column] and by < 32 and (V[total + w, MASK, column] >> by) & 1 != 0
    return False


@njit
def access(
    c: ClockArrays, s: GlobalArrays, wave: int, warps: Array, index: Array, mask: Array, size: int, one_place: Array,
    writing: bool, kind: int, pc: int,
) -> int:  # fmt: skip
    """Record reads or writes of lanes, `size` bytes each. Return the number of conflicts.

    `one_place` is True for a warp whose lanes all access one address. The first conflicts are in `out`.
    """
    records, sites, reads, read_sites = s.records, s.sites, s.reads, s.read_sites
    found = 0
    for i in range(len(warps)):
        w = warps[i]
        head = (np.int64(wave) << 55) | (np.int64(w) << 44) | (np.int64(c.clock[w]) << 16) | (kind << 10)
        for lane in range(32):
            if not mask[i, lane]:
                continue
            start = index[i, lane]
            covered = 15 if size >= 4 else ((1 << size) - 1) << (start & 3)
            fresh = head | (lane << 4) | covered
            for granule in range(start >> 2, (start + size + 3) >> 2):
                record = records[granule]
                if record and (record & covered) and (record >> 4) != (fresh >> 4):
                    held = (record >> 10) & 63
                    if not (kind == STRONG and held in (STRONG, REDUCTION)):
                        narrow = covered != 15 and ((record >> 4) & 63) == MANY
                        if not _known(c, wave, w, lane, record, 0):
                            if not (narrow and ((record >> 44) & 0x7FF) == w):
                                what = WRITE_WRITE if writing else READ_WRITE
                                found = note(s.out, found, what, i, lane, granule, record, sites[granule])
                        elif (
                            kind == ASYNC
                            and held in (GENERIC, STRONG)
                            and ((record >> 55) & 0xFF) == wave
                            and not _known(c, wave, w, lane, record, 1)
                        ):
                            found = note(s.out, found, UNFENCED, i, lane, granule, record, sites[granule])
                if writing:
                    for turn in range(2):
                        entry = reads[turn, granule]
                        if entry and (entry & covered) and not (kind == STRONG and ((entry >> 10) & 63) == STRONG):
                            if ((entry >> 4) & 63) == MANY and ((entry >> 44) & 0x7FF) == w and covered != 15:
                                continue
                            if not _known(c, wave, w, lane, entry, 0):
                                site = read_sites[turn, granule]
                                found = note(s.out, found, WRITE_READ, i, lane, granule, entry, site)
                    if (record >> 10) == (head >> 10) and sites[granule] == pc:
                        if ((record >> 4) & 63) != lane:
                            fresh = head | (MANY << 4) | covered
                        records[granule] = fresh | (record & 15)
                    else:
                        records[granule] = fresh
                    sites[granule] = pc
                else:
                    by = TOGETHER if one_place[i] else lane
                    entry = reads[0, granule]
                    if (entry >> 44) != (fresh >> 44):
                        if entry:
                            reads[1, granule] = entry
                            read_sites[1, granule] = read_sites[0, granule]
                        reads[0, granule] = head | (by << 4) | covered
                    elif (entry >> 10) == (fresh >> 10):
                        if ((entry >> 4) & 63) != by:
                            by = MANY
                        reads[0, granule] = head | (by << 4) | covered | (entry & 15)
                    else:
                        reads[0, granule] = head | (by << 4) | covered
                    read_sites[0, granule] = pc
    return found


@njit
def rows(
    c: ClockArrays, s: GlobalArrays, wave: int, warps: Array, lanes: Array, starts: Array, sizes: Array, writing: bool,
    strong: bool, clocks: Array, heads: Array, pc: int,
) -> int:  # fmt: skip
    """Record reads or writes by bulk copies, each of a row of bytes. Return the number of conflicts.

    `heads` are the entries of copies that read (see `GlobalShadow.heads`), -1 for none. Shapes: warps to sizes, clocks
    and heads are (rows,).
    """
    records, sites, reads = s.records, s.sites, s.reads
    found = 0
    for i in range(len(warps)):
        w, lane = warps[i], lanes[i]
        kind = REDUCTION if strong else ASYNC
        fresh = (
            (np.int64(wave) << 55) | (np.int64(w) << 44) | (np.int64(clocks[i]) << 16) | (kind << 10) | (lane << 4) | 15
        )
        good = np.int64(0)
        good_reads = np.zeros(2, np.int64)
        for granule in range(starts[i] >> 2, (starts[i] + sizes[i] + 3) >> 2):
            record = records[granule]
            if record != good and (record >> 4) != (fresh >> 4):
                good = record
                held = (record >> 10) & 63
                if record and not (strong and held in (STRONG, REDUCTION)):
                    if not _known(c, wave, w, lane, record, 0):
                        what = WRITE_WRITE if writing else READ_WRITE
                        found = note(s.out, found, what, i, lane, granule, record, sites[granule])
                    elif (
                        held in (GENERIC, STRONG)
                        and ((record >> 55) & 0xFF) == wave
                        and not _known(c, wave, w, lane, record, 1)
                    ):
                        found = note(s.out, found, UNFENCED, i, lane, granule, record, sites[granule])
            if writing:
                for turn in range(2):
                    entry = reads[turn, granule]
                    if entry in (0, good_reads[turn]) or (strong and (entry >> 10) & 63 == STRONG):
                        continue
                    good_reads[turn] = entry
                    if not _known(c, wave, w, lane, entry, 0):
                        found = note(s.out, found, WRITE_READ, i, lane, granule, entry, s.read_sites[turn, granule])
                records[granule] = fresh
                sites[granule] = pc
            elif heads[i] >= 0:
                _remember(s, granule, heads[i], pc)
    return found


@njit
def _remember(s: GlobalArrays, granule: int, entry: Any, pc: Any) -> None:
    if (s.reads[0, granule] >> 44) != (entry >> 44):
        s.reads[1, granule], s.read_sites[1, granule] = s.reads[0, granule], s.read_sites[0, granule]
    s.reads[0, granule], s.read_sites[0, granule] = entry, pc


@njit
def remember(s: GlobalArrays, starts: Array, sizes: Array, entry: int, pc: int) -> None:
    """Record that a bulk copy with a given entry has read rows of bytes. Shapes: starts and sizes (rows,)."""
    for i in range(len(starts)):
        for granule in range(starts[i] >> 2, (starts[i] + sizes[i] + 3) >> 2):
            _remember(s, granule, entry, pc)
