"""Packed words: fields as data, and their encoding, decoding and display.

    WORD = PackedWord(
        "config", "the configuration word of …", 5,
        (
            Field("scale_d", 0, 1, description="1 adds the product to D"),
            Field("kind", 1, 3, {0: "f16", 3: "tf32"}, "kind of multiplication"),
        ),
    )
    WORD.encode(scale_d=1, kind="tf32")     # 7
    WORD.decode(7)                          # {"scale_d": 1, "kind": "tf32"}
    WORD.rows(7)                            # one FieldRow for each field

`encode` accepts names and numbers.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from warploom.diagnostics import UsageError

Value = int | str
Values = Mapping[str, Value]
Rule = Callable[[Values], str]
"""Function that checks several fields. It returns an error message, or "" for a legal word."""


class WordError(Exception):
    """Error in the definition of a word: fields overlap, or a field exceeds the word."""


@dataclass(frozen=True, slots=True)
class Field:
    """Field of a packed word.

    `low` is the position of the least significant bit. `names` maps each legal value to its name. If `names` is empty,
    every value is legal.
    """

    name: str
    low: int
    bits: int
    names: Mapping[int, str] = field(default_factory=dict[int, str])
    description: str = ""
    # Message of the compiler for an illegal value.
    message: str = ""

    @property
    def mask(self) -> int:
        """Mask of the field's bits in the word."""
        return ((1 << self.bits) - 1) << self.low

    @property
    def span(self) -> str:
        """Position of the field as text: `7-4`, or `28` for a single bit."""
        return _position(self.low + self.bits - 1, self.low)

    def numbers(self) -> Sequence[int]:
        """Return every legal value of the field."""
        return sorted(self.names) if self.names else range(1 << self.bits)

    def expected(self) -> str:
        """Return the legal values of the field as text for messages."""
        if not self.names:
            return f"0 to {self.numbers()[-1]}"
        return ", ".join(f"{number} ({word})" if word else str(number) for number, word in self.names.items())


@dataclass(frozen=True, slots=True)
class FieldRow:
    """Field of a packed word for display. `span` is the bits as text, `word` the name of the value."""

    span: str
    name: str
    number: int
    word: str
    description: str


@dataclass(frozen=True)
class PackedWord:
    """Definition of a packed word.

    Errors: WordError if fields overlap or exceed `width`; UsageError `word.NAME` for illegal values and fields
    """

    name: str
    title: str
    width: int
    fields: tuple[Field, ...]
    rules: tuple[Rule, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        used = 0
        for each in self.fields:
            if used & each.mask or each.mask >> self.width:
                place = f"overlaps another field or exceeds the word, in bits {each.span}"
                raise WordError(f"word {self.name}: field {each.name} {place}")
            used |= each.mask

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        return {each.name: each for each in self.fields}

    def encode(self, **values: Value) -> int:
        """Return the word with the given field values, as numbers or names. Other fields are 0."""
        if unknown := sorted(values.keys() - self._by_name.keys()):
            raise self._usage_error(f"unknown field {unknown[0]!r}; expected {', '.join(self._by_name)}")
        numbers = {each.name: self._number(each, values.get(each.name, 0)) for each in self.fields}
        self._check(numbers)
        return self._packed(numbers)

    def decode(self, value: int) -> dict[str, Value]:
        """Return the field values of a word by name. Errors: UsageError for an illegal word."""
        numbers = self._numbers(value)
        self._check(numbers)
        return self._named(numbers)

    def rows(self, value: int) -> list[FieldRow]:
        """Return the fields of a word for display, from the least significant field."""
        self.decode(value)
        numbers = self._numbers(value)
        return [
            FieldRow(each.span, each.name, numbers[each.name], each.names.get(numbers[each.name], ""), each.description)
            for each in sorted(self.fields, key=lambda each: each.low)
        ]

    def error(self, value: int) -> str:
        """Return the error message for an illegal word, or "" for a legal word."""
        try:
            self.decode(value)
        except UsageError as error:
            return error.diagnostics[0].message
        return ""

    def all_words(self) -> Iterator[int]:
        """Yield every legal word."""
        for chosen in product(*(each.numbers() for each in self.fields)):
            numbers = dict(zip(self._by_name, chosen, strict=True))
            if not any(rule(self._named(numbers)) for rule in self.rules):
                yield self._packed(numbers)

    def _packed(self, numbers: Mapping[str, int]) -> int:
        return sum(number << self._by_name[name].low for name, number in numbers.items())

    def _numbers(self, value: int) -> dict[str, int]:
        if not 0 <= value < 1 << self.width:
            raise self._usage_error(f"{value:#x} does not fit {self.width} bits")
        if unused := value & ~sum(each.mask for each in self.fields):
            ranges = _ranges(unused)
            bits = f"bit {ranges} belongs" if unused.bit_count() == 1 else f"bits {ranges} belong"
            raise self._usage_error(f"{bits} to no field and must be 0")
        return {each.name: (value & each.mask) >> each.low for each in self.fields}

    def _number(self, each: Field, value: Value) -> int:
        if isinstance(value, int):
            return int(value)
        found = [number for number, word in each.names.items() if word == value]
        if not found:
            raise self._illegal(each, repr(value))
        return found[0]

    def _check(self, numbers: Mapping[str, int]) -> None:
        for each in self.fields:
            if numbers[each.name] not in each.numbers():
                raise self._illegal(each, str(numbers[each.name]))
        values = self._named(numbers)
        for rule in self.rules:
            if message := rule(values):
                raise self._usage_error(message)

    def _named(self, numbers: Mapping[str, int]) -> dict[str, Value]:
        return {name: self._by_name[name].names.get(number, number) for name, number in numbers.items()}

    def _illegal(self, each: Field, found: str) -> UsageError:
        prefix = f"{each.message}: " if each.message else ""
        return self._usage_error(f"{prefix}its {each.name} is {found}; expected {each.expected()}")

    def _usage_error(self, message: str) -> UsageError:
        return UsageError(f"{self.title}: {message}", code=f"word.{self.name}", section=self.source)


def _ranges(mask: int) -> str:
    """Return the bits of a mask as ranges: `63-40, 3`."""
    bits = f"{mask:b}"
    runs = ((len(bits) - run.start() - 1, len(bits) - run.end()) for run in re.finditer("1+", bits))
    return ", ".join(map(_position, *zip(*runs, strict=True)))


def _position(high: int, low: int) -> str:
    return str(low) if high == low else f"{high}-{low}"
