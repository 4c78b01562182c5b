"""Launches on workers that are processes: the same as alone, whoever is killed meanwhile.

WARPLOOM_FARM_WORKERS=2,4     numbers of workers (2)
WARPLOOM_FARM_KERNELS=1       every kernel and not every fourth (4)
WARPLOOM_FARM_KILLS=50        launches during which a worker is killed (2)
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from launch.kernels import INDEX, make, run
from sanitize.launches import LAUNCHES

import warploom as wl
from warploom.launch.api import Run, execute
from warploom.launch.explore import Exploration
from warploom.launch.launchfile import read_launch_file
from warploom.launch.prepare import prepare
from warploom.machine import execute as machine

WORKERS = os.environ.get("WARPLOOM_FARM_WORKERS", "0").split(",")
EVERY = int(os.environ.get("WARPLOOM_FARM_KERNELS", "6"))
KILLS = int(os.environ.get("WARPLOOM_FARM_KILLS", "2"))
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))

Launch = Callable[[Any], tuple[Run, list[bytes]]]


def _compiled(file: str) -> Launch:
    def launch(workers: Any) -> tuple[Run, list[bytes]]:
        problem = make(file, 0)
        return run(file, problem, "eager", workers), [problem.outside.tobytes()]

    return launch


def _example(path: Path) -> Launch:
    def launch(workers: Any) -> tuple[Run, list[bytes]]:
        file = read_launch_file(path)
        shape = file.geometry
        args, arrays = prepare(file.arguments, file.buffers, 1 << 30)
        done = execute(
            file.ptx, file.kernel, grid=shape.grid, block=shape.block, cluster=shape.cluster, shared=shape.shared,
            arch=shape.arch, args=args, schedule="lazy", workers=workers,
        )  # fmt: skip
        return done, [array.tobytes() for array in arrays.values()]

    return launch


def _handwritten(name: str, text: str) -> Launch:
    kernel = LAUNCHES[name]

    def launch(workers: Any) -> tuple[Run, list[bytes]]:
        args, arrays = kernel.make()
        done = wl.launch(
            text, grid=kernel.grid, block=kernel.block, cluster=kernel.cluster, args=args, workers=workers,
            sanitize=True,
        )  # fmt: skip
        return done, [array.tobytes() for array, _ in arrays]

    return launch


ALL: dict[str, Launch] = {
    **{file: _compiled(file) for file in INDEX},
    **{path.name: _example(path) for path in EXAMPLES},
    **{name: _handwritten(name, each.text) for name, each in LAUNCHES.items()},
    **{f"{name}, faulty": _handwritten(name, each.faulty) for name, each in LAUNCHES.items()},
}


@contextmanager
def fine(warps: int) -> Iterator[None]:
    """Grids are cut into waves of so many warps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "RESIDENT_WARPS", warps)
        patch.setattr(machine, "LEAST_WARPS", 1)
        yield


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("name", list(ALL)[::EVERY])
def test_a_launch_on_workers_is_what_it_is_alone(name: str, workers: str, scheduler: str) -> None:
    with fine(4):
        alone, left = ALL[name](1)
        spread, left_by_workers = ALL[name](scheduler if workers == "0" else f"dask:{workers}")
    assert left_by_workers == left
    assert [str(found) for found in spread.findings] == [str(found) for found in alone.findings]
    assert spread.stats.instructions == alone.stats.instructions
    assert spread.spread is not None
    shares = spread.spread.ledger.shares.values()
    assert sum(share.counts["CTAs"] for share in shares) == alone.stats.ctas or spread.spread.together


def test_a_worker_is_killed_at_random_moments() -> None:
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "killing.py"), str(KILLS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60 + 60 * KILLS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])},
    )
    assert done.stderr == ""
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[:3] for line in lines] == [[str(seed), "True", "True"] for seed in range(KILLS)]


@pytest.mark.parametrize("name", ["transformer_engine_3417", "cutlass_2418"])
def test_schedules_are_explored_by_workers_with_the_same_words(name: str, scheduler: str) -> None:
    kernel = LAUNCHES[name]

    def explored(workers: Any) -> Exploration:
        args, _ = kernel.make()
        return wl.explore(
            kernel.faulty, grid=kernel.grid, block=kernel.block, cluster=kernel.cluster, args=args, schedules=5,
            workers=workers,
        )  # fmt: skip

    alone, spread = explored(1), explored(scheduler)
    assert not spread.same
    assert str(spread.difference) == str(alone.difference)
    assert spread.failures == alone.failures
    assert list(map(str, spread.findings)) == list(map(str, alone.findings))
    assert spread.ledger is not None
    assert spread.ledger.done == 5
