"""Entry point of the `warploom` command: its parser, its error messages and its exit status."""

import argparse
import errno
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
    capture,
    check,
    completion,
    debug,
    explain,
    init,
    layout,
    lower,
    lsp,
    replay,
    report,
    run,
    sanitize,
    tune,
)
from warploom.cli import exec as exec_
from warploom.cli._options import FINDINGS, INTERRUPTED, MISUSE, OK, TERMINATED, Parser
from warploom.diagnostics import UsageError, WarploomError, render
from warploom.diagnostics.wording import os_reason

_COMMANDS = (
    check, run, sanitize, debug, exec_, capture, replay, report, init, lower, author, explain, layout, bench, tune, lsp,
    completion,
)  # fmt: skip


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


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_STATUS = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}
_WORD = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}


@contextmanager
def _stoppable() -> Generator[None]:
    """Raise an interrupt at the first SIGINT or SIGTERM in a `with` block.

    The second signal ends the process.
    """
    if threading.current_thread() is not threading.main_thread():  # only this thread may set signal handlers
        yield
        return
    is_stopping = False

    def stop(number: int, _: object) -> NoReturn:
        nonlocal is_stopping
        if is_stopping:  # an exception here could leave the code that handles the first one
            status = _STATUS[signal.Signals(number)]
            os.write(sys.stderr.fileno(), f"warploom: {_WORD[status]} again; the command ended at once\n".encode())
            os._exit(status)
        is_stopping = True
        raise _Terminated if number == signal.SIGTERM else KeyboardInterrupt

    # A shell lets processes in the background ignore SIGINT.
    numbers = [each for each in _STATUS if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, stop) for each in numbers}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def execute(parser: argparse.ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, run the command that it names, and return the exit status.

    The status is 0 for success, 1 for findings or wrong results, 2 for wrong use, 130 after an interrupt, and 143 after
    the signal SIGTERM.
    """
    gc.set_threshold(500_000)  # objects that imports create live forever; frequent collections slow every start
    with _stoppable():
        return _execute(parser, argv)


def _require_output() -> None:
    if sys.stdout is None:  # the caller has closed it
        raise UsageError("standard output is closed; expected a terminal, a file or a pipe")


def _execute(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    try:
        options = parser.parse_args(argv)
        _require_output()
        status = cast("Callable[[argparse.Namespace], int]", options.verb)(options)
        sys.stdout.flush()
    except WarploomError as error:
        print(render(error.diagnostics, color=sys.stderr.isatty()), end="", file=sys.stderr)
        from warploom.emulator.faults import Deadlock, Trap

        return FINDINGS if isinstance(error, Trap | Deadlock) else MISUSE  # a failed run, or a request that cannot run
    except KeyboardInterrupt as stop:
        status = TERMINATED if isinstance(stop, _Terminated) else INTERRUPTED
        print(f"warploom: {'; '.join((_WORD[status], *getattr(stop, '__notes__', ())))}", file=sys.stderr)
    except BrokenPipeError:
        _discard_output()  # the reader of the pipe has exited
        return FINDINGS
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _discard_output()
        print(f"error[usage]: the output cannot be written: {os_reason(error)}", file=sys.stderr)
        return MISUSE
    return status


def _discard_output() -> None:
    """Redirect standard output to nowhere.

    At exit, Python writes the rest of its buffer, which would fail again.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
