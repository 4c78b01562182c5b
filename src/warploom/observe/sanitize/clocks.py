# pyright: reportUnknownMemberType=false
"""What every warp of the machine knows of every other: vector clocks, a batch of warps at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.observe.sanitize import _compiled
from warploom.observe.sanitize._compiled import KNOWN, MASK, PARTS, SOME, STREAMS

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.emulator.emulator import Emulator

Array = NDArray[Any]

THREAD_COPIES, MULTIPLICATIONS, BULK_READ, BULK_DONE = 1, 2, 3, 4  # streams of a warp beside itself
GROUPS = 64  # committed groups whose ends are remembered, for each warp (bulk copies: for each lane)
BARRIERS = 16
NOWHERE = -1


class Clocks:
    """The vectors of one wave of CTAs, and the operations on them.

    Agents are numbered within a cluster: those of the CTA of rank 0, then those of rank 1. In a CTA come its
    warps, their streams, and its mbarriers.
    """

    def __init__(self, emulator: Emulator, mbarriers: int, ordered: bool) -> None:
        self.emulator = emulator
        self.warps = emulator.topology.warps
        self.ctas = emulator.topology.ctas
        self.per_cta = emulator.topology.warps_per_cta
        self.mbarriers = mbarriers
        self.agents = STREAMS * self.per_cta + mbarriers  # of a CTA
        self.own = (
            emulator.topology.rank[emulator.topology.cta_of] * self.agents + emulator.topology.warp_in_cta
        )
        columns = emulator.topology.cluster_size * self.agents
        self.ordered = ordered
        # With order between clusters, a column for every warp of the emulator, and one for waves before.
        beyond = ordered and emulator.topology.ctas > 0
        self.base = columns if beyond else -1
        columns += self.warps + 1 if beyond else 0
        self.locations: dict[tuple[str, int, int, int], int] = {}
        self.versions: dict[tuple[str, int, int, int], int] = {}  # how often order was published to each
        self.fences = np.zeros(emulator.topology.warps, np.int64)  # how many each warp has run
        self.first_barrier = 8 * self.warps
        self.first_cluster = self.first_barrier + self.ctas * BARRIERS
        self.first_mbarrier = self.first_cluster + 2 * self.ctas // emulator.topology.cluster_size
        self.kinds = 4 if emulator.topology.cluster_size > 1 else 2  # rows of an mbarrier
        rows = self.first_mbarrier + self.kinds * self.ctas * mbarriers
        self.vectors = np.zeros((rows, PARTS, columns), np.int32)
        self._next = rows  # of the next location
        self.clock = np.ones(self.warps, np.int32)
        self.few = np.zeros(self.warps, np.int32)
        self.copy_clock = np.ones(self.warps, np.int32)
        self.copy_groups = np.zeros(self.warps, np.int64)
        self.copy_ends = np.zeros((self.warps, GROUPS), np.int32)
        self.product_groups = np.zeros(self.warps, np.int32)
        self.product_clocks = np.zeros((self.warps, GROUPS), np.int32)
        self.bulk_clock = np.ones(self.warps, np.int32)
        self.bulk_groups = np.zeros((self.warps, 32), np.int64)
        self.bulk_ends = np.zeros((self.warps, 32, GROUPS), np.int32)

    # Lanes ------------------------------------------------------------------------------------------------

    def lanes(self, batch: Batch, mask: Array | None = None) -> tuple[Array, Array]:
        """Bits of the active lanes of each warp, and whether they are all that are left of it."""
        mask = batch.mask if mask is None else mask
        if mask is None and not self.emulator.state.splits.diverged:
            return np.full(batch.count, -1, np.int32), np.ones(batch.count, np.bool_)
        bits = to_bits(batch.active() if mask is None else mask)
        return bits, bits == to_bits(self.emulator.state.splits.live[batch.warp_index])

    # Operations -------------------------------------------------------------------------------------------

    def release(self, warps: Array, lanes: Array, full: Array, rows: Array) -> None:
        """Lanes publish into rows, those that are not NOWHERE."""
        _compiled.release(
            self.vectors, self.clock, self.few, self.own, self.per_cta, self.base, warps, lanes, full,
            rows.astype(np.int64),
        )  # fmt: skip

    def acquire(self, warps: Array, lanes: Array, full: Array, rows: Array) -> None:
        """Lanes learn from rows."""
        _compiled.acquire(self.vectors, self.few, warps, lanes, full, rows.astype(np.int64))

    def synchronise(self, warps: Array) -> None:
        """All lanes of each warp meet."""
        _compiled.synchronise(self.vectors, self.clock, self.few, self.own, self.per_cta, self.base, warps)

    def proxy_fence(self, warps: Array, lanes: Array, full: Array) -> None:
        """A fence between the generic and the asynchronous proxy."""
        _compiled.proxy_fence(
            self.vectors, self.clock, self.few, self.own, self.per_cta, self.base, warps, lanes, full
        )

    def fence(self, warps: Array, lanes: Array, full: Array, level: int) -> None:
        """A fence of a scope: what was done before is published by relaxed operations after it, and what relaxed
        operations before it have seen is known after it.
        """
        self.fences[warps] += 1
        for each in range(level + 1):
            self.acquire(warps, lanes, full, self.seen(warps, each))
            self.release(warps, lanes, full, self.fenced(warps, each))

    def fenced(self, warps: Array, level: int) -> Array:
        """The rows that hold what the last fence of each warp, of at least this scope, covers."""
        return warps + (2 + level) * self.warps

    def seen(self, warps: Array, level: int) -> Array:
        """The rows that hold what relaxed operations of at least this scope have seen, until a fence."""
        return warps + (5 + level) * self.warps

    def go_beyond(self, rows: Array) -> None:
        """Rows are for other clusters too: numbers within a cluster mean nothing there."""
        self.vectors[rows, :, : self.base] = 0
        self.hear(rows)

    def hear(self, rows: Array) -> None:
        """What rows know came from all over the grid, earlier waves included."""
        if self.base >= 0:
            self.vectors[rows, KNOWN, self.base + self.warps] = 1

    # Locations --------------------------------------------------------------------------------------------

    def location(self, kind: str, address: int, level: int, whose: int) -> int:
        """The row of a place in memory that order passes through, at a scope, for a CTA, a cluster or all."""
        key = (kind, address, level, whose)
        found = self.locations.get(key)
        if found is None:
            if self._next == len(self.vectors):
                more = np.zeros((max(64, len(self.locations)), *self.vectors.shape[1:]), np.int32)
                self.vectors = np.concatenate([self.vectors, more])
            found = self.locations[key] = self._next
            self._next += 1
        return found

    def copy(self, rows: Array, sources: Array) -> None:
        """Rows learn what other rows know."""
        for row, source in zip(rows.tolist(), sources.tolist(), strict=True):
            if row != NOWHERE:
                _compiled.join(self.vectors, row, source)

    def publish_stream(self, row: int, column: int, clock: int, lane: int) -> None:
        """A row learns that a lane's operations in a stream are done, up to a clock."""
        self.vectors[row, SOME, column] = max(int(self.vectors[row, SOME, column]), clock)
        self.vectors[row, MASK, column] |= np.int32(np.uint32(1 << lane).view(np.int32))

    def publish_phases(self, warps: Array, objects: Array) -> None:
        """Bytes that come to an mbarrier show that the copy was issued, and so that the phases its warp knew of
        are complete.
        """
        columns = np.arange(self.vectors.shape[2])
        phases = columns % self.agents >= STREAMS * self.per_cta
        phases &= columns < self.emulator.topology.cluster_size * self.agents
        for warp, row in zip(warps.tolist(), self.arriving(objects).tolist(), strict=True):
            known = np.maximum(self.vectors[warp, KNOWN], self.vectors[self.warps + warp, KNOWN])
            self.vectors[row, KNOWN] = np.maximum(self.vectors[row, KNOWN], np.where(phases, known, 0))

    def clear(self, rows: Array) -> None:
        """Rows forget."""
        self.vectors[rows] = 0

    # Groups -----------------------------------------------------------------------------------------------

    def commit_copies(self, warps: Array) -> None:
        """Close the group of each warp's thread copies."""
        self.copy_ends[warps, self.copy_groups[warps] % GROUPS] = self.copy_clock[warps]
        self.copy_groups[warps] += 1
        self.copy_clock[warps] += 1

    def wait_copies(self, warps: Array, pending: int) -> None:
        """All but the newest groups of thread copies are complete, for the lane that issued each."""
        group = self.copy_groups[warps] - pending
        ends = np.where(
            (group > 0) & (pending < GROUPS), self.copy_ends[warps, np.maximum(group - 1, 0) % GROUPS], 0
        )
        column = self.own[warps] + THREAD_COPIES * self.per_cta
        self.vectors[warps, SOME, column] = np.maximum(self.vectors[warps, SOME, column], ends)

    def wait_products(self, groups: Array, pending: int) -> None:
        """All but the newest groups of warpgroups' multiplications are complete. Shapes: (groups, 4) warps.

        A multiplication is done when all four warps have come to it: what they did before is known.
        """
        leaders = groups[:, 0]
        done = self.product_groups[leaders] - pending
        held = done > 0
        if not held.any():
            return
        column = self.own[leaders] + MULTIPLICATIONS * self.per_cta
        for member in range(4):
            warps = groups[:, member]
            for part in (KNOWN, SOME):
                self.vectors[warps, part, column] = np.maximum(self.vectors[warps, part, column], done)
            if pending < GROUPS:
                for other in range(4):
                    if other != member:
                        agent = self.own[groups[:, other]]
                        ends = np.where(held, self.product_clocks[groups[:, other], (done - 1) % GROUPS], 0)
                        self.vectors[warps, KNOWN, agent] = np.maximum(
                            self.vectors[warps, KNOWN, agent], ends
                        )

    def commit_products(self, groups: Array) -> None:
        """Close the group of warpgroups' multiplications."""
        for warps in groups.T:
            self.product_clocks[warps, self.product_groups[warps] % GROUPS] = self.clock[warps]
            self.product_groups[warps] += 1
            self.clock[warps] += 1

    def commit_bulk(self, warps: Array, lanes: Array) -> None:
        """Close the bulk group of lanes. Shapes: (lanes,)."""
        self.bulk_ends[warps, lanes, self.bulk_groups[warps, lanes] % GROUPS] = self.bulk_clock[warps]
        self.bulk_groups[warps, lanes] += 1
        self.bulk_clock[warps] += 1

    def wait_bulk(self, warps: Array, lanes: Array, pending: int, read_only: bool) -> None:
        """All but the newest bulk groups of lanes have been read, and unless `read_only` are complete."""
        group = self.bulk_groups[warps, lanes] - pending
        ends = self.bulk_ends[warps, lanes, np.maximum(group - 1, 0) % GROUPS]
        ends = np.where((group > 0) & (pending < GROUPS), ends, 0)
        for stream in (BULK_READ,) if read_only else (BULK_READ, BULK_DONE):
            column = self.own[warps] + stream * self.per_cta
            for warp, at, end in zip(warps.tolist(), column.tolist(), ends.tolist(), strict=True):
                self.vectors[warp, SOME, at] = max(int(self.vectors[warp, SOME, at]), end)

    # Rows -------------------------------------------------------------------------------------------------

    def barrier(self, keys: Array) -> Array:
        """Rows of CTA barriers."""
        return self.first_barrier + keys

    def cluster(self, clusters: Array) -> Array:
        """Rows that gather what a phase of cluster barriers publishes; those of what is complete follow."""
        return self.first_cluster + clusters

    def cluster_done(self, clusters: Array) -> Array:
        """Rows of what the completed phases of cluster barriers have published."""
        return self.first_cluster + self.ctas // self.emulator.topology.cluster_size + clusters

    def arriving(self, objects: Array) -> Array:
        """Rows that gather what arrivals at mbarriers publish. An object is cta * mbarriers + slot."""
        return self._mbarrier_rows(objects, 0)

    def arrived(self, objects: Array) -> Array:
        """Rows of what the complete phases of mbarriers have published."""
        return self._mbarrier_rows(objects, 1)

    def arriving_here(self, objects: Array) -> Array:
        """As `arriving`, from the mbarrier's own CTA alone."""
        return self._mbarrier_rows(objects, 2)

    def arrived_here(self, objects: Array) -> Array:
        """As `arrived`, from the mbarrier's own CTA alone."""
        return self._mbarrier_rows(objects, 3 if self.kinds > 2 else 1)

    def _mbarrier_rows(self, objects: Array, kind: int) -> Array:
        first = self.first_mbarrier + kind * self.ctas * self.mbarriers
        return np.where(objects < 0, NOWHERE, first + objects)

    def arrive(self, warps: Array, lanes: Array, full: Array, rows: Array, relaxed: bool) -> None:
        """Lanes publish into rows; where the operation is relaxed, what their last fence covers."""
        if relaxed:
            self.copy(np.where(rows < 0, NOWHERE, rows), self.fenced(warps, int(self.kinds > 2)))
        else:
            self.release(warps, lanes, full, rows)

    def phase_column(self, objects: Array) -> Array:
        """The agents that mbarriers are."""
        cta, slot = objects // self.mbarriers, objects % self.mbarriers
        return self.emulator.topology.rank[cta] * self.agents + STREAMS * self.per_cta + slot

    def knows(self, warp: int, agent: int, clock: int) -> bool:
        """Whether a warp, or one of its lanes, knows an agent's operations to be done."""
        return bool(max(self.vectors[warp, KNOWN, agent], self.vectors[warp, SOME, agent]) >= clock)

    def grow(self, mbarriers: int) -> tuple[int, int]:
        """Make room for more mbarriers in each CTA; returns the agents of a CTA before and after."""
        old, agents, before = self.vectors, self.agents, self.mbarriers
        size, first = self.emulator.topology.cluster_size, self.first_mbarrier
        self.mbarriers = mbarriers
        self.agents = STREAMS * self.per_cta + mbarriers
        self.own = (
            self.emulator.topology.rank[self.emulator.topology.cta_of] * self.agents
            + self.emulator.topology.warp_in_cta
        )
        kept = first + self.kinds * self.ctas * before
        rows = first + self.kinds * self.ctas * mbarriers
        beyond = old.shape[2] - size * agents
        wide = np.zeros((rows + len(old) - kept, PARTS, size * self.agents + beyond), np.int32)
        where = np.arange(self.kinds * self.ctas * before)
        objects = first + where // before * mbarriers + where % before
        places = np.concatenate([np.arange(first), objects, np.arange(rows, len(wide))])
        columns = np.arange(size * agents)
        targets = columns // agents * self.agents + columns % agents
        wide[places[:, None], :, targets[None, :]] = old[:, :, : size * agents].swapaxes(1, 2)
        wide[places, :, size * self.agents :] = old[:, :, size * agents :]
        self.vectors = wide
        self.locations = {key: row + rows - kept for key, row in self.locations.items()}
        self._next += rows - kept
        if self.base >= 0:
            self.base = size * self.agents
        return agents, self.agents


def to_bits(mask: Array) -> Array:
    """Masks of lanes as 32 bits. Shapes: (warps, 32) to (warps,), int32."""
    packed = np.packbits(np.ascontiguousarray(mask), axis=1, bitorder="little")
    return packed.view(np.int32)[:, 0]
