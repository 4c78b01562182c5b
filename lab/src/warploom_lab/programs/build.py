"""Compilation of public programs with nvcc, and of the library that replaces the CUDA runtime."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from warploom.diagnostics import UsageError
from warploom_lab.programs.catalog import Program

_HERE = Path(__file__).parent
_FLAGS = (
    "-std=c++20", "-O3", "-lineinfo", "-DNDEBUG", "-gencode", "arch=compute_90a,code=compute_90a",
    "--compress-mode=none", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-w",
)  # fmt: skip
_LIBRARY = ("-shared", "-cudart", "none", "-Xcompiler", "-fPIC")


def build_runtime(folder: Path) -> Path:
    """Compile the emulated CUDA runtime into a folder, unless this has been done before, and return its path.

    Errors: UsageError lab.compiler.
    """
    made = folder / "libcudart_emulated.so"
    if not made.exists():
        _compile(["-std=c++17", *_LIBRARY, "-o", str(made), str(_HERE / "cuda_runtime.cpp")])
    return made


def build_program(program: Program, sources: Path, folder: Path) -> Path:
    """Compile a program into a folder, unless this has been done before, and return its path.

    `sources` has the fetched repositories. The result is a shared library with the program's PTX.

    Errors: UsageError lab.compiler.
    """
    made = folder / f"{program.name}.so"
    if not made.exists():
        source = sources / program.source if "/" in program.source else _HERE / "drivers" / program.source
        includes = [f"-I{sources / each}" for each in program.includes]
        _compile([*_FLAGS, *_LIBRARY, *program.flags, *includes, "-o", str(made), str(source)])
    return made


def _compile(arguments: list[str]) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        raise UsageError("nvcc is missing; expected the bin folder of CUDA 13.0 on PATH", code="lab.compiler")
    done = subprocess.run([nvcc, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"nvcc failed: {done.stderr[-2000:]}", code="lab.compiler")
