# pyright: reportUnknownMemberType=false
"""Phase aliasing: waits by parity that another phase of the same parity may answer.

A wait by parity tells two phases apart, no more. Of a warp that knows k phases of an mbarrier to be complete it
means phase k, counted from 0, where the parity is that of k, and else phase k - 1, which is complete already. The
wait is sound when the phase after the one it means cannot complete before the warp has looked: a warp that comes
later finds the parity changed again, and waits for a phase two later, or for ever.

What can happen before what is asked of all that makes one warp follow another, relaxed operations included; what
they make visible does not matter here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.observe.sanitize import _phases
from warploom.observe.sanitize.clocks import BARRIERS, GROUPS

if TYPE_CHECKING:
    from warploom.emulator.emulator import Emulator
    from warploom.observe.sanitize.objects import Objects

Array = NDArray[Any]
_NEVER = -9  # a phase that no warp looks for


class Phases:
    """What has happened for every warp, and the last look of each at every mbarrier. Objects are those of `Objects`."""

    def __init__(self, emulator: Emulator, objects: Objects, mbarriers: int) -> None:
        self.emulator = emulator
        self.objects = objects
        per_cta, size = emulator.topology.warps_per_cta, emulator.topology.cluster_size
        self._place = (
            emulator.topology.rank[emulator.topology.cta_of] * per_cta + emulator.topology.warp_in_cta
        )
        self._tick = np.ones(emulator.topology.warps, np.int32)
        self._first = emulator.topology.warps + emulator.topology.ctas * BARRIERS  # row of the first mbarrier
        self._room = 0
        self._happened = np.zeros((self._first, size * per_cta), np.int32)
        self._count = self._start = np.zeros(0, np.int64)
        self._site = np.zeros(0, np.int32)  # of the last arrival
        self._seen_phase = np.zeros((0, size * per_cta), np.int64)
        self._seen_tick = self._seen_site = np.zeros((0, size * per_cta), np.int32)
        self._ends = np.zeros((emulator.topology.warps, GROUPS), np.int32)  # of groups of multiplications
        self._out = np.zeros((_phases.ROOM, _phases.COLUMNS), np.int64)
        self.grow(mbarriers)

    def grow(self, mbarriers: int) -> None:
        """Make room for more mbarriers in each CTA."""
        emulator, before = self.emulator, self._room
        per_cta, ctas, size = (
            emulator.topology.warps_per_cta,
            emulator.topology.ctas,
            emulator.topology.cluster_size,
        )
        old, wide = per_cta + before, per_cta + mbarriers
        objects = np.arange(ctas * before)
        moved = objects // max(before, 1) * mbarriers + objects % max(before, 1)
        rows = np.concatenate(
            [np.arange(self._first), *(self._first + k * ctas * mbarriers + moved for k in (0, 1))]
        )
        columns = np.arange(size * old)
        V = np.zeros((self._first + 2 * ctas * mbarriers, size * wide), np.int32)
        V[rows[:, None], columns // old * wide + columns % old] = self._happened
        self._happened = V

        def spread(held: Array, fill: int) -> Array:
            made = np.full((ctas * mbarriers, *held.shape[1:]), fill, held.dtype)
            made[moved] = held
            return made

        self._count, self._start = spread(self._count, 0), spread(self._start, 0)
        self._site = spread(self._site, -1)
        self._seen_phase = spread(self._seen_phase, _NEVER)
        self._seen_tick, self._seen_site = spread(self._seen_tick, 0), spread(self._seen_site, -1)
        self._room = mbarriers
        every = np.arange(ctas * mbarriers)
        self._agents = wide
        self._column = emulator.topology.rank[every // mbarriers] * wide + per_cta + every % mbarriers
        self._own = emulator.topology.rank[emulator.topology.cta_of] * wide + emulator.topology.warp_in_cta

    def renew(self, found: int) -> None:
        """An object begins with its phase 0."""
        self._start[found] = self._count[found]
        self._seen_phase[found] = _NEVER
        for row in (self._first + found, self._first + len(self._count) + found):
            self._happened[row] = 0

    # What follows what ------------------------------------------------------------------------------------

    def join_barrier(self, warps: Array, keys: Array) -> None:
        """Warps arrive at CTA barriers."""
        _phases.publish(self._happened, self._tick, self._own, warps, self.emulator.topology.warps + keys)

    def leave_barrier(self, warps: Array, keys: Array) -> None:
        """Warps pass CTA barriers that are complete."""
        _phases.learn(self._happened, warps, self.emulator.topology.warps + keys)

    def end_barrier(self, keys: Array) -> None:
        """CTA barriers begin anew."""
        self._happened[self.emulator.topology.warps + keys] = 0

    def pass_cluster(self, cluster: int) -> None:
        """The barrier of a cluster is complete: all its warps have come."""
        emulator = self.emulator
        _phases.meet(
            self._happened,
            self._tick,
            self._own,
            np.flatnonzero(emulator.topology.cta_of // emulator.topology.cluster_size == cluster),
        )

    def hear(self, warps: Array) -> None:
        """Warps load what others may have stored as a message: whatever has happened may be in it."""
        emulator = self.emulator
        clusters = emulator.topology.cta_of // emulator.topology.cluster_size
        width = emulator.topology.cluster_size * self._room
        for cluster in np.unique(clusters[warps]).tolist():
            of = np.flatnonzero(clusters == cluster)
            here = warps[clusters[warps] == cluster, None]
            objects = slice(cluster * width, (cluster + 1) * width)
            self._happened[here, self._own[of]] = self._tick[of]
            self._happened[here, self._column[objects]] = self._count[objects]
            self._tick[of] += 1

    def commit_products(self, groups: Array, number: Array) -> None:
        """Warpgroups close a group of multiplications. Shapes: groups (groups, 4) warps, number (groups,)."""
        for warps in groups.T:
            self._ends[warps, number % GROUPS] = self._tick[warps]
            self._tick[warps] += 1

    def end_products(self, groups: Array, number: Array) -> None:
        """So many groups of warpgroups are complete: all four warps have come to those multiplications."""
        held = (number > 0)[:, None]
        for warps in groups.T:
            where = warps[:, None], self._own[groups]
            ends = np.where(held, self._ends[groups, (number[:, None] - 1) % GROUPS], 0)
            self._happened[where] = np.maximum(self._happened[where], ends)

    # mbarriers --------------------------------------------------------------------------------------------

    def arrive(self, warps: Array, found: Array, lanes: Array, pc: int) -> None:
        """Lanes arrive, or bring or announce bytes. Shapes: found and lanes (warps, lanes)."""
        _phases.arrive(
            self._happened, self._tick, self._own, self._first, warps, found, lanes, self._site, pc
        )

    def look(self, warps: Array, found: Array, lanes: Array, asked: Array, pc: int) -> None:
        """Lanes look for phases by parity. Shapes: (warps, 32)."""
        wrong = _phases.look(
            self._happened, self._tick, warps, found, lanes, asked, self._count, self._start, self._column, self._place,
            self._seen_phase, self._seen_tick, self._seen_site, pc, self._out,
        )  # fmt: skip
        for position, lane, which, phase, complete in self._out[: min(wrong, len(self._out))].tolist():
            means = f"means phase {phase}" if phase >= 0 else "means the phase before the first"
            text = (
                f"is waited at by a parity that {means}, and {complete} phases are complete: the wait is answered by "
                f"phase {complete - 1 if (complete - phase) % 2 else complete}"
            )
            self._tell(pc, -1, which, text, int(warps[position]), lane)

    def know(self, warps: Array, found: Array, lanes: Array) -> None:
        """Lanes found phases complete. Shapes: (warps, 32)."""
        first = self._first + len(self._count)
        _phases.know(self._happened, first, warps, found, lanes, self._count, self._column)

    def known(self, warps: Array, found: Array) -> Array:
        """The phases of objects that warps know to be complete. Shapes: all (warps,)."""
        return self._happened[warps, self._column[found]]

    def complete(self, objects: Array) -> None:
        """Phases are complete, once for each element."""
        wrong = _phases.complete(
            self._happened, self._first, self._first + len(self._count), objects, self._count, self._start,
            self._column, self.emulator.topology.warps_per_cta, self._agents, self._seen_phase,
            self._seen_tick, self._seen_site, self._out,
        )  # fmt: skip
        emulator = self.emulator
        for place, pc, which, phase, _ in self._out[: min(wrong, len(self._out))].tolist():
            rank, in_cta = divmod(place, emulator.topology.warps_per_cta)
            cta = which // self._room
            warp = in_cta * emulator.topology.ctas + cta - int(emulator.topology.rank[cta]) + rank
            site = int(self._site[which])
            means = f"for phase {phase}" if phase >= 0 else "by the parity of the phase before the first"
            by = f" (line {emulator.program.line_of(site)})" if site >= 0 else ""
            text = (
                f"is waited at {means}, and nothing makes the arrivals that complete phase {phase + 1}{by} come after "
                "this wait: it may find the parity changed again"
            )
            self._tell(pc, site, which, text, warp)

    def _tell(self, pc: int, site: int, which: int, text: str, warp: int, lane: int = -1) -> None:
        word = int(np.flatnonzero(self.objects.at == which)[0])
        self.objects.tell("sanitize.mbarrier/parity", pc, site, word, text, warp, lane)
