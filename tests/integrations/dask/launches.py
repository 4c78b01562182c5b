"""Launches of compiled kernels, of the examples, and of handwritten kernels with and without their faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from observe.sanitize.launches import LAUNCHES
from runtime.kernels import INDEX, make, run

import warploom as wl
from warploom.emulator import waves
from warploom.runtime.api import Run
from warploom.runtime.launchfile import read_launch_file

Launch = Callable[[Any, str], tuple[Run, list[bytes]]]
"""Function of the workers and the schedule that returns the run and the contents of the buffers."""

_EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.toml"))


@contextmanager
def waves_of(warps: int) -> Iterator[None]:
    """Split grids into waves of a number of warps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waves, "RESIDENT_WARPS", warps)
        patch.setattr(waves, "WAITING", 1)
        patch.setattr(waves, "LEAST_WARPS", 1)
        yield


def _compiled(file: str) -> Launch:
    def launch(workers: Any, schedule: str) -> tuple[Run, list[bytes]]:
        problem = make(file, 0)
        return run(file, problem, schedule, workers), [problem.outside.tobytes()]

    return launch


def _example(path: Path) -> Launch:
    def launch(workers: Any, schedule: str) -> tuple[Run, list[bytes]]:
        file = read_launch_file(path)
        shape = file.geometry
        args, arrays, *_ = file.prepare(1 << 30)
        done = wl.launch(
            file.ptx, file.kernel, grid=shape.grid, block=shape.block, cluster=shape.cluster, shared=shape.shared,
            arch=shape.arch, args=args, schedule=schedule, workers=workers,
        )  # fmt: skip
        return done, [array.tobytes() for array in arrays.values()]

    return launch


def _handwritten(name: str, text: str) -> Launch:
    kernel = LAUNCHES[name]

    def launch(workers: Any, schedule: str) -> tuple[Run, list[bytes]]:
        args, arrays = kernel.make()
        done = wl.launch(
            text, grid=kernel.grid, block=kernel.block, cluster=kernel.cluster, args=args, schedule=schedule,
            workers=workers, sanitize=True, raises=False,
        )  # fmt: skip
        return done, [array.tobytes() for array, _ in arrays]

    return launch


COMPILED: dict[str, Launch] = {file: _compiled(file) for file in INDEX}
EXAMPLES: dict[str, Launch] = {path.name: _example(path) for path in _EXAMPLES}
HANDWRITTEN: dict[str, Launch] = {
    **{name: _handwritten(name, each.text) for name, each in LAUNCHES.items()},
    **{f"{name}, faulty": _handwritten(name, each.faulty) for name, each in LAUNCHES.items()},
}
