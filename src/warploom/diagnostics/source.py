"""Source texts and positions in them."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of a source text, in characters from the start of `Source.text`."""

    start: int
    end: int


class Source:
    """Source text with a name, such as a file name.

    `first_line` is the number of the first line. It is greater than 1 if the text was cut out of a longer text.
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
        """Number of lines. A text that ends with a newline has an empty last line."""
        return len(self._line_starts())

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset. Lines count from `first_line`, columns from 1."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line - 1 + self.first_line, offset - starts[line - 1] + 1

    def line_start(self, line: int) -> int:
        """Return the offset of the first character of a line. Lines count from `first_line`."""
        return self._line_starts()[line - self.first_line]

    def line_text(self, line: int) -> str:
        """Return the text of a line without its line ending. Lines count from `first_line`."""
        starts = self._line_starts()
        number = line - self.first_line
        end = starts[number + 1] - 1 if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].removesuffix("\r")
