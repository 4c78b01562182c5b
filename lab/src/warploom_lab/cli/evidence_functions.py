"""`warploom-lab evidence functions`: LLVM IR of compilers for whole functions, and the PTX of llc for it."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from warploom_lab.cli.status import OK, add_verb

_FOLDER = Path("tests/functions")
_SOURCES = Path(__file__).parents[1] / "compiled" / "functions"
_CLANG = (
    "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90a", "-nocudainc", "-nocudalib", "-O2", "-S", "-emit-llvm",
    "-fno-ident", "-Wno-unknown-cuda-version",
)  # fmt: skip


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add `functions` to the kinds of evidence."""
    parser = add_verb(
        add,
        "functions",
        run,
        summary="PTX of llc for whole functions",
        description="Compile kernels to LLVM IR with the named compilers, and record the PTX of llc for all functions.",
        exit_status="0 success; 2 the query could not run",
    )
    parser.add_argument("--triton", nargs="*", default=[], metavar="PYTHON", help="interpreters that have Triton")
    parser.add_argument("--numba", metavar="PYTHON", help="interpreter that has numba-cuda")
    parser.add_argument("--clang", metavar="PATH", help="clang 22")


def run(options: argparse.Namespace) -> int:
    """Compile the kernels, write the records, and return the exit status.

    Errors: UsageError if a tool of MLIR is missing; subprocess.CalledProcessError if a compiler fails
    """
    from warploom.nvvm.errors import require_xdsl

    require_xdsl()  # the modules below import it
    from warploom_lab.mlir.functions import write
    from warploom_lab.mlir.tools import provide

    tools = provide()
    for python in options.triton:
        release = _output(python, "-c", "import triton; print(triton.__version__)").strip()
        _output(python, str(_SOURCES / "triton_kernels.py"), str(_made(f"triton-{release.rpartition('.')[0]}")))
    if options.numba:
        _output(options.numba, str(_SOURCES / "numba_kernels.py"), str(_made("numba-cuda")))
    if options.clang:
        folder, source = _made("clang"), _SOURCES / "clang_kernels.cu"
        for name in re.findall(r"#ifdef (\w+)", source.read_text()):
            _output(options.clang, *_CLANG, f"-D{name}", str(source), "-o", str(folder / f"{name}.ll"))
    write(_FOLDER, tools)
    return OK


def _made(origin: str) -> Path:
    folder = _FOLDER / origin
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.xz"):
        old.unlink()
    return folder


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
