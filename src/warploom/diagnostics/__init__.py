"""Spans, diagnostics and their rendering as text, JSON and SARIF."""

from warploom.diagnostics.diagnostic import Diagnostic, Note, Severity, UsageError, WarploomError
from warploom.diagnostics.render import render, render_json, render_sarif
from warploom.diagnostics.source import Source, SourceLine, Span

__all__ = [
    "Diagnostic",
    "Note",
    "Severity",
    "Source",
    "SourceLine",
    "Span",
    "UsageError",
    "WarploomError",
    "render",
    "render_json",
    "render_sarif",
]
