"""Measure a debugger session: steps, movements backward, and runs with breakpoints that are never reached.

    python bench/debug.py [--schedule NAME] [--rounds N]

The launch is `examples/gemm_warp_specialised.toml` with 64 CTAs and matrices of 1024 x 1024. The breakpoints are at an
instruction that no warp executes, and at the multiplications, restricted to a warp that does not multiply, or to a lane
that does not exist. The exit status is 1 if the median step takes over 20 ms, if going back by 10,000 instructions
takes over 2 s, or if a session with one of these breakpoints takes over 1.2 times a plain run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from warploom.emulator.batch import Batch
from warploom.emulator.stops import Stops
from warploom.runtime import cpu
from warploom.runtime.api import load_launch
from warploom.runtime.debugging.focus import Filter
from warploom.runtime.debugging.session import DebugSession
from warploom.runtime.launchfile import read_launch_file

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
STEPS = 300
BACK = 10_000  # instructions
MOST_STEP, MOST_BACK, MOST_RUN = 0.020, 2.0, 1.2  # seconds, seconds, ratio


def enlarged(folder: str) -> Path:
    """Write a launch file with 64 CTAs into a folder, and return its path."""
    text = (EXAMPLES / "gemm_warp_specialised.toml").read_text()
    text = text.replace("[4, 4]", "[8, 8]").replace("512", "1024").replace("ptx/", f"{EXAMPLES}/ptx/")
    path = Path(folder) / "launch.toml"
    path.write_text(text)
    return path


def new_session(path: Path, schedule: str) -> DebugSession:
    """Return a session of the launch."""
    plan = read_launch_file(path)
    prepared, keys = plan.prepare(), plan.keywords
    loaded, geometry, arguments = load_launch(
        plan.ptx, plan.kernel, keys["grid"], keys["block"], keys["cluster"], keys["shared"], prepared.args
    )
    return DebugSession(cpu.prepare(loaded, geometry, arguments, keys["arch"], schedule), arguments)


def seconds(action: Callable[[], object]) -> float:
    """Return the time of a call."""
    began = perf_counter()
    action()
    return perf_counter() - began


def measured_steps(session: DebugSession) -> list[float]:
    """Return the times of steps in the middle of the launch, in ascending order."""
    session.goto("end")
    session.goto(session.start().number // 2)
    times: list[float] = []
    while len(times) < STEPS:
        times.append(seconds(session.step))
        if session.start().reason != "step":
            break
    return sorted(times)


class Seen(Stops):
    """Instructions that a launch executes."""

    def __init__(self, size: int) -> None:
        self.pcs = frozenset(range(size))
        self.found: set[int] = set()

    def reached(self, pc: int, batch: Batch) -> bool:
        """Record an instruction. Return False."""
        self.found.add(pc)
        return False


def unexecuted(session: DebugSession) -> int:
    """Return an instruction that no warp executes."""
    seen = Seen(len(session.program.steps))
    session.run(seen)
    return min(seen.pcs - seen.found)


def run_past(session: DebugSession, options: Mapping[str, Any]) -> None:
    """Run a whole session with a breakpoint that does not stop it."""
    session.break_at(**options)
    if session.resume().reason != "end":
        raise RuntimeError("a breakpoint has stopped the launch")
    session.close()


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedule", default="eager")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return measure(enlarged(folder), options.schedule, options.rounds)


def measure(path: Path, schedule: str, rounds: int) -> int:
    """Measure the launch of a file, print the results, and return the exit status."""
    new_session(path, schedule).close()  # loads and compiles functions
    plain: list[float] = []
    unused = unexecuted(new_session(path, schedule))
    breakpoints: dict[str, dict[str, Any]] = {
        "where no warp comes": {"where": f"pc {unused}"},
        "for a warp that does not multiply": {"where": "kind multiply", "within": Filter(warps=(7,))},
        "with a condition that is never true": {"where": "kind multiply", "condition": "lane == 32"},
    }
    stopping: dict[str, list[float]] = {name: [] for name in breakpoints}
    for _ in range(rounds):
        plain.append(seconds(new_session(path, schedule).close))
        for name, options in breakpoints.items():
            session = new_session(path, schedule)
            stopping[name].append(seconds(lambda session=session, options=options: run_past(session, options)))
    ratios = {name: median(times) / median(plain) for name, times in stopping.items()}
    session = new_session(path, schedule)
    times = measured_steps(session)
    session.goto("end")
    number = max(session.start().number - BACK, 0)
    back = seconds(lambda: session.goto(number))
    session.goto("end")
    step_back = seconds(session.reverse_resume)
    snapshots = session.history.snapshots
    print(f"schedule {schedule}: a plain run takes {median(plain):.2f} s")
    for name, ratio in ratios.items():
        print(f"with a breakpoint {name}: {ratio:.2f} times")
    print(f"step: median {1e3 * median(times):.1f} ms, 90 % below {1e3 * times[len(times) * 9 // 10]:.1f} ms")
    print(f"{BACK} instructions back: {back:.2f} s; back to the start without a breakpoint: {step_back:.2f} s")
    print(f"snapshots: {len(snapshots)}, {sum(each.nbytes for each in snapshots) >> 20} MiB")
    return int(median(times) > MOST_STEP or back > MOST_BACK or max(ratios.values()) > MOST_RUN)


if __name__ == "__main__":
    sys.exit(main())
