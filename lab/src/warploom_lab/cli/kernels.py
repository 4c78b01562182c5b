"""`warploom-lab kernels`: compile kernels with Triton, Gluon and nvcc, and run them on the emulator."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from warploom_lab.cli.campaign_options import require_positive_workers
from warploom_lab.cli.status import OK, add_verb, counting

_DESCRIPTION = """\
Compile kernels with nvcc 13.0 from PATH and with Triton 3.9 from the given interpreter, which needs neither a GPU nor
NumPy, and write their PTX into a folder. Each kernel has a launch and a reference result in a JSON file beside it.

With --run every kernel is launched under five schedules and compared with its reference. --sanitize does the same with
the sanitizer, and a finding is a failure; kernels that are known to read sums too early must have one, and are launched
under one schedule. With --compiled they run the kernels that an earlier call compiled into the folder, and need no
compiler. --record writes the result of every kernel as JSON.
With --modules write PTX modules without launches instead, for tests of the parser and the checker.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "kernels",
        run,
        summary="compile Triton, Gluon and CUDA kernels, and run them on the emulator",
        description=_DESCRIPTION,
        exit_status="0 success; 1 a kernel failed or a compiler is missing",
    )
    parser.add_argument("folder", type=Path, help="folder for the PTX")
    parser.add_argument("words", nargs="*", help="compile and run kernels whose names contain one of the words")
    parser.add_argument("--triton-python", default=sys.executable, metavar="PYTHON", help="interpreter with Triton 3.9")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--modules", action="store_true", help="write PTX modules without launches")
    mode.add_argument("--run", action="store_true", help="run the kernels and compare their results")
    mode.add_argument("--sanitize", action="store_true", help="run the kernels with the sanitizer")
    parser.add_argument("--compiled", action="store_true", help="run the kernels of the folder, and compile none")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="write the results of --run or --sanitize to a file"
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="number of kernels that run at a time (1)")


def run(options: argparse.Namespace) -> int:
    """Compile the kernels and return the exit status. With --run or --sanitize also run them."""
    from warploom_lab.compiled.build import build
    from warploom_lab.compiled.ptx_files import write_modules

    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if options.modules:
        return write_modules(folder, options.triton_python)
    require_positive_workers(options)
    status = OK if options.compiled else build(folder, options.triton_python, options.words)
    if options.run or options.sanitize:
        from warploom_lab.compiled.run import run_all

        with counting("running") as progress:
            status |= run_all(
                folder, options.words, sanitize=options.sanitize, workers=options.workers, record=options.record,
                progress=progress,
            )  # fmt: skip
    return status
