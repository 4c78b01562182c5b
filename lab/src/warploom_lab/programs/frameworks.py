"""Runs of the examples of Python frameworks, on a GPU and on the emulator.

    PYTHONPATH=lab/src:src python3 -m warploom_lab.programs.frameworks --record FILE

The runs on a GPU need only Python's standard library and the frameworks.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path("examples/frameworks")


class Example(NamedTuple):
    """Example with its arguments, and the packages that it needs."""

    name: str
    arguments: tuple[str, ...]
    packages: tuple[str, ...]

    @property
    def title(self) -> str:
        """Name and arguments."""
        return " ".join((self.name, *self.arguments))

    @property
    def command(self) -> list[str]:
        """Command that runs the example in the root of the repository."""
        return [sys.executable, str(FOLDER / f"{self.name}.py"), *self.arguments]


EXAMPLES = (
    Example("cuda_bindings_transpose", ("cubin",), ("cuda.bindings",)),
    Example("cuda_bindings_transpose", ("ptx",), ("cuda.bindings",)),
    Example("cuda_core_saxpy", ("cubin",), ("cuda.core",)),
    Example("cuda_core_saxpy", ("ptx",), ("cuda.core",)),
    Example("cupy_raw_kernels", (), ("cupy",)),
    Example("numba_cuda_matmul", (), ("numba_cuda",)),
    Example("pytorch_extension", (), ("torch", "ninja")),
    Example("pytorch_triton", (), ("torch", "triton")),
    Example("triton_with_cupy", (), ("triton", "cupy")),
)

_PACKAGES = ("cuda-bindings", "cuda-core", "cupy-cuda13x", "numba-cuda", "nvidia-nvjitlink", "torch", "triton")

_WORKERS = 4


class Outcome(NamedTuple):
    """Result of a run."""

    status: int
    output: str
    errors: str


def run_on_gpu(example: Example) -> Outcome:
    """Run an example without Warploom."""
    return _run(example.command)


def run_on_emulator(example: Example) -> Outcome:
    """Run an example with `warploom exec`."""
    return _run([sys.executable, "-m", "warploom", "exec", "--", *example.command])


def _run(command: list[str]) -> Outcome:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


_PLACES = {"gpu": run_on_gpu, "emulator": run_on_emulator}


def source_digest(example: Example) -> str:
    """Return the SHA-256 digest of the file of an example."""
    return hashlib.sha256((FOLDER / f"{example.name}.py").read_bytes()).hexdigest()


def record(report: Callable[[str], object]) -> dict[str, Any]:
    """Run all examples on the GPU and on the emulator, and return a record of the outcomes.

    `report` is called with a line about each run.
    """
    found: dict[str, Any] = {each.title: {"sha256": source_digest(each)} for each in EXAMPLES}
    runs = [(each, place) for each in EXAMPLES for place in _PLACES]
    with ThreadPoolExecutor(_WORKERS) as pool:
        outcomes = [pool.submit(_PLACES[place], each) for each, place in runs]
        for (example, place), each in zip(runs, outcomes, strict=True):
            outcome = each.result()
            found[example.title][place] = [outcome.status, outcome.output]
            report(f"{example.title}, {place}: {outcome.status}, {outcome.output.strip()}")
            if outcome.status:
                report(outcome.errors[-2000:])
    return {"device": _device(), "python": sys.version.split()[0], "packages": _versions(), "examples": found}


def _versions() -> dict[str, str]:
    installed = {each.name: each.version for each in metadata.distributions()}
    return {name: installed.get(name, "") for name in _PACKAGES}


def _device() -> str:
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Write the record, and return 0 if all runs succeed with equal outputs on the GPU and on the emulator."""
    parser = argparse.ArgumentParser(description="Run the examples of Python frameworks on a GPU and on the emulator.")
    parser.add_argument("--record", metavar="FILE", type=Path, required=True, help="write the outcomes to this file")
    options = parser.parse_args()
    found = record(print)
    options.record.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    rows = found["examples"].values()
    return 0 if all(each["gpu"] == each["emulator"] and each["gpu"][0] == 0 for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
