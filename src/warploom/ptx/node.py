"""Base class of tree nodes, and the printer of trees.

A parsed node prints its source text with its comments. A node that a program made prints canonical text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import ClassVar, TypeAlias

from warploom.diagnostics import Source, Span
from warploom.display import Displayed
from warploom.lazy_dataclass import dataclass
from warploom.ptx.lexer import STRING, TRIVIA, trivia_end

Origin: TypeAlias = tuple[Source, int, int]
"""Source of a parsed node, and the offsets of its start and end there."""

_LINE_REST = re.compile(r"(?:[ \t\f\v]++|/\*[^*\n]*+\*/|//[^\n]*+)*")
_TRIVIA_AND_TOKEN = rf'(?P<trivia>{TRIVIA})(?:{STRING}|[^\s"/#]++|["/#]|\Z)'


@dataclass(frozen=True, slots=True)
class Node(Displayed):
    """Base class of statements, variables, functions and modules.

    `origin` is None for a node that a program made. Equality ignores the origin.
    """

    display_kind: ClassVar[str] = "ptx"
    blank_line_before: ClassVar[bool] = False
    """True for nodes that are printed after a blank line."""

    shares_statement: ClassVar[bool] = False
    """True for variables, because one statement may declare several of them."""

    origin: Origin | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def source(self) -> Source | None:
        """Source of a parsed node, or None."""
        return None if self.origin is None else self.origin[0]

    @property
    def span(self) -> Span | None:
        """Position of a parsed node without surrounding blanks and comments, or None."""
        return None if self.origin is None else Span(self.origin[1], self.origin[2])

    @property
    def source_text(self) -> str | None:
        """Text from which the node was parsed, or None."""
        return None if self.origin is None else self.origin[0].text[self.origin[1] : self.origin[2]]

    def canonical(self, printer: Printer, indent: str) -> str:
        """Return the canonical text. Its lines after the first begin with `indent`.

        `printer` prints the nested nodes.
        """
        raise NotImplementedError

    def __str__(self) -> str:
        return Printer().text(self)


class Printer:
    """Printer of one tree.

    With `keep_source`, parsed nodes print their source text. Otherwise all nodes print canonical text.
    """

    def __init__(self, *, keep_source: bool = True) -> None:
        self.keep_source = keep_source
        self._trivia_starts: dict[int, dict[int, int]] = {}

    def text(self, node: Node, indent: str = "") -> str:
        """Return the text of one node. Canonical lines after the first begin with `indent`."""
        origin, _ = self._own_text((node,), 0)
        return node.canonical(self, indent) if origin is None else origin[0].text[origin[1] : origin[2]]

    def module(self, items: Sequence[Node]) -> str:
        """Return the text of the items of a module."""
        text, last = self._sequence(items, "")
        end = self._trivia_behind(last, lambda source, stop: stop == len(source.text))
        if items and self._own_text(items, 0)[0] is None:
            text = text.lstrip("\n")
        return text + ("\n" if end is None else end)

    def braced(self, nodes: Sequence[Node], indent: str) -> str:
        """Return the text of nodes between braces. `indent` precedes the closing brace."""
        text, last = self._sequence(nodes, f"{indent}\t")
        end = self._trivia_behind(last, lambda source, stop: source.text.startswith("}", stop))
        end = f"\n{indent}" if end is None else end
        return f"{{{text}{end}}}"

    def _sequence(self, nodes: Sequence[Node], indent: str) -> tuple[str, Origin | None]:
        """Return the text of nodes, and the origin of the last node."""
        parts: list[str] = []
        previous: Origin | None = None
        index = 0
        while index < len(nodes):
            node = nodes[index]
            origin, count = self._own_text(nodes, index)
            if origin is None:
                parts.append(f"\n\n{indent}" if node.blank_line_before else f"\n{indent}")
                parts.append(node.canonical(self, indent))
            else:
                source, start, end = origin
                parts.append(self._trivia_before(origin, previous, index == 0, indent))
                parts.append(source.text[start : _rest_end(source, end, trivia_end(source.text, end))])
            previous = origin
            index += count
        return "".join(parts), previous

    def _own_text(self, nodes: Sequence[Node], index: int) -> tuple[Origin | None, int]:
        """Return the source range to print for `nodes[index]`, and the number of nodes in that range.

        The range is None for canonical text.
        """
        origin = nodes[index].origin
        if origin is None or not self.keep_source:
            return None, 1
        if not nodes[index].shares_statement:
            return origin, 1
        source, start, end = origin
        text = source.text
        count = 1
        # The range of one declaration covers its variables, if all of them are still together.
        while text[end - 1] != ";":
            following = nodes[index + count].origin if index + count < len(nodes) else None
            comma = trivia_end(text, end)
            if following is None or following[0] is not source or text[comma : comma + 1] != ",":
                return None, 1
            if trivia_end(text, comma + 1) != following[1]:
                return None, 1
            end = following[2]
            count += 1
        return ((source, start, end), count) if text[start] == "." else (None, 1)

    def _trivia_before(self, origin: Origin, previous: Origin | None, first: bool, indent: str) -> str:
        """Return the blanks and comments before a parsed node at `origin`.

        `previous` is the origin of the node before it. `first` is True for the first node of a block.
        """
        source, start, _ = origin
        begin = self._trivia_start(source, start)
        follows = previous is not None and previous[0] is source and previous[2] == begin
        if begin > 0 and source.text[begin - 1] != "{":
            begin = _rest_end(source, begin, start)
        trivia = source.text[begin:start]
        if "\n" in trivia or follows or (first and begin == 0):
            return trivia
        return f"\n{indent}{trivia.lstrip()}"

    def _trivia_behind(self, last: Origin | None, closes: Callable[[Source, int], bool]) -> str | None:
        """Return the blanks and comments between the last node and the end of its block, or None."""
        if last is None:
            return None
        source, _, end = last
        stop = trivia_end(source.text, end)
        return source.text[_rest_end(source, end, stop) : stop] if closes(source, stop) else None

    def _trivia_start(self, source: Source, start: int) -> int:
        """Return the start of the blanks and comments before the offset `start`."""
        starts = self._trivia_starts.get(id(source))
        if starts is None:
            starts = self._trivia_starts[id(source)] = {
                match.end("trivia"): match.start("trivia")
                for match in re.finditer(_TRIVIA_AND_TOKEN, source.text, re.ASCII)
            }
        return starts.get(start, start)


def _rest_end(source: Source, start: int, stop: int) -> int:
    """Return the end of the comments at `start` if they end their line, and otherwise `start`."""
    match = _LINE_REST.match(source.text, start)
    end = start if match is None else match.end()
    return end if end < stop and source.text[end] in "\r\n" else start
