"""Programs that are linked for a number of resident warps, and kept for later launches."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import field
from threading import Lock
from typing import Any

from warploom.diagnostics import UsageError
from warploom.emulator.bounded_waits import bounded_waits
from warploom.emulator.faults import Unsupported
from warploom.emulator.grid import Grid, Topology
from warploom.emulator.known_maps import KnownMaps
from warploom.emulator.link import Linked, Linker
from warploom.emulator.native.engine import NativeEngine
from warploom.emulator.program import Program
from warploom.emulator.request import Request
from warploom.emulator.state import Counters, State
from warploom.emulator.times import Times
from warploom.emulator.waves import Waves, divide
from warploom.garbage import paused_collection
from warploom.lazy_dataclass import dataclass

ENGINES = ("auto", "compiler", "interpreter")
_MOST_KEPT = 32 << 20
"""Maximum total size of the registers of the linked programs that a program keeps. Units: bytes.

A launch with more registers is linked each time. Linking is a small part of its time.
"""


@dataclass(slots=True, eq=False)
class Executable:
    """Program whose operands refer to the register arrays of a number of resident CTAs.

    `waves` divides the whole grid. `bounded` contains the program counters of waits with a time limit (see
    `bounded_waits`). `native` is None if the interpreter executes all instructions.
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
    known: KnownMaps = field(default_factory=KnownMaps, init=False)
    _wave: int = field(default=-1, init=False)  # number of the wave whose coordinates the special registers have

    @property
    def register_bytes(self) -> int:
        """Number of bytes of all registers."""
        return sum(file.nbytes for file in self.state.files.values())

    def place(self, wave: int) -> None:
        """Give the resident CTAs the coordinates of wave number `wave`."""
        if wave == self._wave:
            return
        self.state.place(self.waves.of(wave))
        self.linker.refresh()
        if self.native is not None:
            self.native.refresh()
        self._wave = wave


def engine_name() -> str:
    """Return the engine that the environment variable WARPLOOM_ENGINE selects.

    Errors: UsageError launch.engine.
    """
    name = os.environ.get("WARPLOOM_ENGINE", "auto")
    if name not in ENGINES:
        raise UsageError(f"WARPLOOM_ENGINE is {name!r}; expected {', '.join(ENGINES)}", code="launch.engine")
    return name


def acquire(request: Request, segments: Mapping[str, int], times: Times) -> Executable:
    """Return a linked program for a request: one that a launch released, or a new one.

    No other launch uses it until `release`. `times` gets the time to link a new program.

    `segments` is the result of `execute.reserve`.

    Errors: Unsupported; UsageError launch.engine.
    """
    engine, is_eager, arch = engine_name(), request.schedule.kind == "eager", request.arch
    key = (
        request.grid, request.block, request.cluster, request.shared, request.explicit_cluster,
        request.waves and request.waves.resident, arch, engine, is_eager, *segments.items(),
    )  # fmt: skip
    program = request.program
    found = _take(program, key)
    if found is not None:
        found.state.counters = Counters()
        if found.native is not None:
            found.native.times = times
        return found
    began = time.perf_counter()
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
    native = None if engine == "interpreter" else NativeEngine(program, linked, state, arch, is_eager, times)
    bounded = bounded_waits(program, linked)
    times.link += time.perf_counter() - began - times.preparation
    return Executable(key, divided, grid, topology, state, linker, linked, bounded, native)


def release(program: Program, executable: Executable) -> None:
    """Keep a linked program for later launches."""
    executable.state.on_suspend = None
    if executable.native is not None:
        executable.native.end_launch()
    with _access:
        kept = _kept(program)
        kept.append(executable)
        while sum(each.register_bytes for each in kept) > _MOST_KEPT:
            del kept[0]


_access = Lock()  # several threads may take and keep linked programs


def _take(program: Program, key: tuple[Any, ...]) -> Executable | None:
    """Remove the linked program with the key `key` from those that a program keeps, and return it.

    Return None if the program keeps none with this key.
    """
    with _access:
        kept = _kept(program)
        found = next((each for each in kept if each.key == key), None)
        if found is not None:
            kept.remove(found)
        return found


def _kept(program: Program) -> list[Executable]:
    """Return the list of the linked programs that a program keeps, with the latest at the end."""
    return program.analyses.setdefault(Executable, [])
