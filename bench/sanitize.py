"""Compare the time of the corpus's GEMMs with and without the sanitizer, in one run.

    python bench/sanitize.py [--size 512] [--repeat 3] [--only WORD]

The table has the seconds of both runs and their ratio. The exit status is 1 if a ratio exceeds the limit.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from corpus_gemms import Gemm, corpus_gemms

LIMIT = 4.0  # largest allowed ratio


def _best(act: Callable[[], object], repeat: int) -> float:
    act()  # compiles the arithmetic
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(gemm: Gemm, size: int, repeat: int) -> tuple[float, float]:
    """Return the seconds of a plain and of a sanitized run, whose results are checked against float64."""
    a, b = gemm.operands(size)
    plain = _best(lambda: gemm.run(a, b, 1), repeat)
    watched = _best(lambda: gemm.run(a, b, 1, sanitize=True), repeat)
    gemm.check(a, b, gemm.run(a, b, 1, sanitize=True), "sanitized")
    return plain, watched


def main() -> int:
    """Time every GEMM, print a table, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{'GEMM of ' + str(options.size):42} {'plain':>8} {'sanitized':>9} {'ratio':>6}")
    worst = 0.0
    for gemm in corpus_gemms(options.only):
        plain, watched = measure(gemm, options.size, options.repeat)
        worst = max(worst, watched / plain)
        print(f"{gemm.file:42} {plain:8.3f} {watched:9.3f} {watched / plain:6.2f}", flush=True)
    print(f"largest ratio {worst:.2f}, limit {LIMIT}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
