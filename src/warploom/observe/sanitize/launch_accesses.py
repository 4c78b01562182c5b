# pyright: reportUnknownMemberType=false
"""Accesses of one launch to global memory, for the comparison with other launches.

The record has a row for each page of 4096 bytes and each kind of access that occurs. An element of a row describes a
granule of 4 bytes: `(pc + 1) << 4 | bytes`. `pc` is the first instruction with such an access, and `bytes` has the
accessed bytes of the granule as bits.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.events import (
    READ_KINDS,
    Access,
    CopyAccess,
    CopyIssue,
    GridControl,
    Launch,
    Reads,
    ThreadCopyIssue,
)
from warploom.numerics._compile import njit
from warploom.observe.sanitize.clock_arrays import GPU, STRENGTH, ClockArrays
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.global_shadow import GlobalShadow, happens_before

Array = NDArray[Any]

STRONG, WRITE, EARLY = 1, 2, 4
"""Bits of a kind of access.

STRONG: strong at the scope of the GPU. WRITE: a write or an update. EARLY: before the wait of the kernel.
"""
KINDS = 8
_PAGE_BITS, _GRANULES = 12, 1024
_NO_TRIGGER, _EARLY_TRIGGER, _LATE_TRIGGER = range(3)
_ALL = 0xFFFF_FFFF
_FIRST_ROWS = 64
_READS_GLOBAL, _READS_COPY = (READ_KINDS.index(kind) for kind in ("global", "copy"))


class Overlapping(NamedTuple):
    """Accesses of two launches to the same bytes.

    `address` is the first of `size` bytes that both access with these instructions: `pc` of one launch and `other` of
    the other launch. `kind` and `other_kind` are the kinds of the accesses.
    """

    pc: int
    other: int
    address: int
    size: int
    kind: int
    other_kind: int


class LaunchAccesses:
    """Recorder of the accesses of a launch to global memory.

    `is_dependent` is True for a launch that may start before its prerequisites have ended. Its accesses count as
    "early" unless they happen after a wait for the prerequisites, by the same thread or by a thread that the accessing
    thread has synchronised with.

    `waits` is True if a thread has waited for the prerequisites. `triggers_late` is True if every CTA has triggered
    dependent grids, or has ended, after such a wait.
    """

    def __init__(self, is_dependent: bool) -> None:
        self.is_dependent = is_dependent
        self.waits = False
        self.triggers_late = is_dependent
        self._used = np.zeros(1, np.int64)
        self._rows = np.zeros((_FIRST_ROWS, _GRANULES), np.int32)
        self._owners = np.zeros(_FIRST_ROWS, np.int64)
        self._pages: dict[int, tuple[Array, Array]] = {}
        self._ctas: tuple[Array, Array] | None = None

    def attach(self, launch: Launch, shadow: GlobalShadow) -> None:
        """Prepare for a launch. `shadow` states which accesses happen before others."""
        self.launch, self.program = launch, launch.program
        self._shadow = shadow
        arena = launch.arena
        self._heap = len(arena.bytes) if arena.heap is None else int(arena.heap.start) - GLOBAL_BASE
        self._table = np.zeros((KINDS, (len(arena.bytes) >> _PAGE_BITS) + 1), np.int32)

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        self._close_wave()
        topology = context.topology
        self._clocks, self._topology = context.clocks, topology
        self._waited = np.full(topology.warps, 0 if self.is_dependent else _ALL, np.uint32)
        self._waits: list[tuple[int, int, int]] = []  # records of waits, with their warps and CTAs
        self._early_copies: dict[int, Array] = {}
        self._ctas = np.zeros(len(context.resident.placement.coordinates), np.int64), topology.cta_of

    def _close_wave(self) -> None:
        if self._ctas is not None and self.is_dependent:
            triggers, cta_of = self._ctas
            waited = np.zeros(len(triggers), np.bool_)
            here = cta_of < len(triggers)
            np.logical_or.at(waited, cta_of[here], self._waited[here] != 0)
            late = (triggers == _LATE_TRIGGER) | ((triggers == _NO_TRIGGER) & waited)
            self.triggers_late &= bool(late.all())
        self._ctas = None

    # Events -----------------------------------------------------------------------------------------------

    def control(self, event: GridControl) -> None:
        """Record a trigger, or a wait for the prerequisites."""
        batch = event.batch
        warps, active = batch.warp_index, batch.active()
        if not self.is_dependent or self._ctas is None:
            return
        bits = np.packbits(active, axis=-1, bitorder="little").view(np.uint32)[..., 0]
        if event.kind == "wait":
            self.waits = True
            for warp, lanes in zip(warps.tolist(), bits.tolist(), strict=True):
                if lanes:
                    lane = (lanes & -lanes).bit_length() - 1
                    record = self._shadow.record(warp, lane)
                    self._waits.append((record, warp, int(self._topology.cta_of[warp])))
            self._waited[warps] |= bits
            return
        self._update(warps)
        triggers, _ = self._ctas
        for warp, lanes in zip(warps.tolist(), bits.tolist(), strict=True):
            cta = int(self._topology.cta_of[warp])
            if lanes and triggers[cta] == _NO_TRIGGER:
                triggers[cta] = _LATE_TRIGGER if lanes & ~int(self._waited[warp]) == 0 else _EARLY_TRIGGER

    def access(self, event: Access, strength: int) -> None:
        """Record accesses of lanes to global memory."""
        kind = (event.kind != "read") * WRITE
        warps = np.asarray(event.location.warp, np.int64)
        self._mark(warps, event.index, event.lanes, event.size, event.pc, kind | _strong(strength))

    def reads(self, event: Reads, strong: Collection[int]) -> None:
        """Record loads and thread copies, except the loads at the program counters `strong`."""
        in_global = (event.kinds == _READS_GLOBAL) | (event.kinds == _READS_COPY)
        for k in np.flatnonzero(in_global & ~np.isin(event.pcs, [*strong])).tolist():
            rows = slice(int(event.firsts[k]), int(event.firsts[k] + event.counts[k]))
            self._mark(
                event.warps[rows], event.index[rows], event.lanes[rows], int(event.sizes[k]), int(event.pcs[k]), 0
            )

    def thread_copy(self, event: ThreadCopyIssue) -> None:
        """Record the reads of thread copies."""
        self._mark(event.location.warp, event.sources, event.reading, event.size, event.pc, 0)

    def copy_issue(self, event: CopyIssue) -> None:
        """Record which bulk copies their threads issue before the wait for the prerequisites."""
        if not self.is_dependent:
            return
        warps, lanes = np.asarray(event.warps, np.int64), np.asarray(event.lanes, np.int64)
        self._update(np.unique(warps))
        early = self._early_copies.setdefault(event.pc, np.zeros((len(self._waited), 32), np.bool_))
        early[warps, lanes] = (self._waited[warps] >> lanes.astype(np.uint32)) & 1 == 0

    def copy_access(self, event: CopyAccess) -> None:
        """Record accesses by bulk copies. Their reductions are strong at the scope of the GPU."""
        kind = {"read": 0, "write": WRITE, "update": WRITE | STRONG}[event.kind]
        starts, sizes = event.starts.reshape(-1), event.sizes.reshape(-1)
        early = np.zeros(len(starts), np.bool_)
        held = self._early_copies.get(event.pc)
        if held is not None and (event.warps >= 0).all():
            early |= held[event.warps, event.lanes]
        while not _mark_ranges(
            self._table, self._rows, self._owners, self._used, starts, sizes, event.pc, kind, early
        ):  # fmt: skip
            self._grow()

    def _mark(self, warps: Array, index: Array, lanes: Array, size: int, pc: int, kind: int) -> None:
        self._update(warps)
        reached = np.broadcast_to(lanes, index.shape)
        while not _mark_lanes(
            self._table, self._rows, self._owners, self._used, self._waited, warps, index, reached, size, pc, kind
        ):
            self._grow()

    def _grow(self) -> None:
        self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._owners = np.concatenate([self._owners, np.zeros_like(self._owners)])

    def _update(self, warps: Array) -> None:
        """Mark the lanes of some warps that now know of a wait for the prerequisites."""
        late = np.unique(warps[self._waited[warps] != _ALL])
        if not (len(late) and self._waits):
            return
        waits = np.array(self._waits, np.int64)
        wave = self._shadow.wave & 0xFF
        _know_waits(self._clocks.arrays, wave, late, waits, self._topology.cta_of, self._waited)

    # Result -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Finish the record after the end of the launch, and release the memory that it no longer needs."""
        self._close_wave()
        used, pages = int(self._used[0]), self._table.shape[1]
        self._rows = self._rows[:used].copy()
        kinds, numbers = self._owners[:used] // pages, self._owners[:used] % pages
        allocated = numbers << _PAGE_BITS < self._heap  # malloc orders the accesses to its memory
        for kind in np.unique(kinds).tolist():
            rows = np.flatnonzero((kinds == kind) & allocated)
            rows = rows[np.argsort(numbers[rows])]
            self._pages[kind] = numbers[rows], rows
        del self.launch, self._table, self._owners, self._clocks, self._topology, self._shadow, self._early_copies

    @property
    def nbytes(self) -> int:
        """Size of the record. Units: bytes."""
        return self._rows.nbytes

    def forget(self, address: int, size: int) -> None:
        """Forget the accesses to memory that has been freed. Units: `size` in bytes."""
        first, end = address - GLOBAL_BASE, address - GLOBAL_BASE + size
        for numbers, rows in self._pages.values():
            low, high = np.searchsorted(numbers, [first >> _PAGE_BITS, (end - 1 >> _PAGE_BITS) + 1])
            for number, row in zip(numbers[low:high].tolist(), rows[low:high].tolist(), strict=True):
                start = number << _PAGE_BITS
                self._rows[row, max(first - start, 0) >> 2 : min(end - start, 1 << _PAGE_BITS) + 3 >> 2] = 0

    def conflicts(self, other: LaunchAccesses, only_early: bool) -> list[Overlapping]:
        """Return the conflicts of this launch with another, in order of address.

        Each pair of instructions has one conflict. If `only_early` is set, only the early accesses of this launch
        count.
        """
        found: dict[tuple[int, int], Overlapping] = {}
        for kind, (numbers, rows) in self._pages.items():
            if only_early and not kind & EARLY:
                continue
            for other_kind, (other_numbers, other_rows) in other._pages.items():
                if not (kind | other_kind) & WRITE or kind & other_kind & STRONG:
                    continue
                _, here, there = np.intersect1d(numbers, other_numbers, True, return_indices=True)
                for page, row, other_row in zip(
                    numbers[here].tolist(), rows[here].tolist(), other_rows[there].tolist(), strict=True
                ):
                    self._compare(page, row, kind, other, other_row, other_kind, found)
        return sorted(found.values(), key=lambda each: each.address)

    def _compare(
        self, page: int, row: int, kind: int, other: LaunchAccesses, other_row: int, other_kind: int,
        found: dict[tuple[int, int], Overlapping],
    ) -> None:  # fmt: skip
        mine, its = self._rows[row], other._rows[other_row]
        both = mine & its & 15
        granules = np.flatnonzero(both)
        if not len(granules):
            return
        pairs = np.stack([mine[granules] >> 4, its[granules] >> 4], axis=1)
        distinct, first, counts = np.unique(pairs, axis=0, return_index=True, return_counts=True)
        for (pc, site), position, count in zip(distinct.tolist(), first.tolist(), counts.tolist(), strict=True):
            granule = int(granules[position])
            low = int(both[granule])
            byte = (low & -low).bit_length() - 1
            address = GLOBAL_BASE + (page << _PAGE_BITS) + 4 * granule + byte
            key = pc - 1, site - 1
            known = found.get(key)
            size = 4 * count if known is None else known.size + 4 * count
            if known is not None and known.address < address:
                found[key] = known._replace(size=size)
            else:
                found[key] = Overlapping(*key, address, size, kind, other_kind)


def _strong(strength: int) -> int:
    return STRONG if strength & STRENGTH == 1 + GPU else 0


@njit
def _know_waits(c: ClockArrays, wave: int, warps: Array, waits: Array, cta_of: Array, waited: Array) -> None:
    """Add the lanes of `warps` to `waited` that know one of the waits.

    A row of `waits` has the record of the wait, its warp and its CTA.
    """
    for w in warps:
        for k in range(len(waits)):
            if waited[w] == 0xFFFF_FFFF:
                break
            if waits[k, 2] != cta_of[w] and c.base < 0 and c.cluster_of[w] != c.cluster_of[waits[k, 1]]:
                continue
            for lane in range(32):
                if not (waited[w] >> lane) & 1 and happens_before(c, wave, w, lane, waits[k, 0], 0):
                    waited[w] |= np.uint32(1) << np.uint32(lane)


@njit
def _mark_range(
    table: Array, rows: Array, owners: Array, used: Array, start: int, size: int, pc: int, kind: int
) -> bool:  # fmt: skip
    """Record an access of `size` bytes at byte offset `start`. Return False if there is no free row."""
    at, end = start, start + size
    while at < end:
        page = at >> _PAGE_BITS
        slot = table[kind, page]
        if slot == 0:
            if used[0] == len(rows):
                return False
            owners[used[0]] = kind * table.shape[1] + page
            used[0] += 1
            slot = used[0]
            table[kind, page] = slot
        granule = (at >> 2) & (_GRANULES - 1)
        first = at & 3
        upto = min(end, (at | 3) + 1)
        bits = ((1 << (first + upto - at)) - 1) & ~((1 << first) - 1)
        held = rows[slot - 1, granule]
        if held == 0:
            held = (pc + 1) << 4
        rows[slot - 1, granule] = held | bits
        at = upto
    return True


@njit
def _mark_lanes(
    table: Array, rows: Array, owners: Array, used: Array, waited: Array, warps: Array, index: Array, lanes: Array,
    size: int, pc: int, kind: int,
) -> bool:  # fmt: skip
    """Record accesses of lanes, `size` bytes each. Return False if there is no free row.

    Shapes: index and lanes (warps, 32).
    """
    for i in range(len(warps)):
        late = np.int64(waited[warps[i]])
        for lane in range(32):
            if lanes[i, lane]:
                early = 0 if (late >> lane) & 1 else EARLY
                if not _mark_range(table, rows, owners, used, index[i, lane], size, pc, kind | early):
                    return False
    return True


@njit
def _mark_ranges(
    table: Array, rows: Array, owners: Array, used: Array, starts: Array, sizes: Array, pc: int, kind: int, early: Array
) -> bool:  # fmt: skip
    """Record accesses to ranges. Return False if there is no free row.

    Shapes: starts, sizes and early (ranges,).
    """
    for i in range(len(starts)):
        if not _mark_range(table, rows, owners, used, starts[i], sizes[i], pc, kind | (EARLY if early[i] else 0)):
            return False
    return True
