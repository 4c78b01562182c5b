"""Packed words: fields as data, and all that follows from them.

    WORD = Word(
        "config", "the configuration word of …", 5,
        (
            Field("scale_d", 0, 1, meaning="1 adds the product to D"),
            Field("kind", 1, 3, {0: "f16", 3: "tf32"}, "what is multiplied"),
        ),
    )
    WORD.encode(scale_d=1, kind="tf32")     # 7
    WORD.decode(7)                          # {"scale_d": 1, "kind": "tf32"}
    WORD.lines(7)                           # one Line a field, for people

A field that is named by words is encoded from the word or its number and decoded to the word. Fields that
overlap, or leave the width of their word, stop the import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from warploom.diagnostics import UsageError

Value = int | str
Values = Mapping[str, Value]
Rule = Callable[[Values], str]

_NO_NAMES: Mapping[int, str] = {}


class WordError(Exception):
    """A word whose fields contradict each other. Raised at import, for the author of the word only."""


@dataclass(frozen=True, slots=True)
class Field:
    """Some bits of a word.

    `names` says what each number stands for; numbers without a name are then refused. Without names a field is
    a plain number, from `least` to `most` where it does not fill its bits. `message` is the compiler's own
    word on a number that stands for nothing.

    Units: `low` and `bits` count bits from the least significant one.
    """

    name: str
    low: int
    bits: int
    names: Mapping[int, str] = field(default_factory=lambda: _NO_NAMES)
    meaning: str = ""
    message: str = ""
    least: int = 0
    most: int = -1

    @property
    def mask(self) -> int:
        """The bits of the word that are the field's."""
        return ((1 << self.bits) - 1) << self.low

    @property
    def span(self) -> str:
        """The field's place as tables write it: `7-4`, or `28` for a single bit."""
        high = self.low + self.bits - 1
        return str(self.low) if high == self.low else f"{high}-{self.low}"

    def numbers(self) -> list[int]:
        """Every number that may stand in the field, where they are few enough to be listed."""
        return sorted(self.names) if self.names else list(range(self.least, self.largest + 1))

    @property
    def largest(self) -> int:
        """The largest number that may stand in the field."""
        return max(self.names) if self.names else self.most if self.most >= 0 else (1 << self.bits) - 1

    def allows(self, number: int) -> bool:
        """Whether a number may stand in the field."""
        return number in self.names if self.names else self.least <= number <= self.largest

    def expected(self) -> str:
        """What may stand in the field, for a sentence."""
        if not self.names:
            return f"{self.least} to {self.largest}"
        return ", ".join(f"{number} ({word})" if word else str(number) for number, word in self.names.items())


@dataclass(frozen=True, slots=True)
class Line:
    """A field of a value, for people: where it is, what it is called, its number and what that stands for."""

    span: str
    name: str
    number: int
    stands_for: str
    meaning: str


class Word:
    """A packed word.

    `rules` look at the fields together and say what is wrong, in a sentence that names the field, or "".

    Errors: UsageError, code `word.NAME`, for values and fields that cannot be.
    """

    def __init__(
        self,
        name: str,
        title: str,
        width: int,
        fields: tuple[Field, ...],
        *,
        rules: tuple[Rule, ...] = (),
        source: str = "",
    ) -> None:
        self.name = name
        self.title = title
        self.width = width
        self.fields = fields
        self.source = source
        self._rules = rules
        self._by_name = {each.name: each for each in fields}
        used = 0
        for each in fields:
            if used & each.mask or each.mask >> width:
                raise WordError(f"word {name}: the bits {each.span} of {each.name} are not its own")
            used |= each.mask
        self.mask = used

    def encode(self, **values: Value) -> int:
        """The word of the named fields; those that are not named are 0."""
        unknown = sorted(values.keys() - self._by_name.keys())
        if unknown:
            raise self._error(f"there is no field {unknown[0]!r}; the fields are {', '.join(self._by_name)}")
        numbers = {each.name: self._number(each, values.get(each.name, 0)) for each in self.fields}
        self._judge(numbers)
        return sum(number << self._by_name[name].low for name, number in numbers.items())

    def decode(self, value: int) -> dict[str, Value]:
        """The fields of a word, by name."""
        numbers = self._numbers(value)
        self._judge(numbers)
        return {name: self._shown(name, number) for name, number in numbers.items()}

    def lines(self, value: int) -> list[Line]:
        """The fields of a word for people, from the least significant on."""
        self.decode(value)
        numbers = self._numbers(value)
        return [
            Line(
                each.span, each.name, numbers[each.name], each.names.get(numbers[each.name], ""), each.meaning
            )
            for each in sorted(self.fields, key=lambda each: each.low)
        ]

    def complaint(self, value: int) -> str:
        """Why a number is no such word, in a sentence; "" where it is one."""
        try:
            self.decode(value)
        except UsageError as error:
            return error.diagnostics[0].message
        return ""

    def every(self) -> Iterator[int]:
        """Every valid word, in no order. For words whose fields have few values."""
        names = [each.name for each in self.fields]
        for chosen in product(*(each.numbers() for each in self.fields)):
            numbers = dict(zip(names, chosen, strict=True))
            if not any(rule(self._named(numbers)) for rule in self._rules):
                yield sum(number << self._by_name[name].low for name, number in numbers.items())

    def _numbers(self, value: int) -> dict[str, int]:
        if not 0 <= value < 1 << self.width:
            raise self._error(f"{value:#x} does not fit {self.width} bits")
        if spare := value & ~self.mask:
            raise self._error(f"bits {_bits(spare)} belong to no field and must be 0")
        return {each.name: (value & each.mask) >> each.low for each in self.fields}

    def _number(self, each: Field, value: Value) -> int:
        if isinstance(value, int):
            return int(value)
        found = [number for number, word in each.names.items() if word == value]
        if not found:
            raise self._wrong(each, repr(value))
        return found[0]

    def _judge(self, numbers: Mapping[str, int]) -> None:
        for each in self.fields:
            if not each.allows(numbers[each.name]):
                raise self._wrong(each, str(numbers[each.name]))
        values = self._named(numbers)
        for rule in self._rules:
            if said := rule(values):
                raise self._error(said)

    def _named(self, numbers: Mapping[str, int]) -> dict[str, Value]:
        return {name: self._shown(name, number) for name, number in numbers.items()}

    def _shown(self, name: str, number: int) -> Value:
        names = self._by_name[name].names
        return names[number] if names else number

    def _wrong(self, each: Field, found: str) -> UsageError:
        said = f"{each.message}: " if each.message else ""
        return self._error(f"{said}its {each.name} is {found}; expected {each.expected()}")

    def _error(self, message: str) -> UsageError:
        return UsageError(f"{self.title}: {message}", code=f"word.{self.name}", section=self.source)


def _bits(mask: int) -> str:
    """Bits of a mask as ranges: `63-40, 3`."""
    runs: list[str] = []
    high = mask.bit_length() - 1
    while mask:
        low = high
        while low and mask >> (low - 1) & 1:
            low -= 1
        runs.append(str(low) if low == high else f"{high}-{low}")
        mask &= (1 << low) - 1
        high = mask.bit_length() - 1
    return ", ".join(runs)
