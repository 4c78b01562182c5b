"""Shared state of the parts of the sanitizer during one wave of CTAs."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.emulator.events import Launch, Resident
from warploom.emulator.grid import Topology
from warploom.emulator.program import Program
from warploom.emulator.shared_memory import SharedMemory
from warploom.emulator.warp_splits import WarpSplits
from warploom.observe.sanitize.clocks import Clocks
from warploom.observe.sanitize.report import Report


@dataclass(frozen=True, slots=True)
class Context:
    """Launch, resident CTAs, vector clocks, and the report that collects the findings."""

    launch: Launch
    resident: Resident
    clocks: Clocks
    report: Report

    @property
    def program(self) -> Program:
        """Program of the launch."""
        return self.launch.program

    @property
    def topology(self) -> Topology:
        """Positions of the resident warps."""
        return self.launch.topology

    @property
    def splits(self) -> WarpSplits:
        """Warp splits of the resident warps."""
        return self.resident.splits

    @property
    def shared(self) -> SharedMemory:
        """Shared memory of the resident CTAs."""
        return self.resident.shared

    def describe(self, warp: int, lane: int = -1) -> str:
        """Return a phrase that names kernel, CTA, warp and lane; numbers below 0 are left out."""
        return self.resident.placement.describe(warp, lane)
