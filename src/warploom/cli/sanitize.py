"""`warploom sanitize`: run a kernel and say what the order of its accesses does not guarantee."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from warploom.cli import _workers
from warploom.cli.run import ARGUMENTS, declare_launch, keywords, plan_of

OK = 0
FINDINGS = 1

_EPILOG = f"""{ARGUMENTS}
exit status: 0 nothing to report; 1 findings; 2 it could not be run as asked.
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "sanitize",
        help="run a kernel and find its races, missing fences and waits",
        description="Run a kernel with no GPU and say what the order of its accesses does not guarantee: races, "
        "missing fences and waits, transaction counts, phases.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb=run)
    declare_launch(parser)
    parser.add_argument(
        "--format", choices=("text", "json", "sarif"), default="text", help="how to report (text)"
    )


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.cli import _show
    from warploom.diagnostics import render, render_json, render_sarif
    from warploom.runtime.api import execute
    from warploom.runtime.prepare import prepare

    plan = plan_of(options)
    args, _ = prepare(plan.arguments, plan.buffers, options.memory)
    with _show.progress(plan.ptx.name) as advance:
        done = execute(
            plan.ptx, plan.kernel, **keywords(plan), args=args, schedule=plan.geometry.schedule, sanitize=True,
            progress=advance, announce=_workers.say,
        )  # fmt: skip
    found = done.findings
    if options.format == "text":
        print(render(found, color=sys.stdout.isatty()), end="")
        count = len(found)
        print(f"{count} finding{'' if count == 1 else 's'}" if count else "nothing to report")
    else:
        print(render_json(found) if options.format == "json" else render_sarif(found), end="")
    _workers.spread(done.distribution)
    return FINDINGS if found else OK
