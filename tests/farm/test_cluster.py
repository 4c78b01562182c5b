"""Launches on workers that are processes: the same as alone, whoever is killed meanwhile.

WARPLOOM_FARM_WORKERS=2,4     numbers of workers (2)
WARPLOOM_FARM_KERNELS=1       every kernel and not every fourth (4)
WARPLOOM_FARM_KILLS=50        launches during which a worker is killed (2)
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from launch.kernels import INDEX, make, run
from sanitize.launches import LAUNCHES

import warploom as wl
from warploom.farm.crew import Crew
from warploom.launch.api import Run, execute
from warploom.launch.explore import Exploration
from warploom.launch.launchfile import read_launch_file
from warploom.launch.prepare import prepare
from warploom.machine import execute as machine

WORKERS = [int(text) for text in os.environ.get("WARPLOOM_FARM_WORKERS", "2").split(",")]
EVERY = int(os.environ.get("WARPLOOM_FARM_KERNELS", "4"))
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
def test_a_launch_on_workers_is_what_it_is_alone(name: str, workers: int) -> None:
    with fine(4):
        alone, left = ALL[name](1)
        spread, left_by_workers = ALL[name](f"dask:{workers}")
    assert left_by_workers == left
    assert [str(found) for found in spread.findings] == [str(found) for found in alone.findings]
    assert spread.stats.instructions == alone.stats.instructions
    assert spread.spread is not None
    shares = spread.spread.ledger.shares.values()
    assert sum(share.counts["CTAs"] for share in shares) == alone.stats.ctas or spread.spread.together


def _workers_of(crew: Crew) -> list[int]:
    return list(crew.client.run(os.getpid, on_error="ignore").values())


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_worker_is_killed_at_a_random_moment(seed: int) -> None:
    chance = random.Random(seed)
    launch = ALL["gemm_f16_nn_sm80.ptx"]
    with fine(4):
        alone, left = launch(1)
        with Crew("dask:2") as crew:
            victim = chance.choice(_workers_of(crew))
        started = time.monotonic()
        launch("dask:2")
        took = time.monotonic() - started
        killer = threading.Timer(chance.random() * took, os.kill, (victim, signal.SIGKILL))
        killer.start()
        spread, left_by_workers = launch("dask:2")
        killer.join()
    assert left_by_workers == left
    assert spread.stats.instructions == alone.stats.instructions
    assert spread.spread is not None
    ledger = spread.spread.ledger
    assert ledger.done == ledger.total
    assert sum(share.counts["CTAs"] for share in ledger.shares.values()) == alone.stats.ctas


@pytest.mark.parametrize("name", ["transformer_engine_3417", "cutlass_2418"])
def test_schedules_are_explored_by_workers_with_the_same_words(name: str) -> None:
    kernel = LAUNCHES[name]

    def explored(workers: Any) -> Exploration:
        args, _ = kernel.make()
        return wl.explore(
            kernel.faulty, grid=kernel.grid, block=kernel.block, cluster=kernel.cluster, args=args, schedules=5,
            workers=workers,
        )  # fmt: skip

    alone, spread = explored(1), explored("dask:2")
    assert not spread.same
    assert str(spread.difference) == str(alone.difference)
    assert spread.failures == alone.failures
    assert list(map(str, spread.findings)) == list(map(str, alone.findings))
    assert spread.ledger is not None
    assert spread.ledger.done == 5


def test_a_launch_may_be_asked_for_by_a_script_that_guards_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, warploom as wl\n"
        "from machine.texts import kernel\n"
        "out = np.zeros(32, np.uint32)\n"
        "wl.launch(kernel('st.global.u32 [%rd1], %r0;'), grid=1, block=32, args=[out], workers='dask:1')\n"
        "print(out.tolist() == list(range(32)))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "True\n"
    assert done.stderr == ""
