"""The outline of a document: its functions, their parameters and labels, and the variables of the module."""

from __future__ import annotations

from dataclasses import dataclass

from warploom.diagnostics import Span
from warploom.lsp.document import View
from warploom.lsp.names import Names, Symbol
from warploom.ptx import Function, Label, Variable


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: `kind` is "kernel", "function", "variable" or "label", `span` all of it, `name_span` its name."""

    name: str
    kind: str
    detail: str
    span: Span
    name_span: Span
    inner: tuple[Entry, ...] = ()


def outline(view: View) -> list[Entry]:
    """The entries in the order of the text."""
    names = Names(view)
    return [
        entry
        for k, (piece, start) in enumerate(view.pieces())
        for item in piece.items
        if isinstance(item, Function | Variable) and (entry := _entry(names, item, k, start)) is not None
    ]


def _entry(names: Names, node: Function | Variable | Label, k: int, start: int) -> Entry | None:
    place = names.definition(Symbol(node, k, node.name, local=False))
    if node.span is None or place is None:
        return None
    span = Span(start + node.span.start, start + node.span.end)
    match node:
        case Label(name):
            return Entry(name, "label", "", span, place)
        case Variable():
            return Entry(node.name, "variable", f".{node.space} .{node.type}", span, place)
        case Function():
            labels = node.body.statements if node.body is not None else ()
            inside = (*node.params, *(label for label in labels if isinstance(label, Label)))
            inner = tuple(entry for each in inside if (entry := _entry(names, each, k, start)) is not None)
            kind = "kernel" if node.kind == "entry" else "function"
            return Entry(node.name, kind, " ".join(f".{word}" for word in node.linkage), span, place, inner)
