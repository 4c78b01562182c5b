"""Script that kills a worker during each of several launches: `python kill_workers.py TIMES`.

It prints a line for each launch: the seed, True if the results equal those of one process, True if each CTA ran once,
and how many tasks were restarted and resubmitted. The script has no guard against being imported.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time

from runtime.kernels import make, run

from warploom.emulator import waves
from warploom.integrations.dask.worker_pool import WorkerPool
from warploom.runtime.api import Run

KERNEL = "gemm_f16_nn_sm80.ptx"
waves.RESIDENT_WARPS, waves.LEAST_WARPS = 4, 1  # one wave for each CTA


def launch(workers: int | str) -> tuple[bytes, Run]:
    """Return the bytes of the results and the run."""
    problem = make(KERNEL, 0)
    done = run(KERNEL, problem, "eager", workers)
    return problem.outside.tobytes(), done


expected, alone = launch(1)
launch("dask:2")
for seed in range(int(sys.argv[1])):
    chance = random.Random(seed)
    with WorkerPool("dask:2") as pool:
        pool.client.wait_for_workers(2)  # the nanny takes some seconds to restart a killed worker
        victim = chance.choice(list(pool.client.run(os.getpid, on_error="ignore").values()))
    started = time.monotonic()
    launch("dask:2")
    killer = threading.Timer(chance.random() * (time.monotonic() - started), os.kill, (victim, signal.SIGKILL))
    killer.start()
    left, done = launch("dask:2")
    killer.join()
    assert done.distribution is not None
    report = done.distribution.report
    counted = sum(share.counts["CTAs"] for share in report.workers.values())
    same = left == expected and done.stats.instructions == alone.stats.instructions
    once = report.done == report.total and counted == alone.stats.ctas
    sys.stdout.write(f"{seed} {same} {once} {report.restarted} {report.resubmissions}\n")
    sys.stdout.flush()
