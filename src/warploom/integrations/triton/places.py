"""Findings told in the words of the Python source: its lines and the names of its arguments."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath

from warploom.diagnostics import Diagnostic, Note, Span

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', re.MULTILINE)
_LINE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+\d+", re.MULTILINE)
_PARAMETER = re.compile(r"\b\w+_param_(\d+)\b")


def retold(found: Iterable[Diagnostic], ptx: str, names: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Findings about a PTX text with the place in Python after each sentence that has one, and with the names of the
    kernel's arguments in the place of PTX's.
    """

    def sentence(text: str, span: Span | None) -> str:
        named = _PARAMETER.sub(
            lambda match: names[int(match[1])] if int(match[1]) < len(names) else match[0], text
        )
        where = "" if span is None else _place(ptx, span.start)
        return f"{named} ({where})" if where else named

    return tuple(
        replace(
            one,
            message=sentence(one.message, one.span),
            notes=tuple(Note(sentence(note.message, note.span), note.span) for note in one.notes),
        )
        for one in found
    )


def _place(ptx: str, offset: int) -> str:
    """`file.py, line 7` of the statement at an offset of the text; empty where the compiler did not say."""
    starts, lines = _lines(ptx)
    position = bisect_right(starts, offset) - 1
    return lines[position] if position >= 0 else ""


@lru_cache(maxsize=8)
def _lines(ptx: str) -> tuple[list[int], list[str]]:
    """Where the text says that a line of Python begins, and which."""
    files = {match[1]: PurePath(match[3] or match[2]).name for match in _FILE.finditer(ptx)}
    told = [(match.start(), match[1], int(match[2])) for match in _LINE.finditer(ptx)]
    # Line 0 is what belongs to no line of the source.
    places = [f"{files[file]}, line {line}" if line and file in files else "" for _, file, line in told]
    return [start for start, _, _ in told], places
