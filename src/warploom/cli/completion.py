"""`warploom completion`: the script that lets a shell complete the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

OK = 0
SHELLS = ("bash", "zsh", "fish", "tcsh")
FOLDER = Path(__file__).with_name("completions")
"""Folder of the completion scripts, which `warploom-lab pages` writes."""


def declare(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the verb to the command line; `add` is `add_parser` of its subparsers."""
    parser = add(
        "completion",
        help="print the script that completes verbs and options in a shell",
        description="Print the script that completes verbs, options, their values and file names in a shell. It goes"
        " where the shell looks for completions; docs/install.md says where that is.",
    )
    parser.set_defaults(verb=run)
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: argparse.Namespace) -> int:
    """Run the verb."""
    print((FOLDER / f"warploom.{options.shell}").read_text(encoding="utf-8"), end="")
    return OK
