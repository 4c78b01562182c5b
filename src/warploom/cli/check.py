"""`warploom check`: what is illegal in PTX files, where, why, and what would be legal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

OK = 0
FINDINGS = 1

_EPILOG = "exit status: 0 nothing to report; 1 errors or warnings; 2 it could not be checked as asked."


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "check",
        help="say what is illegal in PTX, and what would be legal",
        description="Say what is illegal in PTX files, where, why, and what would be legal.",
        epilog=_EPILOG,
    )
    parser.set_defaults(verb=run)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="PTX files")
    parser.add_argument(
        "--format", choices=("text", "json", "sarif"), default="text", help="how to report (text)"
    )
    parser.add_argument("--target", metavar="sm_90a", help="judge for this target, whatever the files name")
    parser.add_argument(
        "--ptx-version", metavar="8.7", help="judge by this PTX version, whatever the files name"
    )


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    from warploom.check import Report, check
    from warploom.diagnostics import Severity

    reports = [check(path, options.target, options.ptx_version) for path in options.files]
    report = Report.of(reports)
    print(report.render(options.format, color=sys.stdout.isatty()), end="")
    return FINDINGS if any(found.severity is not Severity.NOTE for found in report) else OK
