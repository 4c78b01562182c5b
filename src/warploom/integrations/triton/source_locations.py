"""Locations and argument names of the Python source in findings about compiled PTX."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

from warploom.diagnostics import Diagnostic, Note, Span
from warploom.ptx.line_info import SourceLine

_PARAMETER = re.compile(r"\b\w+_param_(\d+)\b")


def with_python_locations(
    diagnostics: Iterable[Diagnostic], lines: Sequence[SourceLine], names: Sequence[str]
) -> tuple[Diagnostic, ...]:
    """Return diagnostics whose messages name Python lines and arguments instead of PTX parameters.

    `lines` has the Python line of each statement of the PTX, and `names` the argument of each kernel parameter.
    """

    def sentence(text: str, span: Span | None) -> str:
        named = _PARAMETER.sub(lambda match: names[int(match[1])] if int(match[1]) < len(names) else match[0], text)
        where = "" if span is None else _location(lines, span.start)
        return f"{named} ({where})" if where else named

    return tuple(
        replace(
            each,
            message=sentence(each.message, each.span),
            notes=tuple(Note(sentence(note.message, note.span), note.span) for note in each.notes),
        )
        for each in diagnostics
    )


def _location(lines: Sequence[SourceLine], offset: int) -> str:
    """Return `file.py, line 7` for the PTX statement at a text offset, or "" if its line is unknown."""
    position = bisect_right(lines, offset, key=lambda each: each.start) - 1
    if position < 0 or not lines[position].line:
        return ""
    return f"{PurePath(lines[position].file).name}, line {lines[position].line}"
