# pyright: reportUnknownMemberType=false
"""The shadow of global memory: races between threads of the whole grid, and writes that bulk copies meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.address_space import GLOBAL_BASE
from warploom.observe.sanitize import _arena
from warploom.observe.sanitize._compiled import ASYNC, GENERIC, MANY, ROOM, STRONG, together
from warploom.observe.sanitize.clocks import Clocks

if TYPE_CHECKING:
    from warploom.emulator.emulator import Emulator
    from warploom.observe.sanitize.report import Report

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Load:
    """A bulk copy that has read global memory: its entry, its place in the program, and the rows it read."""

    head: int
    pc: int
    rows: Callable[[], tuple[Array, Array]]


class ArenaShadow:
    """Records of the global memory of a launch; it outlives the waves of CTAs."""

    def __init__(self, emulator: Emulator, report: Report, copies: bool) -> None:
        self.emulator = emulator
        self.copies = copies  # whether anything is copied between global and shared memory in bulk
        self.report = report
        granules = len(emulator.arena.bytes) // 4 + 1
        self.records = np.zeros(granules, np.int64)
        self.sites = np.zeros(granules, np.int32)
        self.reads = np.zeros((2, granules), np.int64)
        self.read_sites = np.zeros((2, granules), np.int32)
        self.cluster_of = emulator.topology.cta_of // emulator.topology.cluster_size
        self.wave = -1
        self._written: set[int] = set()  # segments that the kernel has written
        self._loads: dict[int, dict[object, _Load]] = {}  # by segment, those of segments that it has not
        self._places: dict[int, NDArray[np.int64]] = {}
        self._out = np.zeros((ROOM, 6), np.int64)

    def start(self, clocks: Clocks) -> None:
        """A new wave of CTAs, with clocks of its own."""
        self.clocks = clocks
        self.wave += 1
        self._places[self.wave & 0xFF] = self.emulator.state.coordinates

    def access(
        self, warps: Array, index: Array, lanes: Array, size: int, pc: int, strong: bool, values: Array | None
    ) -> None:
        """Lanes load, or store `values`."""
        c = self.clocks
        writing = values is not None
        if writing and self.copies and lanes.any():
            reached = index[lanes]
            self._touch(int(reached.min()), int(reached.max()))
        lanes = uniform(lanes)
        found = _arena.access(
            c.vectors, c.clock, c.few, c.own, c.per_cta, c.agents, c.base, self.cluster_of, self.wave & 0xFF, warps,
            index, lanes, size, together(index, lanes), writing, STRONG if strong else GENERIC,
            c.clock[warps].astype(np.int64), pc, self.records, self.sites, self.reads, self.read_sites, self._out,
        )  # fmt: skip
        if found:
            self._explain(found, warps, pc, size, (index, lanes, size, values) if writing else None)

    # Bulk copies ------------------------------------------------------------------------------------------

    def _segment(self, offset: int) -> int:
        return int(np.searchsorted(self.emulator.arena.starts, offset + GLOBAL_BASE, side="right")) - 1

    def is_written(self, offset: int) -> bool:
        """Whether the kernel has written the segment at an offset."""
        return self._segment(offset) in self._written

    def _touch(self, low: int, high: int) -> None:
        """The segments from one offset to another are written: what was read of them counts from now on."""
        for segment in range(self._segment(low), self._segment(high) + 1):
            if segment not in self._written:
                self._written.add(segment)
                for load in self._loads.pop(segment, {}).values():
                    starts, sizes = load.rows()
                    _arena.remember(self.reads, self.read_sites, starts, sizes, load.head, load.pc)

    def heads(self, warps: Array, objects: Array, phases: Array) -> Array:
        """Entries of copies that read global memory until phases of mbarriers; -1 where no mbarrier says so."""
        c = self.clocks
        cta, slot = objects // max(c.mbarriers, 1), objects % max(c.mbarriers, 1)
        clock = slot << _arena.SLOT | phases
        entry = (self.wave & 0xFF) << 55 | warps << 44 | clock << 16 | _arena.LOAD << 10
        known = (objects >= 0) & (slot < 1 << 28 - _arena.SLOT) & (phases < 1 << _arena.SLOT)
        return np.where(known, entry | self.emulator.topology.rank[cta].astype(np.int64) << 4 | 15, -1)

    def remember(
        self, offset: int, key: object, head: int, pc: int, rows: Callable[[], tuple[Array, Array]]
    ) -> None:
        """A copy reads a segment, at an offset in it, that the kernel has not written yet."""
        self._loads.setdefault(self._segment(offset), {})[key] = _Load(head, pc, rows)

    def read_rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, heads: Array, pc: int
    ) -> None:
        """Bulk copies of lanes read rows of bytes. Shapes: (rows,)."""
        found = self._rows(warps, lanes, starts, sizes, False, False, heads, pc)
        if found:
            self._explain(found, warps, pc, 16, None)

    def write_rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, reduction: bool, pc: int,
        same: Callable[[int, int, int], bool],
    ) -> None:  # fmt: skip
        """Bulk copies of lanes write rows of bytes. Shapes: (rows,).

        `same` says of a row, and of the warp and the place in the program that wrote it last, whether the new
        bytes are the old ones.
        """
        if len(starts):
            self._touch(int(starts.min()), int((starts + sizes).max()) - 1)
        found = self._rows(warps, lanes, starts, sizes, True, reduction, np.full(len(warps), -1), pc)
        if found:
            self._explain(found, warps, pc, 16, None, same)

    def _rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, writing: bool, reduction: bool, heads: Array,
        pc: int,
    ) -> int:  # fmt: skip
        c = self.clocks
        return _arena.rows(
            c.vectors, c.few, c.own, c.per_cta, c.agents, c.base, self.cluster_of, self.wave & 0xFF, warps, lanes,
            starts, sizes, writing, reduction, c.bulk_clock[warps].astype(np.int64), heads, pc, self.records,
            self.sites, self.reads, self.read_sites, self._out,
        )  # fmt: skip

    # Explaining -------------------------------------------------------------------------------------------

    def _explain(
        self, found: int, warps: Array, pc: int, size: int, store: Any,
        same: Callable[[int, int, int], bool] | None = None,
    ) -> None:  # fmt: skip
        for what, position, lane, granule, record, site in self._out[: min(found, ROOM)].tolist():
            if (
                what == _arena.WRITE_WRITE
                and store is not None
                and self._same(store, position, lane, site == pc)
            ):
                continue
            warp, other = int(warps[position]), record >> 44 & 0x7FF
            if what == _arena.WRITE_WRITE and same is not None and same(position, other, site):
                continue
            code = "sanitize.race/global"
            hint = ""
            if what == _arena.UNFENCED:
                code = "sanitize.proxy/async"
            elif what == _arena.WRITE_READ and record >> 10 & 63 == _arena.LOAD:
                code = "sanitize.copy/source"
                hint = "wait for the mbarrier phase that the copy completes before the bytes are written"
            elif other == warp and record >> 55 & 0xFF == self.wave & 0xFF and record >> 10 & 63 != ASYNC:
                code = "sanitize.race/lanes"
            if not self.report.again(code, pc, site):
                self.report.add(
                    code, pc, site, self._sentence(what, warp, lane, granule, record, site, size), hint
                )

    def _same(self, store: Any, position: int, lane: int, together: bool) -> bool:
        """Whether a store writes what is there, or what others that store now do."""
        index, lanes, size, values = store
        wide = np.broadcast_to(values, (len(values), *index.shape))
        start = int(index[position, lane])
        if self.emulator.arena.bytes[start : start + size].tobytes() == wide[:, position, lane].tobytes():
            return True
        if not together:
            return False
        others = wide[:, lanes & (index == start)]
        return bool((others == others[:, :1]).all())

    def _sentence(
        self, what: int, warp: int, lane: int, granule: int, record: int, site: int, size: int
    ) -> str:
        emulator = self.emulator
        address = granule * 4 + GLOBAL_BASE
        verb = "reads" if what in (_arena.READ_WRITE, _arena.UNFENCED) else "writes"
        did = "read" if what == _arena.WRITE_READ else "written"
        other, by = record >> 44 & 0x7FF, record >> 4 & 63
        wave = record >> 55 & 0xFF
        x, y, z = (int(part) for part in self._places[wave][emulator.topology.cta_of[other]])
        who = f"CTA ({x}, {y}, {z}), warp {int(emulator.topology.warp_in_cta[other])}" + (
            f", lane {by}" if by < MANY and record >> 10 & 63 != _arena.LOAD else ""
        )
        span = emulator.program.span_of(site)
        source = emulator.program.source
        line = 0 if source is None or span is None else source.position(span.start)[0]
        why = "with no proxy fence between" if what == _arena.UNFENCED else "and nothing orders the two"
        here = emulator.state.describe(warp, lane)
        place = f"global memory at {address:#x} to {address + min(size, 4):#x} ({self._buffer(address)})"
        return f"this {verb} {place}, which is {did} by line {line}, {who}, {why}; {here}"

    def _buffer(self, address: int) -> str:
        arena = self.emulator.arena
        segment = arena.segments[int(np.searchsorted(arena.starts, address, side="right")) - 1]
        return f"{segment.name}, byte {address - segment.start}"
