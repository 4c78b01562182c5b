"""`warploom capture`: record launches of a CUDA program on a GPU."""

from __future__ import annotations

import argparse
import ctypes
import sys
from pathlib import Path

from warploom.cli import _program
from warploom.cli._launch import GIB, gib
from warploom.cli._options import FINDINGS, Add, at_least
from warploom.diagnostics import UsageError

_EPILOG = """
Each file has the PTX, the parameters, the memory that the kernel can reach, and the results. warploom replay FILE
executes it. The program must contain PTX: build it with -gencode arch=compute_90a,code=compute_90a or a similar option.

Exit status: that of the program; 1 if the program succeeds and no launch, or not every selected launch, was captured;
2 wrong use.
"""
_LIBRARY = "libcuda.so"


def declare(add: Add) -> None:
    """Add the command `capture` to the command line."""
    parser = add(
        "capture",
        help="record launches of a CUDA program on a GPU",
        description="Run a CUDA program on a GPU, and write a file for each launch of its kernels.",
        usage="warploom capture [options] -- PROGRAM [ARGUMENT ...]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _program.declare(parser)
    parser.add_argument("--kernel", metavar="REGEX", help="capture only kernels whose demangled names contain a match")
    parser.add_argument("--nth", metavar="N", type=at_least(1), help="capture only launch number N of each kernel")
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        type=Path,
        default=Path("captures"),
        help="folder for the files (default: captures)",
    )
    parser.add_argument(
        "--memory",
        type=gib,
        metavar="GIB",
        default=2 * GIB,
        help="most memory that a launch may reach, in GiB (default: 2)",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command `capture` and return its exit status."""
    command = _program.command_of(options)
    from warploom.cli._show import number_of
    from warploom.integrations.cuda_driver.build import library_folder, program_environment
    from warploom.integrations.cuda_driver.recording.log import CaptureLog, CaptureOptions
    from warploom.integrations.cuda_driver.recording.server import INTERCEPTED, CaptureServer

    choice = CaptureOptions(options.output, _program.pattern(options.kernel), options.nth, options.memory)
    driver = _real_driver()
    folder = library_folder(INTERCEPTED)
    if driver.parent.resolve() == folder.resolve():
        raise UsageError(
            "the program that runs `warploom capture` is itself run by it; expected one `warploom capture`",
            code="capture.driver",
        )
    _program.make_folder(options.output, "--output")
    log = CaptureLog(choice, _say)
    server = CaptureServer(log)
    try:
        names = {"WARPLOOM_CAPTURE": server.name, "WARPLOOM_REAL_DRIVER": str(driver)}
        status = _program.wait(command, program_environment(folder) | names)
    finally:
        server.close()
    size = sum(path.stat().st_size for path in log.files if path.exists())
    skipped = log.skipped.total()
    _say(
        f"{number_of(len(log.files), 'launch', 'launches')} in {options.output} ({size:,} bytes)"
        + (f"; {number_of(skipped, 'selected launch', 'selected launches')} not captured" if skipped else "")
    )
    return FINDINGS if status == 0 and (skipped or not log.files) else status


def _real_driver() -> Path:
    """Return the file of the driver library that a program would load. Errors: UsageError capture.driver."""
    try:
        ctypes.CDLL(f"{_LIBRARY}.1")
    except OSError:
        raise UsageError(
            f"there is no {_LIBRARY}.1; expected NVIDIA's driver",
            code="capture.driver",
            hint="`warploom exec` runs the program without a GPU",
        ) from None
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        path = Path(line.split(maxsplit=5)[-1])
        if path.name.startswith(_LIBRARY):
            return path
    raise UsageError(f"the file of {_LIBRARY}.1 is not known", code="capture.driver")


def _say(sentence: str) -> None:
    print(f"warploom capture: {sentence}", file=sys.stderr, flush=True)
