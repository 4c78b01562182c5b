"""`warploom sanitize`: run a kernel and report races, missing fences and missing waits."""

import argparse
import sys
from dataclasses import replace

from warploom.cli import _python, _show, _workers
from warploom.cli._launch import ARGUMENTS, declare_launch, read_plan
from warploom.cli._options import Add, add_format, add_strict, status_of

_EPILOG = f"""{ARGUMENTS}
{_python.ABOUT}

The kernel runs under three schedules (eager, lazy and random:0) unless --schedule or the launch file selects one. A
result that differs from the table [expect] of a launch file is a finding.

Exit status: 0 no findings; 1 findings; 2 wrong use.
"""


def declare(add: Add) -> None:
    """Add the command `sanitize` to the command line."""
    parser = add(
        "sanitize",
        help="run a kernel and report its races, missing fences and missing waits",
        description="Run a kernel without a GPU and report faults of its synchronization: races, missing fences and "
        "waits, wrong transaction counts, wrong phases, and deadlocks.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    declare_launch(parser)
    for option, what in (("enable", "switch a rule on that is off by default"), ("disable", "switch a rule off")):
        parser.add_argument(f"--{option}", action="append", default=[], metavar="RULE", help=f"{what}; repeatable")
    add_format(parser)
    add_strict(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command `sanitize` and return its exit status."""
    if options.file.endswith(_python.SUFFIX):
        return _python.run_program(options, sanitize=True)
    from warploom.cli._progress import launch_progress
    from warploom.diagnostics import render, render_json, render_sarif
    from warploom.runtime.api import SCHEDULES, sanitize
    from warploom.runtime.cpu import merge
    from warploom.runtime.run import Run

    plan = read_plan(options)
    runs: list[Run] = []
    printed: list[str] = []
    for schedule in SCHEDULES if plan.geometry.schedule is None else (plan.geometry.schedule,):
        prepared = plan.prepare(options.memory)
        with launch_progress(plan.file_name) as advance:
            each = sanitize(
                plan.ptx, plan.kernel, **plan.keywords, schedules=(schedule,), args=prepared.args, progress=advance,
                announce=_workers.say, enable=options.enable, disable=options.disable, output=printed.append,
            )  # fmt: skip
        wrong = prepared.wrong(schedule) if each.error is None else ()
        runs.append(replace(each, findings=(*each.findings, *wrong)))
    done = merge(runs)
    found = done.findings
    if options.format == "text":
        _show.output(printed[:1])
        print(render(found, color=sys.stdout.isatty()), end="")
        print(_show.counted(len(found)))
    else:
        print(render_json(found) if options.format == "json" else render_sarif(found), end="")
    _workers.spread(done.distribution)
    return status_of(found, options.strict)
