"""Diagnostics as text for a terminal, as JSON, and as SARIF 2.1.0 for editors and code scanners."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from warploom.diagnostics.diagnostic import Diagnostic, Severity
from warploom.diagnostics.source import Source, Span

_TAB = 4
_WIDEST = 160
_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}


def render(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    """Return the diagnostics as text for a terminal, with ANSI colours if `color` is True."""
    return "".join(_render_one(diagnostic, color) for diagnostic in diagnostics)


def _render_one(diagnostic: Diagnostic, color: bool) -> str:
    tint = _COLORS[diagnostic.severity]
    label = _paint(f"{diagnostic.severity.value}[{diagnostic.code}]", f"1;{tint}", color)
    place = f"{_paint(diagnostic.place, '1', color)}: " if diagnostic.source is not None else ""
    lines = [f"{place}{label}: {diagnostic.message}"]
    if diagnostic.source is not None and diagnostic.span is not None:
        lines += _excerpt(diagnostic.source, diagnostic.span, tint, color)
    if (compiled_from := diagnostic.compiled_from) is not None:
        lines += [f"  {text}" for text in compiled_from.describe()]
    lines += [f"  note: {note.message}" for note in diagnostic.notes]
    if diagnostic.hint:
        lines.append(f"  hint: {diagnostic.hint}")
    if diagnostic.section:
        lines.append(f"  see: {diagnostic.section}")
    return "\n".join(lines) + "\n"


def _excerpt(source: Source, span: Span, tint: str, color: bool) -> list[str]:
    line, column = source.position(span.start)
    text = source.line_text(line)
    first = min(column - 1, len(text))
    last = max(first + 1, min(first + span.end - span.start, len(text)))
    before, marked = text[:first].expandtabs(_TAB), text[:last].expandtabs(_TAB)
    left, width = len(before), max(1, len(marked) - len(before))
    shown = text.expandtabs(_TAB)
    if left > _WIDEST // 2:
        # Only the part of a long line around the caret is shown.
        cut = left - _WIDEST // 2
        shown, left = f"…{shown[cut + 1 :]}", left - cut
    if len(shown) > _WIDEST:
        shown = f"{shown[: _WIDEST - 1]}…"
    caret = "^" * max(1, min(width, _WIDEST - left))
    gutter = f"{line:>5} | "
    return [f"{gutter}{shown}", f"{'|':>7} {' ' * left}{_paint(caret, f'1;{tint}', color)}"]


def _paint(text: str, style: str, color: bool) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if color and text else text


# JSON and SARIF --------------------------------------------------------------------------------------------

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """Return a JSON list with one object per diagnostic.

    The positions `start` and `end` count lines and columns from 1. `end` is the position after the last character.
    `compiled_from` lists the source line of compiled PTX and the lines of the calls through which it was inlined.
    """
    return json.dumps([_record(diagnostic) for diagnostic in diagnostics], indent=2, ensure_ascii=False) + "\n"


def _record(diagnostic: Diagnostic) -> dict[str, Any]:
    record: dict[str, Any] = {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
    }
    if diagnostic.source is not None:
        record["file"] = diagnostic.source.name
    if diagnostic.source is not None and diagnostic.span is not None:
        record |= _extent(diagnostic, diagnostic.span) | _compiled_from(diagnostic, diagnostic.span)
    notes = [
        {"message": note.message}
        | ({} if note.span is None else _extent(diagnostic, note.span) | _compiled_from(diagnostic, note.span))
        for note in diagnostic.notes
    ]
    more = {"hint": diagnostic.hint, "section": diagnostic.section, "notes": notes, "data": diagnostic.data}
    return record | {name: value for name, value in more.items() if value}


def _extent(diagnostic: Diagnostic, span: Span) -> dict[str, dict[str, int]]:
    assert diagnostic.source is not None
    start, end = diagnostic.source.position(span.start), diagnostic.source.position(span.end)
    return {side: {"line": line, "column": column} for side, (line, column) in (("start", start), ("end", end))}


def _compiled_from(diagnostic: Diagnostic, span: Span) -> dict[str, list[dict[str, str | int]]]:
    innermost = diagnostic.source_line(span)
    if innermost is None:
        return {}
    lines: list[dict[str, str | int]] = []
    for line in innermost.chain():
        fields: dict[str, str | int] = {"file": line.file, "line": line.line, "column": line.column}
        lines.append({name: value for name, value in (fields | {"function": line.function}).items() if value})
    return {"compiled_from": lines}


def render_sarif(diagnostics: Iterable[Diagnostic]) -> str:
    """Return a SARIF 2.1.0 log of one run. Columns count Unicode code points.

    Source: OASIS SARIF 2.1.0.
    """
    found = list(diagnostics)
    codes = list(dict.fromkeys(diagnostic.code for diagnostic in found))
    sections = {diagnostic.code: diagnostic.section for diagnostic in reversed(found)}
    rules = [{"id": code} | ({"properties": {"section": sections[code]}} if sections[code] else {}) for code in codes]
    driver = {"name": "warploom", "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(diagnostic, codes) for diagnostic in found],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _result(diagnostic: Diagnostic, codes: Sequence[str]) -> dict[str, Any]:
    text = f"{diagnostic.message}; {diagnostic.hint}" if diagnostic.hint else diagnostic.message
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": codes.index(diagnostic.code),
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": text},
    }
    if diagnostic.source is not None:
        result["locations"] = [{"physicalLocation": _location(diagnostic, diagnostic.span)}]
        related = list(_source_locations(diagnostic, diagnostic.span))
        for note in diagnostic.notes:
            related.append({"message": {"text": note.message}, "physicalLocation": _location(diagnostic, note.span)})
            related += _source_locations(diagnostic, note.span)
        if related:
            result["relatedLocations"] = related
    if diagnostic.data:
        result["properties"] = dict(diagnostic.data)
    if diagnostic.source is not None and (fixes := (diagnostic.data or {}).get("fixes")):
        result["fixes"] = [_fix(diagnostic.source.name, each) for each in fixes]
    return result


def _fix(name: str, edits: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {"artifactChanges": [_artifact(name) | {"replacements": [_replacement(each) for each in edits]}]}


def _replacement(edit: Mapping[str, Any]) -> dict[str, Any]:
    *before, last = edit["replace"].split("\n")
    start = {"startLine": edit["line"], "startColumn": edit["column"]}
    column = len(last) + (1 if before else edit["column"])
    region = start | {"endLine": edit["line"] + len(before), "endColumn": column}
    return {"deletedRegion": region, "insertedContent": {"text": edit["with"]}}


def _source_locations(diagnostic: Diagnostic, span: Span | None) -> Iterator[dict[str, Any]]:
    innermost = diagnostic.source_line(span)
    for line in () if innermost is None else innermost.chain():
        what = "source line" if line is innermost else "call that was inlined"
        region = {"startLine": line.line} | ({"startColumn": line.column} if line.column else {})
        yield {"message": {"text": what}, "physicalLocation": _artifact(line.file) | {"region": region}}


def _artifact(name: str) -> dict[str, Any]:
    from urllib.parse import quote

    return {"artifactLocation": {"uri": quote(PurePath(name).as_posix(), safe="/:")}}


def _location(diagnostic: Diagnostic, span: Span | None) -> dict[str, Any]:
    assert diagnostic.source is not None
    location = _artifact(diagnostic.source.name)
    if span is not None:
        location["region"] = {
            f"{side}{name.capitalize()}": number
            for side, place in _extent(diagnostic, span).items()
            for name, number in place.items()
        }
    return location
