"""A whole grid: waves of resident CTAs, the memory they share, and what the run amounts to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warploom.diag import Diagnostic
from warploom.machine.data import initialise
from warploom.machine.engines import Schedule
from warploom.machine.faults import Deadlock, Trap
from warploom.machine.machine import Grid, Machine
from warploom.machine.memory import Arena
from warploom.machine.program import Program
from warploom.machine.watch import Watcher

RESIDENT_WARPS = 1024
REGISTER_BYTES = 1 << 30
SHARED_BYTES = 1 << 30
STEP_BUDGET = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. Units: seconds; instructions are warp instructions."""

    ctas_done: int
    ctas_total: int
    macs: int
    instructions: int
    seconds: float


@dataclass(slots=True)
class Stats:
    """What a run did. `instructions` counts warp instructions by family; `batches` how many batches ran them."""

    instructions: dict[str, int] = field(default_factory=dict[str, int])
    macs: int = 0
    seconds: float = 0.0
    ctas: int = 0
    batches: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """Everything a run on the machine needs besides its memory.

    `parameters` is the kernel's parameter block. Units: `shared` dynamic shared memory in bytes, `step_budget`
    warp instructions.
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
    program = request.program
    total_shared = program.dynamic_start + request.shared
    grid = Grid(
        request.grid, request.block, request.cluster, request.shared, total_shared, request.explicit_cluster
    )
    initialise(program, arena, segments, request.parameters)
    resident = _resident(program, grid)
    machine = Machine(
        program,
        grid,
        resident,
        arena,
        segments,
        request.arch,
        request.schedule,
        request.pool,
        request.step_budget,
        request.watch,
    )
    clusters = grid.clusters()
    per_wave = resident // grid.cluster_size
    done = 0

    def report() -> None:
        if progress is not None:
            seconds = time.perf_counter() - started
            progress(
                Progress(done + machine.ctas_done, grid.ctas, machine.macs, machine.instructions, seconds)
            )

    for first in range(0, len(clusters), per_wave):
        wave = clusters[first : first + per_wave].reshape(-1, 3)
        machine.start(wave)
        report()
        try:
            machine.run(report)
        except (Trap, Deadlock) as end:
            if request.watch is None or not request.watch.stopped(end.diagnostics):
                raise
            break
        done += len(wave)
        machine.ctas_done = 0
    report()
    stats = Stats(
        dict(Counter(machine.counts).most_common()),
        machine.macs,
        time.perf_counter() - started,
        grid.ctas,
        machine.batches,
    )
    return stats, () if request.watch is None else request.watch.findings()


def _resident(program: Program, grid: Grid) -> int:
    """CTAs that are resident at a time: whole clusters, within bounds of warps and bytes."""
    warps = -(-grid.threads // 32)
    per_cta = max(1, warps * (program.registers.bytes_per_warp() + 32 * program.local_bytes))
    fits = min(
        RESIDENT_WARPS // warps,
        REGISTER_BYTES // per_cta,
        SHARED_BYTES // max(1, grid.total_shared),
        grid.ctas,
    )
    size = grid.cluster_size
    return int(np.clip(fits // size * size, size, grid.ctas))
