"""Launches of Triton kernels by Triton's interpreter, for the benchmark `engines.py`.

An interpreter with Triton 3.9, NumPy and PyTorch executes this file. It reads a job as JSON data from standard input
and writes the seconds of processor time of each launch to standard output.
"""

# Triton and PyTorch are installed for this benchmark alone.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import os

os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab" / "src"))

import ml_dtypes
import numpy as np
import torch

MODULES = ("attention", "models", "rows")
SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
TORCH = {"bfloat16": torch.bfloat16, "float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2}

assert ml_dtypes  # the import makes its types known to NumPy


def main() -> None:
    """Launch the kernel several times and print the seconds of each launch."""
    job: dict[str, Any] = json.load(sys.stdin)
    torch.set_num_threads(1)
    request = next(
        request
        for module in MODULES
        for request in importlib.import_module(f"warploom_lab.compiled.triton.{module}").requests()
        if request["case"].name == job["name"]
    )
    with np.load(job["arrays"]) as stored:
        arrays = [stored[f"arr_{i}"] for i in range(len(job["dtypes"]))]
    print(json.dumps([seconds(job, request, arrays) for _ in range(job["times"])]))


def seconds(job: dict[str, Any], request: dict[str, Any], arrays: list[Any]) -> float:
    """Return the seconds of processor time of one launch."""
    tensors = [tensor(array.copy(), dtype) for array, dtype in zip(arrays, job["dtypes"], strict=True)]
    given = [tensors[spec["array"]] if "array" in spec else spec["value"] for spec in job["args"]]
    # The compiled kernel has two more parameters, which are addresses of scratch memory.
    names = [name for name in request["fn"].arg_names if name in request["case"].args]
    values = dict(zip(names, given[:-2], strict=True)) | request["constants"]
    start = time.process_time()
    request["fn"][tuple(job["grid"])](**values)
    return time.process_time() - start


def tensor(array: Any, dtype: str) -> Any:
    """Return a tensor with the bits of an array. PyTorch receives the types of ml_dtypes as integers."""
    if dtype in TORCH:
        return torch.from_numpy(array.view(SIGNED[array.itemsize])).view(TORCH[dtype])
    return torch.from_numpy(array.view(dtype))


if __name__ == "__main__":
    main()
