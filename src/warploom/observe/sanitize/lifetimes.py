# pyright: reportUnknownMemberType=false
"""Check of accesses to the shared memory of another CTA, which must have started and not exited."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.observe.sanitize.clock_arrays import BULK_READ, KNOWN, SOME
from warploom.observe.sanitize.context import Context

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _RemoteAccess:
    """Last access of a warp to the shared memory of another CTA.

    `times` has pairs of an agent and a time (see `clocks`). The access is complete when one of the agents has reached
    its time.
    """

    times: tuple[tuple[int, int], ...]
    arrivals: int  # earlier arrivals of the warp at the cluster barrier
    pc: int

    def may_follow(self, knows: Array, passed: int) -> bool:
        """Return True if nothing orders the access before the exit of a CTA.

        `knows` has the times of all agents that the exiting warps know, and `passed` is the number of phases of the
        cluster barrier that they have waited for.
        """
        return passed <= self.arrivals and all(knows[agent] < time for agent, time in self.times)


class Lifetimes:
    """Check of accesses to the shared memory of another CTA, which must have started and not exited."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.topology = context.topology
        self.clocks = context.clocks
        self.live = context.splits.live_bits
        warps = self.topology.warps
        self.arrivals = np.zeros(warps, np.int64)  # of each warp at its cluster barrier
        self.passed = np.zeros(warps, np.int64)  # phases of the cluster barrier that each warp knows to be complete
        self.bulk = np.zeros(warps, np.int32)  # clock of the last bulk copy out of shared memory
        self.bulk_site = np.full(warps, -1, np.int64)
        self._reached: dict[int, dict[int, _RemoteAccess]] = {}
        self._phases: dict[int, dict[tuple[int, int], _RemoteAccess]] = {}  # CTA -> (mbarrier, warp)
        self._sent: dict[int, dict[int, _RemoteAccess]] = {}

    def reach(self, warps: Array, index: Array, lanes: Array, pc: int) -> None:
        """Record accesses of `lanes` to the shared memory of other CTAs.

        `index` has byte offsets in the shared memory of all CTAs. Shapes: index and lanes (warps, 32).
        """
        for owner, warp, lane in self._remote(warps, index, lanes):
            self._check(owner, warp, lane, pc)
            self._reached.setdefault(owner, {})[warp] = _RemoteAccess((self._time(warp),), int(self.arrivals[warp]), pc)

    def arrive_at(self, warps: Array, index: Array, lanes: Array, objects: Array, phase: Array, pc: int) -> None:
        """Record operations of `lanes` on mbarriers of other CTAs.

        `index` has the byte offsets of the mbarriers, and `objects` their numbers. phase[k] is the number of complete
        phases of mbarrier k. Shapes: index, lanes and objects (warps, 32); phase (mbarriers,).
        """
        for owner, warp, lane in self._remote(warps, index, lanes):
            self._check(owner, warp, lane, pc)
            position = int(np.flatnonzero(warps == warp)[0])
            found = int(objects[position, lane])
            if found >= 0:
                times = self._phase(found, int(phase[found]) + 1), self._time(warp)
                self._phases.setdefault(owner, {})[found, warp] = _RemoteAccess(times, int(self.arrivals[warp]), pc)

    def expect(self, owner: int, warp: int, found: int, phase: int, pc: int) -> None:
        """Record an operation of `warp` on the shared memory of CTA `owner`.

        Phase `phase` of mbarrier `found` completes the operation.
        """
        access = _RemoteAccess((self._phase(found, phase),), int(self.arrivals[warp]), pc)
        self._phases.setdefault(owner, {})[found, -1] = access

    def _time(self, warp: int) -> tuple[int, int]:
        """Return the agent and the time of a warp."""
        return int(self.clocks.own[warp]), int(self.clocks.clock[warp])

    def _phase(self, found: int, phase: int) -> tuple[int, int]:
        """Return the agent and the time for the end of a phase of mbarrier `found`."""
        return int(self.clocks.phase_column(np.array([found]))[0]), phase

    def start(self, starts: Array, warps: Array, lanes: Array, pc: int) -> None:
        """Report copies to the shared memory of CTAs that may not have started.

        Lane lanes[i] of warps[i] copies to byte offset starts[i]. Shapes: all (copies,).
        """
        if self.topology.cluster_size == 1:
            return
        owners = starts // self.context.shared.stride
        for k in np.flatnonzero(owners != self.topology.cta_of[warps]).tolist():
            self._check(int(owners[k]), int(warps[k]), int(lanes[k]), pc)

    def send(self, warps: Array, objects: Array, phases: Array, pc: int) -> None:
        """Record that warps issue copies out of shared memory to other CTAs.

        Phase phases[i] of mbarrier objects[i] completes the copy of warps[i]. Shapes: all (copies,).
        """
        for warp, found, phase in zip(*(each.tolist() for each in (warps, objects, phases)), strict=True):
            access = _RemoteAccess((self._phase(found, phase),), int(self.arrivals[warp]), pc)
            self._sent.setdefault(int(self.topology.cta_of[warp]), {})[found] = access

    def copy_out(self, warps: Array, pc: int) -> None:
        """Record that warps issue bulk copies out of shared memory."""
        self.bulk[warps] = self.clocks.bulk_clock[warps]
        self.bulk_site[warps] = pc

    def _remote(self, warps: Array, index: Array, lanes: Array) -> list[tuple[int, int, int]]:
        """Return (accessed CTA, warp, an accessing lane) for each pair of a warp and another CTA."""
        owners = index // self.context.shared.stride
        far = lanes & (owners != self.topology.cta_of[warps][:, None])
        if not far.any():
            return []
        positions, at = np.nonzero(far)
        found: dict[tuple[int, int], int] = {}
        for owner, position, lane in zip(owners[positions, at].tolist(), positions.tolist(), at.tolist(), strict=True):
            found.setdefault((owner, int(warps[position])), lane)
        return [(owner, warp, lane) for (owner, warp), lane in found.items()]

    def knows(self, owner: int, warp: int) -> bool:
        """Return True if a warp knows that CTA `owner` has started."""
        topology, clocks = self.topology, self.clocks
        first = int(topology.rank[owner]) * clocks.agents
        theirs = slice(first, first + clocks.agents)
        if self.passed[warp] or clocks.vectors[warp, (KNOWN, SOME), theirs].any():
            return True
        return bool(clocks.ahead[warp] and clocks.vectors[topology.warps + warp, KNOWN, theirs].any())

    def _check(self, owner: int, warp: int, lane: int, pc: int) -> None:
        topology, report = self.topology, self.context.report
        place = f"this reaches the shared memory of the CTA of rank {int(topology.rank[owner])}"
        here = self.context.describe(warp, lane)
        if not self.knows(owner, warp):
            report.add("sanitize.cluster/start", pc, -1, f"{place}, which may not have started; {here}")
        if not self.live[topology.cta_of == owner].any():
            report.add("sanitize.cluster/exit", pc, -1, f"{place}, which has exited; {here}")

    def arrive(self, warps: Array) -> None:
        """Record that warps arrive at the barriers of their clusters."""
        self.arrivals[warps] += 1

    def pass_barrier(self, warps: Array, phase: int) -> None:
        """Record that warps have waited for the first `phase` phases of their cluster barrier."""
        self.passed[warps] = phase

    def exit(self, warps: Array) -> None:
        """Report accesses to the shared memory of a CTA that may follow the exit of the CTA.

        `warps` are the warps that exit now.
        """
        topology, clocks, report = self.topology, self.clocks, self.context.report
        column = clocks.own[warps] + BULK_READ * clocks.per_cta
        done = np.maximum(clocks.vectors[warps, KNOWN, column], clocks.vectors[warps, SOME, column])
        for warp in warps[self.bulk[warps] > done].tolist():
            message = "this copy may still read shared memory when its thread exits: no wait covers the copy"
            report.add("sanitize.copy/exit", int(self.bulk_site[warp]), -1, f"{message}; {self.context.describe(warp)}")
        if topology.cluster_size == 1:
            return
        for owner in np.unique(topology.cta_of[warps]).tolist():
            own = np.flatnonzero(topology.cta_of == owner)
            if self.live[own].any():
                continue
            knows = clocks.vectors[own][:, (KNOWN, SOME)].max(axis=(0, 1))
            knows = np.maximum(knows, clocks.vectors[own + topology.warps][:, KNOWN].max(axis=0))
            passed = int(self.passed[own].max())
            who = self.context.describe_cta(owner)
            source = "this copy may still read the shared memory of its CTA when the CTA exits"
            for each in self._sent.pop(owner, {}).values():
                if each.may_follow(knows, passed):
                    report.add("sanitize.cluster/exit", each.pc, -1, f"{source}; {who} exits")
            message = (
                f"this reaches the shared memory of the CTA of rank {int(topology.rank[owner])}, and nothing keeps "
                f"that CTA from exiting first; {who} exits"
            )
            for each in (*self._reached.pop(owner, {}).values(), *self._phases.pop(owner, {}).values()):
                if each.may_follow(knows, passed):
                    report.add("sanitize.cluster/exit", each.pc, -1, message)
