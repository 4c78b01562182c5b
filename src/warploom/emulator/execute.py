"""A whole grid: waves of resident CTAs, the memory they share, and what the run amounts to.

Which CTAs make a wave depends on the launch alone, and a wave starts from nothing but global memory: what it does is
the same in whatever process, and after whatever waves, it runs.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic
from warploom.emulator.data import initialise
from warploom.emulator.emulator import Grid, Machine
from warploom.emulator.engines import Schedule
from warploom.emulator.faults import Deadlock, Trap
from warploom.emulator.listening import listening
from warploom.emulator.memory import Arena
from warploom.emulator.program import Program
from warploom.emulator.stats import Progress, Stats
from warploom.emulator.watch import Watcher

RESIDENT_WARPS = 1024
LEAST_WARPS = 512  # of the two waves that a grid is cut into where it could be one
REGISTER_BYTES = 1 << 30
SHARED_BYTES = 1 << 30
STEP_BUDGET = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Waves:
    """The waves of a launch, `resident` CTAs each, the last one what is left; and the `numbers` of those to run.

    Shapes: clusters (clusters, CTAs of a cluster, 3), in order of launch.
    """

    resident: int
    clusters: NDArray[np.int64]
    numbers: range

    def of(self, number: int) -> NDArray[np.int64]:
        """The coordinates of a wave's CTAs. Shapes: (CTAs, 3)."""
        each = self.resident // self.clusters.shape[1]
        return self.clusters[number * each : (number + 1) * each].reshape(-1, 3)

    @property
    def ctas(self) -> int:
        """CTAs of the waves to run."""
        return sum(len(self.of(number)) for number in self.numbers)


@dataclass(frozen=True, slots=True)
class Request:
    """Everything a run on the machine needs besides its memory.

    `parameters` is the kernel's parameter block. `waves` says what of the grid is to run, by default all of it.

    Units: `shared` dynamic shared memory in bytes, `step_budget` warp instructions.
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
    watch: Watcher | None = None
    pool: Any = None
    waves: Waves | None = None

    def shape(self) -> Grid:
        """The launch's shape."""
        total = self.program.dynamic_start + self.shared
        return Grid(self.grid, self.block, self.cluster, self.shared, total, self.explicit_cluster)


def waves(program: Program, grid: Grid) -> Waves:
    """Cut a launch into waves of whole clusters, within bounds of warps and bytes.

    CTAs that may wait for each other are there together as far as they fit. Others come in waves of one size, an even
    number of them, so that two can share them.
    """
    warps = -(-grid.threads // 32)
    per_cta = max(1, warps * (program.registers.bytes_per_warp() + 32 * program.local_bytes))
    size, clusters = grid.cluster_size, grid.clusters()
    waits = any(listening(program))
    most = RESIDENT_WARPS if waits else min(RESIDENT_WARPS, max(LEAST_WARPS, -(-grid.ctas * warps // 2)))
    fits = min(most // warps, REGISTER_BYTES // per_cta, SHARED_BYTES // max(1, grid.total_shared))
    each = min(max(fits // size, 1), len(clusters))
    count = -(-len(clusters) // each)
    if not waits and count > 1:
        each = -(-len(clusters) // (count + count % 2))
        count = -(-len(clusters) // each)
    return Waves(each * size, clusters, range(count))


def reserve(program: Program, arena: Arena) -> dict[str, int]:
    """Reserve the kernel's parameters and the module's variables; returns their addresses (parameters under "")."""
    size = max((p.offset + p.size for p in program.parameters), default=1)
    found = {"": arena.reserve("the kernel's parameters", size, writable=False, kind="param").start}
    for variable in program.globals:
        label = f"the {variable.space} variable {variable.name}"
        segment = arena.reserve(
            label, variable.size, writable=variable.space == "global", kind=variable.space
        )
        found[variable.name] = segment.start
    return found


def execute(
    request: Request,
    arena: Arena,
    segments: dict[str, int],
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Run the grid. The arena is sealed and holds the arguments; it holds the results afterwards.

    To a watcher that takes it for a finding, a trap or a deadlock ends the run and is one.

    Errors: Unsupported before anything runs; Trap and Deadlock while it runs.
    """
    started = time.perf_counter()
    program, grid = request.program, request.shape()
    initialise(program, arena, segments, request.parameters)
    cut = waves(program, grid) if request.waves is None else request.waves
    machine = Machine(
        program,
        grid,
        cut.resident,
        arena,
        segments,
        request.arch,
        request.schedule,
        request.pool,
        request.step_budget,
        request.watch,
    )
    total, done = cut.ctas, 0

    def report() -> None:
        if progress is not None:
            seconds = time.perf_counter() - started
            progress(Progress(done + machine.ctas_done, total, machine.macs, machine.instructions, seconds))

    for number in cut.numbers:
        ctas = cut.of(number)
        machine.start(ctas, number)
        report()
        try:
            machine.run(report)
        except (Trap, Deadlock) as end:
            if request.watch is None or not request.watch.stopped(end.diagnostics):
                raise
            break
        done += len(ctas)
        machine.ctas_done = 0
    report()
    stats = Stats(
        dict(Counter(machine.counts).most_common()),
        machine.macs,
        time.perf_counter() - started,
        total,
        machine.batches,
        machine.spent,
    )
    return stats, () if request.watch is None else request.watch.findings()
