"""Errors and warnings on nodes of the tree."""

from __future__ import annotations

from warploom.diagnostics import Diagnostic, Severity
from warploom.ptx import Node


def error(code: str, message: str, node: Node | None, hint: str = "", section: str = "") -> Diagnostic:
    """Return an error on a node, or an error without a position."""
    return _finding(code, Severity.ERROR, message, node, hint, section)


def warning(code: str, message: str, node: Node | None, hint: str = "", section: str = "") -> Diagnostic:
    """Return a warning on a node, or a warning without a position."""
    return _finding(code, Severity.WARNING, message, node, hint, section)


def _finding(code: str, severity: Severity, message: str, node: Node | None, hint: str, section: str) -> Diagnostic:
    source, span = (None, None) if node is None else (node.source, node.span)
    return Diagnostic(code, severity, message, source, span, hint, section)
