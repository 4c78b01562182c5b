"""Facts of two reference texts on NVIDIA's compiler as tables, and a search in them.

    tables()["gates"].rows[0]          # ("hmmastc", "sub_21DFBF0", "sub_36E91F0", "v8 > 0x45", "70", "store of HMMA")
    search("sub_94B510")               # the rows and sentences with this address, in Markdown

The file reference.toml has the facts that only the texts contain. The other tables come from the code.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from warploom.layout.maps import TYPE_BITS
from warploom.nvvm.builtins.registry import BUILTINS
from warploom.nvvm.intrinsic_numbers import identifiers
from warploom.nvvm.packed import WORDS
from warploom.nvvm.packed.matrix import TYPES
from warploom.nvvm.packed.tcgen05 import COLLECTORS, KINDS

CORRECTION = "=>"
"""Separator in a cell between a wrong statement of the text and the correct one."""
_SMALL, _SHORT = 100, 5
"""Numbers below the first limit, and words up to the second length, occur in many facts.

Such a number must equal a key of a row, and such a word must occur as a whole word.
"""
_LIMIT = 30
_ENOUGH = 0.6
"""Share of the words that a fact must have if no fact has all words."""
_NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-f]+|\d+)(?:-(0x[0-9a-f]+|\d+))?(?![\w.]\w)")
_SHAPE = re.compile(r"\bm\d+n\d+k\d+\b")
_IGNORED = frozenset(["a", "an", "the", "of", "in", "on", "is", "are", "for", "to", "what", "which", "does", "with"])


@dataclass(frozen=True)
class Table:
    """Table of facts: headings, rows of cells, and sentences before and after the rows."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = "cicc"
    # Number of leading columns in which a small number identifies a row.
    keys: int = 1

    def corrected(self) -> list[dict[str, str]]:
        """Return all rows, each wrong statement replaced by its correction. A row maps headings to cells."""
        return [
            {head: cell.rpartition(CORRECTION)[2].strip() for head, cell in zip(self.heads, row, strict=True)}
            for row in self.rows
        ]

    @cached_property
    def entries(self) -> tuple["_Entry", ...]:
        """Rows and sentences for the search."""
        rows = (_Entry(self.title, self._line(row), tuple(map(_plain, row)), self.keys) for row in self.rows)
        return (*rows, *(_Entry(self.title, each) for each in (*self.lead, *self.notes)))

    def _line(self, row: tuple[str, ...]) -> str:
        return "; ".join(f"{head}: {_marked(cell)}" for head, cell in zip(self.heads, row, strict=True) if cell != "-")


@dataclass(frozen=True)
class _Entry:
    title: str
    line: str
    cells: tuple[str, ...] = ()
    keys: int = 0

    @cached_property
    def text(self) -> str:
        return _plain(f"{self.title} {self.line}")

    @cached_property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        return tuple(each for text in self.cells or (self.text,) for each in _ranges(text))

    def contains(self, word: str) -> bool:
        if _NUMBER.fullmatch(word):
            low, high = next(_ranges(word))
            return any(first <= low and high <= last for first, last in self.ranges)
        return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", self.text) is not None

    def names(self, number: int) -> bool:
        # Small numbers occur everywhere.
        cells = self.cells[: self.keys] if number < _SMALL else self.cells
        return any(_number(cell) == number for cell in cells)

    def rank(self, subject: str) -> int:
        """Return 0 if a cell is the subject, 1 if a cell begins with the subject, and 2 otherwise."""
        number = _number(subject)
        if subject in self.cells or (number is not None and self.names(number)):
            return 0
        return 1 if any(cell.startswith(subject) for cell in self.cells) else 2


def _marked(cell: str) -> str:
    wrong, found, right = map(str.strip, cell.partition(CORRECTION))
    return f"{wrong} (incorrect; correct: {right})" if found and wrong else right or cell


def _plain(text: str) -> str:
    """Return a text for comparisons: lower case, no quotation marks, f16 for FP16, and sm 90 for sm_90."""
    plain = re.sub(r"[\"'`“”‘’]", "", text.lower().replace("–", "-"))
    plain = re.sub(r"\bsm_(?=\d)", "sm ", plain)
    return " ".join(re.sub(r"\bfp(?=16|32|64)", "f", plain).split())


def _unshaped(text: str) -> str:
    return _SHAPE.sub("m#n#k#", text)


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    for found in _NUMBER.finditer(text):
        first = int(found[1], 0 if found[1].startswith("0x") else 10)
        last = found[2] or found[1]
        yield first, int(last, 0 if last.startswith("0x") else 10)


def _number(text: str) -> int | None:
    found = _NUMBER.fullmatch(text)
    return next(_ranges(text))[0] if found and not found[2] else None


# Tables -----------------------------------------------------------------------------------------------------


@cache
def tables() -> dict[str, Table]:
    """Return the tables by name. Errors: ValueError for a row with too few or too many cells."""
    groups = tomllib.loads(files("warploom.nvvm").joinpath("reference.toml").read_text(encoding="utf-8"))
    texts = {name: (text, source) for source, group in groups.items() for name, text in group.items()}
    found = {name: _read(name, text.splitlines(), source) for name, (text, source) in texts.items()}
    return found | {each.name: each for each in _derived()}


def _read(name: str, lines: list[str], source: str) -> Table:
    title, *lines = lines
    places = [place for place, line in enumerate(lines) if " | " in line]
    heads, *rows = (tuple(map(str.strip, lines[place].split(" | "))) for place in places)
    if wrong := [row for row in rows if len(row) != len(heads)]:
        raise ValueError(f"table {name}: row {wrong[0][0]!r} has {len(wrong[0])} cells; expected {len(heads)}")
    return Table(name, title, heads, tuple(rows), tuple(lines[: places[0]]), tuple(lines[places[-1] + 1 :]), source)


def _derived() -> Iterator[Table]:
    heads = ("number", "hexadecimal", "name", "first target", "kind", "types")
    builtins = (
        (str(each.number), f"{each.number:#x}", each.name, each.target, each.kind, _types(each.types))
        for each in BUILTINS
    )
    yield Table("builtins", "Builtins", heads, tuple(builtins))
    bits = {word: str(19 if word == "tf32" else TYPE_BITS[word]) for word in TYPES.values()}
    codes = [("element type of the packed word", str(value), word, bits[word]) for value, word in TYPES.items()]
    codes += [("kind of a tcgen05 multiplication", str(value), word, "-") for value, word in KINDS.items()]
    codes += [("collector mode", str(value), word, "-") for value, word in COLLECTORS.items() if word]
    yield Table("codes", "Codes in packed words", ("code", "value", "word", "bits"), tuple(codes), keys=2)
    fields = (
        (word.title, each.name, each.span, each.expected(), each.description or "-")
        for word in WORDS.values()
        for each in word.fields
    )
    yield Table("packed", "Fields of packed words", ("word", "field", "bits", "values", "description"), tuple(fields))
    named = ((str(number), dict(each.words)) for number, each in identifiers().items())
    by_n = [(words["n"], number, str(int(number) + 1)) for number, words in named if words.get("element") == "integer"]
    title = "Intrinsics of a warpgroup multiplication by N"
    yield Table("n", title, ("N", "integer", "float"), tuple(sorted(by_n, key=lambda row: int(row[0]))))


def _types(types: Mapping[str, str]) -> str:
    return ", ".join(f"{operand.upper()} {element}" for operand, element in types.items()) or "-"


# Search -----------------------------------------------------------------------------------------------------


def search(subject: str, *, exact: bool = False) -> str:
    """Return the facts about words or a number as Markdown lists by table, or "" if there are none.

    The first rule with a match selects the facts: those with the whole phrase, with the phrase for another shape, with
    all words, with all words as parts of words, or with most of the words. At most 30 facts are listed. If `exact` is
    True, only facts with a cell that equals the subject are listed.
    """
    wanted = _plain(subject.strip())
    entries = [entry for table in tables().values() for entry in table.entries]
    found = [entry for entry in entries if entry.rank(wanted) == 0] if exact else _matching(entries, wanted)
    ordered = sorted(found, key=lambda entry: entry.rank(wanted))
    groups: dict[str, list[str]] = {}
    for entry in ordered[:_LIMIT]:
        groups.setdefault(entry.title, []).append(entry.line)
    parts = [f"### {title}\n\n" + "".join(f"- {line}\n" for line in lines) for title, lines in groups.items()]
    if more := len(ordered[_LIMIT:]):
        parts.append(f"{more} other facts match. Add a word to see fewer.\n")
    return "\n".join(["## Facts from texts on NVIDIA's compiler\n", *parts]) if parts else ""


def names() -> list[str]:
    """Return all cells that are one word of at least 4 characters, for hints."""
    return [cell for table in tables().values() for row in table.rows for cell in row if re.fullmatch(r"\w{4,}", cell)]


def _matching(entries: list[_Entry], wanted: str) -> list[_Entry]:
    if (number := _number(wanted)) is not None:
        # An address may have the form 0x620FD0 or sub_620FD0.
        names = [wanted, *(f"{prefix}_{number:x}" for prefix in ("sub", "dword"))] if number >= _SMALL else []
        return [each for each in entries if each.names(number) or any(map(each.contains, names))]
    words = [word for each in re.split(r"[\s=]+", wanted) if (word := each.strip(".,;:?!()")) and word not in _IGNORED]
    if not words:
        return []
    tests: list[Callable[[_Entry], bool]] = [
        lambda entry: entry.contains(wanted),
        # A pasted message may have words around it and another shape.
        lambda entry: any(" " in cell and _unshaped(cell) in _unshaped(wanted) for cell in entry.cells[:1]),
        lambda entry: all(map(entry.contains, words)),
    ]
    if len(wanted) > _SHORT or (len(wanted) > 2 and not wanted.isalpha()):
        tests.append(lambda entry: all(word in entry.text for word in words))
    for test in tests:
        if found := list(filter(test, entries)):
            return found
    counts = [sum(map(entry.contains, words)) for entry in entries]
    most = max(counts)
    enough = len(words) > most >= _ENOUGH * len(words) and most > 1
    return [entry for entry, count in zip(entries, counts, strict=True) if count == most] if enough else []
