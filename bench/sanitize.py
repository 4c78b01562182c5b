"""Compare the time of GEMMs and attention kernels of the corpus with and without the sanitizer.

    python bench/sanitize.py [--size 512] [--repeat 3] [--only WORD]

The table has the seconds of processor time of both runs and their ratio. The exit status is 1 if a ratio exceeds the
limit.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

from corpus_attention import corpus_attention
from corpus_gemms import corpus_gemms

LIMIT = 3.0  # largest allowed ratio
Run = Callable[..., object]  # with the argument `sanitize`


def _seconds(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def measure(run: Run, repeat: int) -> tuple[float, float]:
    """Return the seconds of a plain and of a sanitized run: the best of several alternations."""
    run(sanitize=False)  # compiles the arithmetic
    pairs = [(_seconds(lambda: run(sanitize=False)), _seconds(lambda: run(sanitize=True))) for _ in range(repeat)]
    plain, watched = zip(*pairs, strict=True)
    return min(plain), min(watched)


def checked_runs(word: str, size: int) -> Iterator[tuple[str, Run]]:
    """Yield the file and a run of each kernel, after a check of a sanitized result against float64."""
    for gemm in corpus_gemms(word):
        a, b = gemm.operands(size)
        gemm.check(a, b, gemm.run(a, b, 1, sanitize=True), "sanitized")
        yield gemm.file, partial(gemm.run, a, b, 1)
    for attention in corpus_attention(word):
        q, k, v = attention.operands(size)
        attention.check(q, k, v, attention.run(q, k, v, 1, sanitize=True), "sanitized")
        yield attention.file, partial(attention.run, q, k, v, 1)


def main() -> int:
    """Time every kernel, print a table, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"{'kernel, size ' + str(options.size):42} {'plain':>8} {'sanitized':>9} {'ratio':>6}")
    worst = 0.0
    for file, run in checked_runs(options.only, options.size):
        plain, watched = measure(run, options.repeat)
        worst = max(worst, watched / plain)
        print(f"{file:42} {plain:8.3f} {watched:9.3f} {watched / plain:6.2f}", flush=True)
    print(f"largest ratio {worst:.2f}, limit {LIMIT}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
