"""Write the shell completions of the command line, which the package ships.

    python tools/make_completions.py

A test fails while a script differs from what this writes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import shtab

from warploom.cli._main import parser as command_line
from warploom.cli.completion import FOLDER, SHELLS


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A parser and those of its verbs."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in cast("dict[str, argparse.ArgumentParser]", action.choices).values():
                yield from parsers(verb)


def scripts() -> dict[str, str]:
    """The script of each shell."""
    top = command_line()
    for parser in parsers(top):
        for action in parser._actions:
            if action.type is Path or "FILE" in str(action.metavar or ""):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    made = {shell: shtab.complete(top, shell) for shell in SHELLS}
    return {
        shell: "\n".join(line.rstrip() for line in text.splitlines()) + "\n" for shell, text in made.items()
    }


def main() -> None:
    """Write every script."""
    Path(FOLDER).mkdir(exist_ok=True)
    for shell, text in scripts().items():
        (Path(FOLDER) / f"warploom.{shell}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
