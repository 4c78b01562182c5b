"""`warploom report`: run a kernel and write one page of what it did, what it cost and what is wrong with it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from warploom.cli.run import ARGUMENTS, Plan, declare_launch, keywords, plan_of
from warploom.diagnostics import UsageError

OK = 0
FAILED = 1
_EVENTS = 20_000

_EPILOG = f"""{ARGUMENTS}
The schedule is lazy unless --schedule or the launch file names another than eager, under which nothing overlaps.

exit status: 0 well; 1 there are findings or the result is wrong; 2 it could not be run as asked.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "report",
        help="run a kernel and write a page of what it did and what it cost",
        description="Run a kernel with no GPU and write one HTML page that opens offline: its text with execution "
        "counts, bank conflicts and coalescing, what the sanitizer finds, and its pipeline as a timeline.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb=run)
    declare_launch(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE.html", type=Path, help="where the page goes (NAME.html, here)"
    )
    traces = parser.add_argument_group("the timeline")
    traces.add_argument(
        "--trace-ctas", metavar="N,N,…", help="of which CTAs, x running fastest (those of the first cluster)"
    )
    traces.add_argument(
        "--trace-events", metavar="N", type=int, default=_EVENTS, help=f"at most so many events ({_EVENTS})"
    )


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.cli import _show
    from warploom.cli._arguments import numbers
    from warploom.runtime.api import launch
    from warploom.runtime.launchfile import prepare
    from warploom.view.report import report

    plan = plan_of(options)
    output = _output(options)
    if options.trace_events < 1:
        raise UsageError(f"--trace-events: found {options.trace_events}; expected at least 1")
    ctas = True if options.trace_ctas is None else numbers("--trace-ctas", options.trace_ctas)
    args, arrays = prepare(plan.arguments, plan.buffers, options.memory)
    # The reference is computed first: a launch updates its buffers in place.
    expected = plan.expect.expected(arrays) if plan.expect else None
    with _show.progress(plan.ptx.name) as advance:
        result = launch(
            plan.ptx,
            plan.kernel,
            **keywords(plan),
            args=args,
            schedule=_schedule(plan, options.schedule),
            sanitize=True,
            trace=ctas,
            trace_events=options.trace_events,
            profile=True,
            progress=advance,
        )
    comparison = plan.expect.compare(arrays, expected) if plan.expect and expected else None
    page = report(result, comparison)
    page.save(output)
    count = len(result.findings)
    found = f"{count} finding{'' if count == 1 else 's'}" if count else "nothing to report"
    said = [found, *([comparison.sentence] if comparison else []), f"{result.trace}"]
    print(f"{output}: {'; '.join(said)}")
    return FAILED if result.findings or (comparison and not comparison.ok) else OK


def _output(options: argparse.Namespace) -> Path:
    """Where the page goes; a folder that is missing is told before anything runs."""
    output = options.output or Path(f"{options.file.stem}.html")
    if output.is_dir() or not output.parent.is_dir():
        reason = "it is a folder" if output.is_dir() else f"there is no folder {output.parent}"
        raise UsageError(f"--output: {output} cannot be written: {reason}")
    return output


def _schedule(plan: Plan, asked: str | None) -> str:
    return "lazy" if asked is None and plan.geometry.schedule == "eager" else plan.geometry.schedule
