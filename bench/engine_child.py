"""Launches of one kernel in a process of its own, for the benchmark `engines.py`.

The interpreter of a checkout of Warploom executes this file. It reads a job as JSON data from standard input and writes
one measurement for each launch to standard output. It uses only names of `warploom` that all versions have.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

assert ml_dtypes  # the import makes its types known to NumPy


def main() -> None:
    """Launch the kernel once for each entry of the job's `options`, and print the measurements."""
    job: dict[str, Any] = json.load(sys.stdin)
    with np.load(job["arrays"]) as stored:
        arrays = [stored[f"arr_{i}"].view(np.dtype(dtype)) for i, dtype in enumerate(job["dtypes"])]
    print(json.dumps([measure(job, arrays, options) for options in job["options"]]))


def measure(job: dict[str, Any], arrays: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Launch the kernel on copies of the arrays, and return times, counts and digests of the arrays.

    The first call in a process also imports Warploom.

    Units: `seconds` and `wall` are seconds of processor time and of elapsed time. `total` is the processor time since
        the start of the process.
    """
    copies = [array.copy() for array in arrays]
    cpu, wall = time.process_time(), time.perf_counter()
    import warploom as wl

    kernel = Path(job["path"]) if job["path"] else job["text"]
    args = [argument(wl, spec, copies) for spec in job["args"]]
    run = wl.launch(
        kernel, job["entry"], grid=job["grid"], block=job["block"], cluster=job["cluster"], shared=job["shared"],
        args=args, **options,
    )  # fmt: skip
    return {
        "seconds": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "total": time.process_time(),
        "instructions": sum(run.stats.instructions.values()),
        "findings": [finding.code for finding in run.findings],
        "digests": [hashlib.sha256(array.tobytes()).hexdigest() for array in copies],
    }


def argument(wl: Any, spec: dict[str, Any], arrays: list[Any]) -> object:
    """Return the argument of `launch` that a description of `engine_launches.describe` stands for."""
    if "tensor" in spec:
        return wl.TensorMap.tiled(arrays[spec["tensor"]], spec["box"], swizzle=spec["swizzle"])
    if "array" in spec:
        return arrays[spec["array"]]
    return np.dtype(spec["dtype"]).type(spec["value"]) if "dtype" in spec else spec["value"]


if __name__ == "__main__":
    main()
