"""Entry point of the `warploom` command: its parser, its error messages and its exit status."""

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
from warploom.cli._options import FINDINGS, INTERRUPTED, MISUSE, OK, Parser
from warploom.diagnostics import WarploomError, render

_COMMANDS = (check, run, sanitize, report, init, lower, author, explain, layout, bench, tune, lsp, completion)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from warploom.release import version

        print(f"warploom {version()}")
        parser.exit(OK)


def parser() -> argparse.ArgumentParser:
    """Return the parser of `warploom` with all its commands."""
    top = Parser(
        prog="warploom",
        description="A workbench for NVIDIA tensor-core programs at the PTX level.",
        epilog="`warploom COMMAND --help` describes a command. Exit status: 0 success; 1 findings or wrong results; "
        "2 wrong use.",
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.declare(commands.add_parser)
        commands.choices[command.__name__.rpartition(".")[2]].set_defaults(verb=command.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run `warploom` with the arguments `argv`, by default those of the process. Return the exit status."""
    return execute(parser(), argv)


def execute(parser: argparse.ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, run the command that it names, and return the exit status.

    The status is 0 for success, 1 for findings or wrong results, 2 for wrong use, and 130 after an interrupt.
    """
    gc.set_threshold(500_000)  # objects that imports create live forever; frequent collections slow every start
    try:
        options = parser.parse_args(argv)
        status = cast("Callable[[argparse.Namespace], int]", options.verb)(options)
        sys.stdout.flush()
    except WarploomError as error:
        print(render(error.diagnostics, color=sys.stderr.isatty()), end="", file=sys.stderr)
        from warploom.emulator.faults import Deadlock, Trap

        return FINDINGS if isinstance(error, Trap | Deadlock) else MISUSE  # a failed run, or a request that cannot run
    except KeyboardInterrupt:
        print("warploom: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has exited. Redirecting stdout prevents a second error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    return status
