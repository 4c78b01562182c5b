"""The `warploom` command: reads which verb is meant, runs it, and turns every mistake into a sentence."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import cast

from warploom.cli import (
    author,
    bench,
    check,
    completion,
    explain,
    init,
    layout,
    lower,
    lsp,
    report,
    run,
    sanitize,
    tune,
)
from warploom.diagnostics import WarploomError, render

_VERBS = (check, run, sanitize, report, init, lower, author, explain, layout, bench, tune, lsp, completion)
OK = 0
FAILED = 1
MISUSE = 2
INTERRUPTED = 130


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"warploom {version('warploom')}")
        parser.exit(OK)


def parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    top = argparse.ArgumentParser(
        prog="warploom",
        description="A workbench for NVIDIA tensor-core programs at the PTX level.",
        epilog="`warploom VERB --help` says more about each verb.",
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    verbs = top.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in _VERBS:
        verb.declare(verbs.add_parser)
    return top


def _status(error: WarploomError) -> int:
    """Failure when the kernel went wrong while it ran; misuse when it could not begin as asked."""
    from warploom.emulator.faults import Deadlock, Trap

    return FAILED if isinstance(error, Trap | Deadlock) else MISUSE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `warploom` command and return its exit status."""
    return execute(parser(), argv)


def execute(parser: argparse.ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Run the verb that a command line names and return its exit status.

    The status is 0 for success, 1 for findings or a failed kernel, and 2 for wrong use.
    """
    gc.set_threshold(100_000)  # what imports make stays for good: looking it through often slows every start
    options = parser.parse_args(argv)
    verb = cast("Callable[[argparse.Namespace], int]", options.verb)
    try:
        status = verb(options)
        sys.stdout.flush()
    except WarploomError as error:
        print(render(error.diagnostics, color=sys.stderr.isatty()), end="", file=sys.stderr)
        return _status(error)
    except KeyboardInterrupt:
        print("warploom: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe has left; nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return status
