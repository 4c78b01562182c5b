"""Crews: a cluster that was started here is kept, as long as it lives; Dask's own words are back afterwards."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from warploom.diagnostics import UsageError
from warploom.integrations.dask import worker_pool
from warploom.integrations.dask.worker_pool import WorkerPool

KILLED = """
import os
from warploom.integrations.dask import worker_pool
from warploom.integrations.dask.tasks import run_tasks

def whose(shared, task, tell):
    return os.getpid()

for number in range(3):
    with worker_pool.WorkerPool("dask:1") as called:
        found = list(run_tasks(called, whose, None, [number]))
        print(id(called.client), found)
        if number == 1:
            worker_pool._locals[1].cluster.scheduler.process.kill()
"""


def test_a_cluster_here_is_kept_and_another_one_started_where_it_is_gone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stderr == ""
    clients, workers = zip(*(line.split(" ", 1) for line in done.stdout.splitlines()), strict=True)
    assert clients[0] == clients[1]
    assert clients[1] != clients[2]
    assert all(worker.startswith("[(0, ") for worker in workers)
    assert workers[0].split(", ")[1] == workers[1].split(", ")[1] != workers[2].split(", ")[1]


def test_dask_says_afterwards_what_it_said_before(scheduler: str) -> None:
    logger = logging.getLogger("distributed.client")
    logger.setLevel(logging.ERROR)
    with WorkerPool(scheduler):
        assert logger.level == logging.CRITICAL
    assert logger.level == logging.ERROR


def test_a_crew_that_is_refused_leaves_dask_as_it_was(
    scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "ANSWER", 1.0)
    logger = logging.getLogger("distributed.client")
    logger.setLevel(logging.ERROR)
    with pytest.raises(UsageError, match="no scheduler with workers"):
        WorkerPool("tcp://127.0.0.1:1")
    assert logger.level == logging.ERROR
