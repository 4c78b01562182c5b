"""Compare the GEMM kernels of the corpus on the emulator with Triton's interpreter, in one run.

    python bench/end_to_end.py [--sizes 512 1024] [--rounds 5] [--workers 2] [--only WORD]

Each row runs a compiled kernel of `tests/corpus/` from its PTX text: parsing, linking and the whole grid. Triton's
interpreter runs a `tl.dot` kernel with the same blocks, which uses tensor descriptors if the compiled kernel uses
tensor maps. The runs alternate after a warm-up, and the median of the rounds counts. A run of more than half a minute
is timed once. Results are checked against float64.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import Any

from corpus_gemms import Array, Gemm, corpus_gemms
from mma import processor
from rich.console import Console
from rich.table import Table

LONG = 30.0  # seconds


def checked(gemm: Gemm, a: Array, b: Array, call: Callable[[], Array], who: str) -> float:
    """Return the seconds of a call, and compare its result with float64.

    Errors: AssertionError if an element is wrong.
    """
    start = time.perf_counter()
    c = call()
    seconds = time.perf_counter() - start
    gemm.check(a, b, c, who)
    return seconds


def medians(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Return the median seconds of each call.

    The calls alternate, so that other load on the host affects all of them.
    """
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, spent in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            spent.append(time.perf_counter() - start)
    return [statistics.median(spent) for spent in times]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time whole GEMM kernels, and compare with Triton's.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024], help="M, N and K, multiples of 256")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", metavar="WORD", help="files with this word in their names")
    options = parser.parse_args()
    compared = find_spec("triton") is not None and find_spec("torch") is not None
    other: Any = import_module("triton_gemm") if compared else None
    versions = f"; {other.VERSIONS}" if compared else ""
    cores = f"{len(os.sched_getaffinity(0))} cores of {processor()}"
    what = f"GEMM in M MAC/s, median of {options.rounds} rounds"
    table = Table(title=f"{what} ({cores}{versions})")
    for heading in ("kernel", "M = N = K", "Warploom", "seconds", "Triton's interpreter", "seconds", "ratio"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    for size, gemm in product(options.sizes, corpus_gemms(options.only)):
        a, b = gemm.operands(size)
        calls: list[Callable[[], Array]] = [lambda gemm=gemm, a=a, b=b: gemm.run(a, b, options.workers)]
        if compared:
            calls.append(
                lambda gemm=gemm, a=a, b=b: other.gemm(
                    a, b, gemm.types[2], gemm.transposed, gemm.blocks, gemm.by_tensors
                )
            )
        first = [checked(gemm, a, b, call, who) for who, call in zip(("Warploom", "Triton"), calls, strict=False)]
        short = [call for call, spent in zip(calls, first, strict=True) if spent <= LONG]
        again = iter(medians(short, options.rounds))
        spent = [seconds if seconds > LONG else next(again) for seconds in first]
        cells = [cell for s in spent for cell in (f"{size**3 / s / 1e6:,.0f}", f"{s:.3f}")]
        name = gemm.file.removesuffix(".ptx")
        table.add_row(name, str(size), *cells, f"{spent[1] / spent[0]:.1f}" if compared else "")
    Console(width=130).print(table)
    if not compared:
        print("For Triton's columns: uv run --with triton --with torch python bench/end_to_end.py")


if __name__ == "__main__":
    main()
