"""Execution of a whole grid in waves of resident CTAs, and its statistics.

The launch alone determines the CTAs of each wave, and only global memory passes from one wave to the next. The result
of a wave therefore does not depend on the process that runs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import Diagnostic
from warploom.emulator.arena import Arena
from warploom.emulator.communication import inter_cta_communication
from warploom.emulator.emulator import Emulator
from warploom.emulator.events import Observer
from warploom.emulator.faults import Deadlock, Trap
from warploom.emulator.grid import Grid
from warploom.emulator.initial_data import initialise
from warploom.emulator.program import Program
from warploom.emulator.schedule import Schedule
from warploom.emulator.stats import Progress, Stats

RESIDENT_WARPS = 1024
LEAST_WARPS = 512  # least resident warps of a wave if a grid is divided only to occupy two workers
REGISTER_BYTES = 1 << 30
SHARED_BYTES = 1 << 30
STEP_BUDGET = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Waves:
    """Division of a launch into waves of `resident` CTAs each; the last wave has the remaining CTAs.

    `numbers` are the numbers of the waves to run.

    Shapes: clusters (clusters, CTAs of a cluster, 3), coordinates in launch order.
    """

    resident: int
    clusters: NDArray[np.int64]
    numbers: range

    def of(self, number: int) -> NDArray[np.int64]:
        """Return the coordinates of the CTAs of one wave. Shapes: (CTAs, 3)."""
        each = self.resident // self.clusters.shape[1]
        return self.clusters[number * each : (number + 1) * each].reshape(-1, 3)

    @property
    def ctas(self) -> int:
        """Number of CTAs in the waves to run."""
        return sum(len(self.of(number)) for number in self.numbers)


@dataclass(frozen=True, slots=True)
class Request:
    """Request to run a grid, with everything that the run needs except memory.

    `parameters` is the content of the kernel's parameter block, `pool` the workers for matrix arithmetic. `waves`
    selects some waves of the grid; None runs all of them.

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
    pool: Any = None
    waves: Waves | None = None

    def shape(self) -> Grid:
        """Return the launch's grid, block, cluster and shared memory sizes."""
        total = self.program.dynamic_start + self.shared
        return Grid(self.grid, self.block, self.cluster, self.shared, total, self.explicit_cluster)


def waves(program: Program, grid: Grid) -> Waves:
    """Divide a launch into waves of whole clusters, within limits for resident warps and bytes.

    If CTAs may wait for each other, as many as fit are resident together. Otherwise the launch is divided into an even
    number of equal waves, so that two workers can share them.
    """
    warps = -(-grid.threads // 32)
    per_cta = max(1, warps * (program.registers.bytes_per_warp() + 32 * program.local_bytes))
    size, clusters = grid.cluster_size, grid.clusters()
    waits = any(inter_cta_communication(program))
    most = RESIDENT_WARPS if waits else min(RESIDENT_WARPS, max(LEAST_WARPS, -(-grid.ctas * warps // 2)))
    fits = min(most // warps, REGISTER_BYTES // per_cta, SHARED_BYTES // max(1, grid.total_shared))
    each = min(max(fits // size, 1), len(clusters))
    count = -(-len(clusters) // each)
    if not waits and count > 1:
        each = -(-len(clusters) // (count + count % 2))
        count = -(-len(clusters) // each)
    return Waves(each * size, clusters, range(count))


def reserve(program: Program, arena: Arena) -> dict[str, int]:
    """Reserve segments for the parameters and the module's variables, and return their addresses by name.

    The address of the parameter block has the name "".
    """
    size = max((p.offset + p.size for p in program.parameters), default=1)
    found = {"": arena.reserve("the kernel's parameters", size, writable=False, kind="param").start}
    for variable in program.globals:
        label = f"the {variable.space} variable {variable.name}"
        segment = arena.reserve(label, variable.size, writable=variable.space == "global", kind=variable.space)
        found[variable.name] = segment.start
    return found


def execute(
    request: Request, arena: Arena, segments: dict[str, int], progress: Callable[[Progress], None] | None = None
) -> tuple[Stats, tuple[Diagnostic, ...]]:
    """Run a grid on a sealed arena, and return the statistics and the findings of the observers.

    The arena holds the arguments before the run and the results after it. A trap or a deadlock ends the run; it is
    raised unless an observer reports it as a finding.

    Errors: Unsupported before anything runs; Trap and Deadlock during the run.
    """
    started = time.perf_counter()
    program, grid = request.program, request.shape()
    initialise(program, arena, segments, request.parameters)
    cut = waves(program, grid) if request.waves is None else request.waves
    emulator = Emulator(
        program,
        grid,
        cut.resident,
        arena,
        segments,
        request.arch,
        request.schedule,
        request.pool,
        request.step_budget,
        request.observers,
    )
    counters, total, done = emulator.state.counters, cut.ctas, 0

    def report() -> None:
        if progress is not None:
            seconds = time.perf_counter() - started
            finished = done + emulator.ctas_done
            progress(Progress(finished, total, counters.macs, counters.instructions, seconds))

    for number in cut.numbers:
        ctas = cut.of(number)
        emulator.start(ctas, number)
        report()
        try:
            emulator.run(report)
        except (Trap, Deadlock) as end:
            if not emulator.events.stopped(end.diagnostics, emulator.state.pc):
                raise
            break
        done += len(ctas)
        emulator.ctas_done = 0
    report()
    stats = Stats(
        dict(counters.by_family.most_common()),
        counters.macs,
        time.perf_counter() - started,
        total,
        counters.batches,
        counters.spent,
    )
    return stats, emulator.events.findings()
