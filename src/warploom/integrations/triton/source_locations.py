"""Locations and argument names of the Python source in findings about compiled PTX."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath

from warploom.diagnostics import Diagnostic, Note, Span

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+", re.MULTILINE)
_PARAMETER = re.compile(r"\b\w+_param_(\d+)\b")


def with_python_locations(
    diagnostics: Iterable[Diagnostic], ptx: str, names: Sequence[str]
) -> tuple[Diagnostic, ...]:
    """Return diagnostics whose sentences name the line and the arguments of the Python source."""

    def sentence(text: str, span: Span | None) -> str:
        named = _PARAMETER.sub(
            lambda match: names[int(match[1])] if int(match[1]) < len(names) else match[0], text
        )
        where = "" if span is None else _location(ptx, span.start)
        return f"{named} ({where})" if where else named

    return tuple(
        replace(
            each,
            message=sentence(each.message, each.span),
            notes=tuple(Note(sentence(note.message, note.span), note.span) for note in each.notes),
        )
        for each in diagnostics
    )


def _location(ptx: str, offset: int) -> str:
    """Return `file.py, line 7` for the statement at an offset of the text, or "" if it is unknown."""
    starts, locations = _locations(ptx)
    position = bisect_right(starts, offset) - 1
    return locations[position] if position >= 0 else ""


@lru_cache(maxsize=8)
def _locations(ptx: str) -> tuple[list[int], list[str]]:
    """Return the offsets of the `.loc` directives and the locations that they name."""
    files = {match[1]: PurePath(match[3] or match[2]).name for match in _FILE.finditer(ptx)}
    found = [(match.start(), match[1], int(match[2])) for match in _LOC.finditer(ptx)]
    # Line 0 stands for code without a source line.
    locations = [f"{files[file]}, line {line}" if line and file in files else "" for _, file, line in found]
    return [start for start, _, _ in found], locations
