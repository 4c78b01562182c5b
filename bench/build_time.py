"""Time the construction of the first two kernels of a process, in new processes.

    python bench/build_time.py [--rounds 15]

To construct a kernel is to run its Python function, which checks each instruction, and to format the PTX. The exit
status is 1 if the median for the first GEMM kernel exceeds 60 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from itertools import pairwise
from time import perf_counter, process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warploom.author import Kernel

LIMIT_MS = 60.0
STEPS = "imports", "first kernel", "second kernel"
NAMES = "gemm", "attention", "attention backward"


def kernels(name: str) -> list[Kernel]:
    """Return two Hopper kernels for bf16 with different plans."""
    if name == "gemm":
        from warploom.kernels.hopper.kernel_of import kernel_of
        from warploom.kernels.hopper.plan import Plan, Tile

        return [kernel_of(Plan(tile=tile)) for tile in (Tile(128, 256), Tile(64, 256, pingpong=True))]
    if name == "attention":
        from warploom.kernels.hopper.attention import attention
        from warploom.kernels.hopper.attention_plan import plan_for

        return [attention.at(plan=plan_for("bf16", 128, 128, 8192, right=causal)) for causal in (True, False)]
    from warploom.kernels.hopper.backward import attention_backward
    from warploom.kernels.hopper.backward_plan import plan_for as backward_plan_for

    return [attention_backward.at(plan=backward_plan_for("bf16", 128, right=causal)) for causal in (True, False)]


def measure(name: str) -> list[tuple[float, float]]:
    """Return the elapsed time and the processor time of each step in this process. Units: ms."""
    clocks = [(perf_counter(), process_time())]
    made = kernels(name)
    clocks.append((perf_counter(), process_time()))
    for each in made:
        assert each.text
        clocks.append((perf_counter(), process_time()))
    return [
        ((elapsed - start) * 1e3, (processor - before) * 1e3)
        for (start, before), (elapsed, processor) in pairwise(clocks)
    ]


def main() -> int:
    """Print the times of each kernel; return 1 if the first GEMM kernel takes too long, otherwise 0."""
    parser = argparse.ArgumentParser(description="Time the construction of kernels in new processes.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--child", choices=NAMES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child)))
        return 0
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    first_gemm = 0.0
    for name in NAMES:
        command = [sys.executable, __file__, "--child", name]
        rounds = [
            json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=settings).stdout)
            for _ in range(options.rounds + 1)
        ][1:]  # the first process writes the byte code
        for step, times in zip(STEPS, zip(*rounds), strict=True):
            elapsed, processor = (sorted(each) for each in zip(*times))
            median = statistics.median(elapsed)
            print(
                f"{name}, {step}: median {median:.1f} ms, minimum {elapsed[0]:.1f} ms,"
                f" minimum of processor time {processor[0]:.1f} ms"
            )
            if (name, step) == (NAMES[0], STEPS[1]):
                first_gemm = median
    print(f"limit of the first GEMM kernel: {LIMIT_MS:.0f} ms")
    return int(first_gemm > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
