"""Texts and places in them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of a source text.

    Units: characters, counted from the start of `Source.text`.
    """

    start: int
    end: int


class Source:
    """A named text whose line index is built on first use.

    Units: `first_line` is the number of its first line; 1, but for a text that was cut out of another.
    """

    __slots__ = ("_starts", "first_line", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.first_line = 1
        self._starts: list[int] | None = None

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            lengths = [len(line) + 1 for line in self.text.split("\n")]
            self._starts = [0, *accumulate(lengths[:-1])]
        return self._starts

    @property
    def line_count(self) -> int:
        """Number of lines; a text that ends in a newline has an empty last line."""
        return len(self._line_starts())

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line - 1 + self.first_line, offset - starts[line - 1] + 1

    def line_start(self, line: int) -> int:
        """The offset that a line counted from 1 begins at."""
        return self._line_starts()[line - self.first_line]

    def line_text(self, line: int) -> str:
        """Text of a line counted from 1, without its line ending."""
        starts = self._line_starts()
        number = line - self.first_line
        end = starts[number + 1] - 1 if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].removesuffix("\r")
