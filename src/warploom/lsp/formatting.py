"""Formatting: every statement in the printer's canonical form on a line of its own, with its comments.

What cannot be read is left as it is, and so is a statement that has a comment inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from warploom.diagnostics import Span
from warploom.lsp.document import View
from warploom.ptx import Block, Directive, Function, Prototype, Statement, TopLevel, Variable
from warploom.ptx.incremental_parse import Piece
from warploom.ptx.lexer import COMMENT, LINE_MARKER, STRING

_TRIVIA = re.compile(rf"(?P<blank>\s+)|(?P<comment>{COMMENT})|(?P<marker>{LINE_MARKER})", re.ASCII)
_TEXT = re.compile(rf"(?P<string>{STRING})|(?P<comment>{COMMENT}|{LINE_MARKER})", re.ASCII)


def formatting(view: View) -> list[tuple[Span, str]]:
    """The changes that bring a text into its form, a piece at a time."""
    changes: list[tuple[Span, str]] = []
    newline = "\r\n" if "\r\n" in view.text else "\n"
    pieces = view.pieces()
    untouched = {k + by for k, (piece, _) in enumerate(pieces) if piece.errors for by in (0, 1)}
    for k, (piece, start) in enumerate(pieces):
        own = piece.source.text
        if k in untouched:
            continue
        text = _piece(piece, first=k == 0, last=k + 1 == len(pieces)).replace("\r\n", "\n")
        text = text.replace("\n", newline)
        if text != own:
            changes.append((Span(start, start + len(own)), text))
    return changes


def _piece(piece: Piece, *, first: bool, last: bool) -> str:
    text = piece.source.text
    if not piece.items:
        return _end(text) if last else text
    written, end = _statements(text, piece.items, 0, "", first=first)
    return written + text[end:]


def _end(text: str) -> str:
    """What stands behind the last item."""
    return _gap(text, "", first=False).rstrip() + "\n"


def _statements(
    text: str, nodes: Sequence[Statement | TopLevel], at: int, indent: str, *, first: bool
) -> tuple[str, int]:
    """Nodes one under another from an offset on, and where the last one ends."""
    written = ""
    k = 0
    while k < len(nodes):
        count = _together(text, nodes[k:])
        start, end = _extent(nodes[k])[0], _extent(nodes[k + count - 1])[1]
        written += _gap(text[at:start], indent, first=first and k == 0)
        written += _statement(text, nodes[k], indent) if count == 1 else _blanks(text[start:end])
        at, k = end, k + count
    return written, at


def _extent(node: Statement | TopLevel | Block) -> tuple[int, int]:
    assert node.span is not None
    return node.span.start, node.span.end


def _together(text: str, nodes: Sequence[Statement | TopLevel]) -> int:
    """How many variables one declaration declares."""
    count = 1
    while (
        isinstance(nodes[count - 1], Variable)
        and text[_extent(nodes[count - 1])[1] - 1] != ";"
        and count < len(nodes)
    ):
        count += 1
    return count


def _statement(text: str, node: Statement | TopLevel, indent: str) -> str:
    start, end = _extent(node)
    match node:
        case Block(statements):
            return _braced(text, node, statements, indent)
        case Function(body=body) if body is not None:
            header = text[start : _extent(body)[0]]
            if _has_comment(header):
                header = header.rstrip()
            else:
                header = str(_bare(replace(node, body=None))).removesuffix(";")
            return f"{header}\n{_braced(text, body, body.statements, indent)}"
        case Directive(body=body) if body is not None:
            return text[start:end]
        case _:
            own = text[start:end]
            return own if _has_comment(own) else str(_bare(node))


def _braced(text: str, block: Block, statements: Sequence[Statement], indent: str) -> str:
    start, end = _extent(block)
    inner, at = _statements(text, statements, start + 1, f"{indent}\t", first=False)
    rest = _gap(text[at : end - 1], f"{indent}\t", first=False).rstrip()
    return f"{{{inner}{rest}\n{indent}}}".replace("{\n\n", "{\n", 1)


def _has_comment(text: str) -> bool:
    return any(match["comment"] for match in _TEXT.finditer(text))


def _blanks(text: str) -> str:
    """A text without its comments' blanks touched, and all others single."""
    return text if _has_comment(text) else " ".join(text.split())


def _bare(node: Statement | TopLevel) -> Statement | TopLevel:
    """The node as if made by program, and all that is in it."""
    match node:
        case Function():
            return replace(
                node,
                params=_variables(node.params),
                returns=_variables(node.returns),
                directives=tuple(_directive(directive) for directive in node.directives),
            )
        case Directive():
            return _directive(node)
        case _:
            return replace(node)


def _variables(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    return tuple(replace(variable) for variable in variables)


def _directive(node: Directive) -> Directive:
    args = tuple(
        replace(
            arg,
            params=_variables(arg.params),
            returns=_variables(arg.returns),
            directives=tuple(_directive(directive) for directive in arg.directives),
        )
        if isinstance(arg, Prototype)
        else arg
        for arg in node.args
    )
    return replace(node, args=args)


def _gap(text: str, indent: str, *, first: bool) -> str:
    """Blanks and comments between two statements, up to where the next one begins."""
    written, lines = "", 0
    begun = not first
    for match in _TRIVIA.finditer(text):
        if match["blank"] is not None:
            lines += match["blank"].count("\n")
            continue
        words = match[0].rstrip()
        if lines == 0 and match["comment"] is not None and begun and "\n" not in written:
            written += f" {words}"
        else:
            written += "\n" * min(max(lines, 1), 2) * begun + ("" if match["marker"] else indent) + words
        begun, lines = True, 0
    return written + "\n" * min(max(lines, 1), 2) * begun + indent
