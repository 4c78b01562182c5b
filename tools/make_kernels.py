"""Make kernels that the project has never seen, with their launches and references; run them on the machine.

    python tools/make_kernels.py FOLDER [--triton-python PYTHON] [--run] [--sanitize] [WORD...]

nvcc 13.0 is taken from PATH; Triton 3.9 from the interpreter named, which needs neither a GPU nor NumPy.
Words pick kernels by parts of their names. With --run every kernel is launched under four schedules and
compared with its reference and with itself; with --sanitize it is run with the sanitizer under the eager
schedule, and any finding is a failure, but for kernels that are known to read sums too soon, which must be found.
Where a tool is missing the script says so, makes what the other can give, and ends with status 1.
"""

# This script calls compilers and prints.
# ruff: noqa: S603, T201

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

KERNELS = Path(__file__).resolve().parent / "kernels"


def main() -> int:
    """Make the kernels, and run them where that is asked for."""
    parser = argparse.ArgumentParser(description="Make kernels with their launches and references.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("words", nargs="*", help="parts of the names of the kernels wanted")
    parser.add_argument("--triton-python", default=sys.executable, help="interpreter that has Triton 3.9")
    parser.add_argument("--run", action="store_true", help="run them and compare")
    parser.add_argument(
        "--sanitize", action="store_true", help="run them with the sanitizer; no finding is right"
    )
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    folder = str(options.folder.resolve())
    status = 0
    asked = [options.triton_python, "-c", "import triton"]
    found = subprocess.run(asked, capture_output=True, check=False)
    if found.returncode == 0:
        command = [options.triton_python, str(KERNELS / "triton_build.py"), folder, *options.words]
        status |= subprocess.run(command, check=False).returncode
    else:
        print(f"Triton is missing from {options.triton_python}; use --triton-python")
        status = 1
    if shutil.which("nvcc"):
        status |= subprocess.run(
            [sys.executable, str(KERNELS / "cuda_build.py"), folder], check=False
        ).returncode
    else:
        print("nvcc is missing: put CUDA 13.0's bin folder on PATH for the CUDA kernels")
        status = 1
    run = [sys.executable, str(KERNELS / "run.py"), folder, *options.words]
    if options.run:
        status |= subprocess.run(run, check=False).returncode
    if options.sanitize:
        command = [*run, "--sanitize", "--schedules", "eager"]
        status |= subprocess.run(command, check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
