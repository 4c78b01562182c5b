"""What a call may mean: which words its Forms allow, and which value stands in which place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeGuard

from warploom.author.catalogue import Candidate, python_name
from warploom.author.values import Location, Register, type_of
from warploom.isa.model.form import IMPLIED, Form
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.syntax import PlaceName
from warploom.isa.model.types import TYPES

_MOST = 512  # choices of words that are tried for one call
_MANY = frozenset((list, tuple))
_ONE = frozenset((Register, Location, int, float, str, bool, type(None)))
NEVER = 1 << 20
"""How badly a value suits a place where it cannot stand."""


def vocabulary(candidate: Candidate, name: str) -> frozenset[str]:
    """The words that a keyword may be."""
    word = candidate.keywords.get(name)
    return frozenset() if word is None else candidate.form.vocabulary.get(name, frozenset())


def choices(
    candidate: Candidate, operands: Sequence[Any], words: Mapping[str, Any]
) -> Iterator[tuple[dict[str, str], int]]:
    """Slots that the rows allow with the words given; the cost counts words that nobody asked for."""
    form = candidate.form
    given: dict[str, str] = dict(candidate.fixed)
    for name, value in words.items():
        if name in candidate.places:
            when = form.operands[candidate.places[name]].when
            if when and python_name(when) not in words:
                given.setdefault(when, next(iter(sorted(form.vocabulary.get(when, {when}))), when))
            continue
        word = candidate.keywords.get(name)
        if word is None:
            return
        if isinstance(value, bool):
            if word.literal and not word.optional and not value:
                return
            if word.slot and word.slot == word.literal:
                given[word.slot] = word.literal if value else ""
            elif word.slot in form.columns:
                given[word.slot] = word.slot if value else ""
            continue
        slot = name if name in form.columns else word.slot
        given[slot] = str(value)
    cost = sum(
        1
        for name, word in candidate.keywords.items()
        if word.literal and not word.optional and name not in words and word.literal not in IMPLIED
    )
    seen: set[tuple[tuple[str, str], ...]] = set()
    for row in form.rows or (None,):
        cells = {} if row is None else row.cells
        outside = any(given[slot] not in choices for slot, choices in cells.items() if slot in given)
        if outside and not _composite_fits(form, given):
            continue
        options = {
            slot: _options(form, slot, choices, given, operands, words, candidate)
            for slot, choices in cells.items()
            if slot not in given
        }
        size = 1
        for each in options.values():
            size *= len(each)
        if size > _MOST:
            continue
        for chosen in product(*options.values()):
            slots = {**given, **dict(zip(options, chosen, strict=True))}
            for word in form.syntax.words:
                if word.composite:
                    slots.setdefault(word.slot, form.composites[word.slot].format(**slots))
                elif word.slot:
                    slots.setdefault(word.slot, "")
            if not _agrees(form, slots) or (key := tuple(sorted(slots.items()))) in seen:
                continue
            seen.add(key)
            unasked = sum(
                bool(text) and slot not in ("ss", "space") and _is_optional(form, slot)
                for slot, text in zip(options, chosen, strict=True)
            )
            yield slots, cost + 4 * unasked


def _composite_fits(form: Form, given: Mapping[str, str]) -> bool:
    return any(word.composite is not None and word.slot in given for word in form.syntax.words)


def _agrees(form: Form, slots: dict[str, str]) -> bool:
    """Whether composite words and their parts say the same; parts are read from a word that is given."""
    for word in form.syntax.words:
        if word.composite is None:
            continue
        found = word.composite.fullmatch(slots[word.slot])
        if found is None:
            return False
        slots.update(found.groupdict())
    return bool(form.rows_of(slots)) if form.rows else True


def _options(
    form: Form,
    slot: str,
    choices: Sequence[str],
    given: Mapping[str, str],
    operands: Sequence[Any],
    words: Mapping[str, Any],
    candidate: Candidate,
) -> Sequence[str]:
    """The words that may stand in a slot that nobody filled."""
    for word in form.syntax.words:
        if word.composite is not None and word.slot in given and slot in word.composite.groupindex:
            found = word.composite.fullmatch(given[word.slot])
            return () if found is None else (found[slot],)
    typed = any(place.type == slot for place in form.operands.values())
    if typed:
        own = {t for t in map(type_of, flat((*operands, *words.values()))) if t}
        if narrow := [c for c in choices if c in own]:
            return narrow
        return tuple(choices)
    if slot in ("ss", "space") or any(place.space == slot for place in form.operands.values()):
        spaces = {v.space for v in (*operands, *words.values()) if isinstance(v, Location)}
        if narrow := [c for c in choices if c in spaces]:
            return narrow
    return ("",) if "" in choices else tuple(choices)


def _is_optional(form: Form, slot: str) -> bool:
    return any(word.slot == slot and word.optional for word in form.syntax.words)


def is_many(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is several, which stand in braces."""
    kind = type(value)
    if kind in _MANY or kind in _ONE:  # mostly; asking an abstract class takes longer
        return kind in _MANY
    return isinstance(value, Sequence) and not isinstance(value, str)


def flat(values: Sequence[Any]) -> Iterator[Any]:
    """Values, and those in vectors among them."""
    for value in values:
        if is_many(value):
            yield from flat(value)
        else:
            yield value


def standing(candidate: Candidate, slots: Mapping[str, str]) -> list[PlaceName]:
    """The places that take operands of the call: those that are not results."""
    form = candidate.form
    found: list[PlaceName] = []
    for name in form.syntax.places:
        place = form.operands[name.names[0]]
        if place.access == "write" and place.kind != "tuple":
            continue
        if place.kind == "sink" or (place.when and not slots.get(place.when)):
            continue
        if place.kind == "immediate" and place.constants(slots) == range(0):
            continue
        found.append(name)
    return found


def arranged(
    candidate: Candidate, slots: Mapping[str, str], operands: Sequence[Any], words: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The values by operand name; None where they do not fill the places."""
    values: dict[str, Any] = {}
    named = {candidate.places[name]: value for name, value in words.items() if name in candidate.places}
    rest = list(operands)
    there = standing(candidate, slots)
    open_ = [name for name in there if not set(name.names) & named.keys()]
    needed = sum(not name.optional or bool(candidate.form.operands[name.names[0]].when) for name in open_)
    spare = len(rest) - needed
    if spare < 0 or len(rest) > len(open_):
        return None
    for name in there:
        if set(name.names) & named.keys():
            values[name.names[0]] = named.pop(name.names[0])
            continue
        if name.optional and not candidate.form.operands[name.names[0]].when:
            if spare == 0:
                continue
            spare -= 1
        values[name.names[0]] = rest.pop(0)
    return None if named or rest else values


def misfit(candidate: Candidate, slots: Mapping[str, str], values: Mapping[str, Any]) -> int:
    """How badly values suit their places; NEVER or more where they cannot stand there."""
    return sum(value_misfit(candidate, slots, name, value) for name, value in values.items())


def value_misfit(candidate: Candidate, slots: Mapping[str, str], name: str, value: Any) -> int:
    """How badly one value suits its place; NEVER or more where it cannot stand there."""
    place = candidate.form.operands[name]
    if isinstance(value, Location) != (place.kind == "address"):
        return NEVER
    if isinstance(value, Location):
        wanted = place.space_word(slots)
        total = 2 * (value.space not in ("?", slots.get("space", slots.get("ss", value.space))))
        if value.space != "?" and wanted not in ("?", value.space):
            if not _within(value, wanted):
                return NEVER
            total += 2
        return total if bool(value.coordinates) == bool(place.registers(slots)) else NEVER
    count = place.registers(slots)
    if is_many(value) != (count != 0) or (is_many(value) and count > 0 and len(value) != count):
        return NEVER
    if place.kind == "immediate" and not isinstance(value, int):
        return NEVER
    return sum(_type_misfit(place, slots, each) for each in flat((value,)))


def _type_misfit(place: OperandSpec, slots: Mapping[str, str], value: Any) -> int:
    own = type_of(value)
    if place.kind == "predicate":
        return 0 if own == "pred" or isinstance(value, int) else NEVER
    wanted = place.type_word(slots)
    if not own or wanted not in TYPES or own == wanted:
        return 0
    kinds = {TYPES[own].kind, TYPES[wanted].kind}
    if "predicate" in kinds or ("float" in kinds and kinds & {"signed", "unsigned"}):
        return NEVER
    same = TYPES[own].bits == TYPES[wanted].bits
    return (1 if same else 8) + 2 * (TYPES[own].kind == "float") * (TYPES[wanted].kind != "bits")


def _within(place: Location, wanted: str) -> bool:
    """Whether memory of one space may be named by another's word; generic addresses are in registers alone."""
    if wanted == "":
        return isinstance(place.base, Register) and place.space == "global"
    return wanted.partition("::")[0] == place.space.partition("::")[0]
