"""`warploom exec`: run a CUDA program without a GPU."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli import _program
from warploom.cli._options import FINDINGS, Add, write_text
from warploom.diagnostics import Diagnostic, render

if TYPE_CHECKING:
    from warploom.integrations.cuda_driver.launch_log import LaunchLog
    from warploom.runtime.run import Run

_EPILOG = """
The program loads a driver library of Warploom in place of libcuda.so.1. It must contain PTX: build it with
-gencode arch=compute_90a,code=compute_90a or a similar option. Programs may use the static or the shared runtime.

Exit status: that of the program; 1 if the program succeeds and there are findings; 2 wrong use.
"""


def declare(add: Add) -> None:
    """Add the command `exec` to the command line."""
    parser = add(
        "exec",
        help="run a CUDA program without a GPU",
        description="Run a CUDA program without a GPU. Its kernels run on the emulator, bit for bit.",
        usage="warploom exec [options] -- PROGRAM [ARGUMENT ...]",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _program.declare(parser)
    parser.add_argument("--device", metavar="NAME", default="h100", help="h100, h200, b200, rtx5090 or a100 (h100)")
    parser.add_argument(
        "--kernel",
        metavar="REGEX",
        help="apply the options below only to kernels whose demangled names contain a match",
    )
    parser.add_argument("--check", action="store_true", help="check the PTX of each module")
    parser.add_argument("--sanitize", action="store_true", help="report accesses that no synchronization orders")
    parser.add_argument("--schedule", metavar="NAME", default="eager", help="eager, lazy or random:SEED (eager)")
    parser.add_argument("--report", metavar="FOLDER", type=Path, help="write a page about each launch to this folder")
    parser.add_argument("--time", action="store_true", help="print the launches and the time of each kernel at the end")


def run(options: argparse.Namespace) -> int:
    """Run the command `exec` and return its exit status."""
    command = _program.command_of(options)
    from warploom.emulator.schedule import Schedule
    from warploom.integrations.cuda_driver.build import library_folder, program_environment
    from warploom.integrations.cuda_driver.devices import read_device
    from warploom.integrations.cuda_driver.launch_log import LaunchLog, LaunchOptions
    from warploom.integrations.cuda_driver.server import Server

    Schedule.parse(options.schedule)
    model = read_device(options.device)
    folder = library_folder()
    if options.report is not None:
        _program.make_folder(options.report, "--report")
    log = LaunchLog(
        LaunchOptions(
            model.target.name, options.check, options.sanitize, options.schedule, _program.pattern(options.kernel),
            options.report,
        ),
        _say,
        _show,
        _write_report,
    )  # fmt: skip
    server = Server(model, log)
    try:
        status = _program.wait(command, program_environment(folder) | {"WARPLOOM_EXEC": server.name})
        server.finish()
    finally:
        server.close()
    _summarise(log, options.time)
    return FINDINGS if status == 0 and log.findings else status


def _say(sentence: str) -> None:
    print(f"warploom exec: {sentence}", file=sys.stderr, flush=True)


def _show(findings: tuple[Diagnostic, ...]) -> None:
    print(render(findings, color=sys.stderr.isatty()), end="", file=sys.stderr, flush=True)


def _write_report(result: Run, path: Path) -> None:
    from warploom.view.report import report

    write_text(path, report(result).html)


def _summarise(log: LaunchLog, shows_times: bool) -> None:
    """Print the number of launches and findings, and the time of each kernel."""
    from warploom.cli._show import counted

    launches = sum(each.launches for each in log.kernels.values())
    if shows_times:
        rows = sorted(log.kernels.items(), key=lambda item: -item[1].seconds)
        print(f"{'launches':>8}  {'instructions':>14}  {'seconds':>9}  kernel", file=sys.stderr)
        for name, each in rows:
            print(f"{each.launches:>8,}  {each.instructions:>14,}  {each.seconds:>9.3f}  {name}", file=sys.stderr)
    if shows_times or log.findings or log.options.sanitize or log.options.check:
        _say(f"{launches:,} launches; {counted(log.findings)}")
