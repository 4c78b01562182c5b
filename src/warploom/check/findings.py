"""Errors and warnings on nodes of the tree."""

from __future__ import annotations

from dataclasses import replace

from warploom.diagnostics import Diagnostic, Severity
from warploom.ptx import Node


def error(code: str, message: str, node: Node | None, hint: str = "", section: str = "") -> Diagnostic:
    """Return an error on a node, or an error without a position."""
    source, span = (None, None) if node is None else (node.source, node.span)
    return Diagnostic(code, Severity.ERROR, message, source, span, hint, section)


def warning(code: str, message: str, node: Node | None, section: str) -> Diagnostic:
    """Return a warning on a node, or a warning without a position."""
    return replace(error(code, message, node, section=section), severity=Severity.WARNING)
