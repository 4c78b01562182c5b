# pyright: reportUnknownMemberType=false
"""Shadow of global memory: races between threads of the whole grid, and conflicts with bulk copies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.events import Launch
from warploom.emulator.grid import Placement
from warploom.observe.sanitize import _global_shadow
from warploom.observe.sanitize._shared_shadow import COLUMNS, ROOM, together
from warploom.observe.sanitize.clocks import ASYNC, GENERIC, MANY, STRONG
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.report import Report
from warploom.observe.sanitize.shared_shadow import Store, is_unchanged

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Load:
    """Bulk copy that has read global memory: its entry, its program counter, and the rows that it read.

    `rows` returns the starts and sizes of the rows.
    """

    head: int
    pc: int
    rows: Callable[[], tuple[Array, Array]]


class GlobalShadow:
    """Last accesses to the global memory of a launch, over all waves of CTAs.

    `_global_shadow` defines the arrays. `copies` is set if the kernel has bulk copies.
    """

    def __init__(self, launch: Launch, report: Report, copies: bool) -> None:
        self.launch = launch
        self.arena = launch.arena
        self.copies = copies
        self.report = report
        granules = len(self.arena.bytes) // 4 + 1
        self.arrays = _global_shadow.GlobalArrays(
            records=np.zeros(granules, np.int64),
            sites=np.zeros(granules, np.int32),
            reads=np.zeros((2, granules), np.int64),
            read_sites=np.zeros((2, granules), np.int32),
            out=np.zeros((ROOM, COLUMNS), np.int64),
        )
        self.wave = -1
        self._written: set[int] = set()  # numbers of the buffers that the kernel has written
        self._loads: dict[int, dict[object, _Load]] = {}  # reads of the other buffers, by buffer and key
        self._placements: dict[int, Placement] = {}  # by wave, for the last 256 waves

    def start(self, context: Context) -> None:
        """Start a wave of CTAs, which has vector clocks of its own."""
        self.context = context
        self.clocks = context.clocks
        self.wave += 1
        self._placements[self.wave & 0xFF] = context.resident.placement

    def access(
        self, warps: Array, index: Array, lanes: Array, size: int, pc: int, strong: bool, values: Array | None
    ) -> None:
        """Record loads of lanes, or stores of `values`, `size` bytes each. Report conflicts."""
        writing = values is not None
        if writing and self.copies and lanes.any():
            reached = index[lanes]
            self._mark_written(int(reached.min()), int(reached.max()))
        lanes = uniform(lanes)
        found = _global_shadow.access(
            self.clocks.arrays, self.arrays, self.wave & 0xFF, warps, index, lanes, size, together(index, lanes),
            writing, STRONG if strong else GENERIC, pc,
        )  # fmt: skip
        if found:
            self._explain(found, warps, pc, size, None if values is None else (index, lanes, size, values))

    # Bulk copies ------------------------------------------------------------------------------------------

    def _segment(self, offset: int) -> int:
        return int(np.searchsorted(self.arena.starts, offset + GLOBAL_BASE, side="right")) - 1

    def is_written(self, offset: int) -> bool:
        """Return True if the kernel has written the buffer that contains a byte offset of global memory."""
        return self._segment(offset) in self._written

    def _mark_written(self, low: int, high: int) -> None:
        """Mark the buffers between two offsets as written. Record the deferred reads of these buffers."""
        for segment in range(self._segment(low), self._segment(high) + 1):
            if segment not in self._written:
                self._written.add(segment)
                for load in self._loads.pop(segment, {}).values():
                    starts, sizes = load.rows()
                    _global_shadow.remember(self.arrays, starts, sizes, load.head, load.pc)

    def heads(self, warps: Array, objects: Array, phases: Array) -> Array:
        """Return the entries of copies whose reads complete with phases of mbarriers; -1 without an mbarrier.

        An entry is a record of kind LOAD. Shapes: all (copies,).
        """
        c = self.clocks
        cta, slot = objects // max(c.mbarriers, 1), objects % max(c.mbarriers, 1)
        clock = slot << _global_shadow.SLOT | phases
        entry = (self.wave & 0xFF) << 55 | warps << 44 | clock << 16 | _global_shadow.LOAD << 10
        known = (objects >= 0) & (slot < 1 << 28 - _global_shadow.SLOT) & (phases < 1 << _global_shadow.SLOT)
        return np.where(known, entry | self.launch.topology.rank[cta].astype(np.int64) << 4 | 15, -1)

    def defer_read(self, offset: int, key: object, head: int, pc: int, rows: Callable[[], tuple[Array, Array]]) -> None:
        """Keep a copy's read of a buffer that the kernel has not written yet, until the kernel writes it.

        `rows` returns the starts and sizes of the rows that the copy reads. A later read with the same key replaces the
        read.
        """
        self._loads.setdefault(self._segment(offset), {})[key] = _Load(head, pc, rows)

    def read_rows(self, warps: Array, lanes: Array, starts: Array, sizes: Array, heads: Array, pc: int) -> None:
        """Record reads by bulk copies of lanes, each of a row of bytes. Report conflicts. Shapes: (rows,)."""
        found = self._rows(warps, lanes, starts, sizes, False, False, heads, pc)
        if found:
            self._explain(found, warps, pc, 16, None)

    def write_rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, reduction: bool, pc: int,
        same: Callable[[int, int, int], bool],
    ) -> None:  # fmt: skip
        """Record writes by bulk copies of lanes, each of a row of bytes. Report conflicts. Shapes: (rows,).

        `same(row, warp, pc)` returns True if the row has the bytes that the warp last wrote there at `pc`.
        """
        if len(starts):
            self._mark_written(int(starts.min()), int((starts + sizes).max()) - 1)
        found = self._rows(warps, lanes, starts, sizes, True, reduction, np.full(len(warps), -1), pc)
        if found:
            self._explain(found, warps, pc, 16, None, same)

    def _rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, writing: bool, reduction: bool, heads: Array,
        pc: int,
    ) -> int:  # fmt: skip
        c = self.clocks
        return _global_shadow.rows(
            c.arrays, self.arrays, self.wave & 0xFF, warps, lanes, starts, sizes, writing, reduction,
            c.bulk_clock[warps].astype(np.int64), heads, pc,
        )  # fmt: skip

    # Findings -------------------------------------------------------------------------------------------

    def _explain(
        self, found: int, warps: Array, pc: int, size: int, store: Store | None,
        same: Callable[[int, int, int], bool] | None = None,
    ) -> None:  # fmt: skip
        for what, position, lane, granule, record, site in self.arrays.out[: min(found, ROOM)].tolist():
            if (
                what == _global_shadow.WRITE_WRITE
                and store is not None
                and is_unchanged(self.arena.bytes, store, position, lane, site == pc)
            ):
                continue
            warp, other = int(warps[position]), record >> 44 & 0x7FF
            if what == _global_shadow.WRITE_WRITE and same is not None and same(position, other, site):
                continue
            code = "sanitize.race/global"
            hint = ""
            if what == _global_shadow.UNFENCED:
                code = "sanitize.proxy/async"
            elif what == _global_shadow.WRITE_READ and record >> 10 & 63 == _global_shadow.LOAD:
                code = "sanitize.copy/source"
                hint = "wait for the mbarrier phase that the copy completes before the bytes are written"
            elif other == warp and record >> 55 & 0xFF == self.wave & 0xFF and record >> 10 & 63 != ASYNC:
                code = "sanitize.race/lanes"
            if not self.report.is_known(code, pc, site):
                self.report.add(code, pc, site, self._sentence(what, warp, lane, granule, record, site, size), hint)

    def _sentence(self, what: int, warp: int, lane: int, granule: int, record: int, site: int, size: int) -> str:
        address = granule * 4 + GLOBAL_BASE
        verb = "reads" if what in (_global_shadow.READ_WRITE, _global_shadow.UNFENCED) else "writes"
        did = "read" if what == _global_shadow.WRITE_READ else "written"
        other, by = record >> 44 & 0x7FF, record >> 4 & 63
        wave = record >> 55 & 0xFF
        lane_known = by < MANY and record >> 10 & 63 != _global_shadow.LOAD
        who = self._placements[wave].describe_warp(other) + (f", lane {by}" if lane_known else "")
        line = self.launch.program.line_of(site)
        why = "with no proxy fence between" if what == _global_shadow.UNFENCED else "and nothing orders the two"
        here = self.context.describe(warp, lane)
        place = f"global memory at {address:#x} to {address + min(size, 4):#x} ({self._buffer(address)})"
        return f"this {verb} {place}, which is {did} by line {line}, {who}, {why}; {here}"

    def _buffer(self, address: int) -> str:
        arena = self.arena
        segment = arena.segments[int(np.searchsorted(arena.starts, address, side="right")) - 1]
        return f"{segment.name}, byte {address - segment.start}"
