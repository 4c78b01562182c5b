"""Compare random multiplications in tensor memory with the NumPy model.

python tests/emulator/tcgen05_random.py [--cases 20000] [--first 0]

The command runs batches of multiplications with the same modifiers, each under one of three schedules. It prints every
difference, and exits with status 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from emulator.tcgen05_cases import MODIFIERS, mismatches

BATCH = 32
SCHEDULES = ("eager", "lazy", "random:1")


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--first", type=int, default=0, help="number of the first batch")
    options = parser.parse_args()
    began, wrong, done = time.monotonic(), 0, 0
    for seed in range(options.first, options.first + -(-options.cases // BATCH)):
        found = mismatches(seed, BATCH, schedule=SCHEDULES[seed // len(MODIFIERS) % len(SCHEDULES)])
        wrong += len(found)
        done += BATCH
        for each in found:
            say(each)
        if seed % len(MODIFIERS) == 0:
            say(f"{done} cases, {wrong} differ, {time.monotonic() - began:.0f} s")
    say(f"{done} cases, {wrong} differ from the NumPy model")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
