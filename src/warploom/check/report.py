"""Report of a check of PTX, and the diagnostics at nodes of the syntax tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, Literal

from warploom.diagnostics import Diagnostic, Note, Severity, render, render_json, render_sarif
from warploom.diagnostics.wording import list_ranges
from warploom.display import Displayed
from warploom.ptx import Node

Format = Literal["text", "json", "sarif"]


class Report(Displayed):
    """Diagnostics of a check, in the order of the text."""

    display_kind: ClassVar[str] = "report"

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(
            sorted(diagnostics, key=lambda each: (each.span.start, each.span.end) if each.span else (-1, 0))
        )

    @classmethod
    def of(cls, reports: Iterable[Report]) -> Report:
        """Merge the reports on several texts into one, text after text."""
        whole = cls(())
        whole.diagnostics = tuple(found for report in reports for found in report)
        return whole

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def __len__(self) -> int:
        return len(self.diagnostics)

    def __bool__(self) -> bool:
        raise TypeError("a Report has no truth value; use .ok or len()")

    @property
    def ok(self) -> bool:
        """True if the report contains no error."""
        return not self.errors

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Errors among the diagnostics."""
        return tuple(found for found in self.diagnostics if found.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings among the diagnostics."""
        return tuple(found for found in self.diagnostics if found.severity is Severity.WARNING)

    def render(self, format: Format = "text", color: bool = False) -> str:
        """Return the report as text, JSON, or SARIF 2.1.0. With `color`, text has terminal colors.

        Each `tolerated` rule appears once per file, with the number and the lines of its instructions.
        """
        grouped = _grouped(self.diagnostics)
        if format == "text":
            return render(grouped, color)
        return render_json(grouped) if format == "json" else render_sarif(grouped)

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        return f"<Report: {len(self.errors)} errors, {len(self.warnings)} warnings>"


def error(code: str, message: str, node: Node | None, hint: str = "", section: str = "") -> Diagnostic:
    """Return an error at a node of the syntax tree. Without a node, the error has no position.

    `code` is an error code such as "name/undeclared". `section` names the paragraph of the specification.
    """
    return _finding(code, Severity.ERROR, message, node, hint, section)


def warning(code: str, message: str, node: Node | None, hint: str = "", section: str = "") -> Diagnostic:
    """Return a warning at a node of the syntax tree (see `error`)."""
    return _finding(code, Severity.WARNING, message, node, hint, section)


def _finding(code: str, severity: Severity, message: str, node: Node | None, hint: str, section: str) -> Diagnostic:
    source, span = (None, None) if node is None else (node.source, node.span)
    return Diagnostic(code, severity, message, source, span, hint, section)


def _grouped(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Merge the diagnostics with one `tolerated` rule and source into the first of them."""
    groups: dict[object, list[Diagnostic]] = {}
    for each in diagnostics:
        file = "" if each.source is None else each.source.name
        key = (each.code, file) if each.code.startswith("tolerated/") else id(each)
        groups.setdefault(key, []).append(each)
    return [group[0] if len(group) == 1 else _merged(group) for group in groups.values()]


def _merged(group: list[Diagnostic]) -> Diagnostic:
    lines = sorted({line for each in group if (line := _line(each)) is not None})
    note = Note(f"{len(group)} instructions in this file, on lines {list_ranges(lines)}")
    return replace(group[0], notes=(*group[0].notes, note), data={"count": len(group), "lines": lines})


def _line(diagnostic: Diagnostic) -> int | None:
    if diagnostic.source is None or diagnostic.span is None:
        return None
    return diagnostic.source.position(diagnostic.span.start)[0]
