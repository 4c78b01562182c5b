"""Source texts and positions in them."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from os.path import basename

from warploom.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of a source text, in characters from the start of `Source.text`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Line of Python, CUDA C++ or another language that a compiler translated into a part of a text.

    `column` counts from 1 and is 0 if it is unknown. Of an inlined function, `function` is the name and `inlined_at`
    the line of the call.
    """

    file: str
    line: int
    column: int = 0
    function: str = ""
    inlined_at: "SourceLine | None" = None

    @property
    def place(self) -> str:
        """Path and line, such as `/home/me/gemm.py:12`."""
        return f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{basename(self.file)}:{self.line}"  # noqa: PTH119 -- several times as fast as pathlib

    def chain(self) -> "Iterator[SourceLine]":
        """Yield this line, then the lines of the calls through which its function was inlined."""
        line: SourceLine | None = self
        while line is not None:
            yield line
            line = line.inlined_at

    def describe(self) -> list[str]:
        """Return a text for this line, and one for each call through which its function was inlined."""
        texts: list[str] = []
        for line in self.chain():
            label = "source" if line is self else "inlined at"
            texts.append(f"{label}: {line.place}" + (f" in {line.function}" if line.function else ""))
        return texts


LineTable = Sequence[tuple[int, SourceLine | None]]
"""Offsets in a text in ascending order, each with the source line of the text from there on."""


class Source:
    """Source text with a name, such as a file name.

    `first_line` is the number of the first line. It is greater than 1 if the text was cut out of a longer text.
    `read_line_table` is a function that returns the table of source lines of a compiled text. `compiled_from` calls it
    once.
    """

    __slots__ = ("_starts", "_table", "first_line", "name", "read_line_table", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.first_line = 1
        self.read_line_table: Callable[[], LineTable] | None = None
        self._starts: list[int] | None = None
        self._table: LineTable = ()

    def __reduce__(self) -> "tuple[Callable[..., Source], tuple[str, str, int, LineTable]]":
        return _restore, (self.name, self.text, self.first_line, self._line_table())

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

    def compiled_from(self, offset: int) -> SourceLine | None:
        """Return the source line that a compiler translated into the text at `offset`, or None."""
        table = self._line_table()
        entry = bisect_right(table, offset, key=lambda each: each[0])
        return table[entry - 1][1] if entry else None

    def _line_table(self) -> LineTable:
        if self.read_line_table is not None:
            self._table = self.read_line_table()
            self.read_line_table = None
        return self._table


def _restore(name: str, text: str, first_line: int, table: LineTable) -> Source:
    source = Source(name, text)
    source.first_line = first_line
    source._table = table  # pyright: ignore[reportPrivateUsage]
    return source
