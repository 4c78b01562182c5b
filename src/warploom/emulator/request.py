"""Request to run a grid on the emulator."""

from dataclasses import field
from typing import Any

from warploom.emulator.grid import Grid
from warploom.emulator.grid_dependencies import Overlap
from warploom.emulator.observers import Observer
from warploom.emulator.output import Output
from warploom.emulator.program import Program
from warploom.emulator.schedule import Schedule
from warploom.emulator.waves import Waves
from warploom.lazy_dataclass import dataclass

STEP_BUDGET = 1_000_000_000  # of a run by default


@dataclass(frozen=True, slots=True)
class Request:
    """Request to run a grid.

    `parameters` contains the bytes of the kernel's parameter block. `waves` selects some waves; None runs the whole
    grid. `workspace` is the address of the workspace of a cooperative grid, or 0. `output` receives the text that the
    threads print. `overlap` is set for a launch that may overlap with other launches.

    Units: `shared` is the dynamic shared memory in bytes, `step_budget` a number of warp instructions.
    """

    program: Program
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared: int
    parameters: bytes
    arch: str
    schedule: Schedule
    explicit_cluster: bool = False
    step_budget: int = STEP_BUDGET
    observers: tuple[Observer, ...] = ()
    pool: Any = None  # threads for matrix arithmetic (`numerics.fused.Workers`)
    waves: Waves | None = None
    workspace: int = 0
    output: Output = field(default_factory=Output)
    overlap: Overlap | None = None

    def shape(self) -> Grid:
        """Return the sizes of the grid, of its CTAs and clusters, and of shared memory."""
        total = self.program.dynamic_start + self.shared
        return Grid(self.grid, self.block, self.cluster, self.shared, total, self.explicit_cluster, self.workspace)
