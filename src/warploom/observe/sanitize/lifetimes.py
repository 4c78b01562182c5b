# pyright: reportUnknownMemberType=false
"""Lifetimes of the CTAs of a cluster: whose shared memory is reached before it is there, or after it is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.observe.sanitize._compiled import KNOWN, SOME
from warploom.observe.sanitize.clocks import BULK_READ

if TYPE_CHECKING:
    from warploom.observe.sanitize.watcher import Sanitizer

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Reach:
    """A warp's last access to another CTA: its agent and clock, or the mbarrier phase that shows it done."""

    agent: int
    clock: int
    joined: int  # arrivals at the cluster's barrier before
    pc: int


class Lifetimes:
    """What reaches the shared memory of each resident CTA from outside, and what shows that it has ended."""

    def __init__(self, sanitizer: Sanitizer) -> None:
        self.sanitizer = sanitizer
        self.emulator = sanitizer.emulator
        warps = self.emulator.topology.warps
        self.joined = np.zeros(warps, np.int64)  # arrivals at the cluster's barrier
        self.passed = np.zeros(
            warps, np.int64
        )  # phases of the cluster's barrier that are known to be complete
        self.bulk = np.zeros(warps, np.int32)  # clock of the last bulk copy out of shared memory
        self.bulk_site = np.full(warps, -1, np.int64)
        self._reached: dict[int, dict[int, _Reach]] = {}
        self._phases: dict[int, dict[int, _Reach]] = {}

    # Reaching ---------------------------------------------------------------------------------------------

    def reach(self, warps: Array, index: Array, lanes: Array, pc: int) -> None:
        """Lanes access shared memory at byte offsets."""
        clocks = self.sanitizer.clocks
        for owner, warp, lane in self._remote(warps, index, lanes):
            self._check(owner, warp, lane, pc)
            seen = _Reach(int(clocks.own[warp]), int(clocks.clock[warp]), int(self.joined[warp]), pc)
            self._reached.setdefault(owner, {})[warp] = seen

    def arrive_at(
        self, warps: Array, index: Array, lanes: Array, objects: Array, phase: Array, pc: int
    ) -> None:
        """Lanes act on mbarriers: those of other CTAs must outlast it."""
        for owner, warp, lane in self._remote(warps, index, lanes):
            self._check(owner, warp, lane, pc)
            position = int(np.flatnonzero(warps == warp)[0])
            found = int(objects[position, lane])
            if found >= 0:
                self.expect(owner, warp, found, int(phase[found]) + 1, pc)

    def expect(self, owner: int, warp: int, found: int, phase: int, pc: int) -> None:
        """A warp has caused something that another CTA's mbarrier shows done when a phase is."""
        column = int(self.sanitizer.clocks.phase_column(np.array([found]))[0])
        seen = _Reach(column, phase, int(self.joined[warp]), pc)
        self._phases.setdefault(owner, {})[found] = seen

    def copy_out(self, warps: Array, pc: int) -> None:
        """Warps issue bulk copies that read shared memory."""
        self.bulk[warps] = self.sanitizer.clocks.bulk_clock[warps]
        self.bulk_site[warps] = pc

    def _remote(self, warps: Array, index: Array, lanes: Array) -> list[tuple[int, int, int]]:
        """CTA, warp and a lane of every warp that reaches another CTA."""
        owners = index // self.emulator.memory.shared_stride
        far = lanes & (owners != self.emulator.topology.cta_of[warps][:, None])
        if not far.any():
            return []
        positions, at = np.nonzero(far)
        found: dict[tuple[int, int], int] = {}
        for owner, position, lane in zip(
            owners[positions, at].tolist(), positions.tolist(), at.tolist(), strict=True
        ):
            found.setdefault((owner, int(warps[position])), lane)
        return [(owner, warp, lane) for (owner, warp), lane in found.items()]

    def _check(self, owner: int, warp: int, lane: int, pc: int) -> None:
        emulator, clocks, report = self.emulator, self.sanitizer.clocks, self.sanitizer.report
        first = int(emulator.topology.rank[owner]) * clocks.agents
        theirs = slice(first, first + clocks.agents)
        knows = self.passed[warp] or clocks.vectors[warp, (KNOWN, SOME), theirs].any()
        if not knows and not (
            clocks.few[warp] and clocks.vectors[emulator.topology.warps + warp, KNOWN, theirs].any()
        ):
            message = (
                f"this reaches the shared memory of the CTA of rank {int(emulator.topology.rank[owner])}, and nothing "
                f"shows that it has started; {emulator.state.describe(warp, lane)}"
            )
            report.add("sanitize.cluster/start", pc, -1, message)
        if not emulator.state.splits.live[emulator.topology.cta_of == owner].any():
            message = (
                f"this reaches the shared memory of the CTA of rank {int(emulator.topology.rank[owner])}, which has "
                f"exited; {emulator.state.describe(warp, lane)}"
            )
            report.add("sanitize.cluster/exit", pc, -1, message)

    # The cluster's barrier --------------------------------------------------------------------------------

    def arrive(self, warps: Array) -> None:
        """Warps arrive at their cluster's barrier."""
        self.joined[warps] += 1

    def pass_barrier(self, warps: Array, phase: int) -> None:
        """Warps know that phases of their cluster's barrier are complete."""
        self.passed[warps] = phase

    # Exits ------------------------------------------------------------------------------------------------

    def left(self, warps: Array) -> None:
        """Warps have left the kernel."""
        emulator, clocks, report = self.emulator, self.sanitizer.clocks, self.sanitizer.report
        column = clocks.own[warps] + BULK_READ * clocks.per_cta
        done = np.maximum(clocks.vectors[warps, KNOWN, column], clocks.vectors[warps, SOME, column])
        for warp in warps[self.bulk[warps] > done].tolist():
            message = "this copy may still read shared memory when its thread exits: no wait covers it"
            report.add(
                "sanitize.copy/exit",
                int(self.bulk_site[warp]),
                -1,
                f"{message}; {emulator.state.describe(warp)}",
            )
        if emulator.topology.cluster_size == 1:
            return
        for owner in np.unique(emulator.topology.cta_of[warps]).tolist():
            own = np.flatnonzero(emulator.topology.cta_of == owner)
            if emulator.state.splits.live[own].any():
                continue
            knows = clocks.vectors[own][:, (KNOWN, SOME)].max(axis=(0, 1))
            knows = np.maximum(knows, clocks.vectors[own + emulator.topology.warps][:, KNOWN].max(axis=0))
            passed = int(self.passed[own].max())
            reaches = [*self._reached.pop(owner, {}).values(), *self._phases.pop(owner, {}).values()]
            for each in reaches:
                if knows[each.agent] >= each.clock or passed > each.joined:
                    continue
                whose = f"the shared memory of the CTA of rank {int(emulator.topology.rank[owner])}"
                message = (
                    f"this reaches {whose}, and nothing keeps that CTA from exiting first; "
                    f"{emulator.state.describe(int(own[0])).rpartition(', ')[0]} exits"
                )
                report.add("sanitize.cluster/exit", each.pc, -1, message)
