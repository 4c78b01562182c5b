"""Edits of a text that fix what a diagnostic reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from warploom.diagnostics.diagnostic import Diagnostic, UsageError
from warploom.diagnostics.source import Source

_LISTED, _ALTERNATIVES = 4, 2  # most edits of a fix, and most fixes, in a hint


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacement of the text `old` by the text `new`.

    `old` begins at a line and a column, which count from 1. It is empty for an insertion, and `new` is empty for a
    deletion. `where` is a phrase with the place, such as "before line 42".
    """

    line: int
    column: int
    old: str
    new: str
    where: str

    @property
    def data(self) -> dict[str, int | str]:
        """Edit as data of a diagnostic, which `apply_edits` accepts."""
        return {"line": self.line, "column": self.column, "replace": self.old, "with": self.new}

    @property
    def phrase(self) -> str:
        """Edit as an imperative phrase."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        if not old:
            return f"insert `{new}` {self.where}"
        return f"replace `{old}` with `{new}` {self.where}" if new else f"delete `{old}` {self.where}"


Fix = tuple[Edit, ...]
"""Edits that fix a finding together."""


def apply_edits(text: str, edits: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of a kernel after the edits of one fix of a finding.

    `edits` is an element of `data["fixes"]` of a finding. Each edit has the keys `line`, `column`, `replace` and
    `with`. The positions refer to the text before all edits.

    Errors: UsageError sanitize.edit if the text at the position of an edit differs from `replace`, or if two edits
    change the same text.
    """
    source = Source("", text)
    changes: list[tuple[int, int, str]] = []
    for each in edits:
        line, column, old = each["line"], each["column"], each["replace"]
        start = source.line_start(line) + column - 1 if line <= text.count("\n") + 1 else len(text)
        if not text.startswith(old, start):
            found = text[start : start + len(old)]
            message = f"line {line}, column {column} contains {found!r}; the edit expects {old!r}"
            raise UsageError(message, code="sanitize.edit")
        changes.append((start, start + len(old), each["with"]))
    # The stable sort keeps the order of several insertions at one position.
    changes.sort(key=lambda change: change[:2])
    for (_, end, _), (start, _, _) in pairwise(changes):
        if start < end:
            line, column = source.position(start)
            raise UsageError(f"two edits change line {line}, column {column}; expected one", code="sanitize.edit")
    for start, end, new in reversed(changes):
        text = text[:start] + new + text[end:]
    return text


def with_fixes(found: Diagnostic, fixes: Iterable[Fix], who: str = "") -> Diagnostic:
    """Return a finding with alternative fixes in its hint and its data. `who` completes the hint."""
    fixes = tuple(dict.fromkeys(tuple(dict.fromkeys(fix)) for fix in fixes if fix))
    if not fixes:
        return found
    phrases = "; or ".join(map(_phrase, fixes[:_ALTERNATIVES]))
    if len(fixes) > _ALTERNATIVES:
        phrases += f"; or apply another of the {len(fixes)} fixes in the data of the finding"
    data = {**(found.data or {}), "fixes": [[each.data for each in fix] for fix in fixes]}
    return replace(found, hint=f"{found.hint}; {phrases}{who}", data=data)


def _phrase(fix: Fix) -> str:
    """Return a phrase with the first edits of a fix."""
    more = f" and {len(fix) - _LISTED} more" if len(fix) > _LISTED else ""
    return " and ".join(each.phrase for each in fix[:_LISTED]) + more
