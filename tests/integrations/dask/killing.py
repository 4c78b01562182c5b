"""Launches during each of which a worker is killed: `python killing.py TIMES`, a script that guards nothing.

Prints a line for each: whether the bytes and counts are those of a launch alone, and what was begun again.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time

from runtime.kernels import make, run

from warploom.emulator import execute
from warploom.integrations.dask.worker_pool import WorkerPool
from warploom.runtime.api import Run

KERNEL = "gemm_f16_nn_sm80.ptx"
execute.RESIDENT_WARPS, execute.LEAST_WARPS = 4, 1  # a wave for each CTA, of which there are some


def launched(workers: int | str) -> tuple[bytes, Run]:
    """What a launch leaves."""
    problem = make(KERNEL, 0)
    done = run(KERNEL, problem, "eager", workers)
    return problem.outside.tobytes(), done


expected, alone = launched(1)
launched("dask:2")
for seed in range(int(sys.argv[1])):
    chance = random.Random(seed)
    with WorkerPool("dask:2") as crew:
        crew.client.wait_for_workers(2)  # one is there again some seconds after it was killed
        victim = chance.choice(list(crew.client.run(os.getpid, on_error="ignore").values()))
    started = time.monotonic()
    launched("dask:2")
    killer = threading.Timer(
        chance.random() * (time.monotonic() - started), os.kill, (victim, signal.SIGKILL)
    )
    killer.start()
    left, done = launched("dask:2")
    killer.join()
    assert done.distribution is not None
    report = done.distribution.report
    counted = sum(share.counts["CTAs"] for share in report.workers.values())
    same = left == expected and done.stats.instructions == alone.stats.instructions
    once = report.done == report.total and counted == alone.stats.ctas
    sys.stdout.write(f"{seed} {same} {once} {report.restarted} {report.resubmissions}\n")
    sys.stdout.flush()
