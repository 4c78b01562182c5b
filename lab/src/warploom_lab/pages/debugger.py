"""Reference of the debugger's commands in docs/debugger.md."""

from collections.abc import Iterator
from pathlib import Path

from warploom.view.debugger.api import grouped
from warploom.view.debugger.command import Command

_PAGE = "docs/debugger.md"
_BEGIN, _END = "<!-- commands: begin -->", "<!-- commands: end -->"
_REPOSITORY = Path(__file__).resolve().parents[4]


def texts() -> dict[str, str]:
    """Return the page with the reference of the present commands, by its path in the repository."""
    before, rest = (_REPOSITORY / _PAGE).read_text(encoding="utf-8").split(_BEGIN)
    after = rest.split(_END)[1]
    return {_PAGE: "\n".join([f"{before}{_BEGIN}", "", *_reference(), f"{_END}{after}"])}


def _reference() -> Iterator[str]:
    for title, commands in grouped():
        yield from (f"### {title}", "")
        for each in commands:
            yield from _section(each)


def _section(command: Command) -> Iterator[str]:
    yield from (f"#### `{command.usage}`", "", command.description, "")
    details = [f"- {'/'.join(f'`{word}`' for word in words)}: {text}" for words, text in command.details]
    if details:
        yield from (*details, "")
    aliases = f"Aliases: {', '.join(f'`{each}`' for each in command.aliases)}. " if command.aliases else ""
    yield from (f"{aliases}Example: `{command.example}`", "")
