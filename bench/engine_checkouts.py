"""Runs of launches with different checkouts of Warploom, for the benchmark `engines.py`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from engine_launches import Launch

CHILD = Path(__file__).parent / "engine_child.py"
T = TypeVar("T")


class RunError(Exception):
    """Failure of a launch. The message is the last line of the process's error output."""


@dataclass(frozen=True)
class Measured:
    """Measurement of one launch.

    Units: `seconds` and `wall` are seconds of processor time of all threads and of elapsed time; `total` is the
        processor time since the start of the process; `instructions` are warp instructions.
    """

    seconds: float
    wall: float
    total: float
    instructions: int
    findings: list[str]
    digests: list[str]

    @staticmethod
    def shortest(runs: Sequence[Measured]) -> Measured:
        """Return a measurement with the shortest times of several launches."""
        times = {name: min(getattr(run, name) for run in runs) for name in ("seconds", "wall", "total")}
        return replace(runs[0], **times)


@dataclass(frozen=True)
class Checkout:
    """Checkout of Warploom with a virtual environment in `.venv`."""

    name: str
    path: Path

    @property
    def python(self) -> Path:
        """Interpreter that imports this checkout."""
        return self.path / ".venv" / "bin" / "python"

    def environment(self, cache: Path, threads: int = 1) -> dict[str, str]:
        """Return the environment of a process with the cache folder `cache` and at most `threads` threads.

        Python stores compiled modules, so that only the first process compiles them.
        """
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return inherited | {"WARPLOOM_CACHE": str(cache)} | dict.fromkeys(names, str(threads))

    def run(self, stored: StoredLaunch, cache: Path, options: Sequence[dict[str, Any]]) -> list[Measured]:
        """Launch a kernel in a new process, once for each entry of `options`.

        An entry contains keyword arguments of `wl.launch`.

            Errors: RunError.
        """
        threads = max(option.get("workers", 1) for option in options)
        job = stored.job | {"options": options}
        values = run_child([self.python, CHILD], job, self.environment(cache, threads), self.name)
        return [Measured(**each) for each in values]


@dataclass(frozen=True)
class StoredLaunch:
    """Launch whose arrays are in a file."""

    launch: Launch
    job: dict[str, Any]

    @staticmethod
    def store(launch: Launch, folder: Path) -> StoredLaunch:
        """Write the arrays of a launch into a folder."""
        path = folder / f"{launch.name}.npz"
        np.savez(path, *(array.view(f"u{array.itemsize}") for array in launch.arrays))
        return StoredLaunch(launch, launch.describe() | {"arrays": str(path)})

    def difference(self, one: Measured, other: Measured) -> str:
        """Return a message about the arrays whose bits differ between two measurements, or ""."""
        loose = self.launch.loose_arrays()
        pairs = enumerate(zip(one.digests, other.digests, strict=True))
        wrong = [str(i) for i, (left, right) in pairs if left != right and i not in loose]
        return f"{self.launch.name}: the bits of array {', '.join(wrong)} differ" if wrong else ""


def run_child(command: Sequence[Path], job: dict[str, Any], environment: dict[str, str], name: str) -> Any:
    """Pass a job to a process as JSON data, and return the JSON data in the last line of its output.

    Errors: RunError, which starts with `name`, if the process fails.
    """
    done = subprocess.run(command, input=json.dumps(job), text=True, capture_output=True, check=False, env=environment)
    if done.returncode:
        raise RunError(f"{name}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def alternate(rounds: int, calls: Sequence[Callable[[], T]]) -> list[list[T]]:
    """Return the results of each call. The calls take turns, so that other load affects all of them."""
    results: list[list[T]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, found in zip(calls, results, strict=True):
            found.append(call())
    return results
