"""GEMMs on two workers of Dask beside one worker, and beside this process alone, taking turns in one run.

    python bench/farm.py [--size 2048] [--rounds 5] [--only WORD]

Starting the workers is not counted. Results are compared byte for byte. Then what tasks and bytes cost is measured, and
the model of `farm_model.py` says what to expect of more workers. The exit status says whether two workers have at least
0.9 of the speed of two times one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from corpus_gemms import Gemm, corpus_gemms
from farm_model import Costs, Work, efficiency, predict, saturation
from mma import processor
from rich.console import Console
from rich.table import Table

from warploom.farm.crew import Crew
from warploom.farm.work import Tell, results

EFFICIENCY = 0.9
KERNELS = ("gemm_f16_nn_sm80", "gemm_f16_tma_hostdesc", "gluon_gemm_f16_ws")
SIDES: tuple[tuple[str, int | str], ...] = (("alone", 1), ("1 worker", "dask:1"), ("2 workers", "dask:2"))
MEGABYTES = 64
TASKS = 1000


def nothing(shared: Any, task: Any, tell: Tell) -> None:
    """A task that does nothing."""


def returned(shared: Any, task: int, tell: Tell) -> Any:
    """A task that returns so many bytes."""
    return np.ones(task, np.uint8)


def timed(call: Callable[[], Any]) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(gemm: Gemm, size: int, rounds: int) -> list[float]:
    """Median seconds of each side; raises AssertionError where a byte differs."""
    a, b = gemm.operands(size)
    expected = [gemm.run(a, b, workers).tobytes() for _, workers in SIDES]
    assert len(set(expected)) == 1, gemm.file
    spent: list[list[float]] = [[] for _ in SIDES]
    for _ in range(rounds):
        for side, (_, workers) in zip(spent, SIDES, strict=True):
            side.append(timed(lambda workers=workers: gemm.run(a, b, workers)))
    return [statistics.median(side) for side in spent]


def costs() -> Costs:
    """What tasks and bytes cost on two workers here."""
    with Crew("dask:2") as crew:
        list(results(crew, nothing, None, range(8)))
        handled = timed(lambda: list(results(crew, nothing, None, range(TASKS)))) / TASKS
        image = np.ones(MEGABYTES << 20, np.uint8)
        empty = min(timed(lambda: list(results(crew, nothing, None, [0]))) for _ in range(5))
        there = min(timed(lambda: list(results(crew, nothing, image, [0]))) for _ in range(5)) - empty
        back = min(timed(lambda: list(results(crew, returned, None, [len(image)]))) for _ in range(5)) - empty
    return Costs(empty, handled, 2 * len(image) / there, len(image) / back)  # it goes to both workers


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Time GEMMs on workers of Dask.")
    parser.add_argument("--size", type=int, default=2048, help="M, N and K, a multiple of 256")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", metavar="WORD", help="files with this word in their names")
    options = parser.parse_args()
    console = Console(width=130)
    for _, workers in SIDES[1:]:
        assert isinstance(workers, str)
        print(
            f"{workers} started in {timed(lambda workers=workers: Crew(workers).__exit__(None, None, None)):.1f} s"
        )
    cores = f"{len(os.sched_getaffinity(0))} cores of {processor()}"
    table = Table(title=f"{options.size} cubed, median seconds of {options.rounds} rounds ({cores})")
    for heading in ("kernel", *(name for name, _ in SIDES), "2 workers / 2 x 1 worker", "/ 2 x alone"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    chosen = [gemm for word in KERNELS for gemm in corpus_gemms(word) if options.only in gemm.file]
    reached: list[float] = []
    alone = one = 0.0
    for gemm in chosen:
        alone, one, two = compare(gemm, options.size, options.rounds)
        reached.append(one / 2 / two)
        cells = (alone, one, two, one / 2 / two, alone / 2 / two)
        table.add_row(gemm.file.removesuffix(".ptx"), *(f"{value:.2f}" for value in cells))
    console.print(table)
    found = costs()
    print(
        f"a task: {found.task * 1e3:.1f} ms from end to end, {found.handled * 1e3:.2f} ms each of many; "
        f"{found.there / 1e6:,.0f} MB/s there, {found.back / 1e6:,.0f} MB/s back"
    )
    console.print(predicted(found, one / 2))
    sys.exit(min(reached) < EFFICIENCY)


def predicted(found: Costs, wave: float) -> Table:
    """What the model says of larger launches, whose waves take as long as the last one's that was measured."""
    table = Table(title="predicted")
    for heading in (
        "launch",
        "workers",
        "seconds",
        "efficiency",
        "waits for the",
        "scheduler saturates at",
        "link at",
    ):
        table.add_column(heading, justify="right")
    for size in (2048, 16384, 65536):
        waves = max(2, (size // 128) ** 2 * 8 // 1024)
        work = Work(f"f16 GEMM, {size} x {size} x 2048", waves, wave, 2 * 2 * size * 2048, 2 * size**2)
        limits = saturation(found, work)
        for workers in (2, 8, 64, 1000):
            said = predict(found, work, workers)
            cells = (f"{said.seconds:,.1f}", f"{efficiency(found, work, workers):.2f}", said.bound)
            table.add_row(work.name, f"{workers:,}", *cells, *(f"{limit:,}" for limit in limits))
    return table


if __name__ == "__main__":
    main()
