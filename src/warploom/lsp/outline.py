"""Outline of a document: functions with their parameters and labels, and module variables."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.diagnostics import Span
from warploom.lsp.document import View
from warploom.lsp.names import Names, Symbol
from warploom.ptx import Function, Label, Variable


@dataclass(frozen=True, slots=True)
class Entry:
    """Declaration in the outline.

    `kind` is "kernel", "function", "variable" or "label". `span` is the whole declaration, and `name_span` its name.
    `detail` is the space and type of a variable or the linkage of a function. `inner` has the parameters and labels of
    a function.
    """

    name: str
    kind: str
    detail: str
    span: Span
    name_span: Span
    inner: tuple[Entry, ...] = ()


def outline(view: View) -> list[Entry]:
    """Return the functions and the module variables of a document in the order of the text."""
    names = Names(view)
    return [
        entry
        for k, (piece, start) in enumerate(view.pieces())
        for item in piece.items
        if isinstance(item, Function | Variable) and (entry := _entry(names, item, k, start)) is not None
    ]


def _entry(names: Names, node: Function | Variable | Label, k: int, start: int) -> Entry | None:
    name_span = names.definition(Symbol(node, k, node.name, local=False))
    if node.span is None or name_span is None:
        return None
    span = Span(start + node.span.start, start + node.span.end)
    match node:
        case Label(name):
            return Entry(name, "label", "", span, name_span)
        case Variable():
            return Entry(node.name, "variable", f".{node.space} .{node.type}", span, name_span)
        case Function():
            statements = node.body.statements if node.body is not None else ()
            inside = (*node.params, *(label for label in statements if isinstance(label, Label)))
            inner = tuple(entry for each in inside if (entry := _entry(names, each, k, start)) is not None)
            kind = "kernel" if node.kind == "entry" else "function"
            linkage = " ".join(f".{word}" for word in node.linkage)
            return Entry(node.name, kind, linkage, span, name_span, inner)
