"""The Form: one instruction form as the manual writes it, and everything that is read from it.

A Form is declared once, in its family's file, beside its meaning:

    ADD = Form(
        name="add.int",
        syntax="add{.sat}.type  d, a, b;",
        rows='''
            sat  type
            -    u16,u32,u64,s16,s64
            -,sat  s32
        ''',
        operands={"d": out("type"), "a": inp("type"), "b": inp("type")},
        source="PTX ISA 9.7.1.1",
    )

    @ADD.meaning
    def add(warps: Warps, i: Bound) -> None:
        ...

A row that does not fit its columns, a slot without vocabulary, an operand without a place, or a form
declared twice stops the import.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain
from typing import Any

from warploom.isa.operands import Place
from warploom.isa.syntax import PlaceName, Syntax, match_words, read_syntax
from warploom.isa.table import FormError, Row, read_rows
from warploom.isa.types import TYPES

Meaning = Callable[[Any, Any], None]
Limit = Callable[[str, Mapping[str, str]], str]

EFFECTS = frozenset(
    {
        "jumps",  # goes to a label: the next instruction is chosen per lane
        "calls",  # goes to a function and comes back
        "leaves",  # returns from a function or leaves the kernel
        "arrives",  # counts the warp at a barrier: warps none of whose lanes are active take no part
        "waits",  # may suspend the warp; a basic block starts at it, so that it can be taken up again
        "warp",  # every lane of the warp executes it together
        "warpgroup",  # the four warps of a warpgroup execute it together
        "tensor",  # multiplies matrices (counted as MACs)
        "async",  # takes effect later, by the schedule
    }
)


class Form:
    """An instruction form: syntax line, tied rows, operand places, effects, source and meaning.

    `words` spells composite slots (`{"shape": "m{m}n{n}k{k}"}`), whose parts are columns. `touches` lists
    effect words of EFFECTS. `spellings` are further orders of the same opcode words that assemblers take and
    compilers write.
    """

    def __init__(
        self,
        *,
        name: str,
        syntax: str,
        operands: Mapping[str, Place],
        rows: str = "",
        words: Mapping[str, str] | None = None,
        touches: str = "",
        limit: Limit | None = None,
        spellings: tuple[str, ...] = (),
        source: str,
    ) -> None:
        self.name = name
        self.source = source
        self.syntax_line = syntax
        self.columns, self.rows = read_rows(name, rows)
        self.composites = dict(words or {})
        self.syntax: Syntax = read_syntax(name, syntax, self.columns, self.composites)
        self.orders = tuple(
            read_syntax(name, opcode, self.columns, self.composites).words for opcode in (syntax, *spellings)
        )
        self.operands = dict(operands)
        self.touches = frozenset(touches.split())
        self.vocabulary = self._vocabulary()
        self._meaning: Meaning | None = None
        self._limit = limit
        self._check()
        _register(self)

    def meaning(self, function: Meaning) -> Meaning:
        """Decorator: what the form does to a batch of warps."""
        if self._meaning is not None:
            raise FormError(f"form {self.name}: a second meaning")
        self._meaning = function
        return function

    def complaint(self, arch: str, slots: Mapping[str, str]) -> str:
        """Why `arch` cannot execute the form with these slots, in a sentence; "" when it can."""
        return "" if self._limit is None else self._limit(arch, slots)

    @property
    def act(self) -> Meaning | None:
        """The meaning, or None for a form that is known and not executed."""
        return self._meaning

    @property
    def family(self) -> str:
        """The family that dynamic counts are grouped by: the first part of the name."""
        return self.name.partition(".")[0]

    @property
    def heads(self) -> frozenset[str]:
        """The words its opcode may begin with."""
        first = self.syntax.words[0]
        return frozenset({first.literal}) if first.literal else self.vocabulary[first.slot]

    def match(self, words: tuple[str, ...]) -> dict[str, str] | None:
        """Slot values when the opcode words follow the syntax line (whatever the rows say)."""
        for order in self.orders:
            slots = match_words(order, words, self.vocabulary)
            if slots is not None:
                return slots
        return None

    def match_with(self, words: tuple[str, ...], slot: str, stranger: str) -> dict[str, str] | None:
        """Slot values when the word `stranger` might stand in a slot."""
        pattern = tuple(
            replace(word, composite=re.compile(re.escape(stranger)))
            if word.slot == slot and word.composite
            else word
            for word in self.syntax.words
        )
        known = self.vocabulary.get(slot, frozenset())
        return match_words(pattern, words, {**self.vocabulary, slot: known | {stranger}})

    def match_incomplete(self, words: tuple[str, ...]) -> dict[str, str] | None:
        """Slot values when one required slot has no word in the opcode; it binds to "".

        A slot called a variant names another instruction: it is never what is missing.
        """
        pattern = self.syntax.words
        for k, word in enumerate(pattern):
            if word.slot and not word.optional and not word.slot.endswith("variant"):
                eased = (*pattern[:k], replace(word, optional=True), *pattern[k + 1 :])
                slots = match_words(eased, words, self.vocabulary)
                if slots is not None:
                    return slots
        return None

    @property
    def parts(self) -> frozenset[str]:
        """The columns that are parts of a composite word."""
        return frozenset(
            part for word in self.syntax.words if word.composite for part in word.composite.groupindex
        )

    def row_of(self, slots: Mapping[str, str]) -> Row | None:
        """The first row that allows all the slot values, or None."""
        for row in self.rows:
            if all(row.allows(column, slots.get(column, "")) for column in row.cells):
                return row
        return None

    def _vocabulary(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {column: set() for column in self.columns}
        for row in self.rows:
            for column, words in row.cells.items():
                found[column].update(word for word in words if word)
        return {column: frozenset(words) for column, words in found.items()}

    def _check(self) -> None:
        slots = {word.slot for word in self.syntax.words if word.slot}
        for column in self.columns:
            if column not in slots | self.parts:
                raise FormError(f"form {self.name}: column {column!r} is not in its syntax line")
        if any(Counter(order) != Counter(self.syntax.words) for order in self.orders):
            raise FormError(f"form {self.name}: a spelling has other words than its syntax line")
        places = {name for place in self.syntax.places for name in place.names}
        if places != set(self.operands):
            declared, written = sorted(self.operands), sorted(places)
            raise FormError(f"form {self.name}: operands {declared} do not cover its syntax line's {written}")
        for place in self.operands.values():
            if isinstance(place.type, str) and place.type not in TYPES and place.type not in slots:
                raise FormError(f"form {self.name}: {place.type!r} is neither a type nor a slot")
            if place.when and place.when not in slots:
                raise FormError(
                    f"form {self.name}: an operand stands with {place.when!r}, which is not a slot"
                )
        if unknown := self.touches - EFFECTS:
            raise FormError(f"form {self.name}: unknown effects {sorted(unknown)}")

    def __repr__(self) -> str:
        return f"<Form {self.name}: {self.syntax_line}>"


@dataclass(frozen=True, slots=True)
class Match:
    """An opcode bound to a form: the slot values and the row that allows them."""

    form: Form
    slots: Mapping[str, str]
    row: Row


_FORMS: dict[str, Form] = {}
_BY_HEAD: dict[str, list[Form]] = {}
_MATCHES: dict[str, tuple[Match, ...]] = {}


def _register(form: Form) -> None:
    if form.name in _FORMS:
        raise FormError(f"form {form.name}: declared twice")
    _FORMS[form.name] = form
    for head in form.heads:
        _BY_HEAD.setdefault(head, []).append(form)


def forms() -> Iterable[Form]:
    """Every declared form, in order of declaration."""
    return _FORMS.values()


def forms_of(head: str) -> tuple[Form, ...]:
    """The forms whose opcode begins with the word `head`."""
    return tuple(_BY_HEAD.get(head, ()))


def match_opcode(opcode: str) -> tuple[Match, ...]:
    """Every form and row that the opcode follows; more than one where operands decide. Cached."""
    found = _MATCHES.get(opcode)
    if found is None:
        words = tuple(opcode.split("."))
        found = tuple(
            Match(form, slots, row)
            for form in _BY_HEAD.get(words[0], ())
            if (slots := form.match(words)) is not None and (row := form.row_of(slots)) is not None
        )
        _MATCHES[opcode] = found
    return found


def nearest_slot(opcode: str) -> tuple[Form, str, str, tuple[str, ...]] | None:
    """For an opcode that no row allows: the form it follows, the slot at fault, its word, what is legal.

    The slot at fault is the one whose word alone could be changed to reach a row; where it could be one of
    several, the one that knows the word most like it.
    """
    words = tuple(opcode.split("."))
    family = _BY_HEAD.get(words[0], ())
    exact = ((form, form.match(words)) for form in family)
    incomplete = ((form, form.match_incomplete(words)) for form in family)
    for form, slots in chain(exact, incomplete, _with_a_stranger(family, words)):
        near = None if slots is None else _nearest_row(form, slots)
        if near is not None:
            return form, *near
    return None


def _with_a_stranger(
    family: Iterable[Form], words: tuple[str, ...]
) -> Iterator[tuple[Form, dict[str, str] | None]]:
    """Matches in which one word stands in a slot that does not know it, the likeliest slot first.

    A word is likely in a slot that has it in some form, or has one that is spelled like it.
    """
    spellings: dict[str, set[str]] = {}
    for form in forms():
        for slot, known in form.vocabulary.items():
            spellings.setdefault(slot, set()).update(known)
        for slot, spelling in form.composites.items():
            spellings.setdefault(slot, set()).add(re.sub(r"\{\w+\}", "8", spelling))
    places = [
        (form, word.slot, stranger)
        for stranger in words[1:]
        for form in family
        for word in form.syntax.words
        if word.slot and not word.literal
    ]
    places.sort(key=lambda place: -max(_likeness(place[2], known) for known in spellings[place[1]]))
    return ((form, form.match_with(words, slot, stranger)) for form, slot, stranger in places)


def _likeness(word: str, other: str) -> float:
    return SequenceMatcher(None, re.sub(r"\d+", "8", word), re.sub(r"\d+", "8", other)).ratio()


def _nearest_row(form: Form, slots: Mapping[str, str]) -> tuple[str, str, tuple[str, ...]] | None:
    for column in reversed(form.columns):
        legal = [
            word
            for row in form.rows
            if all(row.allows(other, slots.get(other, "")) for other in row.cells if other != column)
            for word in row.cells[column]
        ]
        if legal:
            return column, slots.get(column, ""), tuple(dict.fromkeys(legal))
    return None


def no_effect(warps: Any, i: Any) -> None:
    """The meaning of what lies below the abstract machine: caches, hints, orders that it always keeps."""


def places_of(form: Form) -> tuple[PlaceName, ...]:
    """The operand places of a form in the order of its syntax line."""
    return form.syntax.places
