"""Launches that stop before an instruction, with the emulator at this moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from warploom.emulator.emulator import Emulator
from warploom.emulator.events import BlockStart, Execute, Launch
from warploom.emulator.observers import Observer
from warploom.emulator.program import Program
from warploom.emulator.warps import Warps
from warploom.emulator.wave_run import WaveRun, run_waves
from warploom.runtime import cpu
from warploom.runtime.api import load_launch
from warploom.runtime.launchfile import read_launch_file

EXAMPLES = Path(__file__).parents[3] / "examples"
CORPUS = Path(__file__).parents[2] / "corpus"

Select = Callable[[Program], Sequence[int]]


class _Stop(Exception):
    """End of a run at the wanted moment."""


class _Stopper(Observer):
    """Observer that ends the run before some instructions, at one of their executions, or at a number of batches."""

    def __init__(self, select: Select, count: int, batches: int) -> None:
        super().__init__()
        self.select, self.left, self.batches = select, count, batches

    def attach(self, launch: Launch) -> None:
        if self.batches:
            self.left = self.batches
            self.handlers = {BlockStart: self.meet}
        else:
            self.instructions = dict.fromkeys(self.select(launch.program), self.meet)

    def meet(self, _: BlockStart | Execute) -> None:
        self.left -= 1
        if not self.left:
            raise _Stop


def run_until(prepared: cpu.EmulatorLaunch, select: Select, count: int = 1, batches: int = 0) -> Emulator:
    """Return the emulator before execution `count` of the instructions of `select`, or after some batches."""
    found: list[WaveRun] = []
    request = replace(prepared.request, observers=(_Stopper(select, count, batches),))
    try:
        with patch.dict("os.environ", {"WARPLOOM_ENGINE": "interpreter"}):
            run_waves(request, prepared.arena, prepared.segments, publish=found.append)
    except _Stop:
        (waves,) = found
        return waves.emulator
    raise AssertionError("the run ended without a stop")


def stopped(
    text: str, select: Select = lambda _: (), *, args: Sequence[Any] = (), grid: Any = 1, block: Any = 32,
    cluster: Any = None, shared: int | None = None, schedule: str = "eager", count: int = 1, batches: int = 0,
) -> Emulator:  # fmt: skip
    """Return the stopped emulator of a kernel in PTX."""
    loaded, geometry, arguments = load_launch(text, None, grid, block, cluster, shared, args)
    return run_until(cpu.prepare(loaded, geometry, arguments, None, schedule), select, count, batches)


def stopped_example(
    name: str, select: Select = lambda _: (), *, grid: Any = (1, 1), schedule: str = "eager", count: int = 1,
    batches: int = 0,
) -> tuple[Emulator, dict[str, np.ndarray[Any, Any]]]:  # fmt: skip
    """Return the stopped emulator of a launch file in examples/, and the buffers of the launch by name."""
    plan = read_launch_file(EXAMPLES / name)
    where, prepared = plan.geometry, replace(plan, expect=None).prepare()
    loaded, geometry, arguments = load_launch(
        plan.ptx, plan.kernel, grid, where.block, where.cluster, where.shared, prepared.args
    )
    launch = cpu.prepare(loaded, geometry, arguments, where.arch, schedule)
    return run_until(launch, select, count, batches), prepared.arrays


def executing(emulator: Emulator) -> Warps:
    """Return the batch that was about to execute the instruction."""
    assert emulator.batch is not None
    return emulator.batch
