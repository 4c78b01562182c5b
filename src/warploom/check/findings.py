"""Diagnostics of the checks, errors and warnings, for nodes of the syntax tree."""

from __future__ import annotations

from warploom.diagnostics import Diagnostic, Severity
from warploom.ptx import Node


def error(code: str, message: str, node: Node | None, hint: str = "", section: str = "") -> Diagnostic:
    """Return an error at a node of the syntax tree, or without a position if the node is None."""
    return _finding(code, Severity.ERROR, message, node, hint, section)


def warning(code: str, message: str, node: Node | None, hint: str = "", section: str = "") -> Diagnostic:
    """Return a warning at a node of the syntax tree, or without a position if the node is None."""
    return _finding(code, Severity.WARNING, message, node, hint, section)


def _finding(code: str, severity: Severity, message: str, node: Node | None, hint: str, section: str) -> Diagnostic:
    source, span = (None, None) if node is None else (node.source, node.span)
    return Diagnostic(code, severity, message, source, span, hint, section)
