"""`warploom completion`: print the script that completes the command line in a shell."""

import argparse
from pathlib import Path

from warploom.cli._options import OK, Add

SHELLS = ("bash", "zsh", "fish", "tcsh")
FOLDER = Path(__file__).with_name("completions")
"""Folder of the completion scripts. `warploom-lab pages` writes them."""


def declare(add: Add) -> None:
    """Add the command `completion` to the command line."""
    parser = add(
        "completion",
        help="print the script that completes commands and options in a shell",
        description="Print the script that completes commands, options, their values and file names in a shell."
        " docs/install.md states where each shell looks for it.",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: argparse.Namespace) -> int:
    """Run the command `completion` and return its exit status."""
    print((FOLDER / f"warploom.{options.shell}").read_text(encoding="utf-8"), end="")
    return OK
