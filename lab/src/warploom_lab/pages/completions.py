"""Shell completion scripts of the `warploom` command."""

# argparse has no public way to list the parsers of the verbs.
# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportMissingTypeStubs=false

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from warploom.cli._main import parser as command_line
from warploom.cli.completion import SHELLS

_FOLDER = "src/warploom/cli/completions"


def texts() -> dict[str, str]:
    """Return the completion script of each shell, by its path in the repository."""
    import shtab

    top = command_line()
    for parser in _parsers(top):
        for action in parser._actions:
            if action.type is Path or "FILE" in str(action.metavar or ""):
                cast("Any", action).complete = shtab.FILE
    return {f"{_FOLDER}/warploom.{shell}": _stripped(shtab.complete(top, shell)) for shell in SHELLS}


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in cast("dict[str, argparse.ArgumentParser]", action.choices).values():
                yield from _parsers(verb)


def _stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
