"""Worker pools: reuse of a local cluster, its restart after a loss, and the levels of Dask's loggers."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from warploom.diagnostics import UsageError
from warploom.integrations.dask import worker_pool
from warploom.integrations.dask.worker_pool import WorkerPool

SCHEDULER_KILLED = """
import os
from warploom.integrations.dask import local_cluster, worker_pool
from warploom.integrations.dask.tasks import run_tasks

def process_id(shared, task, progress):
    return os.getpid()

for number in range(3):
    with worker_pool.WorkerPool("dask:1") as pool:
        found = list(run_tasks(pool, process_id, None, [number]))
        print(id(pool.client), found)
        if number == 1:
            local_cluster._clusters[1].cluster.scheduler.process.kill()
"""


def test_a_local_cluster_is_reused_and_restarted_after_its_scheduler_died() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCHEDULER_KILLED], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr == ""
    clients, workers = zip(*(line.split(" ", 1) for line in done.stdout.splitlines()), strict=True)
    assert clients[0] == clients[1]
    assert clients[1] != clients[2]
    assert all(worker.startswith("[(0, ") for worker in workers)
    assert workers[0].split(", ")[1] == workers[1].split(", ")[1] != workers[2].split(", ")[1]


def test_a_pool_restores_the_levels_of_the_loggers(scheduler: str) -> None:
    logger = logging.getLogger("distributed.client")
    logger.setLevel(logging.ERROR)
    with WorkerPool(scheduler):
        assert logger.level == logging.CRITICAL
    assert logger.level == logging.ERROR


def test_a_refused_pool_restores_the_levels_of_the_loggers(
    scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "ANSWER_TIMEOUT", 1.0)
    logger = logging.getLogger("distributed.client")
    logger.setLevel(logging.ERROR)
    with pytest.raises(UsageError, match="no scheduler with workers"):
        WorkerPool("tcp://127.0.0.1:1")
    assert logger.level == logging.ERROR
