"""Time `import warploom` in new processes and compare the median with a limit of 150 ms."""

from __future__ import annotations

import statistics
import subprocess
import sys

LIMIT_MS = 150.0
ROUNDS = 11
PROGRAM = "import time; t = time.perf_counter(); import warploom; print((time.perf_counter() - t) * 1e3)"


def measure() -> float:
    """Return the milliseconds of one import."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> int:
    """Print the median and the spread; return 1 if the median exceeds the limit, otherwise 0."""
    measure()  # writes the byte code, so that the rounds measure what a user sees from the second time on
    times = sorted(measure() for _ in range(ROUNDS))
    median = statistics.median(times)
    spread = f"{times[0]:.1f} to {times[-1]:.1f} ms in {ROUNDS} processes"
    print(f"import warploom: median {median:.1f} ms ({spread}), limit {LIMIT_MS:.0f} ms")
    return int(median > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
