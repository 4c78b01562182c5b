"""Compilation of the Triton, Gluon and CUDA kernels that have launches."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_PACKAGES = Path(__file__).resolve().parents[2]


def has_triton(python: str) -> bool:
    """Return True if the Python interpreter can import Triton."""
    done = subprocess.run([python, "-c", "import triton"], capture_output=True, check=False)
    return done.returncode == 0


def build(folder: Path, triton_python: str, words: Sequence[str]) -> int:
    """Compile the kernels into a folder. Return 1 if a kernel or compiler fails, otherwise 0.

    `words` selects the Triton kernels by parts of their names. `triton_python` is a Python interpreter with Triton.
    """
    status = 0
    if has_triton(triton_python):
        command = [triton_python, "-m", "warploom_lab.compiled.triton.build", str(folder), *words]
        environment = os.environ | {"PYTHONPATH": str(_PACKAGES)}
        status |= subprocess.run(command, env=environment, check=False).returncode
    else:
        print(f"{triton_python} has no Triton: name another interpreter with --triton-python", file=sys.stderr)
        status = 1
    if shutil.which("nvcc"):
        from warploom_lab.compiled.cuda.build import build as build_cuda

        print(f"{build_cuda(folder)} CUDA kernels")
    else:
        print("nvcc is missing: put the bin folder of CUDA 13.0 on PATH", file=sys.stderr)
        status = 1
    return status
