# pyright: reportUnknownMemberType=false
"""The shadow of global memory: races between threads of the whole grid, and writes that bulk copies meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.machine.access import uniform
from warploom.machine.memory import GLOBAL_BASE
from warploom.sanitize import _arena
from warploom.sanitize._compiled import ASYNC, GENERIC, MANY, ROOM, STRONG
from warploom.sanitize.clocks import Clocks

if TYPE_CHECKING:
    from warploom.machine.machine import Machine
    from warploom.sanitize.report import Report

Array = NDArray[Any]


class ArenaShadow:
    """Records of the global memory of a launch; it outlives the waves of CTAs."""

    def __init__(self, machine: Machine, report: Report) -> None:
        self.machine = machine
        self.report = report
        granules = len(machine.arena.bytes) // 4 + 1
        self.records = np.zeros(granules, np.int64)
        self.sites = np.zeros(granules, np.int32)
        self.reads = np.zeros((2, granules), np.int64)
        self.read_sites = np.zeros((2, granules), np.int32)
        self.cluster_of = machine.cta_of // machine.cluster_size
        self.wave = -1
        self.written = False
        self._places: dict[int, NDArray[np.int64]] = {}
        self._out = np.zeros((ROOM, 6), np.int64)

    def start(self, clocks: Clocks) -> None:
        """A new wave of CTAs, with clocks of its own."""
        self.clocks = clocks
        self.wave += 1
        self._places[self.wave & 0xFF] = self.machine.coordinates

    def access(
        self, warps: Array, index: Array, lanes: Array, size: int, pc: int, strong: bool, values: Array | None
    ) -> None:
        """Lanes load, or store `values`."""
        c = self.clocks
        writing = values is not None
        self.written |= writing
        found = _arena.access(
            c.vectors, c.clock, c.few, c.own, c.per_cta, c.base, self.cluster_of, self.wave & 0xFF, warps, index,
            uniform(lanes), size, writing, STRONG if strong else GENERIC, c.clock[warps].astype(np.int64), pc,
            self.records, self.sites, self.reads, self.read_sites, self._out,
        )  # fmt: skip
        if found:
            self._explain(found, warps, pc, size, (index, lanes, size, values) if writing else None)

    def rows(
        self, warps: Array, lanes: Array, starts: Array, sizes: Array, writing: bool, reduction: bool, pc: int
    ) -> None:
        """Bulk copies of lanes read or write rows of bytes. Shapes: (rows,)."""
        if not writing and not self.written:
            return
        self.written |= writing
        c = self.clocks
        found = _arena.rows(
            c.vectors, c.few, c.own, c.per_cta, c.base, self.cluster_of, self.wave & 0xFF, warps, lanes, starts, sizes,
            writing, reduction, c.bulk_clock[warps].astype(np.int64), pc, self.records, self.sites, self.reads,
            self.read_sites, self._out,
        )  # fmt: skip
        if found:
            self._explain(found, warps, pc, 16, None)

    # Explaining -------------------------------------------------------------------------------------------

    def _explain(self, found: int, warps: Array, pc: int, size: int, store: Any) -> None:
        for what, position, lane, granule, record, site in self._out[: min(found, ROOM)].tolist():
            if (
                what == _arena.WRITE_WRITE
                and store is not None
                and self._same(store, position, lane, site == pc)
            ):
                continue
            warp, other = int(warps[position]), record >> 44 & 0x7FF
            code = "sanitize.race/global"
            if what == _arena.UNFENCED:
                code = "sanitize.proxy/async"
            elif other == warp and record >> 55 & 0xFF == self.wave & 0xFF and record >> 10 & 63 != ASYNC:
                code = "sanitize.race/lanes"
            if not self.report.again(code, pc, site):
                self.report.add(code, pc, site, self._sentence(what, warp, lane, granule, record, site, size))

    def _same(self, store: Any, position: int, lane: int, together: bool) -> bool:
        """Whether a store writes what is there, or what others that store now do."""
        index, lanes, size, values = store
        wide = np.broadcast_to(values, (len(values), *index.shape))
        start = int(index[position, lane])
        if self.machine.arena.bytes[start : start + size].tobytes() == wide[:, position, lane].tobytes():
            return True
        if not together:
            return False
        others = wide[:, lanes & (index == start)]
        return bool((others == others[:, :1]).all())

    def _sentence(
        self, what: int, warp: int, lane: int, granule: int, record: int, site: int, size: int
    ) -> str:
        machine = self.machine
        address = granule * 4 + GLOBAL_BASE
        verb = "reads" if what in (_arena.READ_WRITE, _arena.UNFENCED) else "writes"
        did = "read" if what == _arena.WRITE_READ else "written"
        other, by = record >> 44 & 0x7FF, record >> 4 & 63
        wave = record >> 55 & 0xFF
        x, y, z = (int(part) for part in self._places[wave][machine.cta_of[other]])
        who = f"CTA ({x}, {y}, {z}), warp {int(machine.in_cta[other])}" + (
            f", lane {by}" if by < MANY else ""
        )
        span = machine.program.span_of(site)
        source = machine.program.source
        line = 0 if source is None or span is None else source.position(span.start)[0]
        why = "with no proxy fence between" if what == _arena.UNFENCED else "and nothing orders the two"
        here = machine.describe(warp, lane)
        place = f"global memory at {address:#x} to {address + min(size, 4):#x} ({self._buffer(address)})"
        return f"this {verb} {place}, which is {did} by line {line}, {who}, {why}; {here}"

    def _buffer(self, address: int) -> str:
        arena = self.machine.arena
        segment = arena.segments[int(np.searchsorted(arena.starts, address, side="right")) - 1]
        return f"{segment.name}, byte {address - segment.start}"
