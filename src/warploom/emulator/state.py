"""State of the resident warps, which the components of the emulator share."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import field
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.grid import Grid, Placement, Topology
from warploom.emulator.schedule import Schedule
from warploom.emulator.warp_splits import WarpSplits, pack
from warploom.isa.model.semantics import Array
from warploom.lazy_dataclass import dataclass

RECENT = 256  # number of batches whose first program counters are kept


@dataclass(slots=True)
class Counters:
    """Statistics of a whole run.

    `positions` is the number of the next instruction in the launch: the number of instructions, from the first to the
    last one, of the blocks that batches have executed. Both engines count alike, with and without observers.

    `executions` and `seconds` belong to the instructions that the interpreter executes, by program counter.
    """

    STATE = (
        "instructions", "by_family", "macs", "batches", "positions", "spent", "native_calls", "native_seconds",
        "executions", "seconds",
    )  # fmt: skip

    instructions: int = 0
    by_family: Counter[str] = field(default_factory=Counter[str])
    macs: int = 0
    batches: int = 0
    positions: int = 0
    spent: int = 0  # used part of `Request.step_budget`
    native_calls: int = 0
    native_seconds: float = 0.0
    executions: dict[int, int] = field(default_factory=lambda: defaultdict[int, int](int))
    seconds: dict[int, float] = field(default_factory=lambda: defaultdict[int, float](float))


@dataclass(slots=True)
class Executions:
    """Executions of each instruction by warps and by lanes, in all waves of a run.

    A warp executes an instruction if the guard is true for at least one of its lanes. `counts[pc]` has the number of
    executions by warps, and the number of executions by lanes. `last` is the last instruction that the interpreter has
    counted for the executing batch, or -1. Shapes: counts (instructions, 2).
    """

    counts: NDArray[np.int64]
    last: int = -1

    def add(self, first: int, length: int, warps: int, lanes: Array | None) -> None:
        """Count `length` instructions from `first` on, which a batch of `warps` warps executes.

        `lanes` has the active lanes of the warps. None stands for all lanes. Shapes: lanes (warps, 32).
        """
        every = (warps, 32 * warps) if lanes is None else active_lanes(lanes)
        self.counts[first : first + length] += every
        self.last = first + length - 1


def active_lanes(lanes: Array) -> tuple[int, int]:
    """Return the number of warps with an active lane, and the number of active lanes.

    Shapes: lanes (warps, 32).
    """
    return int(np.count_nonzero(lanes.any(axis=1))), int(np.count_nonzero(lanes))


class State:
    """State of the resident warps: registers, warp splits and the executing instruction.

    `files` contains the register files by width in bits. Shapes: each file (registers, warps, 32), carry (warps, 32),
    live_warps (CTAs,).
    """

    STATE = (
        "files", "carry", "pc", "recent", "run_length", "continues_run", "moved", "origin", "random", "live_warps",
    )  # fmt: skip

    def __init__(self, grid: Grid, topology: Topology, files: dict[int, Array], kernel: str) -> None:
        self.grid = grid
        self.topology = topology
        self.files = files
        self._bytes = [file.view(np.uint8) for file in files.values()]  # NumPy clears bytes faster than numbers
        self.carry = np.zeros((topology.warps, 32), np.bool_)
        self.counters = Counters()
        self.pc = 0  # program counter of the executing instruction
        self.recent = np.zeros(RECENT, np.int64)  # first program counter of batch b, at b modulo RECENT
        self.run_length = 1  # number of adjacent multiplications from `pc` that execute together
        self.continues_run = False  # True if a stop divides the instruction from the run that it belongs to
        self.moved = False  # True if the instruction changed program counters
        # Program counter, warp and lane that issued the asynchronous operation in execution.
        self.origin: tuple[int, int, int] | None = None
        self.random = Random(0)  # for random schedules
        self.splits = WarpSplits(topology.warps)
        self.placement = Placement(kernel, topology, np.zeros((0, 3), np.int64))
        self.live_warps: NDArray[np.int64] = np.zeros(topology.ctas, np.int64)
        self._present = pack(topology.present)  # lanes that are threads of resident CTAs, as bits
        # Called when warp splits leave a batch.
        self.on_suspend: Callable[[Any, Array, int, bool], None] | None = None
        self._used = False  # True once CTAs have run, which leave values in the registers

    def place(self, ctas: NDArray[np.int64]) -> None:
        """Set the coordinates of the CTAs that will be resident. Shapes: ctas (CTAs, 3)."""
        topology, count = self.topology, len(ctas)
        padding = np.zeros((topology.ctas - count, 3), np.int64)
        of_warps = np.concatenate([ctas, padding])[topology.cta_of].astype(np.uint32)
        self.grid.cta = (of_warps[:, 0:1], of_warps[:, 1:2], of_warps[:, 2:3])
        self.placement = Placement(self.placement.kernel, topology, ctas)
        self._present = pack(topology.present & (topology.cta_of < count)[:, None])

    def start(self, entry: int, schedule: Schedule) -> None:
        """Make the CTAs resident. Their warps start at `entry`, and all registers are 0."""
        self.carry.fill(False)
        if self._used:
            for file in self._bytes:
                file.fill(0)
        self._used = True
        self.run_length = 1
        self.splits.start(self._present, entry)
        if schedule.kind == "random":
            self.random.seed(schedule.seed)
        self.live_warps[:] = 0
        self.live_warps[: len(self.placement.coordinates)] = self.topology.warps_per_cta

    def count_live_warps(self) -> None:
        """Update `live_warps`, the number of warps in each CTA that have not exited."""
        alive = self.topology.cta_of[self.splits.live_bits != 0]
        counts = np.bincount(alive, minlength=self.topology.ctas)
        self.live_warps[:] = counts
