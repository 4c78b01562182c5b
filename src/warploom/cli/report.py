"""`warploom report`: run a kernel and write an HTML page about the run."""

import argparse
from pathlib import Path

from warploom.cli._launch import ARGUMENTS, compare, declare_launch, read_plan
from warploom.cli._options import (
    FINDINGS,
    STANDARD,
    Add,
    add_output,
    add_trace_limits,
    check_writable,
    status_of,
    write_text,
)

_EVENTS = 20_000

_EPILOG = f"""{ARGUMENTS}
The schedule is lazy unless --schedule or the launch file selects another one. Under eager, no operations overlap. The
trace has at most {_EVENTS} events unless --trace-events sets another limit.

Exit status: 0 success; 1 errors or a wrong result; 2 wrong use.
"""


def declare(add: Add) -> None:
    """Add the command `report` to the command line."""
    parser = add(
        "report",
        help="run a kernel and write a page about its execution and its costs",
        description="Run a kernel without a GPU and write one HTML page that opens offline: the PTX with execution "
        "counts, bank conflicts and coalescing, the findings of the sanitizer, and the pipeline as a timeline.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    declare_launch(parser)
    add_output(parser, "the page (NAME.html in this folder)", "FILE.html")
    add_trace_limits(parser.add_argument_group("the timeline"))


def run(options: argparse.Namespace) -> int:
    """Run the command `report` and return its exit status."""
    from warploom.cli._progress import launch_progress
    from warploom.cli._show import counted
    from warploom.runtime.api import launch
    from warploom.view.report import report

    plan = read_plan(options)
    schedule = plan.geometry.schedule or "lazy"
    output = options.output or ("report.html" if options.file == STANDARD else f"{Path(options.file).stem}.html")
    check_writable(output, "--output")
    prepared = plan.prepare(options.memory)
    with launch_progress(plan.file_name) as advance:
        result = launch(
            plan.ptx, plan.kernel, **plan.keywords, args=prepared.args, schedule=schedule, sanitize=True,
            raises=False, trace=options.trace_ctas or True, trace_events=options.trace_events or _EVENTS,
            profile=True, progress=advance,
        )  # fmt: skip
    comparison = compare(plan, prepared, schedule, options.memory) if result.error is None else None
    page = report(result, comparison)
    write_text(output, page.html)
    if output != STANDARD:
        summary = [counted(len(result.findings)), *([comparison.sentence] if comparison else []), f"{result.trace}"]
        print(f"{output}: {'; '.join(summary)}")
    return FINDINGS if comparison and not comparison.ok else status_of(result.findings)
