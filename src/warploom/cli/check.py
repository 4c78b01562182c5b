"""`warploom check`: report illegal instructions of PTX files, with legal alternatives."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.cli._options import STANDARD, Add, add_arch, add_format, add_strict, read_text, status_of

if TYPE_CHECKING:
    from warploom.check import Report


def declare(add: Add) -> None:
    """Add the command `check` to the command line."""
    parser = add(
        "check",
        help="report illegal PTX and the legal alternatives",
        description="Report what is illegal in PTX files: the location, the reason, and the legal alternatives.",
        epilog="Exit status: 0 no errors; 1 errors, and with --strict warnings; 2 wrong use.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="PTX files; - for standard input")
    add_format(parser)
    add_arch(parser, "check for this target instead of the one in the file")
    parser.add_argument(
        "--ptx-version", metavar="8.7", help="check for this PTX version instead of the one in the file"
    )
    add_strict(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command `check` and return its exit status."""
    from warploom.check import Report

    report = Report.of([_check(file, options) for file in options.files])
    print(report.render(options.format, color=sys.stdout.isatty()), end="")
    return status_of(report, options.strict)


def _check(file: str, options: argparse.Namespace) -> Report:
    from warploom.check import check

    if file != STANDARD:
        return check(Path(file), options.arch, options.ptx_version)
    text, name = read_text(file)
    report = check(text, options.arch, options.ptx_version)
    for found in report:
        if found.source is not None:
            found.source.name = name
    return report
