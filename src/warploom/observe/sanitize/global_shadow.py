# pyright: reportUnknownMemberType=false
"""Last accesses to global memory: races between threads of the grid, and conflicts with bulk copies.

A granule has 4 bytes, or fewer after a narrower access. The record of an access is
`wave << 55 | warp << 44 | time << 16 | kind << 10 | lane << 4 | strength`, where `warp` is an index in the wave.
`clock_arrays` defines the other fields.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.events import AccessKind, Launch
from warploom.emulator.grid import Placement
from warploom.isa.model.effects import Access
from warploom.layout import TensorMapFields
from warploom.numerics._compile import njit
from warploom.observe.sanitize._shared_shadow import COLUMNS, ROOM, add_conflict, together
from warploom.observe.sanitize.clock_arrays import (
    ASYNC,
    BULK_DONE,
    GENERIC,
    GLOBAL_FENCE,
    GROUPS,
    KNOWN,
    MASK,
    SIZE,
    SOME,
    STREAMS,
    STRENGTH,
    THREAD_COPIES,
    THREAD_COPY,
    TOGETHER,
    ClockArrays,
    is_ahead,
    is_ordered_in_warp,
    is_released,
    is_weak_write_of,
    join_lanes,
)
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.registers import once_per_program
from warploom.observe.sanitize.report import Report
from warploom.observe.sanitize.sparse_arrays import sparse_zeros, used_ranges
from warploom.observe.sanitize.stored_values import Store, harmful, stored_types

Array = NDArray[Any]

READ_WRITE, WRITE_WRITE, WRITE_READ, READ_ONLY, UNFENCED, UNDETERMINED = range(6)
LOAD, DISCARD = 5, 6  # kinds of records for bulk copies that read global memory, and for writes of undetermined values
_ACROSS_CTAS = (
    "release the earlier access through a flag in global memory, and wait with an acquire until the flag is set before "
    "the later access, both at a scope that includes the two CTAs, with a barrier where another thread of the CTA sets "
    "or polls the flag"
)
_COMPLETE = "let the thread wait for the bulk group of its copy (without .read) before it uses the bytes"
SLOT = 18  # bits of the phase in the time of a LOAD; above is the mbarrier. Its CTA's rank replaces the lane.


_REASONS = {
    UNFENCED: "with no proxy fence between",
    READ_ONLY: "and this load needs memory that no thread writes during the kernel",
    UNDETERMINED: "and nothing writes it afterwards",
}


class GlobalArrays(NamedTuple):
    """Last accesses of each granule.

    `records` and `sites` have the record and the program counter of the last write. `reads` and `read_sites` have those
    of the last two reads. `out` receives the conflicts. A granule has `1 << shift` bytes.
    """

    records: Array
    sites: Array
    reads: Array
    read_sites: Array
    shift: int
    out: Array


class Load(NamedTuple):
    """Read of global memory by a bulk copy: its record `head` and its program counter.

    `rows` returns the starts and the sizes in bytes of the ranges that the copy read.
    """

    head: int
    pc: int
    rows: Callable[[], tuple[Array, Array]]


class GlobalShadow:
    """Last accesses to the global memory of a launch.

    `copies` is set if the kernel has bulk copies.
    """

    def __init__(self, launch: Launch, report: Report, copies: bool) -> None:
        self.launch = launch
        self.arena = launch.arena
        self.copies = copies
        self.report = report
        self._types = stored_types(launch)
        granules = len(self.arena.bytes) // 4 + 1
        self.arrays = GlobalArrays(
            records=sparse_zeros((granules,), np.int64),
            sites=sparse_zeros((granules,), np.int32),
            reads=sparse_zeros((2, granules), np.int64),
            read_sites=sparse_zeros((2, granules), np.int32),
            shift=2,
            out=np.zeros((ROOM, COLUMNS), np.int64),
        )
        self._read_only = read_only_loads(launch)
        self.wave = -1
        self._written: set[int] = set()  # numbers of the buffers that the kernel has written
        self._loads: dict[int, dict[tuple[int, ...], Load]] = {}  # reads of the other buffers, by buffer and key
        self._maps: dict[TensorMapFields, int] = {}
        self._placements: dict[int, Placement] = {}  # by wave, for the last 256 waves

    def start(self, context: Context) -> None:
        """Prepare for the CTAs that `context` describes."""
        self.context = context
        self.clocks = context.clocks
        self.wave += 1
        self._placements[self.wave & 0xFF] = context.resident.placement

    def _refine(self, size: int) -> None:
        """Divide the granules into granules of `size` bytes, 1 or 2."""
        before = self.arrays
        times = (1 << before.shift) // size

        ranges = used_ranges(self.arena.starts - GLOBAL_BASE, self.arena.ends - GLOBAL_BASE, before.shift)

        def divide(array: Array) -> Array:
            divided = sparse_zeros((*array.shape[:-1], array.shape[-1] * times), array.dtype.type)
            # Memory that nothing accessed stays untouched, so it takes no space.
            for first, end in ranges:
                part = array[..., first:end]
                held = np.nonzero(part)
                for number in range(times):
                    divided[*held[:-1], (held[-1] + first) * times + number] = part[held]
            return divided

        arrays = [divide(each) for each in before[:4]]
        self.arrays = GlobalArrays(*arrays, shift=size >> 1, out=before.out)

    def access(
        self, warps: Array, index: Array, lanes: Array, size: int, pc: int, strength: int, kind: AccessKind,
        values: Array | None,
    ) -> None:  # fmt: skip
        """Record accesses of lanes, `size` bytes each. Report conflicts.

        `values` are the stored values, None if unknown. A write without values leaves undetermined values. `index`
        has byte offsets in the emulator's memory, and `lanes` marks the active lanes. `strength` is the strength of the
        accesses (see `clocks`). Shapes: index and lanes (warps, 32); values (elements, warps, 32).
        """
        if size < 1 << self.arrays.shift:
            self._refine(size)
        writing, discards = kind != "read", kind == "write" and values is None
        if writing and self.copies and lanes.any():
            reached = index[lanes]
            self._mark_written(int(reached.min()), int(reached.max()))
        lanes = recorded = uniform(lanes)
        one_place = np.empty(len(warps), np.bool_)
        if kind == "write" and values is not None and together(index, lanes, one_place):
            # A warp that stores one value to one address, such as a tensor map, has one store.
            wide = np.broadcast_to(values, (len(values), *index.shape))
            whole = one_place & (wide == wide[:, :, :1]).all(axis=(0, 2))
            recorded = lanes & ~(whole[:, None] & (np.arange(32) > 0))
        found = access_lanes(
            self.clocks.arrays, self.arrays, self.wave & 0xFF, warps, index, recorded, size, kind != "write",
            writing, DISCARD if discards else GENERIC, strength, pc in self._read_only, pc, self.clocks.clock[warps],
        )  # fmt: skip
        if found:
            store = None
            if kind == "write" and values is not None:
                store = Store(index, lanes, size, values, self._types.get(pc, ""))
            self._explain(found, warps, pc, size, store)

    def report_copies(self, found: int, warps: Array, pc: int, size: int) -> None:
        """Report the first `found` conflicts in `arrays.out` of thread copies of `size` bytes for each lane."""
        if found:
            self._explain(found, warps, pc, size, None)

    def record(self, warp: int, lane: int, later: int = 0) -> int:
        """Return the record of a weak access by a lane, `later` units of time after the present."""
        time = int(self.clocks.clock[warp]) + later
        return (self.wave & 0xFF) << 55 | warp << 44 | time << 16 | GENERIC << 10 | lane << 4

    def is_known(self, warp: int, lane: int, record: int) -> bool:
        """Return True if the access of `record` happens before the next access of a lane."""
        return bool(happens_before(self.clocks.arrays, self.wave & 0xFF, warp, lane, record, 0))

    def forget(self, start: int, size: int) -> None:
        """Forget all accesses to memory that `malloc` returns.

        `malloc` orders the accesses before `free` and after `malloc`. Units: byte offsets in the emulator's memory.
        """
        granules = slice(start >> self.arrays.shift, (start + size - 1 >> self.arrays.shift) + 1)
        for array in self.arrays[:4]:
            array[..., granules] = 0

    # Bulk copies ------------------------------------------------------------------------------------------

    def _segment(self, offset: int) -> int:
        return int(self.arena.starts.searchsorted(offset + GLOBAL_BASE, side="right")) - 1

    def is_written(self, offset: int) -> bool:
        """Return True if the kernel has written to the buffer that contains byte offset `offset`."""
        return self._segment(offset) in self._written

    def _mark_written(self, low: int, high: int) -> None:
        for segment in range(self._segment(low), self._segment(high) + 1):
            if segment not in self._written:
                self._written.add(segment)
                for load in self._loads.pop(segment, {}).values():
                    starts, sizes = load.rows()
                    _remember_rows(self.arrays, starts, sizes, load.head, load.pc)

    def heads(self, warps: Array, objects: Array, phases: Array) -> Array:
        """Return a record of kind LOAD for the read by each copy; -1 for a copy without an mbarrier.

        The copy of warps[i] completes in the open phase of mbarrier objects[i]. Mbarrier k has phases[k] complete
        phases. Shapes: warps, objects and result (copies,).
        """
        found = np.empty(len(warps), np.int64)
        wave, rank = self.wave & 0xFF, self.launch.topology.rank
        _find_heads(warps, objects, phases, rank, self.clocks.mbarriers, wave, found)
        return found

    def number(self, fields: TensorMapFields) -> int:
        """Return the number of a tensor map in the keys of `deferred`.

        It is negative, and equal for equal maps.
        """
        return self._maps.setdefault(fields, -1 - len(self._maps))

    def deferred(self, offset: int) -> dict[tuple[int, ...], Load] | None:
        """Return the reads of a buffer that are not recorded until the kernel writes to the buffer.

        `offset` is a byte offset in the buffer. Bulk copies make the reads. A key of the result identifies the bytes
        that a copy reads, and a later read with the same key replaces the earlier one. The result is None if the kernel
        has written to the buffer.
        """
        segment = self._segment(offset)
        return None if segment in self._written else self._loads.setdefault(segment, {})

    def read_rows(self, warps: Array, lanes: Array, starts: Array, sizes: Array, heads: Array, pc: int) -> None:
        """Record reads by bulk copies. Report conflicts.

        Lane lanes[i] of warps[i] reads sizes[i] bytes at byte offset starts[i]. heads[i] is the record of this read
        (see `heads`). Shapes: all arrays (ranges,).
        """
        found = self._rows(warps, lanes, starts, sizes, False, 0, heads, pc)
        if found:
            self._explain(found, warps, pc, 16, None)

    def write_rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, strength: int, pc: int,
        same: Callable[[int, int, int], bool],
    ) -> None:  # fmt: skip
        """Record writes by bulk copies. Report conflicts.

        Lane lanes[i] of warps[i] writes sizes[i] bytes at byte offset starts[i]. `strength` is 0 for copies, and
        the strength (see `clock_arrays`) for copies that reduce in memory. `same(i, warp, pc)` returns True if write i
        stores the same bytes as the last write there, by instruction `pc` of warp number `warp`: such writes do not
        conflict. Shapes: all arrays (ranges,).
        """
        if len(starts):
            self._mark_written(int(starts.min()), int((starts + sizes).max()) - 1)
        found = self._rows(warps, lanes, starts, sizes, True, strength, np.full(len(warps), -1), pc)
        if found:
            self._explain(found, warps, pc, 16, None, same)

    def _rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, writing: bool, strength: int, heads: Array,
        pc: int,
    ) -> int:  # fmt: skip
        c = self.clocks
        return _rows(
            c.arrays, self.arrays, self.wave & 0xFF, warps, lanes, starts, sizes, writing,
            strength, c.bulk_clock[warps].astype(np.int64), heads, pc,
        )  # fmt: skip

    # Findings -------------------------------------------------------------------------------------------

    def _explain(
        self, found: int, warps: Array, pc: int, size: int, store: Store | None,
        same: Callable[[int, int, int], bool] | None = None,
    ) -> None:  # fmt: skip
        conflicts = self.arrays.out[:found]
        if store:
            conflicts = harmful(conflicts, WRITE_WRITE, self.arena.bytes, store, pc)
        for what, position, lane, granule, record, site in conflicts.tolist():
            warp, other = int(warps[position]), record >> 44 & 0x7FF
            if what == WRITE_WRITE and same is not None and same(position, other, site):
                continue
            code = "sanitize.race/read-only" if what == READ_ONLY else "sanitize.race/global"
            hint, across = "", False
            is_by_lanes = what != READ_ONLY and other == warp and record >> 55 & 0xFF == self.wave & 0xFF
            in_flight = is_by_lanes and record >> 10 & 63 == ASYNC and record >> 4 & 63 == lane and same is None
            if what == UNFENCED:
                code = "sanitize.proxy/async"
            elif what == UNDETERMINED:
                code = "sanitize.unwritten/global"
            elif what == WRITE_READ and record >> 10 & 63 == LOAD:
                code = "sanitize.copy/source"
                hint = "before the bytes are written, wait for the mbarrier phase that the copy completes"
            elif in_flight:
                code, hint = "sanitize.copy/destination", _COMPLETE
            elif is_by_lanes and record >> 10 & 63 != ASYNC:
                code = "sanitize.race/lanes"
            elif what != READ_ONLY and self._are_in_different_ctas(warp, record):
                hint, across = _ACROSS_CTAS, True
            if not self.report.is_known(code, pc, site):
                message = self._sentence(what, warp, lane, granule, record, site, size, in_flight)
                self.report.add(code, pc, site, message, hint, two_sided=across)

    def _are_in_different_ctas(self, warp: int, record: int) -> bool:
        cta_of = self.launch.topology.cta_of
        return record >> 55 & 0xFF != self.wave & 0xFF or cta_of[warp] != cta_of[record >> 44 & 0x7FF]

    def _sentence(
        self, what: int, warp: int, lane: int, granule: int, record: int, site: int, size: int, in_flight: bool
    ) -> str:  # fmt: skip
        address = (granule << self.arrays.shift) + GLOBAL_BASE
        verb = "writes" if what in (WRITE_WRITE, WRITE_READ) else "reads"
        is_discarded = what != WRITE_READ and record >> 10 & 63 == DISCARD
        did = "read" if what == WRITE_READ else "discarded" if is_discarded else "written"
        other, by = record >> 44 & 0x7FF, record >> 4 & 63
        wave = record >> 55 & 0xFF
        lane_known = by < 32 and record >> 10 & 63 != LOAD
        who = self._placements[wave].describe_warp(other) + (f", lane {by}" if lane_known else "")
        line = self.launch.program.place_of(site)
        why = _REASONS.get(what, "and no wait covers that copy" if in_flight else "and nothing orders the two")
        here = self.context.describe(warp, lane)
        segment = self.arena.segment_at(self._segment(address - GLOBAL_BASE))
        buffer = f"{segment.name}, byte {address - segment.start}"
        place = f"global memory at {address:#x} to {address + min(size, 1 << self.arrays.shift):#x} ({buffer})"
        return f"this {verb} {place}, which is {did} by {line}, {who}, {why}; {here}"


@once_per_program
def read_only_loads(launch: Launch) -> frozenset[int]:
    """Return the program counters of loads that require memory which no thread writes."""
    forms = [step.binding.form for step in launch.program.steps]
    return frozenset(pc for pc, form in enumerate(forms) if any(each.read_only for each in form.effects_of(Access)))


@njit
def happens_before(c: ClockArrays, wave: int, w: int, lane: int, record: Any, fenced: int) -> bool:
    """Return True if the access of `record` happens before a new access of a lane of warp `w`.

    `wave` is the number of the current wave of CTAs. `fenced` is 0, or GLOBAL_FENCE if a proxy fence must be
    between the two accesses.
    """
    V, ahead, own, per_cta, base, cluster_of = c.vectors, c.ahead, c.own, c.per_cta, c.base, c.cluster_of
    other = (record >> 44) & 0x7FF
    clock = (record >> 16) & 0xFFFFFFF
    by = (record >> 4) & 63
    kind = (record >> 10) & 63
    copied = kind in (ASYNC, THREAD_COPY, LOAD)
    total = len(ahead)
    if ((record >> 55) & 0xFF) != wave:
        if base < 0:
            return False
        heard = base + total
        return V[w, KNOWN, heard] > 0 or (ahead[w] != 0 and V[total + w, KNOWN, heard] > 0)
    if copied:
        if cluster_of[other] != cluster_of[w]:
            if base < 0:
                return False
            since, lanes = 1, -1
            if kind == ASYNC:
                if clock > c.bulk_done[other, by]:
                    return False
                if clock > c.bulk_done[other, by] - GROUPS:
                    since, lanes = c.bulk_waits[other, by, clock % GROUPS], 1 << by
            column = base + other
            if since <= V[w, KNOWN, column] or (since <= V[w, SOME, column] and V[w, MASK, column] & lanes):
                return True
            if ahead[w] == 0 or (ahead[w] >> lane) & 1 == 0:
                return False
            row = total + w
            return since <= V[row, KNOWN, column] or (
                since <= V[row, SOME, column] and V[row, MASK, column] & lanes != 0
            )
        if kind == LOAD:
            column = by * c.agents + STREAMS * per_cta + (clock >> SLOT)
            phase = clock & ((1 << SLOT) - 1)
            if phase <= V[w, KNOWN, column]:
                return True
            return ahead[w] != 0 and (ahead[w] >> lane) & 1 != 0 and phase <= V[total + w, KNOWN, column]
        stream = BULK_DONE if kind == ASYNC else THREAD_COPIES
        column = own[other] + stream * per_cta
        if clock <= V[w, KNOWN, column]:
            return True
        if other == w:
            return is_ordered_in_warp(c, w, lane, by, clock, stream, 0)
        if kind == ASYNC:
            return False
        return is_released(c, w, column, -1, by, clock, 0) or (
            ahead[w] != 0 and is_released(c, total + w, column, -1, by, clock, 0)
        )
    if other == w:
        return clock <= V[w, KNOWN + fenced, own[w]] or is_ordered_in_warp(c, w, lane, by, clock, 0, fenced)
    column = base + other if base >= 0 else -1
    if cluster_of[other] == cluster_of[w]:
        column = own[other]
    if column < 0:
        return False
    return is_released(c, w, column, other, by, clock, fenced) or (
        is_ahead(c, w, lane, fenced) and is_released(c, total + w, column, other, by, clock, fenced)
    )


@njit
def _is_morally_strong(c: ClockArrays, wave: int, w: int, strength: int, record: Any) -> bool:
    """Return True if the access of `record` and an access of warp `w` are morally strong.

    Both are strong, the scope of each contains the thread of the other, and they overlap completely (PTX ISA 8.7).
    `wave` is the number of the current wave of CTAs, and `strength` the strength of the access of `w`.
    """
    least, other = min(strength & STRENGTH, record & STRENGTH), (record >> 44) & 0x7FF
    if least == 0 or (strength ^ record) & SIZE:
        return False
    if least == STRENGTH:
        return True
    if ((record >> 55) & 0xFF) != wave or c.cluster_of[other] != c.cluster_of[w]:
        return False
    return least > 1 or c.cta_of[other] == c.cta_of[w]


@njit
def access_lanes(
    c: ClockArrays, s: GlobalArrays, wave: int, warps: Array, index: Array, mask: Array, size: int, reading: bool,
    writing: bool, kind: int, strength: int, read_only: bool, pc: int, clocks: Array,
) -> int:  # fmt: skip
    """Record accesses of lanes, `size` bytes each. Return the number of conflicts.

    The accesses of warps[i] are recorded at time clocks[i]. The accesses are reads if `reading`, writes if `writing`.
    Reads that are `read_only` conflict with all writes. `index` has byte offsets, and `mask` selects lanes. `kind` and
    `strength` are those of the records (see `clocks`). `wave` is the number of the current wave of CTAs, modulo 256.
    The first conflicts are stored in `s.out`. Shapes: warps and clocks (warps,); index and mask (warps, 32).
    """
    records, sites, reads, read_sites = s.records, s.sites, s.reads, s.read_sites
    found = 0
    one_place = np.zeros(len(warps), np.bool_)
    if not writing:
        together(index, mask, one_place)
    for i in range(len(warps)):
        w = warps[i]
        head = (np.int64(wave) << 55) | (np.int64(w) << 44) | (np.int64(clocks[i]) << 16) | (kind << 10)
        for lane in range(32):
            if not mask[i, lane]:
                continue
            start = index[i, lane]
            fresh = head | (lane << 4) | strength
            for granule in range(start >> s.shift, (start + size) >> s.shift):
                record = records[granule]
                held = (record >> 10) & 63
                if record and read_only:
                    found = add_conflict(s.out, found, READ_ONLY, i, lane, granule, record, sites[granule])
                elif (
                    record in (0, fresh) or _is_morally_strong(c, wave, w, strength, record) or kind == held == DISCARD
                ):
                    pass
                elif not happens_before(c, wave, w, lane, record, 0):
                    what = WRITE_WRITE if writing else READ_WRITE
                    found = add_conflict(s.out, found, what, i, lane, granule, record, sites[granule])
                elif reading and held == DISCARD:
                    found = add_conflict(s.out, found, UNDETERMINED, i, lane, granule, record, sites[granule])
                if writing:
                    for turn in range(2):
                        entry = reads[turn, granule]
                        if not entry or _is_morally_strong(c, wave, w, strength, entry):
                            continue
                        if not happens_before(c, wave, w, lane, entry, 0):
                            site = read_sites[turn, granule]
                            found = add_conflict(s.out, found, WRITE_READ, i, lane, granule, entry, site)
                    if strength and is_weak_write_of(record, head >> 44, lane):
                        continue
                    by = lane
                    if (record >> 10) == (head >> 10) and sites[granule] == pc:
                        by = join_lanes((record >> 4) & 63, lane)
                    records[granule] = head | (by << 4) | strength
                    sites[granule] = pc
                else:
                    by = TOGETHER if one_place[i] else lane
                    entry = reads[0, granule]
                    if (entry >> 44) != (fresh >> 44):
                        if entry:
                            reads[1, granule] = entry
                            read_sites[1, granule] = read_sites[0, granule]
                    elif (entry >> 10) == (fresh >> 10):
                        by = join_lanes((entry >> 4) & 63, by)
                    reads[0, granule] = head | (by << 4) | strength
                    read_sites[0, granule] = pc
    return found


@njit
def _rows(
    c: ClockArrays, s: GlobalArrays, wave: int, warps: Array, lanes: Array, starts: Array, sizes: Array, writing: bool,
    strength: int, clocks: Array, heads: Array, pc: int,
) -> int:  # fmt: skip
    """Record accesses by bulk copies. Return the number of conflicts.

    The accesses are writes if `writing`, otherwise reads. Lane lanes[i] of warps[i] accesses sizes[i] bytes at offset
    starts[i] at time clocks[i]. `strength` is the strength of reductions, 0 for other copies. heads[i] is the record of
    a read (see `GlobalShadow.heads`), -1 for a write and for a read that is not recorded. Shapes: warps to sizes,
    clocks and heads (ranges,).
    """
    records, sites, reads = s.records, s.sites, s.reads
    found = 0
    for i in range(len(warps)):
        w, lane = warps[i], lanes[i]
        fresh = (np.int64(wave) << 55) | (np.int64(w) << 44) | (np.int64(clocks[i]) << 16) | (ASYNC << 10)
        fresh |= (lane << 4) | strength
        good = np.int64(0)
        good_reads = np.zeros(2, np.int64)
        first, last = starts[i] >> s.shift, -(-(starts[i] + sizes[i]) >> s.shift)
        if writing:
            held = np.int64(0)
            for granule in range(first, last):
                held |= records[granule] | reads[0, granule] | reads[1, granule]
            if held == 0:
                records[first:last], sites[first:last] = fresh, pc  # nothing accessed this memory before
                continue
        for granule in range(first, last):
            record = records[granule]
            if record != good and (record != fresh or sites[granule] != pc):
                good = record
                held = (record >> 10) & 63
                if record and not _is_morally_strong(c, wave, w, strength, record):
                    if not happens_before(c, wave, w, lane, record, 0):
                        what = WRITE_WRITE if writing else READ_WRITE
                        found = add_conflict(s.out, found, what, i, lane, granule, record, sites[granule])
                    elif held == DISCARD and (strength or not writing):
                        found = add_conflict(s.out, found, UNDETERMINED, i, lane, granule, record, sites[granule])
                    elif (
                        held == GENERIC
                        and ((record >> 55) & 0xFF) == wave
                        and not happens_before(c, wave, w, lane, record, GLOBAL_FENCE)
                    ):
                        found = add_conflict(s.out, found, UNFENCED, i, lane, granule, record, sites[granule])
            if writing:
                for turn in range(2):
                    entry = reads[turn, granule]
                    if entry in (0, good_reads[turn]) or _is_morally_strong(c, wave, w, strength, entry):
                        continue
                    good_reads[turn] = entry
                    if not happens_before(c, wave, w, lane, entry, 0):
                        found = add_conflict(
                            s.out, found, WRITE_READ, i, lane, granule, entry, s.read_sites[turn, granule]
                        )
                records[granule] = fresh
                sites[granule] = pc
            elif heads[i] >= 0:
                _remember(s, granule, heads[i], pc)
    return found


@njit
def _find_heads(
    warps: Array, objects: Array, phases: Array, rank: Array, mbarriers: int, wave: int, found: Array
) -> None:  # fmt: skip
    """Write the results of `GlobalShadow.heads` to `found`.

    `rank` has the rank of each CTA, and `mbarriers` is the number of mbarriers in a CTA.
    """
    for i in range(len(warps)):
        found[i] = -1
        if objects[i] >= 0:
            cta, slot = objects[i] // mbarriers, objects[i] % mbarriers
            phase = phases[objects[i]] + 1
            if slot < 1 << 28 - SLOT and phase < 1 << SLOT:
                head = (np.int64(wave) << 55) | (np.int64(warps[i]) << 44) | (LOAD << 10) | (np.int64(rank[cta]) << 4)
                found[i] = head | ((slot << SLOT | phase) << 16)


@njit
def _remember(s: GlobalArrays, granule: int, entry: Any, pc: Any) -> None:
    if (s.reads[0, granule] >> 44) != (entry >> 44):
        s.reads[1, granule], s.read_sites[1, granule] = s.reads[0, granule], s.read_sites[0, granule]
    s.reads[0, granule], s.read_sites[0, granule] = entry, pc


@njit
def _remember_rows(s: GlobalArrays, starts: Array, sizes: Array, entry: int, pc: int) -> None:
    for i in range(len(starts)):
        for granule in range(starts[i] >> s.shift, -(-(starts[i] + sizes[i]) >> s.shift)):
            _remember(s, granule, entry, pc)
