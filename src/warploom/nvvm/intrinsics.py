"""Names of LLVM's intrinsics, by rule, both ways: from a Form and its words to the name, and back.

    name_of(form, {"shape": "m16n8k16", …})                         # the intrinsic of an instruction
    read_name("llvm.nvvm.mma.m16n8k16.row.col.f32.f32")             # Intrinsic(form=…, words={...}, origin="llvm")

`origin` is "llvm" for what upstream LLVM has, "nvidia" for what NVIDIA's own compiler alone has. A name may end in the
address spaces of its pointers, `.p0` or `.p3`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import product

from warploom.diagnostics import UsageError
from warploom.isa.binding.compose import form_named, slots_of
from warploom.isa.model.form import Form
from warploom.isa.model.table import Row

_PIECE = re.compile(
    r"\[\.\{(?P<maybe>\w+)\}\]|\[_\{(?P<joined>\w+)\}\]|\[\.(?P<plain>\w+)\]|\{(?P<slot>\w+)\}|(?P<text>[^\[{]+)"
)
_POINTERS = re.compile(r"(?:\.p\d+)+$")
_TYPES = ("atype", "btype")
_SHOWN = {"slot": "", "maybe": ".", "joined": "_"}
"""Pieces of names that are slots, and what stands before a word that may be absent."""


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """What an intrinsic is: a Form and its words by slot; "" stands for absent words."""

    name: str
    form: Form
    words: dict[str, str]
    origin: str

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that have it, as the Form's rows have them; more than one where a row has variants."""
        return tuple(dict.fromkeys(target for row in self._rows for target in row.targets))

    @property
    def ptx(self) -> tuple[int, int]:
        """The first PTX version that has it."""
        return min(row.ptx for row in self._rows)

    @property
    def _rows(self) -> list[Row]:
        return [
            row for row in self.form.rows if all(row.allows(slot, word) for slot, word in self._cells.items())
        ]

    @property
    def _cells(self) -> dict[str, str]:
        return {slot: word for slot, word in self.words.items() if slot in self.form.columns}


@dataclass(frozen=True)
class _Family:
    """A rule of the table."""

    form: Form
    pieces: tuple[tuple[str, str], ...]
    words: Mapping[str, str]
    same: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    of: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    any: frozenset[str] = frozenset()
    spell: Mapping[str, str] = field(default_factory=dict[str, str])
    origin: str = "llvm"

    @property
    def slots(self) -> list[str]:
        """The slots that the name shows."""
        return [text for kind, text in self.pieces if kind in _SHOWN]

    def vocabulary(self, slot: str) -> list[str]:
        """The words of a slot, as the form has them."""
        if slot in self.form.composites:
            parts = re.findall(r"\{(\w+)\}", self.form.composites[slot])
            every = product(*(sorted(self.form.vocabulary[part]) for part in parts))
            return [
                self.form.composites[slot].format(**dict(zip(parts, each, strict=True))) for each in every
            ]
        words = sorted(self.form.vocabulary.get(slot, frozenset()))
        words += [word.literal for word in self.form.syntax.words if word.slot == slot == word.literal]
        return [word for word in dict.fromkeys(words) if word not in self.never]

    def written(self, word: str) -> str:
        """A word as names have it."""
        return self.spell.get(word, word)

    def fits(self, words: Mapping[str, str]) -> bool:
        """Whether the rule is about these words."""
        if any(words.get(slot, "") != word for slot, word in self.words.items()):
            return False
        if any(kind == "slot" and not words.get(text) for kind, text in self.pieces):
            return False
        if self.of and not {words[slot] for slot in _TYPES} <= self.of:
            return False
        if any(word in self.never for word in words.values()):
            return False
        if self.same and len({words[slot] for slot in self.same}) != 1:
            return False
        return not self.other or len({words[slot] for slot in self.other}) > 1


@cache
def _families() -> tuple[_Family, ...]:
    source = files("warploom.nvvm").joinpath("intrinsics.toml").read_text(encoding="utf-8")
    return tuple(_family(entry) for entry in tomllib.loads(source).values())


def _family(entry: dict[str, str | dict[str, str]]) -> _Family:
    def text(key: str) -> str:
        found = entry.get(key, "")
        assert isinstance(found, str)
        return found

    def pairs(key: str) -> dict[str, str]:
        found = entry.get(key, {})
        assert isinstance(found, dict)
        return found

    pieces = tuple(
        (str(found.lastgroup), found[str(found.lastgroup)]) for found in _PIECE.finditer(text("name"))
    )
    return _Family(
        form_named(text("form")),
        pieces,
        pairs("words"),
        tuple(text("same").split()),
        tuple(text("other").split()),
        frozenset(text("of").split()),
        frozenset(text("never").split()),
        frozenset(text("any").split()),
        pairs("spell"),
        text("origin") or "llvm",
    )


# Names ------------------------------------------------------------------------------------------------------


def name_of(form: Form, words: Mapping[str, str], *, marked: bool = True) -> str:
    """The name of the intrinsic of an instruction; `marked` where it has the operand that may be left
    out, of which LLVM's name has a word.

    Errors: UsageError where there is none
    """
    slots = slots_of(form, {slot: word for slot, word in words.items() if word})
    for family in _families():
        if family.form is form and family.fits(slots):
            return "".join(_written(family, slots, marked=marked))
    raise UsageError(f"LLVM has no intrinsic of {form.name} with {_shown(words)}")


def all_names() -> Iterator[str]:
    """The name of every intrinsic that rules and rows make, NVIDIA's own too."""
    for family in _families():
        for row in family.form.rows:
            cells = dict(row.cells)
            for word in family.form.syntax.words:
                if word.slot and word.slot == word.literal:
                    cells.setdefault(word.slot, ("", word.literal))
            for chosen in product(*cells.values()):
                slots = slots_of(
                    family.form, {s: word for s, word in zip(cells, chosen, strict=True) if word}
                )
                if family.fits(slots):
                    for marked in (True, False):
                        yield "".join(_written(family, slots, marked=marked))


def _written(family: _Family, slots: Mapping[str, str], *, marked: bool) -> Iterator[str]:
    for kind, text in family.pieces:
        if kind == "text":
            yield text
        elif kind == "plain":
            yield f".{text}" if marked else ""
        elif word := family.written(slots[text]):
            yield f"{_SHOWN[kind]}{word}"


def read_name(name: str) -> Intrinsic:
    """The intrinsic of a name. Errors: UsageError where no rule has it, or no row of its Form"""
    plain = _POINTERS.sub("", name)
    for family, pattern in _patterns():
        found = pattern.fullmatch(plain)
        if found is None:
            continue
        words = {slot: _word(family, slot, found[slot] or "") for slot in family.slots}
        for filled in _filled(family, words):
            if family.fits(filled):
                return Intrinsic(name, family.form, filled, family.origin)
    raise UsageError(f"there is no intrinsic {name!r}")


@cache
def _patterns() -> tuple[tuple[_Family, re.Pattern[str]], ...]:
    return tuple((family, _pattern(family)) for family in _families())


def _pattern(family: _Family) -> re.Pattern[str]:
    parts: list[str] = []
    for kind, text in family.pieces:
        if kind == "text":
            parts.append(re.escape(text))
        elif kind == "plain":
            parts.append(rf"(?:\.{text})?")
        else:
            words = sorted(map(family.written, family.vocabulary(text)), key=len, reverse=True)
            choice = f"(?P<{text}>{'|'.join(map(re.escape, words))})"
            parts.append(choice if kind == "slot" else rf"(?:{re.escape(_SHOWN[kind])}{choice})?")
    return re.compile("".join(parts))


def _word(family: _Family, slot: str, written: str) -> str:
    return next((word for word in family.vocabulary(slot) if family.written(word) == written), "")


def _filled(family: _Family, words: dict[str, str]) -> Iterator[dict[str, str]]:
    """The words with those of slots that the name does not show, as far as rows tell."""
    form = family.form
    known = {**family.words, **words}
    for slot in family.same:
        known[slot] = known[next(each for each in family.same if each in known)]
    for slot, spelling in form.composites.items():
        if slot in known:
            pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>\\d+)", re.escape(spelling))
            found = re.fullmatch(pattern, known[slot])
            known |= found.groupdict() if found else {}
    for row in form.rows:
        if not all(row.allows(slot, word) for slot, word in known.items() if slot in form.columns):
            continue
        rest = {
            slot: cell for slot, cell in row.cells.items() if slot not in known and slot not in family.any
        }
        if any(len(cell) > 1 and "" not in cell for cell in rest.values()):
            continue
        filled = {slot: "" if "" in cell else cell[0] for slot, cell in rest.items()}
        yield {**dict.fromkeys(family.any, ""), **filled, **known}


def _shown(words: Mapping[str, str]) -> str:
    return " ".join(f"{slot}={word}" for slot, word in words.items() if word) or "no words"
