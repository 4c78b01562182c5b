"""`warploom replay`: execute a captured launch, and compare the results with those of the GPU."""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from warploom.cli import _show, _times
from warploom.cli._launch import GIB, gib
from warploom.cli._options import (
    FINDINGS,
    Add,
    add_arch,
    add_strict,
    add_trace,
    check_writable,
    status_of,
    trace_options,
    write_text,
    write_trace,
)
from warploom.cli._progress import launch_progress
from warploom.diagnostics import UsageError

if TYPE_CHECKING:
    from warploom.runtime.captures.replay import Replay

_EPILOG = """
Results that differ only where atomics wrote them whose results depend on the order of the threads, such as sums of
floating-point numbers, are a warning: two launches on a GPU may differ in the same way.

Exit status: 0 equal results; 1 other results, findings, or the kernel failed; 2 wrong use.
"""
_EVENTS = 20_000  # most events in a report
_FOR_CPU = ("arch", "schedule", "sanitize", "report", "trace", "time")


def declare(add: Add) -> None:
    """Add the command `replay` to the command line."""
    parser = add(
        "replay",
        help="execute a launch that `warploom capture` recorded, and compare the results",
        description="Execute a captured launch on the emulator or on a GPU, and compare the results bit for bit.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE.wlc", help="a file that `warploom capture` wrote")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="the emulator or a GPU (cpu)")
    add_arch(parser, "architecture whose numerics and limits apply (that of the GPU)")
    what = "when asynchronous operations take effect: eager, lazy or random:SEED"
    parser.add_argument("--schedule", metavar="WHEN", help=what)
    parser.add_argument("--sanitize", action="store_true", help="report accesses that no synchronization orders")
    parser.add_argument("--report", metavar="FILE.html", type=Path, help="write a page about the execution")
    parser.add_argument("--time", action="store_true", help="print where the time of the run goes")
    parser.add_argument(
        "--memory",
        type=gib,
        metavar="GIB",
        default=16 * GIB,
        help="limit for the contents of the file, in GiB (default: 16)",
    )
    add_strict(parser)
    add_trace(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command `replay` and return its exit status."""
    from warploom.emulator.faults import Deadlock, Trap
    from warploom.runtime.captures.replay import replay

    for name in _FOR_CPU if options.device == "cuda" else ():
        if getattr(options, name):
            raise UsageError(f"--{name} is for --device cpu, not for a GPU")
    tracing: dict[str, Any] = trace_options(options)
    check_writable(options.report, "--report")
    if options.report is not None:
        tracing = {
            "trace": options.trace_ctas or True,
            "trace_events": options.trace_events or _EVENTS,
            "profile": True,
        }
    began = perf_counter()
    printed: list[str] = []
    try:
        with launch_progress(options.file) as advance:
            done = replay(
                options.file, device=options.device, arch=options.arch, schedule=options.schedule or "eager",
                sanitize=options.sanitize or options.report is not None, memory=options.memory, progress=advance,
                output=printed.append, **tracing,
            )  # fmt: skip
    except (Trap, Deadlock) as end:
        _show.output(printed)
        write_trace(end.trace, options.trace)
        raise
    _show.output(printed)
    write_trace(done.trace, options.trace)
    if options.report is not None:
        from warploom.view.report import report

        write_text(options.report, report(done).html)
    if options.device == "cpu":
        _show.outcome(done, None)
    if options.time:
        _times.show(done.stats.times, perf_counter() - began)
    return _verdict(done, options.strict)


def _verdict(done: Replay, strict: bool) -> int:
    """Print the comparison, and return the exit status."""
    for each in done.differences:
        print(each)
    _show.verdict(done.equal, done.sentence)
    if done.status or (done.differences and (strict or not done.depends_on_order)):
        return FINDINGS
    return status_of(done.findings, strict)
