"""State that all checks of the sanitizer share."""

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
    """Launch, resident CTAs and vector clocks of one wave of CTAs, and the report of all waves."""

    launch: Launch
    resident: Resident
    clocks: Clocks
    report: Report

    @property
    def program(self) -> Program:
        """Program that the launch executes."""
        return self.launch.program

    @property
    def topology(self) -> Topology:
        """CTA, cluster and rank of each warp."""
        return self.launch.topology

    @property
    def splits(self) -> WarpSplits:
        """Warp splits and live lanes."""
        return self.resident.splits

    @property
    def shared(self) -> SharedMemory:
        """Shared memory of the CTAs."""
        return self.resident.shared

    def describe(self, warp: int, lane: int = -1) -> str:
        """Return a phrase that names the kernel, the CTA, the warp and the lane. Lane -1 is not named."""
        return self.resident.placement.describe(warp, lane)

    def describe_cta(self, cta: int) -> str:
        """Return a phrase that names the kernel and a CTA."""
        placement = self.resident.placement
        return f"kernel {placement.kernel}, {placement.describe_cta(cta)}"
