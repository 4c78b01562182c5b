"""Spans, diagnostics, rule codes and their rendering: what every other floor reports with."""

from __future__ import annotations

from warploom.diag.diagnostic import Diagnostic, Note, Severity, UsageError, WarploomError
from warploom.diag.records import render_json, render_sarif
from warploom.diag.render import render
from warploom.diag.source import Source, Span

__all__ = [
    "Diagnostic",
    "Note",
    "Severity",
    "Source",
    "Span",
    "UsageError",
    "WarploomError",
    "render",
    "render_json",
    "render_sarif",
]
