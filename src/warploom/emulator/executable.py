"""Programs that are linked for a number of resident warps."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import UsageError
from warploom.emulator.bounded_waits import bounded_waits
from warploom.emulator.faults import Unsupported
from warploom.emulator.grid import Grid, Topology
from warploom.emulator.link import Linked, Linker
from warploom.emulator.native.engine import NativeEngine
from warploom.emulator.request import Request
from warploom.emulator.state import State
from warploom.emulator.times import Times
from warploom.emulator.waves import Waves, divide
from warploom.garbage import paused_collection
from warploom.lazy_dataclass import dataclass
from warploom.numerics._numba import INSTALLED

ENGINES = ("auto", "compiler", "interpreter")


@dataclass(slots=True, eq=False)
class Executable:
    """Program whose operands refer to the register arrays of a number of resident CTAs.

    All requests with the same `key` can use this executable. `waves` divides the whole grid. `bounded` contains the
    program counters of waits with a time limit (see `bounded_waits`). `native` is None if the interpreter executes all
    instructions.
    """

    key: tuple[Any, ...]
    waves: Waves
    grid: Grid
    topology: Topology
    state: State
    linker: Linker
    linked: Sequence[Linked]
    bounded: frozenset[int]
    native: NativeEngine | None
    _wave: int = field(default=-1, init=False)  # number of the wave whose coordinates the special registers have

    def place(self, wave: int) -> None:
        """Give the resident CTAs the coordinates of wave number `wave`."""
        if wave != self._wave:
            self.place_ctas(self.waves.of(wave))
            self._wave = wave

    def place_ctas(self, ctas: NDArray[np.int64]) -> None:
        """Give the resident CTAs these coordinates. Shapes: ctas (CTAs, 3)."""
        self.state.place(ctas)
        self.linker.refresh()
        if self.native is not None:
            self.native.refresh()
        self._wave = -1


def engine_name() -> str:
    """Return the engine that the environment variable WARPLOOM_ENGINE selects.

    Without Numba, the interpreter is the only engine. Errors: UsageError launch.engine.
    """
    name = os.environ.get("WARPLOOM_ENGINE", "auto")
    if name not in ENGINES:
        raise UsageError(f"WARPLOOM_ENGINE is {name!r}; expected {', '.join(ENGINES)}", code="launch.engine")
    if INSTALLED:
        return name
    if name == "compiler":
        raise UsageError("the engine 'compiler' needs Numba, which is not installed", code="launch.engine")
    return "interpreter"


def key_of(request: Request, segments: Mapping[str, int], engine: str) -> tuple[Any, ...]:
    """Return the key of the executable for a request. The arguments are those of `link`."""
    return (
        request.grid, request.block, request.cluster, request.shared, request.explicit_cluster,
        request.waves and request.waves.resident, request.arch, request.workspace, engine,
        request.schedule.kind == "eager", *segments.items(),
    )  # fmt: skip


def link(request: Request, segments: Mapping[str, int], engine: str, times: Times) -> Executable:
    """Return the program of a request, linked for the resident CTAs.

    `segments` is the result of `execute.reserve`. `engine` is one of `ENGINES`. `times` gets the time to link.

    Errors: Unsupported.
    """
    began, program, arch = time.perf_counter(), request.program, request.arch
    grid = request.shape()
    divided = request.waves or divide(program, grid)
    topology = Topology(grid, divided.resident)
    files = program.registers.allocate(topology.warps)
    state = State(grid, topology, files, program.kernel.readable_name)
    linker = Linker(program, files, segments, grid, topology, arch)
    with paused_collection():
        linked = linker.link_all()
    if linker.problems:
        raise Unsupported(linker.problems)
    is_eager = request.schedule.kind == "eager"
    native = None if engine == "interpreter" else NativeEngine(program, linked, state, arch, is_eager, times)
    bounded = bounded_waits(program, linked)
    times.link += time.perf_counter() - began - times.preparation
    key = key_of(request, segments, engine)
    return Executable(key, divided, grid, topology, state, linker, linked, bounded, native)
