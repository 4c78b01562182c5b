"""The manual's syntax line, read as a pattern.

`add{.rnd}{.ftz}.type d, a, b{, c};` has opcode words (literals, slots, optional ones in braces) and operand
places (names, `d|p` pairs, `[a]` addresses, `{x, y}` vectors of named parts, optional ones in braces that
begin with a comma; signs and selectors of parts, `{!}p` and `a{.asel}`, are for the reader). A word is a
slot when the Form's table has a column of its name or the Form gives it a composite spelling.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from warploom.isa.model.table import FormError

_OPCODE_PIECE = re.compile(r"\{\.([\w:]+)\}|\.?([\w:]+)")
_SIGN = re.compile(r"\{(?:[!-]|\.\w+)\}")
_OPERAND_PIECE = re.compile(
    r"\s*(?:\{(?P<vector>[\w-]+(?:,\s*[\w-]+)+)\}|(?P<sign>[{},])"
    r"|\[(?P<address>[\w-]+)(?:,[^\]]*)?\]|\((?P<list>[\w-]+)\)"
    r"|(?P<first>[\w-]+)(?:\{?\|(?P<second>[\w-]+)\}?)?)\s*"
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the opcode pattern. `slot` is "" for a literal that must stand there."""

    slot: str
    literal: str
    optional: bool
    composite: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class PlaceName:
    """One place of the operand pattern; `second` is the other half of a `d|p` pair.

    A vector whose parts have names, `{x, y}`, has them in `parts`, and no `first`. `names` are all of them.
    """

    first: str
    second: str = ""
    second_optional: bool = False
    optional: bool = False
    parts: tuple[str, ...] = ()
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = self.parts or tuple(name for name in (self.first, self.second) if name)
        object.__setattr__(self, "names", names)  # asked for at every operand that is bound


@dataclass(frozen=True, slots=True)
class Syntax:
    """A read syntax line: opcode words and operand places."""

    words: tuple[Word, ...]
    places: tuple[PlaceName, ...]


def read_syntax(form: str, line: str, columns: tuple[str, ...], composites: Mapping[str, str]) -> Syntax:
    """Read a Form's syntax line. Errors: FormError where it is not one."""
    opcode, _, operands = line.strip().removesuffix(";").partition(" ")
    words: list[Word] = []
    position = 0
    while position < len(opcode):
        found = _OPCODE_PIECE.match(opcode, position)
        if found is None:
            raise FormError(f"form {form}: cannot read {opcode[position:]!r} in its syntax line")
        position = found.end()
        words.append(_word(found[1] or found[2], found[1] is not None, columns, composites))
    return Syntax(tuple(words), _read_places(form, _SIGN.sub("", operands)))


def _read_places(form: str, text: str) -> tuple[PlaceName, ...]:
    """The places of an operand list; what stands in braces is optional, names in braces make a vector."""
    places: list[PlaceName] = []
    depth = position = 0
    while position < len(text):
        found = _OPERAND_PIECE.match(text, position)
        if found is None:
            raise FormError(f"form {form}: cannot read operands {text[position:]!r} in its syntax line")
        position = found.end()
        if sign := found["sign"]:
            depth += {"{": 1, "}": -1, ",": 0}[sign]
            continue
        if vector := found["vector"]:
            parts = tuple(part.strip().replace("-", "_") for part in vector.split(","))
            places.append(PlaceName("", optional=depth > 0, parts=parts))
            continue
        name = found["address"] or found["list"] or found["first"]
        second = (found["second"] or "").replace("-", "_")
        places.append(PlaceName(name.replace("-", "_"), second, "{|" in found[0], depth > 0))
    if depth != 0:
        raise FormError(f"form {form}: unbalanced braces in its syntax line")
    return tuple(places)


def _word(text: str, optional: bool, columns: tuple[str, ...], composites: Mapping[str, str]) -> Word:
    if text in composites:
        pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>\\d+)", composites[text]))
        return Word(text, "", optional, pattern)
    if text in columns:
        return Word(text, "", optional)
    if optional:
        return Word(text, text, True)
    return Word("", text, False)


def match_words(
    pattern: tuple[Word, ...], words: tuple[str, ...], vocabulary: Mapping[str, frozenset[str]]
) -> dict[str, str] | None:
    """Slot values when `words` follow the pattern, else None. An absent optional word binds to ""."""
    return _match(pattern, 0, words, 0, vocabulary)


def _match(
    pattern: tuple[Word, ...], p: int, words: tuple[str, ...], w: int, vocabulary: Mapping[str, frozenset[str]]
) -> dict[str, str] | None:
    if p == len(pattern):
        return {} if w == len(words) else None
    word = pattern[p]
    if w < len(words):
        bound = bind_word(word, words[w], vocabulary)
        if bound is not None:
            rest = _match(pattern, p + 1, words, w + 1, vocabulary)
            if rest is not None:
                return bound | rest
    if word.optional:
        rest = _match(pattern, p + 1, words, w, vocabulary)
        if rest is not None:
            return {word.slot: ""} | rest
    return None


def bind_word(word: Word, text: str, vocabulary: Mapping[str, frozenset[str]]) -> dict[str, str] | None:
    """The slots that a word of an opcode binds where it stands at a word of the pattern; None where it
    cannot.
    """
    if word.composite is not None:
        found = word.composite.fullmatch(text)
        return None if found is None else {word.slot: text, **found.groupdict()}
    if word.literal:
        if text != word.literal:
            return None
        return {word.slot: text} if word.slot else {}
    return {word.slot: text} if text in vocabulary[word.slot] else None
