"""Parser of the manual's syntax lines, such as `add{.rnd}{.ftz}.type d, a, b{, c};`.

A *slot* is a word of the syntax line that stands for one of several opcode words, such as `.type`. Every other word is
a literal.
"""

import re
from collections.abc import Mapping
from dataclasses import field

from warploom.isa.model.table import FormError
from warploom.lazy_dataclass import dataclass

_OPCODE_PIECE = re.compile(r"\{\.([\w:]+)\}|\.?([\w:]+)")
_SIGN = re.compile(r"\{(?:[!-]|\.\w+)\}")  # signs and selectors, such as {!}p and a{.asel}
_MARK = re.compile(r"(\{-\})?(\w+)(?:\{\.(\w+)\})?")
_OPERAND_PIECE = re.compile(
    r"\s*(?:\{(?P<vector>[\w-]+(?:,\s*[\w-]+)+)\}|(?P<sign>[{},])"
    r"|\[(?P<address>[\w-]+)(?:,[^\]]*)?\]|\((?P<list>[\w-]+)\)"
    r"|(?P<first>[\w-]+)(?:\{?\|(?P<second>[\w-]+)\}?)?)\s*"
)


@dataclass(frozen=True, slots=True)
class Word:
    """One word of an opcode pattern: a modifier or a literal.

    `slot` is the name of the modifier, or the text of an optional literal, or "" for a required literal.
    """

    slot: str
    literal: str
    optional: bool
    composite: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class OperandPattern:
    """One operand of the syntax line.

    `first` is the name of the operand. `second` is the second name of a pair `d|p`. A vector of named parts `{x, y}`
    has `parts` instead of `first`. `names` contains all these names.
    """

    first: str
    second: str = ""
    second_optional: bool = False
    optional: bool = False
    parts: tuple[str, ...] = ()
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = self.parts or tuple(name for name in (self.first, self.second) if name)
        object.__setattr__(self, "names", names)  # computed once, because every binding reads it


@dataclass(frozen=True, slots=True)
class Mark:
    """Minus sign and selector that an operand of the syntax line may have, as in `{-}a{.asel}`.

    `minus` and `selector` are the names under which semantics functions receive them, such as "minus_a" and "asel", or
    "" if the operand has none.
    """

    operand: str
    minus: str
    selector: str


@dataclass(frozen=True, slots=True)
class Syntax:
    """Parsed syntax line: the pattern of the opcode words, the operands, and the marks of operands."""

    words: tuple[Word, ...]
    operands: tuple[OperandPattern, ...]
    marks: tuple[Mark, ...] = ()


def read_syntax(form: str, line: str, columns: tuple[str, ...], composites: Mapping[str, str]) -> Syntax:
    """Return the parsed syntax line of a Form.

    `columns` are the columns of the Form's table, and `composites` the spellings of its composite modifiers. Optional
    words are in braces. Optional operands are in braces that begin with a comma.

    Errors: FormError for a line that cannot be parsed.
    """
    opcode, _, operands = line.strip().removesuffix(";").partition(" ")
    words: list[Word] = []
    position = 0
    while position < len(opcode):
        found = _OPCODE_PIECE.match(opcode, position)
        if found is None:
            raise FormError(f"form {form}: cannot read {opcode[position:]!r} in its syntax line")
        position = found.end()
        words.append(_word(found[1] or found[2], found[1] is not None, columns, composites))
    marks = [
        Mark(name, f"minus_{name}" if minus else "", selector or "")
        for minus, name, selector in _MARK.findall(operands)
        if minus or selector
    ]
    return Syntax(tuple(words), _read_operands(form, _SIGN.sub("", operands)), tuple(marks))


def _read_operands(form: str, text: str) -> tuple[OperandPattern, ...]:
    operands: list[OperandPattern] = []
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
            operands.append(OperandPattern("", optional=depth > 0, parts=parts))
            continue
        name = found["address"] or found["list"] or found["first"]
        second = (found["second"] or "").replace("-", "_")
        operands.append(OperandPattern(name.replace("-", "_"), second, "{|" in found[0], depth > 0))
    if depth != 0:
        raise FormError(f"form {form}: unbalanced braces in its syntax line")
    return tuple(operands)


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
    pattern: tuple[Word, ...], words: tuple[str, ...], vocabulary: Mapping[str, frozenset[str]], p: int = 0, w: int = 0
) -> dict[str, str] | None:
    """Return the word of each modifier if the opcode words follow the pattern, else None.

    An omitted modifier has the word "". `vocabulary` maps each modifier to its legal words. `p` and `w` are the first
    indices in `pattern` and `words`.
    """
    if p == len(pattern):
        return {} if w == len(words) else None
    word = pattern[p]
    if w < len(words):
        bound = bind_word(word, words[w], vocabulary)
        if bound is not None:
            rest = match_words(pattern, words, vocabulary, p + 1, w + 1)
            if rest is not None:
                return bound | rest
    if word.optional:
        rest = match_words(pattern, words, vocabulary, p + 1, w)
        if rest is not None:
            return {word.slot: ""} | rest
    return None


def bind_word(word: Word, text: str, vocabulary: Mapping[str, frozenset[str]]) -> dict[str, str] | None:
    """Return the modifiers in the opcode word `text`, or None if `text` does not fit `word`.

    A composite word such as `m16n8k16` contains several modifiers: the shape, m, n and k.
    """
    if word.composite is not None:
        found = word.composite.fullmatch(text)
        return None if found is None else {word.slot: text, **found.groupdict()}
    if word.literal:
        if text != word.literal:
            return None
        return {word.slot: text} if word.slot else {}
    return {word.slot: text} if text in vocabulary[word.slot] else None
