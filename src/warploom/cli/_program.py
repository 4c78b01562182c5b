"""CUDA programs that the commands `exec` and `capture` run with a driver library of Warploom."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from warploom.diagnostics import UsageError
from warploom.diagnostics.wording import os_reason

_SIGNALLED = 128


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the program and its arguments to the arguments of a command."""
    parser.add_argument("program", metavar="PROGRAM", nargs=argparse.REMAINDER, help="the program and its arguments")


def command_of(options: argparse.Namespace) -> list[str]:
    """Return the command that runs the program. Errors: UsageError if there is no such program."""
    command: list[str] = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not command:
        name = options.verb.__module__.rpartition(".")[2]
        raise UsageError(f"the program is missing; expected warploom {name} [options] -- PROGRAM [ARGUMENT ...]")
    program = shutil.which(command[0])
    if program is None:
        raise UsageError(f"the program {command[0]} does not exist, or is not executable")
    return [program, *command[1:]]


def wait(command: Sequence[str], changes: dict[str, str]) -> int:
    """Run a program with changes of the environment variables, and return its exit status as a shell does.

    An interrupt ends the program.
    """
    sys.stdout.flush()
    try:
        process = subprocess.Popen(command, env=os.environ | changes)  # noqa: S603 -- the user's own program
    except OSError as error:
        raise UsageError(f"the program {command[0]} cannot be started: {os_reason(error)}") from None
    try:
        status = process.wait()
    except BaseException:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
    return _SIGNALLED - status if status < 0 else status


def pattern(text: str | None) -> re.Pattern[str] | None:
    """Return the regular expression of the option --kernel, or None without the option.

    Errors: UsageError.
    """
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise UsageError(f"--kernel: {text!r} is not a regular expression: {error}") from None


def make_folder(folder: Path, option: str) -> None:
    """Create the folder that an option names. Errors: UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option}: the folder {folder} cannot be created: {os_reason(error)}") from None
