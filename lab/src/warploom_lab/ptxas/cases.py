"""Test instructions made from Forms: legal ones, and ones with one modifier or operand changed.

A probe is a short PTX text that ptxas judges. A slot is a modifier in the syntax line of a Form. A point is a ptxas
release, a target and a PTX version.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from warploom.diagnostics import UsageError
from warploom.isa.model.availability import read_target, unmet_by_row
from warploom.isa.model.form import Form, forms, forms_of
from warploom.isa.model.table import Row
from warploom.isa.model.types import TYPES
from warploom_lab.ptxas import operand_changes
from warploom_lab.ptxas.instruction_text import Slots, combinations_of, instruction, opcode_words, write_operands
from warploom_lab.ptxas.points import (
    NEWEST,
    TARGETS,
    Point,
    Version,
    before,
    first_version,
    last_version,
    point,
    versions_of,
)
from warploom_lab.ptxas.probe import Probe

LEGAL = "legal"
OFF_TABLE = "off-table"
_ISA_WORDS = 40  # words of the whole ISA that replace one modifier
_EVERY_VERSION = 12  # combinations of a row that are judged at every version of its first target
_CHANGED = 2  # combinations of a row with changed words
_ADDED = 12  # words of the family that are added to an opcode, except for the first row of a form
_LANDMARKS = ("sm_90a", "sm_100a", "sm_120a")
_DISTINCT_TARGETS = (
    "sm_70",
    "sm_75",
    "sm_80",
    "sm_89",
    "sm_90",
    "sm_90a",
    "sm_100a",
    "sm_103f",
    "sm_110a",
    "sm_120",
    "sm_120f",
)
_SHAPE_STEP = 8


@dataclass(frozen=True, slots=True)
class Case:
    """Test instruction of a Form with one change, and the points at which ptxas judges it."""

    form: str
    slot: str  # name of the changed modifier or operand
    change: str
    probe: Probe  # PTX text of the instruction
    points: tuple[Point, ...]  # ptxas release, target and PTX version of each verdict

    @property
    def family(self) -> str:
        """First part of the Form's name, such as `wgmma`."""
        return self.form.partition(".")[0]


def all_cases(families: Iterable[str] = ()) -> Iterator[Case]:
    """Yield the cases of all Forms, or of the given families. Each PTX text occurs once."""
    wanted = frozenset(families)
    seen: set[str] = set()
    for form in forms():
        if wanted and form.family not in wanted:
            continue
        for case in cases_of(form):
            if case.probe.text not in seen:
                seen.add(case.probe.text)
                yield case


def cases_of(form: Form) -> Iterator[Case]:
    """Yield the cases of one Form. The legal instructions are first."""
    for row in form.rows:
        for k, slots in enumerate(combinations_of(form, row)):
            yield from _legal(form, row, slots, k)
    chance = random.Random(form.name)
    signatures: set[tuple[object, ...]] = set()
    for at, row in enumerate(form.rows):
        for k, slots in enumerate(islice(combinations_of(form, row), _CHANGED)):
            first = at == k == 0
            points = _points_of_change(row) if first else _points_of_change(row)[:1]
            operands = write_operands(form, slots)
            for slot, change, words in _changed_words(form, slots, chance, first=first):
                yield Case(form.name, slot, change, Probe(instruction(words, operands)), points)
            signature = _signature(form, slots)
            if signature not in signatures:
                signatures.add(signature)
                yield from _changed_operands(form, slots, points)


def off_table(text: str) -> Iterator[Case]:
    """Yield the hand-written cases in a text.

    A line consists of a target, a PTX version, the expected verdict `accept` or `reject`, and PTX statements. `#`
    begins a comment. The last comment before a line describes the case.

    Errors: UsageError for any other line.
    """
    about = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            about = line.lstrip("# ") or about
            continue
        words = line.split(" ", 3)
        if len(words) < 4 or words[0] not in TARGETS or words[2] not in {"accept", "reject"}:
            raise UsageError(f"line {number} of the hand-written probes is not 'target version accept|reject probe'")
        major, _, minor = words[1].partition(".")
        points = [point(words[0], (int(major), int(minor)))]
        # The statements are also judged on every target.
        points += [point(target, last_version(target)) for target in TARGETS]
        yield Case(OFF_TABLE, about, words[2], Probe.of_key(words[3]), tuple(dict.fromkeys(points)))


# Legal ----------------------------------------------------------------------------------------------------


def _legal(form: Form, row: Row, slots: Slots, k: int) -> Iterator[Case]:
    points = _points_of_row(row) if k == 0 else _points_of_combination(row, every_version=k < _EVERY_VERSION)
    operands = write_operands(form, slots)
    yield Case(form.name, "", LEGAL, Probe(instruction(opcode_words(form, slots), operands)), points)
    if (more := write_operands(form, slots, optional=True)) != operands:
        yield Case(form.name, "", LEGAL, Probe(instruction(opcode_words(form, slots), more)), points)
    for order in form.orders[1:]:
        words = opcode_words(form, slots, order)
        yield Case(form.name, "", LEGAL, Probe(instruction(words, operands)), _points_of_change(row))


def _home(row: Row) -> str:
    first = row.targets[0] if row.targets else "sm_90a"
    return first if first in TARGETS else TARGETS[0]


def _points_of_row(row: Row) -> tuple[Point, ...]:
    """Return points (ptxas release, target, PTX version) for the first instruction of a table row."""
    home = _home(row)
    # The first target of the row gets every PTX version, and the others three.
    found = {point(home, version): None for version in versions_of(home)}
    for target in TARGETS:
        found |= _edge(row, target)
        found[point(target, last_version(target))] = None
    found[Point(NEWEST, home if home > "sm_75" else "sm_90a", (9, 1))] = None
    return tuple(found)


def _points_of_combination(row: Row, *, every_version: bool) -> tuple[Point, ...]:
    home = _home(row)
    found = dict.fromkeys(point(home, version) for version in versions_of(home) if every_version)
    found |= _edge(row, home)
    found |= {point(target, last_version(target)): None for target in (home, *_DISTINCT_TARGETS)}
    return tuple(found)


def _edge(row: Row, target: str) -> dict[Point, None]:
    """Return the points for the PTX version that introduces a table row, and for the version before."""
    begins: Version = max(row.ptx, first_version(target))
    edge = [begins, before(begins)]
    return {
        point(target, version): None
        for version in edge
        if version is not None and first_version(target) <= version <= last_version(target)
    }


def _points_of_change(row: Row) -> tuple[Point, ...]:
    """Return points (ptxas release, target, PTX version) for an instruction with one change."""
    home = _home(row)
    without = [target for target in _LANDMARKS if not _has(target, row)]
    # One of these targets lacks the row.
    chosen = [home, *(target for target in _LANDMARKS if target not in without[1:])]
    return tuple(dict.fromkeys(point(target, last_version(target)) for target in chosen))


def _has(name: str, row: Row) -> bool:
    target = read_target(name)
    return target is not None and unmet_by_row(row, target, last_version(name)) is None


# One word changed -----------------------------------------------------------------------------------------


def _changed_words(
    form: Form, slots: Slots, chance: random.Random, *, first: bool
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (modifier, change, words of the opcode) for every change of one word.

    `slots` has the modifiers of the unchanged opcode. The `first` instruction of a Form gets more changes than the
    others.
    """
    pattern = [word for word in form.syntax.words if not word.slot or slots[word.slot]]
    words = opcode_words(form, slots)
    for k, word in enumerate(pattern):
        name = word.slot or word.literal
        if k:
            yield name, "missing", words[:k] + words[k + 1 :]
            yield name, "doubled", words[: k + 1] + words[k:]
        if 0 < k < len(words) - 1:
            yield name, "after the next", [*words[:k], words[k + 1], words[k], *words[k + 2 :]]
        others = _others(form, name, slots.get(word.slot, word.literal), chance if first and k else None)
        for other in others:
            yield name, f"{words[k]} to {other}", [*words[:k], other, *words[k + 1 :]]
        if word.composite:
            for other in _other_shapes(form, word.slot, slots):
                yield word.slot, f"{words[k]} to {other}", [*words[:k], other, *words[k + 1 :]]
    family = family_words(form)
    added = (*family, *_isa_words(chance)) if first else chance.sample(family, min(_ADDED, len(family)))
    for extra in dict.fromkeys(added):
        if extra not in words:
            yield "", f"and {extra}", [*words, extra]
            if len(words) > 1:
                yield "", f"first {extra}", [words[0], extra, *words[1:]]


def _others(form: Form, slot: str, word: str, chance: random.Random | None) -> list[str]:
    same = {other for relative in _relatives(form) for other in relative.vocabulary.get(slot, ())}
    if word in TYPES:
        same |= TYPES.keys()
    if chance is not None:
        same |= {*family_words(form), *_isa_words(chance)}
    return sorted(same - {word})


def _other_shapes(form: Form, slot: str, slots: Slots) -> Iterator[str]:
    spelling = form.composites[slot]
    for part in sorted(form.parts):
        if f"{{{part}}}" not in spelling:
            continue
        value = int(slots[part])
        known = {int(word) for relative in _relatives(form) for word in relative.vocabulary.get(part, ())}
        changed = {value * 2, value // 2, value + 1, value + _SHAPE_STEP, 0, max(known) + _SHAPE_STEP} | known
        for other in sorted(changed - {value})[:_ISA_WORDS]:
            yield spelling.format(**{**slots, part: str(other)})


def _relatives(form: Form) -> list[Form]:
    return [other for head in sorted(form.heads) for other in forms_of(head)]


@cache
def family_words(form: Form) -> tuple[str, ...]:
    """Return all words of opcodes with the same first word as the Form's opcodes, except that word."""
    words: set[str] = set()
    for other in _relatives(form):
        words |= {word.literal for word in other.syntax.words if word.literal}
        slots = {word.slot for word in other.syntax.words if word.slot and not word.composite}
        words |= {word for slot in slots for word in other.vocabulary.get(slot, ())}
    return tuple(sorted(words - form.heads - {""}))


@cache
def all_words() -> tuple[str, ...]:
    """Return all words that occur after the first word of an opcode."""
    return tuple(sorted({word for form in forms() for word in family_words(form)}))


def _isa_words(chance: random.Random) -> list[str]:
    return sorted(chance.sample(all_words(), min(_ISA_WORDS, len(all_words()))))


def _signature(form: Form, slots: Slots) -> tuple[object, ...]:
    """Return a key of the operands. Instructions with equal keys get the same operand changes."""
    specs = form.operands.values()
    vectors = tuple(min(spec.registers(slots), 2) for spec in specs)
    constants = tuple(str(spec.constants(slots)) for spec in specs)
    types = tuple(spec.type_word(slots) for spec in specs)
    return types, vectors, constants, tuple(slots.get(spec.when, "") != "" for spec in specs)


# One operand changed --------------------------------------------------------------------------------------


def _changed_operands(form: Form, slots: Slots, points: tuple[Point, ...]) -> Iterator[Case]:
    words = opcode_words(form, slots)
    for optional in (False, True):
        for slot, change, operands in operand_changes.of(form, slots, optional=optional):
            yield Case(form.name, slot, change, Probe(instruction(words, operands)), points)
    plain = instruction(words, write_operands(form, slots))
    for guard in ("@%p9", "@!%p9", "@%r99", "@%nowhere"):
        yield Case(form.name, "", f"guard {guard}", Probe(f"{guard} {plain}"), points)
