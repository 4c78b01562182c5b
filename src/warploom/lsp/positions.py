"""Where things stand as editors count: lines and characters from 0, in the units that were agreed on.

Source: Language Server Protocol 3.17, Text Documents
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\n|\r")
_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


class Position(NamedTuple):
    """A place between two characters. Units: lines from 0; code units of the line from 0."""

    line: int
    character: int


def _line_ends(text: str) -> Iterator[int]:
    """Where the lines of a text end that others follow."""
    if "\r" in text:
        return (match.end() for match in _LINE_END.finditer(text))
    lengths = [len(line) + 1 for line in text.split("\n")]
    return accumulate(lengths[:-1])


class Lines:
    """The lines of a text.

    Units: offsets are characters of the text; positions are in code units of `encoding`.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self.starts = [0, *_line_ends(text)]
        self._codec = _CODECS[encoding]
        self._bytes = _BYTES[encoding]

    def position(self, offset: int) -> Position:
        """The position of an offset."""
        line = bisect_right(self.starts, offset) - 1
        before = self.text[self.starts[line] : offset]
        if before.isascii():
            return Position(line, len(before))
        return Position(line, len(before.encode(self._codec, "surrogatepass")) // self._bytes)

    def offset(self, line: int, character: int) -> int:
        """The offset of a position; what lies behind the end of a line is its end, behind the last line that of
        the text.
        """
        if line >= len(self.starts):
            return len(self.text)
        start = self.starts[line]
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        content = self.text[start:end].rstrip("\r\n")
        if content.isascii():
            return start + min(character, len(content))
        units = 0
        for k, sign in enumerate(content):
            if units >= character:
                return start + k
            units += len(sign.encode(self._codec, "surrogatepass")) // self._bytes
        return start + len(content)
