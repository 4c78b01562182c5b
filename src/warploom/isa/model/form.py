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

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from warploom.display import Displayed
from warploom.isa.model.operands import Place
from warploom.isa.model.syntax import PlaceName, Syntax, Word, match_words, read_syntax
from warploom.isa.model.table import FormError, Row, read_rows
from warploom.isa.model.types import TYPES

Meaning = Callable[[Any, Any], None]
RunMeaning = Callable[[Any, Sequence[Any]], None]
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
        "listens",  # returns what other threads, of other CTAs too, have left in memory until now
    }
)

IMPLIED = frozenset({"sync", "aligned", "row", "col", "u32", "b32", "b64", "b1024"})
"""Words of syntax lines that must stand where they do: they say nothing that somebody chose."""
_QUALIFIERS = IMPLIED | frozenset(
    {
        "trans", "sp", "popc", "satfinite", "sat", "ftz", "rn", "rs", "f32", "f64", "f32x2", "relaxed", "release",
        "sys", "global", "shared::cta", "bulk_group", "mbarrier::complete_tx::bytes", "noComplete", "tile",
        "tensormap::generic", "clamp", "wrap", "any", "all", "approx", "volatile", "mmio", "L1", "L2",
        "mbarrier_init", "launch_dependents",
    }
)  # fmt: skip
"""Words of syntax lines that qualify an instruction and are no part of its name."""
NAME_WHERE_THEY_STAND = frozenset(["cta", "parity"])
"""Optional words that are part of the name of what has them."""
_NAMES = frozenset(["op", "mode", "action", "matrix", "dir", "side"])
"""Slots that choose an operation, so that their words are part of its name."""


class Form(Displayed):
    """An instruction form: syntax line, tied rows, operand places, effects, source and meaning.

    `words` spells composite slots (`{"shape": "m{m}n{n}k{k}"}`), whose parts are columns. `touches` lists
    effect words of EFFECTS. `spellings` are further orders of the same opcode words that assemblers take and
    compilers write. `early` are words that assemblers take before the version that brought them. A `lenient`
    form is one that the manual does not have and assemblers take: it binds nothing, and the checker alone
    asks for it.
    """

    display_kind: ClassVar[str] = "form"

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
        early: str = "",
        lenient: bool = False,
        source: str,
    ) -> None:
        self.name = name
        self.early = frozenset(early.split())
        self.lenient = lenient
        self.source = source
        self.syntax_line = syntax
        self.columns, self.rows = read_rows(name, rows)
        self.composites = dict(words or {})
        self.syntax: Syntax = read_syntax(name, syntax, self.columns, self.composites)
        others = (read_syntax(name, opcode, self.columns, self.composites).words for opcode in spellings)
        self.orders = (self.syntax.words, *others)
        self.operands = dict(operands)
        self.touches = frozenset(touches.split())
        self.vocabulary = self._vocabulary()
        self._meaning: Meaning | None = None
        self.together: RunMeaning | None = None
        self._limit = limit
        self._check()
        _register(self)

    def meaning(self, function: Meaning) -> Meaning:
        """Decorator: what the form does to a batch of warps."""
        if self._meaning is not None:
            raise FormError(f"form {self.name}: a second meaning")
        self._meaning = function
        return function

    def meaning_of_run(self, function: RunMeaning) -> RunMeaning:
        """Decorator: what instructions that stand one after another do when none needs what another writes.

        It does what the meaning does for each; it is there where workers can share them.
        """
        self.together = function
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

    @property
    def name_words(self) -> int:
        """How many words name the instruction; assemblers take those after them in any order.

        They are the literal words up to the first that qualifies, and the slots that choose an operation.
        """
        count = 1
        for word in self.syntax.words[1:]:
            if word.optional and word.slot in NAME_WHERE_THEY_STAND:
                continue
            choices = {word.literal} if word.literal else self.vocabulary.get(word.slot, frozenset[str]())
            if word.optional or choices & _QUALIFIERS or (word.slot and word.slot not in _NAMES):
                break
            count += 1
        return count

    @property
    def called(self) -> tuple[Word, ...]:
        """The words that people call it by: those that name it, and the slots behind them that choose an
        operation.
        """
        found: list[Word] = []
        named = True
        for word in self.syntax.words:
            if word.optional:
                named = named and word.slot in NAME_WHERE_THEY_STAND
            elif (
                word.slot in _NAMES
                or (named and word.literal and word.literal not in _QUALIFIERS)
                or not found
            ):
                found.append(word)
            else:
                named = False
        return tuple(found)

    @property
    def slot_names(self) -> frozenset[str]:
        """What codes of rules call its words: slots, literal words, parts of composite words."""
        return frozenset({*self.columns, *(word.slot or word.literal for word in self.syntax.words)})

    @property
    def parts(self) -> frozenset[str]:
        """The columns that are parts of a composite word."""
        return frozenset(
            part for word in self.syntax.words if word.composite for part in word.composite.groupindex
        )

    def rows_of(self, slots: Mapping[str, str]) -> tuple[Row, ...]:
        """The rows that allow all the slot values; several where availability differs."""
        return tuple(
            row
            for row in self.rows
            if all(slots.get(column, "") in words for column, words in row.cells.items())
        )

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
        if any(Counter(order) != Counter(self.syntax.words) for order in self.orders[1:]):
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
    """An opcode bound to a form: the slot values and the rows that allow them."""

    form: Form
    slots: Mapping[str, str]
    rows: tuple[Row, ...]


LONGEST_OPCODE = 500
"""Characters of an opcode; no form has one as long."""

_FORMS: dict[str, Form] = {}
_BY_HEAD: dict[str, list[Form]] = {}
_LENIENT: dict[str, list[Form]] = {}


def _register(form: Form) -> None:
    if form.name in _FORMS:
        raise FormError(f"form {form.name}: declared twice")
    if not form.lenient:
        _FORMS[form.name] = form
    for head in form.heads:
        (_LENIENT if form.lenient else _BY_HEAD).setdefault(head, []).append(form)


def forms() -> Iterable[Form]:
    """Every declared form, in order of declaration."""
    return _FORMS.values()


def heads() -> Iterable[str]:
    """Every word that an opcode may begin with."""
    return _BY_HEAD.keys()


def forms_of(head: str) -> tuple[Form, ...]:
    """The forms whose opcode begins with the word `head`."""
    return tuple(_BY_HEAD.get(head, ()))


def lenient_of(head: str) -> tuple[Form, ...]:
    """As forms_of, among the forms that only assemblers take."""
    return tuple(_LENIENT.get(head, ()))


@lru_cache(maxsize=8192)
def match_opcode(opcode: str) -> tuple[Match, ...]:
    """Every form and row that the opcode follows; more than one where operands decide."""
    return _match_in(_BY_HEAD, opcode)


def match_lenient(opcode: str) -> tuple[Match, ...]:
    """As match_opcode, among the forms that only assemblers take."""
    return _match_in(_LENIENT, opcode)


def _match_in(table: Mapping[str, Iterable[Form]], opcode: str) -> tuple[Match, ...]:
    if len(opcode) > LONGEST_OPCODE:
        return ()
    words = tuple(opcode.split("."))
    return tuple(
        Match(form, slots, rows)
        for form in table.get(words[0], ())
        if (slots := form.match(words)) is not None and (rows := form.rows_of(slots))
    )


def no_effect(warps: Any, i: Any) -> None:
    """The meaning of what lies below the abstract machine: caches, hints, orders that it always keeps."""


def places_of(form: Form) -> tuple[PlaceName, ...]:
    """The operand places of a form in the order of its syntax line."""
    return form.syntax.places
