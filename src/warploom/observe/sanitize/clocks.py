# pyright: reportUnknownMemberType=false
"""Vector clocks, which record the accesses that happen before the next access of each warp.

A vector clock has one component, a time, for each agent. Agents are warps, mbarriers, and four classes of asynchronous
operations of each warp:

- The time of a warp increases at its releases, proxy fences and synchronisations.
- The time of an mbarrier is its number of complete phases.
- The time of a class of operations is the number of groups that the warp has committed.

The record of an access contains an agent and its time at the access. The agent is the warp or the operation that
accesses memory, or the mbarrier that completes the access. An access happens before the next access of a warp if its
time is not later than the component of its agent in the clock of the warp.

Barriers, mbarriers and memory locations also have clocks. To release is to join the clock of a warp into the clock of
such an object. To acquire is to join the clock of the object into the clock of a warp. A join takes the maximum of each
component.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.access import uniform
from warploom.emulator.batch import Batch
from warploom.emulator.grid import Topology
from warploom.emulator.warp_splits import WarpSplits, pack
from warploom.observe.sanitize import clock_arrays
from warploom.observe.sanitize.clock_arrays import (
    CLUSTER,
    CTA,
    GPU,
    GROUPS,
    KNOWN,
    MASK,
    PARTS,
    SIZE,
    SOME,
    STREAMS,
    THREAD_COPIES,
    ClockArrays,
    join,
)

Array = NDArray[Any]

BARRIERS = 16
NOWHERE = -1  # row of a warp that takes no part

_SCOPES = {"cta": CTA, "cluster": CLUSTER}


def scope_level(scope: str) -> int:
    """Return CTA, CLUSTER or GPU for a scope qualifier. "sys" and an empty qualifier give GPU."""
    return _SCOPES.get(scope, GPU)


def strength_at(level: int, size: int) -> int:
    """Return the strength of a strong access at scope `level` to elements of `size` bytes.

    `clock_arrays` describes strengths.
    """
    return 1 + level | (size.bit_length() - 1 << 2) & SIZE


class Clocks:
    """Vector clocks of warps, barriers, mbarriers and memory locations of one wave of CTAs.

    `vectors[row, part, agent]` contains all clocks. Row w is the clock of warp w. `mbarriers` is the number of
    mbarriers in each CTA. `ordered` is set if the kernel has fences or ordered accesses.
    """

    def __init__(self, topology: Topology, splits: WarpSplits, mbarriers: int, ordered: bool) -> None:
        self.topology = topology
        self.splits = splits
        self.warps = topology.warps
        self.ctas = topology.ctas
        self.per_cta = topology.warps_per_cta
        self.mbarriers = mbarriers
        # Agents are numbered CTA after CTA of a cluster. In a CTA, warps come first, then their operations, then
        # mbarriers.
        self.agents = STREAMS * self.per_cta + mbarriers  # in a CTA
        self.own = topology.rank[topology.cta_of] * self.agents + topology.warp_in_cta
        columns = topology.cluster_size * self.agents
        self.ordered = ordered
        # Order between clusters takes a component for every resident warp, and one for earlier waves.
        beyond = ordered and topology.ctas > 0
        self.base = columns if beyond else -1
        columns += self.warps + 1 if beyond else 0
        self.locations: dict[tuple[str, int, int, int], int] = {}
        self.versions: dict[tuple[str, int, int, int], int] = {}  # number of changes of each location's clock
        self.fences = np.zeros(topology.warps, np.int64)  # fences that each warp has executed
        self.first_barrier = 8 * self.warps
        self.first_cluster = self.first_barrier + self.ctas * BARRIERS
        self.first_mbarrier = self.first_cluster + 2 * self.ctas // topology.cluster_size
        self.kinds = 4 if topology.cluster_size > 1 else 2  # number of rows of an mbarrier
        rows = self.first_mbarrier + self.kinds * self.ctas * mbarriers
        self.vectors = np.zeros((rows, PARTS, columns), np.int32)
        self._next = rows  # row of the next location
        self.clock = np.ones(self.warps, np.int32)
        self.ahead = np.zeros(self.warps, np.int32)
        self.fencing = np.zeros(self.warps, np.int32)
        self.partial = np.zeros(self.warps, np.bool_)  # True for warps with a time in `lanes` after KNOWN
        self.lane_times = np.zeros((self.warps, 32, 32), np.int32)
        self.operations = np.zeros((self.warps, 32, STREAMS), np.int32)
        self.fence_times = np.zeros((self.warps, 2), np.int32)
        self.covered = np.zeros((self.warps, 2, 32), np.int32)
        self.published = np.zeros((self.warps, 32), np.int32)
        self.copy_clock = np.ones(self.warps, np.int32)
        self.copy_groups = np.zeros((self.warps, 32), np.int64)
        self.copy_ends = np.zeros((self.warps, GROUPS, 32), np.int32)
        # Times of the last thread copy of each lane, and up to which the lane knows that its copies are complete.
        self.copy_issued = np.zeros((self.warps, 32), np.int32)
        self.copy_done = np.zeros((self.warps, 32), np.int32)
        self.multiplication_groups = np.zeros(self.warps, np.int32)
        self.multiplication_clocks = np.zeros((3, self.warps, GROUPS), np.int32)  # last access, last fences
        self.bulk_clock = np.ones(self.warps, np.int32)
        self.bulk_groups = np.zeros((self.warps, 32), np.int64)
        self.bulk_ends = np.zeros((self.warps, 32, GROUPS), np.int32)
        # Time up to which bulk copies of each lane are complete, and times of the warp at the waits that show this.
        self.bulk_done = np.zeros((self.warps, 32), np.int32)
        self.bulk_waits = np.zeros((self.warps, 32, GROUPS), np.int32)
        self._all_lanes, self._all_full = np.full(self.warps, -1, np.int32), np.ones(self.warps, np.bool_)
        self._left = np.zeros((2, self.warps), np.int64)  # results of `leave_barriers`
        self._bundle()

    def _bundle(self) -> None:
        topology = self.topology
        first = topology.rank * self.agents + STREAMS * self.per_cta
        self.phase_columns = (first[:, None] + np.arange(self.mbarriers)).reshape(-1).astype(np.int64)
        self.arrays = ClockArrays(
            self.vectors, self.clock, self.ahead, self.fencing, self.partial, self.lane_times, self.operations,
            self.fence_times, self.covered, self.published, self.own, self.per_cta, self.base, self.agents, self.ctas,
            topology.cta_of, topology.cluster_of, self.copy_issued, self.copy_done, self.bulk_done, self.bulk_waits,
        )  # fmt: skip

    # Lanes ------------------------------------------------------------------------------------------------

    def lanes(self, batch: Batch, mask: Array | None = None) -> tuple[Array, Array]:
        """Return (active lanes of each warp as bits, True for each warp with all live lanes active).

        `mask` replaces the active lanes of the batch. Shapes: mask (warps, 32), results (warps,).
        """
        mask = batch.mask if mask is None else mask
        if mask is None and not self.splits.diverged:
            return self._all_lanes[: batch.count], self._all_full[: batch.count]
        bits = to_bits(batch.active() if mask is None else mask)
        return bits, bits == self.live(batch.warp_index)

    def live(self, warps: Array) -> Array:
        """Return the lanes of each warp that have not left the kernel, as bits. Shapes: both (warps,)."""
        return self.splits.live_bits[warps].view(np.int32)

    # Operations -------------------------------------------------------------------------------------------

    def release(self, warps: Array, lanes: Array, full: Array, rows: Array) -> None:
        """Join the clock of the lanes lanes[i] of warps[i] into the clock at rows[i] for every i.

        `lanes` has the lanes as bits. `full` is True for a warp if all its live lanes take part. A row of NOWHERE is
        skipped. Shapes: all (warps,).
        """
        clock_arrays.release(self.arrays, warps, lanes, full, rows.astype(np.int64))

    def acquire(self, warps: Array, lanes: Array, full: Array, rows: Array) -> None:
        """Join the clock at rows[i] into the clock of the lanes lanes[i] of warps[i] for every i.

        The arguments are as in `release`.
        """
        clock_arrays.acquire(self.arrays, warps, lanes, full, rows.astype(np.int64))

    def synchronise(self, warps: Array) -> None:
        """Order the earlier accesses of every lane of a warp before the later accesses of all its lanes."""
        clock_arrays.synchronise(self.arrays, warps)

    def leave_barriers(self, keys: Array, barrier_of: Array, lanes_at: Array) -> tuple[Array, Array]:
        """Complete CTA barriers. Return the warps that waited there, and the key of the barrier of each warp.

        The warps acquire the clocks of the barriers, which are then cleared. barrier_of[w] is the key of the barrier at
        which the lanes lanes_at[w] of warp w wait, -1 for none. The warps that leave are removed from both arrays.
        """
        left, live = self._left, self.splits.live_bits.view(np.int32)
        count = clock_arrays.leave_barriers(
            self.arrays, uniform(keys), self.first_barrier, barrier_of, lanes_at, live, left
        )  # fmt: skip
        return left[0, :count], left[1, :count]

    def synchronise_lanes(self, warps: Array, lanes: Array) -> None:
        """Order earlier accesses of the lanes lanes[i] of warps[i] before later accesses of these lanes.

        `lanes` has the lanes as bits. A warp may occur several times. Shapes: both (barriers,).
        """
        clock_arrays.synchronise_lanes(self.arrays, warps, lanes)

    def proxy_fence(self, warps: Array, lanes: Array, full: Array, space: str) -> None:
        """Record a fence between the generic and the asynchronous proxy. An empty `space` is all memory.

        `lanes` has the executing lanes as bits. `full` is True for a warp if all its live lanes execute the fence.
        Shapes: all (warps,).
        """
        shared, everywhere = space.startswith("shared"), not space
        clock_arrays.proxy_fence(self.arrays, warps, lanes, full, shared or everywhere, not shared)

    def fence(self, warps: Array, lanes: Array, full: Array, level: int) -> None:
        """Record a memory fence of scope `level`.

        `lanes` and `full` are as in `release`.
        """
        self.fences[warps] += 1
        for each in range(level + 1):
            # Acquire the locations that relaxed reads have read. Later relaxed writes release the clock of the fence.
            self.acquire(warps, lanes, full, self.seen(warps, each))
            self.release(warps, lanes, full, self.fenced(warps, each))

    def fenced(self, warps: Array, level: int) -> Array:
        """Return, for each warp, the row of the clock at its last fence of scope `level` or wider.

        `level` is CTA, CLUSTER or GPU.
        """
        return warps + (2 + level) * self.warps

    def seen(self, warps: Array, level: int) -> Array:
        """Return a row number for each warp. The clock in that row collects relaxed reads of scope `level`.

        A relaxed read joins the clock of the memory location into this clock. The next fence of the warp acquires this
        clock.
        """
        return warps + (5 + level) * self.warps

    def go_beyond(self, rows: Array) -> None:
        """Prepare the clocks at `rows` for use in other clusters."""
        # These components are numbered within a cluster.
        self.vectors[rows, :, : self.base] = 0
        self.acquire_earlier_waves(rows)

    def acquire_earlier_waves(self, rows: Array) -> None:
        """Record in the clocks at `rows` that earlier waves of CTAs are complete."""
        if self.base >= 0:
            self.vectors[rows, KNOWN, self.base + self.warps] = 1

    # Locations --------------------------------------------------------------------------------------------

    def location(self, kind: str, address: int, level: int, whose: int) -> int:
        """Return the row of the clock of a memory location at scope `level`.

        `kind` is the state space, and `address` the byte offset. `whose` is the CTA or cluster of the clock, or 0 at
        GPU scope. A negative `whose` stands for the releases of one thread.
        """
        key = (kind, address, level, whose)
        found = self.locations.get(key)
        if found is None:
            if self._next == len(self.vectors):
                more = np.zeros((max(64, len(self.locations)), *self.vectors.shape[1:]), np.int32)
                self.vectors = np.concatenate([self.vectors, more])
                self._bundle()
            found = self.locations[key] = self._next
            self._next += 1
        return found

    def copy(self, rows: Array, sources: Array) -> None:
        """Join the clock at sources[i] into the clock at rows[i] for every i. A row of NOWHERE is skipped."""
        for row, source in zip(rows.tolist(), sources.tolist(), strict=True):
            if row != NOWHERE:
                join(self.vectors, row, source)

    def release_operations(self, row: int, column: int, clock: int, lane: int) -> None:
        """Record in the clock at `row` that asynchronous operations of one lane are complete.

        Clock component `column` counts the operations. They are complete up to the time `clock`.
        """
        self.vectors[row, SOME, column] = max(int(self.vectors[row, SOME, column]), clock)
        self.vectors[row, MASK, column] |= np.int32(np.uint32(1 << lane).view(np.int32))

    def release_phases(self, warps: Array, objects: Array) -> None:
        """Release the mbarrier components of each warp's clock to an mbarrier.

        objects[i] is the number of the mbarrier that completes a copy of warps[i].
        """
        # A complete copy was issued, so the phases that the warp knew at the issue are complete.
        columns = np.arange(self.vectors.shape[2])
        phases = columns % self.agents >= STREAMS * self.per_cta
        phases &= columns < self.topology.cluster_size * self.agents
        for warp, row in zip(warps.tolist(), self.arriving(objects).tolist(), strict=True):
            known = np.maximum(self.vectors[warp, KNOWN], self.vectors[self.warps + warp, KNOWN])
            self.vectors[row, KNOWN] = np.maximum(self.vectors[row, KNOWN], np.where(phases, known, 0))

    def clear(self, rows: Array) -> None:
        """Reset the vector clocks at `rows` to zero."""
        self.vectors[rows] = 0

    # Groups -----------------------------------------------------------------------------------------------

    def commit_copies(self, warps: Array, lanes: Array) -> None:
        """Close the open groups of thread copies of lanes. Shapes: warps (warps,), lanes (warps, 32)."""
        clock_arrays.commit_copies(self.copy_ends, self.copy_groups, self.copy_clock, warps, lanes)

    def wait_copies(self, warps: Array, lanes: Array, pending: int) -> None:
        """Record that all but the newest `pending` groups of thread copies of lanes are complete.

        Shapes: warps (warps,), lanes (warps, 32).
        """
        if pending < GROUPS:
            clock_arrays.wait_copies(self.arrays, self.copy_ends, self.copy_groups, warps, lanes, pending)

    def wait_multiplications(self, groups: Array, pending: int) -> None:
        """Record that all but the newest `pending` wgmma groups of each warpgroup are complete.

        Row i of `groups` has the four warps of a warpgroup. Shape: (warpgroups, 4).
        """
        clock_arrays.wait_multiplications(
            self.arrays, self.multiplication_groups, self.multiplication_clocks, uniform(groups), pending
        )

    def commit_multiplications(self, groups: Array) -> None:
        """Close the open wgmma group of each warpgroup.

        Row i of `groups` has the four warps of a warpgroup. Shape: (warpgroups, 4).
        """
        clock_arrays.commit_multiplications(
            self.arrays, self.multiplication_groups, self.multiplication_clocks, uniform(groups)
        )

    def commit_bulk(self, warps: Array, lanes: Array) -> None:
        """Close the open bulk group of lane lanes[i] of warps[i] for every i."""
        self.bulk_ends[warps, lanes, self.bulk_groups[warps, lanes] % GROUPS] = self.bulk_clock[warps]
        self.bulk_groups[warps, lanes] += 1
        self.bulk_clock[warps] += 1

    def wait_bulk(self, warps: Array, lanes: Array, pending: int, read_only: bool) -> None:
        """Record that all but the newest `pending` bulk groups of lane lanes[i] of warps[i] are complete.

        With `read_only`, only the reads of the sources are complete.
        """
        clock_arrays.wait_bulk(self.arrays, self.bulk_ends, self.bulk_groups, warps, lanes, pending, read_only)

    # Rows -------------------------------------------------------------------------------------------------

    def barrier(self, keys: Array) -> Array:
        """Return the rows of the clocks of CTA barriers. A key is `cta * BARRIERS + barrier`."""
        return self.first_barrier + keys

    def cluster(self, clusters: Array) -> Array:
        """Return the rows of the clocks that collect arrivals at cluster barriers."""
        return self.first_cluster + clusters

    def cluster_done(self, clusters: Array) -> Array:
        """Return a row number for each cluster. Warps acquire the clock in that row after a cluster barrier."""
        return self.first_cluster + self.ctas // self.topology.cluster_size + clusters

    def arriving(self, objects: Array, local: bool = False) -> Array:
        """Return the rows of the clocks that collect arrivals at mbarriers.

        The number of an mbarrier in `objects` is `cta * mbarriers + k`; -1 gives NOWHERE. With `local`, the clock
        collects only arrivals from the mbarrier's own CTA.
        """
        return self._mbarrier_rows(objects, 2 if local else 0)

    def arrived(self, objects: Array, local: bool = False) -> Array:
        """Return the rows of the clocks that warps acquire after a wait for a phase of an mbarrier.

        `objects` and `local` are as in `arriving`.
        """
        return self._mbarrier_rows(objects, 3 if local and self.kinds > 2 else 1)

    def _mbarrier_rows(self, objects: Array, kind: int) -> Array:
        first = self.first_mbarrier + kind * self.ctas * self.mbarriers
        rows: Array = first + objects
        rows[objects < 0] = NOWHERE
        return rows

    def arrive(self, warps: Array, lanes: Array, full: Array, rows: Array, relaxed: bool) -> None:
        """Release the clocks of lanes into `rows`.

        If `relaxed`, release the clock of each warp's last fence. The other arguments are as in `release`.
        """
        if relaxed:
            self.copy(np.where(rows < 0, NOWHERE, rows), self.fenced(warps, int(self.kinds > 2)))
        else:
            self.release(warps, lanes, full, rows)

    def phase_column(self, objects: Array) -> Array:
        """Return, for each mbarrier, the index of the clock component that counts its phases."""
        return self.phase_columns[objects]

    def knows(self, warp: int, record: int) -> bool:
        """Return True if the access of `record` happens before the next access of some lane of a warp."""
        agent, clock, by = record >> 44, record >> 16 & 0xFFFFFFF, record >> 4 & 63
        if by < 32 and agent == self.own[warp] + THREAD_COPIES * self.per_cta:
            return bool(max(self.vectors[warp, KNOWN, agent], self.copy_done[warp, by]) >= clock)
        return bool(max(self.vectors[warp, KNOWN, agent], self.vectors[warp, SOME, agent]) >= clock)

    def grow(self, mbarriers: int) -> tuple[int, int]:
        """Make room for `mbarriers` mbarriers in each CTA.

        Return the number of agents of a CTA before and after.
        """
        old, agents, before = self.vectors, self.agents, self.mbarriers
        size, first = self.topology.cluster_size, self.first_mbarrier
        self.mbarriers = mbarriers
        self.agents = STREAMS * self.per_cta + mbarriers
        self.own = self.topology.rank[self.topology.cta_of] * self.agents + self.topology.warp_in_cta
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
        self._bundle()
        return agents, self.agents


def to_bits(mask: Array) -> Array:
    """Pack masks of lanes into int32, lane 0 in the lowest bit. Shapes: (warps, 32) to (warps,)."""
    return pack(np.ascontiguousarray(mask)).view(np.int32)
