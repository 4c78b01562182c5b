"""Positions in a launch: moments of its execution, and the thread that a debugger shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from warploom.diagnostics import UsageError
from warploom.emulator.warp_splits import Status, pack
from warploom.lazy_dataclass import dataclass
from warploom.observe.debug.warps import next_instruction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Emulator
    from warploom.isa.model.semantics import Lanes

Coordinates = tuple[int, int, int]
BETWEEN = -1
"""Program counter of a moment between two batches."""


class Moment(NamedTuple):
    """Moment of an execution. Moments have the order of the execution.

    It is before the instruction `pc` of batch number `batch`, which counts from 1 through all waves. If `pc` is
    `BETWEEN`, it is before the batch.
    """

    wave: int
    batch: int
    pc: int


@dataclass(frozen=True, slots=True)
class Focus:
    """Thread that a debugger shows: a CTA by its coordinates, a warp of the CTA, and a lane."""

    cta: Coordinates
    warp: int
    lane: int = 0


class Executing(NamedTuple):
    """Lanes of one warp that execute an instruction together. Lane 0 is the lowest bit of `lanes`."""

    cta: Coordinates
    warp: int
    lanes: int


class Place(NamedTuple):
    """Next instruction of a lane.

    `has_come` is True if the lane has already come to the instruction and has not completed it. `calls` contains the
    program counters of the open calls, the outermost call first.
    """

    pc: int
    has_come: bool
    calls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Restriction to some CTAs, warps of each CTA, and lanes. An empty field stands for all."""

    ctas: Sequence[Coordinates] = ()
    warps: Sequence[int] = ()
    lanes: Sequence[int] = ()

    def select(self, batch: Batch) -> Lanes:
        """Return the active lanes of a batch that the filter selects. Shapes: (warps, 32)."""
        topology, placement = batch.state.topology, batch.state.placement
        found = batch.active().copy()
        if self.ctas:
            coordinates = placement.coordinates[batch.location.cta]
            wanted = np.array(self.ctas, np.int64)
            found &= (coordinates[:, None, :] == wanted).all(axis=2).any(axis=1)[:, None]
        if self.warps:
            found &= np.isin(topology.warp_in_cta[batch.warp_index], self.warps)[:, None]
        if self.lanes:
            found &= np.isin(np.arange(32), self.lanes)
        return found


def now(emulator: Emulator, wave: int) -> Moment:
    """Return the moment at which an emulator has stopped in a wave."""
    batches, block = emulator.state.counters.batches, emulator.interrupted
    return Moment(wave, batches + 1, BETWEEN) if block is None else Moment(wave, batches, block.pc)


def number_of(emulator: Emulator) -> int:
    """Return the number of the next instruction of a stopped emulator (see `Counters.positions`)."""
    positions, block = emulator.state.counters.positions, emulator.interrupted
    return positions if block is None else positions + block.pc - block.first


def number_at(emulator: Emulator, pc: int, batch: Batch) -> int:
    """Return the number of the instruction at `pc` in the batch in execution."""
    state = emulator.state
    return state.counters.positions + pc - int(state.splits.pc[batch.rows[0]])


def warp_of(emulator: Emulator, focus: Focus) -> int | None:
    """Return the index of a warp among the resident warps, or None if its CTA is not resident.

    Errors: UsageError debug.focus for a CTA, a warp or a lane that the launch does not have.
    """
    grid, topology = emulator.grid, emulator.topology
    if len(focus.cta) != 3 or not all(0 <= each < size for each, size in zip(focus.cta, grid.grid, strict=True)):
        raise UsageError(f"there is no CTA {focus.cta}; the grid is {grid.grid}", code="debug.focus")
    for name, value, count in (("warp", focus.warp, topology.warps_per_cta), ("lane", focus.lane, 32)):
        if not 0 <= value < count:
            raise UsageError(f"the {name} is {value}; expected 0 to {count - 1}", code="debug.focus")
    found = np.flatnonzero((emulator.state.placement.coordinates == focus.cta).all(axis=1))
    return None if not len(found) else focus.warp * topology.ctas + int(found[0])


def focus_on(emulator: Emulator, warp: int, lane: int) -> Focus:
    """Return the focus on a lane of a resident warp."""
    x, y, z = emulator.state.placement.coordinates[emulator.topology.cta_of[warp]].tolist()
    return Focus((x, y, z), int(emulator.topology.warp_in_cta[warp]), lane)


def place_of(emulator: Emulator, warp: int, lane: int) -> Place | None:
    """Return the next instruction of a lane of a resident warp, or None if the lane has left the kernel."""
    splits, bit = emulator.state.splits, 1 << lane
    if not int(splits.live_bits[warp]) & bit:
        return None
    holds = (splits.warp == warp) & (splits.status != Status.DONE) & ((splits.bits & np.uint32(bit)) != 0)
    if not holds.any():
        points = splits.points
        waits = (points["warp"] == warp) & ((points["arrived"] & bit) != 0)
        point = points[int(np.flatnonzero(waits)[0])]
        return Place(int(point["pc"]), False, splits.stack(int(point["calls"])))
    slot = int(np.flatnonzero(holds)[0])
    pc, awaited, is_next = next_instruction(emulator, slot)
    return Place(pc, is_next or awaited is not None, splits.call_stack(slot))


def executing(emulator: Emulator, warps: Sequence[int], lanes: Lanes) -> tuple[Executing, ...]:
    """Return the lanes of warps that a mask selects, for warps with a lane. Shapes: lanes (warps, 32)."""
    bits = pack(lanes).tolist()
    topology = emulator.topology
    coordinates = emulator.state.placement.coordinates[topology.cta_of[warps]].tolist()
    numbers = topology.warp_in_cta[warps].tolist()
    found = [
        Executing((x, y, z), number, each)
        for (x, y, z), number, each in zip(coordinates, numbers, bits, strict=True)
        if each
    ]
    return tuple(sorted(found))
