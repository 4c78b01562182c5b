"""Formatting: every statement in canonical form on a line of its own."""

import re
from collections.abc import Sequence
from dataclasses import replace

from warploom.diagnostics import Span
from warploom.lsp.document import View
from warploom.ptx import Block, Directive, Function, Statement, TopLevel, Variable
from warploom.ptx.incremental_parse import Piece
from warploom.ptx.lexer import COMMENT, LINE_MARKER, STRING
from warploom.ptx.node import Printer

_TRIVIA = re.compile(rf"(?P<blank>\s+)|(?P<comment>{COMMENT})|(?P<marker>{LINE_MARKER})", re.ASCII)
_TEXT = re.compile(rf"(?P<string>{STRING})|(?P<comment>{COMMENT}|{LINE_MARKER})", re.ASCII)


def formatting(view: View) -> list[tuple[Span, str]]:
    """Return the edits that format a text.

    Items with syntax errors, and statements with a comment inside, are not changed.
    """
    changes: list[tuple[Span, str]] = []
    newline = "\r\n" if "\r\n" in view.text else "\n"
    pieces = view.pieces()
    unchanged = {k + by for k, (piece, _) in enumerate(pieces) if piece.errors for by in (0, 1)}
    # At most one edit for each item of the module.
    for k, (piece, start) in enumerate(pieces):
        own = piece.source.text
        if k in unchanged:
            continue
        text = _piece(piece, first=k == 0, last=k + 1 == len(pieces)).replace("\r\n", "\n")
        text = text.replace("\n", newline)
        if text != own:
            changes.append((Span(start, start + len(own)), text))
    return changes


def _piece(piece: Piece, *, first: bool, last: bool) -> str:
    text = piece.source.text
    if piece.items:
        formatted, end = _statements(text, piece.items, 0, "", first=first)
        return formatted + text[end:]
    return _trivia(text, "", first=False).rstrip() + "\n" if last else text


def _statements(
    text: str, nodes: Sequence[Statement | TopLevel], start: int, indent: str, *, first: bool
) -> tuple[str, int]:
    """Return the formatted text of nodes, and the end offset of the last node.

    `start` is the offset after the preceding node. `first` is True at the start of the document.
    """
    formatted = ""
    k = 0
    while k < len(nodes):
        count = _declared_together(text, nodes[k:])
        begin, end = _extent(nodes[k])[0], _extent(nodes[k + count - 1])[1]
        formatted += _trivia(text[start:begin], indent, first=first and k == 0)
        if count == 1:
            formatted += _statement(text, nodes[k], indent)
        else:
            own = text[begin:end]
            formatted += own if _has_comment(own) else " ".join(own.split())
        start, k = end, k + count
    return formatted, start


def _extent(node: Statement | TopLevel) -> tuple[int, int]:
    assert node.span is not None
    return node.span.start, node.span.end


def _declared_together(text: str, nodes: Sequence[Statement | TopLevel]) -> int:
    """Return the number of nodes in the first statement, such as 2 for `.reg .b32 a, b;`."""
    count = 1
    while count < len(nodes) and isinstance(nodes[count - 1], Variable):
        if text[_extent(nodes[count - 1])[1] - 1] == ";":
            break
        count += 1
    return count


def _statement(text: str, node: Statement | TopLevel, indent: str) -> str:
    start, end = _extent(node)
    match node:
        case Block():
            return _block(text, node, indent)
        case Function(body=body) if body is not None:
            header = text[start : _extent(body)[0]].rstrip()
            if not _has_comment(header):
                header = Printer(keep_source=False).text(replace(node, body=None)).removesuffix(";")
            return f"{header}\n{_block(text, body, indent)}"
        case Directive(body=body) if body is not None:
            return text[start:end]
        case _:
            own = text[start:end]
            return own if _has_comment(own) else Printer(keep_source=False).text(node)


def _block(text: str, block: Block, indent: str) -> str:
    start, end = _extent(block)
    inner, last = _statements(text, block.statements, start + 1, f"{indent}\t", first=False)
    rest = _trivia(text[last : end - 1], f"{indent}\t", first=False).rstrip()
    return f"{{{inner}{rest}\n{indent}}}".replace("{\n\n", "{\n", 1)


def _has_comment(text: str) -> bool:
    return any(match["comment"] for match in _TEXT.finditer(text))


def _trivia(text: str, indent: str, *, first: bool) -> str:
    """Format the white space and comments before a statement, including its indentation.

    `first` is True at the start of the document.
    """
    formatted, lines = "", 0
    begun = not first
    for match in _TRIVIA.finditer(text):
        if match["blank"] is not None:
            lines += match["blank"].count("\n")
            continue
        words = match[0].rstrip()
        if lines == 0 and match["comment"] is not None and begun and "\n" not in formatted:
            formatted += f" {words}"
        else:
            formatted += "\n" * min(max(lines, 1), 2) * begun + ("" if match["marker"] else indent) + words
        begun, lines = True, 0
    return formatted + "\n" * min(max(lines, 1), 2) * begun + indent
