"""Launches on workers of a cluster have the results of one process, even if a worker is killed.

WARPLOOM_DASK_WORKERS=2,4     numbers of workers (2)
WARPLOOM_DASK_KERNELS=1       every kernel instead of every sixth (6)
WARPLOOM_DASK_KILLS=50        launches during which a worker is killed (2)
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from integrations.dask.launches import COMPILED, EXAMPLES, HANDWRITTEN, waves_of
from observe.sanitize.launches import LAUNCHES

import warploom as wl
from warploom.runtime.explore import Exploration

WORKERS = os.environ.get("WARPLOOM_DASK_WORKERS", "0").split(",")
EVERY = int(os.environ.get("WARPLOOM_DASK_KERNELS", "6"))
KILLS = int(os.environ.get("WARPLOOM_DASK_KILLS", "2"))
ALL = {**COMPILED, **EXAMPLES, **HANDWRITTEN}


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("name", list(ALL)[::EVERY])
def test_a_launch_on_workers_equals_one_in_one_process(name: str, workers: str, scheduler: str) -> None:
    schedule = "lazy" if name in EXAMPLES else "eager"
    with waves_of(4):
        alone, left = ALL[name](1, schedule)
        shared, left_by_workers = ALL[name](scheduler if workers == "0" else f"dask:{workers}", schedule)
    assert left_by_workers == left
    assert [str(found) for found in shared.findings] == [str(found) for found in alone.findings]
    assert shared.stats.instructions == alone.stats.instructions
    assert shared.distribution is not None
    shares = shared.distribution.report.workers.values()
    assert (
        sum(share.counts["CTAs"] for share in shares) == alone.stats.ctas
        or shared.distribution.single_worker_reason
    )


def test_a_worker_is_killed_at_random_moments() -> None:
    tests = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "kill_workers.py"), str(KILLS)],
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
def test_an_exploration_on_workers_equals_one_in_one_process(name: str, scheduler: str) -> None:
    kernel = LAUNCHES[name]

    def explored(workers: Any) -> Exploration:
        args, _ = kernel.make()
        return wl.explore(
            kernel.faulty, grid=kernel.grid, block=kernel.block, cluster=kernel.cluster, args=args, schedules=5,
            workers=workers,
        )  # fmt: skip

    alone, shared = explored(1), explored(scheduler)
    assert not shared.same
    assert str(shared.difference) == str(alone.difference)
    assert shared.failures == alone.failures
    assert list(map(str, shared.findings)) == list(map(str, alone.findings))
    assert shared.work_report is not None
    assert shared.work_report.done == 5
