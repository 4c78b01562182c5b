"""What sanitizing costs: the GEMMs of the corpus, plain and watched, in one run.

    python bench/sanitize.py [--size 512] [--repeat 3] [--only WORD]

Prints seconds of both and their ratio; the status is 1 when a ratio is above the bar.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from corpus_gemms import Gemm, corpus_gemms

BAR = 4.0  # times the plain run


def _best(act: Callable[[], object], repeat: int) -> float:
    act()  # compiles
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        act()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(gemm: Gemm, size: int, repeat: int) -> tuple[float, float]:
    """Seconds of the plain and of the watched run, both checked against float64."""
    a, b = gemm.operands(size)
    plain = _best(lambda: gemm.run(a, b, 1), repeat)
    watched = _best(lambda: gemm.run(a, b, 1, sanitize=True), repeat)
    gemm.check(a, b, gemm.run(a, b, 1, sanitize=True), "sanitized")
    return plain, watched


def main() -> int:
    """Measure every GEMM and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{'GEMM of ' + str(options.size):42} {'plain':>8} {'watched':>8} {'ratio':>6}")
    worst = 0.0
    for gemm in corpus_gemms(options.only):
        plain, watched = measure(gemm, options.size, options.repeat)
        worst = max(worst, watched / plain)
        print(f"{gemm.file:42} {plain:8.3f} {watched:8.3f} {watched / plain:6.2f}", flush=True)
    print(f"worst {worst:.2f}; the bar is {BAR}")
    return int(worst > BAR)


if __name__ == "__main__":
    sys.exit(main())
