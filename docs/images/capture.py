"""Take a picture of a command as a terminal shows it.

    python docs/images/capture.py docs/images/run.svg warploom run examples/gemm_warp_specialised.toml

The command's standard output is a terminal, so that it prints in colour; its progress bar, which goes to
standard error and away again, is not in the picture.
"""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 64


def output_of(command: list[str]) -> str:
    """Return the output of a command on a terminal of WIDTH columns. Errors: CalledProcessError."""
    ours, theirs = pty.openpty()
    settings = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(WIDTH)}
    with subprocess.Popen(command, stdout=theirs, env=settings) as process:  # noqa: S603
        os.close(theirs)
        written = io.BytesIO()
        try:
            while block := os.read(ours, 4096):
                written.write(block)
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return written.getvalue().decode().replace("\r\n", "\n")


def main() -> None:
    """Write the picture named first of the command that follows."""
    target, *command = sys.argv[1:]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "bold green"), " ".join(command)))
    console.print(Text.from_ansi(output_of(command)))
    svg = console.export_svg(title="Warploom")
    Path(target).write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
