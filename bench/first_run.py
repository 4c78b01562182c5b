"""Time `warploom run` from start to end in new processes: the first run and later runs.

    python bench/first_run.py [LAUNCH.toml] [--rounds 5]

The first run compiles the arithmetic into an empty cache folder. The later runs load it from there, and their median
counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "gemm_warp_specialised.toml"


def seconds(launch_file: Path, cache: str) -> float:
    """Return the seconds of one run, including imports. `cache` is the folder of all caches."""
    settings = os.environ | {"WARPLOOM_CACHE": cache, "NUMBA_CACHE_DIR": cache}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)  # Python loads its byte code, as in the processes of a user
    start = time.perf_counter()
    command = [sys.executable, "-m", "warploom", "run", str(launch_file)]
    subprocess.run(command, check=True, env=settings, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Print the seconds of the first run and the median of the later runs."""
    parser = argparse.ArgumentParser(description="Time the first and later runs of a launch file.")
    parser.add_argument("launch_file", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        first = seconds(options.launch_file, cache)
        later = sorted(seconds(options.launch_file, cache) for _ in range(options.rounds))
    print(
        f"{options.launch_file.name}: first run {first:.1f} s, then {statistics.median(later):.2f} s"
        f" ({later[0]:.2f} to {later[-1]:.2f} s in {options.rounds} processes)"
    )


if __name__ == "__main__":
    main()
