"""`warploom-lab ptxas`: print the verdicts of NVIDIA's assembler on PTX statements."""

import argparse
import sys
from collections.abc import Callable

from warploom_lab.cli.status import DIFFERENT, OK, add_verb

_DESCRIPTION = """\
Print the verdict of ptxas on each probe: target, PTX version, `ok` or the message, and the probe. A probe is one or
more statements; registers, variables and labels are declared by name (`warploom_lab/ptxas/probe.py` lists the names).
Without arguments, read one probe from each line of standard input.

    warploom-lab ptxas --targets sm_90a,sm_100a --versions all "mov.b32 %r0, %r1;"
"""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is the method `add_parser` of the subparsers."""
    parser = add_verb(
        add,
        "ptxas",
        run,
        summary="print the verdicts of ptxas on statements",
        description=_DESCRIPTION,
        exit_status="0 every probe is accepted; 1 some probe is refused; 2 the query could not run",
    )
    parser.add_argument("probe", nargs="*", help="statements, each argument one probe")
    parser.add_argument("-t", "--targets", default="sm_90a", help="targets separated by commas, or `all`")
    parser.add_argument("-v", "--versions", default="9.1", help="PTX versions separated by commas, or `all`")
    parser.add_argument("--release", help="12.9, 13.1, newest or a path (default: 12.9 for sm_70 and sm_72, else 13.1)")


def run(options: argparse.Namespace) -> int:
    """Query the assembler, print the verdicts, and return the exit status.

    Errors: UsageError if the query cannot run.
    """
    from warploom_lab.ptxas import CachedAssemblers
    from warploom_lab.ptxas.points import TARGETS, Point, points_of
    from warploom_lab.ptxas.probe import Probe

    texts = options.probe or [line.strip() for line in sys.stdin if line.strip()]
    targets = TARGETS if options.targets == "all" else options.targets.split(",")
    questions = [
        (Probe.of_key(text), Point(options.release, at.target, at.version) if options.release else at)
        for text in texts
        for target in targets
        for at in points_of(target, options.versions)
    ]
    with CachedAssemblers() as assemblers:
        verdicts = assemblers.judge_all(questions)
    for (probe, at), verdict in zip(questions, verdicts, strict=True):
        answer = "ok" if verdict.ok else f"REFUSED {verdict.message}"
        print(f"{at.target} {at.version[0]}.{at.version[1]}  {answer}   {probe.key}")
    return OK if all(verdict.ok for verdict in verdicts) else DIFFERENT
