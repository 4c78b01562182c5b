"""Entry point of the `warploom` command: its parser, its error messages and its exit status."""

import argparse
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import NoReturn, cast

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
from warploom.cli._options import FINDINGS, INTERRUPTED, MISUSE, OK, TERMINATED, Parser
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


class _Terminated(KeyboardInterrupt):
    """The signal SIGTERM. The run ends as after an interrupt."""


@contextmanager
def _terminable() -> Generator[None]:
    """Raise `_Terminated` if the process receives SIGTERM during a `with` block."""
    if threading.current_thread() is not threading.main_thread():  # only this thread may set signal handlers
        yield
        return

    def terminate(*_: object) -> NoReturn:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def execute(parser: argparse.ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, run the command that it names, and return the exit status.

    The status is 0 for success, 1 for findings or wrong results, 2 for wrong use, 130 after an interrupt, and 143 after
    the signal SIGTERM.
    """
    gc.set_threshold(500_000)  # objects that imports create live forever; frequent collections slow every start
    try:
        options = parser.parse_args(argv)
        with _terminable():
            status = cast("Callable[[argparse.Namespace], int]", options.verb)(options)
        sys.stdout.flush()
    except WarploomError as error:
        print(render(error.diagnostics, color=sys.stderr.isatty()), end="", file=sys.stderr)
        from warploom.emulator.faults import Deadlock, Trap

        return FINDINGS if isinstance(error, Trap | Deadlock) else MISUSE  # a failed run, or a request that cannot run
    except KeyboardInterrupt as stop:
        terminated = isinstance(stop, _Terminated)
        parts = ("terminated" if terminated else "interrupted", *getattr(stop, "__notes__", ()))
        print(f"warploom: {'; '.join(parts)}", file=sys.stderr)
        return TERMINATED if terminated else INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe has exited. Redirecting stdout prevents a second error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    return status
