"""Diagnostics on nodes of the tree."""

from __future__ import annotations

from warploom.diagnostics import Diagnostic, Severity
from warploom.ptx import Block, Directive, Function, Instruction, Label, Module, Variable

Found = Diagnostic
AnyNode = Block | Directive | Function | Instruction | Label | Module | Variable


def error(code: str, message: str, node: AnyNode | None, hint: str = "", section: str = "") -> Found:
    """An error on a node, or on none."""
    return _on(code, Severity.ERROR, message, node, hint, section)


def warning(code: str, message: str, node: AnyNode | None, hint: str = "", section: str = "") -> Found:
    """A warning on a node, or on none."""
    return _on(code, Severity.WARNING, message, node, hint, section)


def _on(code: str, severity: Severity, message: str, node: AnyNode | None, hint: str, section: str) -> Found:
    if node is None:
        return Diagnostic(code, severity, message, None, None, hint, section)
    return Diagnostic(code, severity, message, node.source, node.span, hint, section)
