"""`warploom debug`: stop a kernel on the emulator, inspect it, and move forward and backward.

The input is that of `warploom run`.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from warploom.caches import cache_directory
from warploom.cli._launch import ARGUMENTS, declare_launch, read_plan
from warploom.cli._options import FINDINGS, OK, Add, read_text
from warploom.diagnostics import UsageError, WarploomError, render

if TYPE_CHECKING:
    from types import FrameType

    from warploom.view.debugger.api import Debugger

PROMPT = "(wl) "
_HISTORY = 1000  # lines
_EPILOG = f"""{ARGUMENTS}
`help` lists the commands of the debugger. Without a terminal, commands are read from standard input.
Exit status: 0 success; 1 a command of -x or --command failed; 2 wrong use.
"""


def declare(add: Add) -> None:
    """Add the command `debug` to the command line."""
    parser = add(
        "debug",
        help="stop a kernel, inspect it, and move forward and backward",
        description="Debug a kernel without a GPU: breakpoints, steps in both directions, and the state of all warps.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    declare_launch(parser)
    commands = parser.add_argument_group("commands of the debugger; the debugger ends after the last one")
    commands.add_argument("-x", metavar="COMMAND", dest="lines", action="append", default=[], help="run one command")
    commands.add_argument("--command", metavar="FILE", help="run the commands of a file, before those of -x")


def run(options: argparse.Namespace) -> int:
    """Run the command `debug` and return its exit status."""
    from warploom.view.debugger.api import debug_plan

    lines = [] if options.command is None else read_text(options.command)[0].splitlines()
    if options.workers not in (None, 1):
        raise UsageError(f"--workers: found {options.workers}; the debugger has one worker", code="debug.workers")
    plan = read_plan(options)
    debugger = debug_plan(plan, memory=options.memory)
    console = _Console(debugger)
    print(debugger("info").text(), flush=True)
    if lines or options.lines:
        return console.run_all([*lines, *options.lines])
    with _line_editing(debugger):
        console.read_all(_typed() if sys.stdin.isatty() else _piped())
    return OK


class _Console:
    """Runner of command lines. An empty line repeats the last step."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._last = ""

    def run_all(self, lines: Iterable[str]) -> int:
        """Run lines until one fails or ends the debugger. Return the exit status."""
        for line in lines:
            if line.strip() and not line.lstrip().startswith("#"):
                print(f"{PROMPT}{line}")
                is_right, is_end = self._run(line)
                if not is_right or is_end:
                    return OK if is_right else FINDINGS
        return OK

    def read_all(self, lines: Iterator[str]) -> None:
        """Run the lines that a user writes, until one of them ends the debugger."""
        for line in lines:
            if self._run(line)[1]:
                return

    def _run(self, line: str) -> tuple[bool, bool]:
        """Run a line. Return two flags: the command succeeded, and the debugger ends."""
        from warploom.view.debugger.command import find

        chosen = line if line.strip() else self._last
        if not chosen:
            return True, False
        try:
            self._last = chosen if find(chosen)[0].is_step else ""
            with _interruptible(self._debugger):
                result = self._debugger(chosen)
        except WarploomError as error:
            sys.stdout.flush()
            print(render(error.diagnostics, color=sys.stderr.isatty()), end="", file=sys.stderr, flush=True)
            return False, False
        if text := result.text():
            print(text, flush=True)
        return True, result.is_end


@contextmanager
def _interruptible(debugger: Debugger) -> Generator[None]:
    """Let Ctrl-C pause the launch in a `with` block. A second one ends the command with KeyboardInterrupt."""

    def pause(_: int, __: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        debugger.interrupt()

    before = signal.signal(signal.SIGINT, pause)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# Input ------------------------------------------------------------------------------------------------------------


def _typed() -> Iterator[str]:
    """Yield lines from a terminal. Ctrl-C discards the line, and Ctrl-D ends the input."""
    while True:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            line = input(PROMPT)
        except KeyboardInterrupt:
            print()
            continue
        except EOFError:
            print()
            return
        finally:
            signal.signal(signal.SIGINT, before)
        yield line


def _piped() -> Iterator[str]:
    """Yield lines from standard input, and print them after the prompt, as a terminal shows them."""
    for line in sys.stdin:
        print(f"{PROMPT}{line.rstrip()}", flush=True)
        yield line.rstrip("\n")


@contextmanager
def _line_editing(debugger: Debugger) -> Generator[None]:
    """Provide completion and a history in a `with` block, if Python has readline."""
    try:
        import readline
    except ImportError:  # on Windows
        yield
        return
    if not sys.stdin.isatty():
        yield
        return

    def complete(_: str, number: int) -> str | None:
        with suppress(WarploomError):
            found = debugger.complete(readline.get_line_buffer()[: readline.get_endidx()])
            return f"{found[number]} " if number < len(found) else None
        return None

    file = cache_directory() / "debug_history"
    readline.set_history_length(_HISTORY)
    with suppress(OSError):
        readline.read_history_file(file)
    readline.set_completer_delims(" ")
    readline.set_completer(complete)
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)
        with suppress(OSError):
            Path(file.parent).mkdir(mode=0o700, parents=True, exist_ok=True)
            readline.write_history_file(file)
