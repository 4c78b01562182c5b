"""Positions as editors count them: lines and characters from 0.

Source: Language Server Protocol 3.17, Text Documents
"""

import re
from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\n|\r")
_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""Codec and bytes of a code unit, for each encoding of the protocol."""


class Position(NamedTuple):
    """Position between two characters.

    `line` counts from 0. `character` counts code units of an encoding from the start of the line.
    """

    line: int
    character: int


class Lines:
    """Lines of a text, which convert between offsets and editor positions.

    Offsets count characters of the text. Positions count code units of `encoding`.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        if "\r" in text:
            self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        else:
            lengths = [len(line) + 1 for line in text.split("\n")]
            self.starts = [0, *accumulate(lengths[:-1])]
        self._codec, self._unit = _CODECS[encoding]

    def _units(self, text: str) -> int:
        return len(text) if text.isascii() else len(text.encode(self._codec, "surrogatepass")) // self._unit

    def position(self, offset: int) -> Position:
        """Return the position of an offset."""
        line = bisect_right(self.starts, offset) - 1
        return Position(line, self._units(self.text[self.starts[line] : offset]))

    def offset(self, line: int, character: int) -> int:
        """Return the offset of the position (`line`, `character`).

        A position beyond the end of its line is the end of the line. A position beyond the last line is the end of the
        text.
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
            units += self._units(sign)
        return start + len(content)
