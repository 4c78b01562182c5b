"""Compare the time of GEMMs on one and on two Dask workers with the time in this process.

    python bench/dask_scaling.py [--size 2048] [--rounds 5] [--seconds 60] [--only WORD]

The runs alternate. The start of the workers is not counted. Two independent processes that each run the whole GEMM at
the same time show the limit of the host, which is less than 1 on a shared host. Results are compared byte for byte.
Then the cost of tasks and bytes is measured, and `dask_model.py` predicts the time with more workers. The exit status
is 0 if two workers reach at least 0.9 of twice the speed of one worker.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from corpus_gemms import Array, Gemm, corpus_gemms
from dask_model import Costs, Work, efficiency, predict, saturation
from mma import processor
from rich.console import Console
from rich.table import Table

from warploom.integrations.dask.tasks import ProgressCallback, run_tasks
from warploom.integrations.dask.worker_pool import WorkerPool

EFFICIENCY = 0.9
KERNELS = ("gemm_f16_nn_sm80", "gemm_f16_tma_hostdesc", "gluon_gemm_f16_ws")
SIDES: tuple[tuple[str, int | str], ...] = (("alone", 1), ("1 worker", "dask:1"), ("2 workers", "dask:2"))
MEGABYTES = 64
TASKS = 1000


def do_nothing(shared: Any, task: Any, progress: ProgressCallback) -> None:
    """Do nothing, as a task of which only the overhead is measured."""


def return_bytes(shared: Any, task: int, progress: ProgressCallback) -> Any:
    """Return an array of `task` bytes, as a task of which only the transfer is measured."""
    return np.ones(task, np.uint8)


def timed(call: Callable[[], Any]) -> float:
    """Return the seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@dataclass(frozen=True)
class Times:
    """Median times of one GEMM.

    `both` is the time of two independent processes that run at the same time.

    Units: seconds.
    """

    rounds: int
    alone: float
    one: float
    two: float
    both: float

    @property
    def reached(self) -> float:
        """Speed of two workers, divided by twice the speed of one worker."""
        return self.one / 2 / self.two

    @property
    def limit(self) -> float:
        """Speed of two independent processes, divided by twice the speed of one process."""
        return self.alone / self.both


def run_alone(gemm: Gemm, size: int) -> None:
    """Run a GEMM in a separate process, which keeps the operands for later runs."""
    gemm.run(*operands(gemm, size), 1)


@cache
def operands(gemm: Gemm, size: int) -> tuple[Array, Array]:
    """Return A and B, created once in each process."""
    return gemm.operands(size)


def compare(gemm: Gemm, size: int, rounds: int, seconds: float) -> Times:
    """Time all kinds of runs alternately, for at least the given rounds and seconds.

    Errors: AssertionError if a byte of the results differs.
    """
    a, b = operands(gemm, size)
    expected = [gemm.run(a, b, workers).tobytes() for _, workers in SIDES]
    assert len(set(expected)) == 1, gemm.file
    spent: list[list[float]] = [[] for _ in (*SIDES, "both")]
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:

        def both() -> None:
            list(processes.map(run_alone, [gemm] * 2, [size] * 2))

        both()
        sides = [partial(gemm.run, a, b, workers) for _, workers in SIDES]
        while len(spent[0]) < rounds or sum(map(sum, spent)) < seconds:
            for times, side in zip(spent, (*sides, both), strict=True):
                times.append(timed(side))
    return Times(len(spent[0]), *map(statistics.median, spent))


def costs() -> Costs:
    """Measure the costs of tasks and bytes on two workers that are reached through their scheduler."""
    with WorkerPool("dask:2") as local:
        address = local.client.scheduler.address
    with WorkerPool(address) as pool:
        list(run_tasks(pool, do_nothing, None, range(8)))
        handled = timed(lambda: list(run_tasks(pool, do_nothing, None, range(TASKS)))) / TASKS
        image = np.ones(MEGABYTES << 20, np.uint8)
        empty = min(timed(lambda: list(run_tasks(pool, do_nothing, None, [0]))) for _ in range(5))
        there = min(timed(lambda: list(run_tasks(pool, do_nothing, image, [0]))) for _ in range(5)) - empty
        back = min(timed(lambda: list(run_tasks(pool, return_bytes, None, [len(image)]))) for _ in range(5)) - empty
    return Costs(empty, handled, 2 * len(image) / there, len(image) / back)  # both workers receive it


def main() -> None:
    """Print the tables and set the exit status."""
    parser = argparse.ArgumentParser(description="Time GEMMs on workers of Dask.")
    parser.add_argument("--size", type=int, default=2048, help="M, N and K, a multiple of 256")
    parser.add_argument("--rounds", type=int, default=5, help="the least for each kernel")
    parser.add_argument("--seconds", type=float, default=60, help="for each kernel, at least")
    parser.add_argument("--only", default="", metavar="WORD", help="files with this word in their names")
    options = parser.parse_args()
    console = Console(width=130)
    for _, workers in SIDES[1:]:
        assert isinstance(workers, str)
        print(f"{workers} started in {timed(partial(WorkerPool, workers)):.1f} s")
    cores = f"{len(os.sched_getaffinity(0))} cores of {processor()}"
    table = Table(title=f"{options.size} cubed, median seconds ({cores})")
    for heading in ("kernel", "rounds", *(name for name, _ in SIDES), "2 workers / 2 x 1 worker", "2 processes / 1"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    chosen = [gemm for word in KERNELS for gemm in corpus_gemms(word) if options.only in gemm.file]
    found = {gemm.file: compare(gemm, options.size, options.rounds, options.seconds) for gemm in chosen}
    for file, spent in found.items():
        cells = (spent.alone, spent.one, spent.two, spent.reached, spent.limit)
        table.add_row(file.removesuffix(".ptx"), str(spent.rounds), *(f"{value:.2f}" for value in cells))
    console.print(table)
    cost = costs()
    print(
        f"a task: {cost.task * 1e3:.1f} ms from end to end, {cost.handled * 1e3:.2f} ms each of many; "
        f"{cost.there / 1e6:,.0f} MB/s there, {cost.back / 1e6:,.0f} MB/s back"
    )
    console.print(predicted(cost, next(reversed(found.values())).one / 2))
    sys.exit(min(spent.reached for spent in found.values()) < EFFICIENCY)


def predicted(found: Costs, wave: float) -> Table:
    """Return the table of predictions for larger launches with waves of `wave` seconds."""
    table = Table(title="predicted")
    for heading in ("launch", "workers", "seconds", "efficiency", "waits for the", "scheduler saturates at", "link at"):
        table.add_column(heading, justify="right")
    for size in (2048, 16384, 65536):
        waves = max(2, (size // 128) ** 2 * 8 // 1024)
        work = Work(f"f16 GEMM, {size} x {size} x 2048", waves, wave, 2 * 2 * size * 2048, 2 * size**2)
        limits = saturation(found, work)
        for workers in (2, 8, 64, 1000):
            prediction = predict(found, work, workers)
            cells = (f"{prediction.seconds:,.1f}", f"{efficiency(found, work, workers):.2f}", prediction.bound)
            table.add_row(work.name, f"{workers:,}", *cells, *(f"{limit:,}" for limit in limits))
    return table


if __name__ == "__main__":
    main()
