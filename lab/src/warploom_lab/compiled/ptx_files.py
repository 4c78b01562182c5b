"""PTX modules of nvcc and Triton without launches, compiled from the sources in `modules/`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from warploom_lab.compiled.build import has_triton

SOURCES = Path(__file__).resolve().parent / "modules"
VARIANTS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("sm_75", 75, ()),
    ("sm_80", 80, ("-lineinfo",)),
    ("sm_90a", 90, ()),
    ("sm_90", 90, ("-G",)),
    ("sm_100a", 100, ("-lineinfo", "-O1")),
    ("sm_120", 120, ("-rdc=true",)),
)
"""Target, compute capability and compiler options of each variant."""

_CAPABILITY = re.compile(r"// needs sm_(\d+)\n")


def write_modules(folder: Path, triton_python: str) -> int:
    """Compile every source into a folder. Return 1 if a compiler is missing, otherwise 0.

    `triton_python` is a Python interpreter with Triton.
    """
    status = 0
    count = 0
    if shutil.which("nvcc"):
        count += _compile_cuda(folder)
    else:
        print("nvcc is missing: put the bin folder of CUDA 13.0 on PATH", file=sys.stderr)
        status = 1
    if has_triton(triton_python):
        count += _compile_triton(folder, triton_python)
    else:
        print(f"{triton_python} has no Triton: name another interpreter with --triton-python", file=sys.stderr)
        status = 1
    print(f"{count} PTX files in {folder}")
    return status


def _compile_cuda(folder: Path) -> int:
    """Compile every CUDA source for its targets and return the number of files."""
    count = 0
    for source in sorted(SOURCES.glob("*.cu")):
        found = _CAPABILITY.match(source.read_text(encoding="utf-8"))
        assert found is not None
        for target, capability, options in VARIANTS:
            if capability >= int(found[1]):
                suffix = "".join(f"_{option.strip('-').replace('=', '_')}" for option in options)
                count += _nvcc(source, folder / f"nvcc_{source.stem}_{target}{suffix}.ptx", target, options)
    return count


def _nvcc(source: Path, output: Path, target: str, options: tuple[str, ...]) -> bool:
    command = ["nvcc", "-ptx", "-std=c++17", "-w", f"-arch={target}", *options, "-o", str(output), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"nvcc refuses {source.name} for {target}:\n{done.stderr}", file=sys.stderr)
    return done.returncode == 0


def _compile_triton(folder: Path, python: str) -> int:
    """Compile the Triton kernels and return the number of files."""
    command = [python, str(SOURCES / "triton_kernels.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{python} cannot compile the Triton kernels:\n{done.stderr}", file=sys.stderr)
    return len(list(folder.glob("triton_*.ptx")))
