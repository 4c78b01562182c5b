"""One Python call an instruction: the Forms of `isa` as functions.

`ptx.mad_lo(a, b, c, type="u32")` emits the instruction and returns its result in new registers, or in those
given as `out`. The name is that of the instruction, its words joined by underscores; slots of the Form are
keywords whose values are its words, single words are keywords that are true (`ftz=True`). What is left out is
found where only one choice fits: the type from the registers, the state space from the address.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from typing import Any, TypeGuard

import warploom.isa  # noqa: F401  # pyright: ignore[reportUnusedImport] -- declares every form
from warploom.author.building import AuthorError, current
from warploom.author.values import Location, Register, operand_of, type_of
from warploom.diag import UsageError
from warploom.isa.kit import Form, forms
from warploom.isa.operands import Place
from warploom.isa.syntax import PlaceName, Word
from warploom.isa.types import TYPES
from warploom.ptx import Operand, Pair

_MOST = 512  # choices of words that are tried for one call


def python_name(word: str) -> str:
    """A word of the language as a Python name: `L2::cache_hint` as `L2_cache_hint`, `and` as `and_`."""
    name = re.sub(r"\W+", "_", word)
    return name + "_" if keyword.iskeyword(name) else name


@dataclass(frozen=True, slots=True)
class Candidate:
    """A form under one of its names: `fixed` are the slots that the name says."""

    form: Form
    fixed: tuple[tuple[str, str], ...]
    keywords: Mapping[str, Word]  # by Python name: slots, parts of composite words, literal words
    places: Mapping[str, str]  # operands by Python name


@cache
def catalogue() -> Mapping[str, tuple[Candidate, ...]]:
    """Every instruction by its Python name."""
    found: dict[str, list[Candidate]] = {}
    for form in forms():
        for name, words, fixed in _names(form):
            found.setdefault(name, []).append(_candidate(form, words, fixed))
    return {name: tuple(each) for name, each in sorted(found.items())}


def _names(form: Form) -> Iterator[tuple[str, Sequence[Word], tuple[tuple[str, str], ...]]]:
    """The names of a form, with the words of each and the slots that it fixes."""
    words = form.called
    choices = [sorted(form.vocabulary[w.slot]) if w.slot else [w.literal] for w in words]
    for spelled in product(*choices):
        name = python_name("_".join(re.sub(r"\W+", "_", each) for each in spelled))
        yield name, words, tuple((w.slot, text) for w, text in zip(words, spelled, strict=True) if w.slot)


def _candidate(form: Form, named: Sequence[Word], fixed: tuple[tuple[str, str], ...]) -> Candidate:
    keywords: dict[str, Word] = {}
    for word in form.syntax.words:
        if not any(word is each for each in named):
            keywords[python_name(word.slot or word.literal)] = word
        if word.composite is not None:
            keywords.update(dict.fromkeys(word.composite.groupindex, word))
    places = {python_name(n): n for name in form.syntax.places for n in name.names}
    return Candidate(form, fixed, keywords, places)


class Instruction:
    """The call that emits the instructions of one name."""

    def __init__(self, name: str, candidates: tuple[Candidate, ...]) -> None:
        self.name = name
        self.candidates = candidates
        self._known: dict[tuple[Any, ...], tuple[Candidate, dict[str, str]]] = {}

    def __call__(self, *operands: Any, out: Any = None, **words: Any) -> Any:
        """Emit it. Errors: AuthorError, with the checker's diagnostic on the Python line."""
        key = (_kind(operands), _kind(out), tuple((k, _kind(v)) for k, v in words.items()))
        if (known := self._known.get(key)) is not None:
            candidate, slots = known
            return _emit(candidate, slots, _arranged(candidate, slots, operands, words) or {}, out)
        refused: list[tuple[int, AuthorError]] = []
        for candidate, slots, values in self._readings(operands, words):
            try:
                made = _emit(candidate, slots, values, out)
            except AuthorError as error:
                refused.append((len(refused), error))
                continue
            self._known[key] = candidate, slots
            return made
        if refused:
            raise refused[0][1]
        raise UsageError(self._complaint(operands, words), code="author.call", hint=self._usage())

    def _readings(
        self, operands: Sequence[Any], words: Mapping[str, Any]
    ) -> list[tuple[Candidate, dict[str, str], dict[str, Any]]]:
        """What the call may mean, the plainest first."""
        found: list[tuple[tuple[int, int], Candidate, dict[str, str], dict[str, Any]]] = []
        for order, candidate in enumerate(self.candidates):
            for slots, cost in _choices(candidate, operands, words):
                values = _arranged(candidate, slots, operands, words)
                if values is not None and (misfit := _misfit(candidate, slots, values)) < _NEVER:
                    found.append(((misfit + cost, order), candidate, slots, values))
        found.sort(key=lambda each: each[0])
        return [each[1:] for each in found]

    def _complaint(self, operands: Sequence[Any], words: Mapping[str, Any]) -> str:
        known = {name for c in self.candidates for name in (*c.keywords, *c.places)}
        for name, value in words.items():
            if name not in known:
                return f"{self.name} has no '{name}'; expected {', '.join(sorted(known))}"
            legal = {w for c in self.candidates for w in _vocabulary(c, name)}
            if not isinstance(value, bool) and legal and str(value) not in legal:
                return (
                    f"{self.name} has '{value}' for {name}; expected {', '.join(sorted(filter(None, legal)))}"
                )
        return f"{self.name} does not go with {len(operands)} operands of these types and these words"

    def _usage(self) -> str:
        return "its forms: " + "; ".join(dict.fromkeys(c.form.syntax_line.strip() for c in self.candidates))

    def __repr__(self) -> str:
        return f"<instruction {self.name}>"


_NEVER = 1 << 20


def _vocabulary(candidate: Candidate, name: str) -> frozenset[str]:
    word = candidate.keywords.get(name)
    return frozenset() if word is None else candidate.form.vocabulary.get(name, frozenset())


def _choices(
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
        if word.literal and not word.optional and name not in words and _qualifies(word.literal)
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
        own = {t for t in map(type_of, _flat((*operands, *words.values()))) if t}
        if narrow := [c for c in choices if c in own]:
            return narrow
        return tuple(choices)
    if slot in ("ss", "space"):
        spaces = {v.space for v in (*operands, *words.values()) if isinstance(v, Location)}
        if narrow := [c for c in choices if c in spaces]:
            return narrow
    return ("",) if "" in choices else tuple(choices)


def _is_optional(form: Form, slot: str) -> bool:
    return any(word.slot == slot and word.optional for word in form.syntax.words)


def is_many(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is several, which stand in braces."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _flat(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if is_many(value):
            yield from _flat(value)
        else:
            yield value


@lru_cache(maxsize=512)
def _qualifies(literal: str) -> bool:
    """Whether a word that must stand there is one that people choose."""
    return literal not in ("sync", "aligned", "b64", "b32", "u32", "b1024", "row", "col")


def _standing(candidate: Candidate, slots: Mapping[str, str]) -> list[PlaceName]:
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


def _arranged(
    candidate: Candidate, slots: Mapping[str, str], operands: Sequence[Any], words: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The values by operand name; None where they do not fill the places."""
    values: dict[str, Any] = {}
    named = {candidate.places[name]: value for name, value in words.items() if name in candidate.places}
    rest = list(operands)
    standing = _standing(candidate, slots)
    open_ = [name for name in standing if not set(name.names) & named.keys()]
    needed = sum(not name.optional or bool(candidate.form.operands[name.names[0]].when) for name in open_)
    spare = len(rest) - needed
    if spare < 0 or len(rest) > len(open_):
        return None
    for name in standing:
        if set(name.names) & named.keys():
            values[name.names[0]] = named.pop(name.names[0])
            continue
        if name.optional and not candidate.form.operands[name.names[0]].when:
            if spare == 0:
                continue
            spare -= 1
        values[name.names[0]] = rest.pop(0)
    return None if named or rest else values


def _misfit(candidate: Candidate, slots: Mapping[str, str], values: Mapping[str, Any]) -> int:
    """How badly values suit their places; _NEVER where they cannot stand there."""
    total = 0
    for name, value in values.items():
        place = candidate.form.operands[name]
        if isinstance(value, Location) != (place.kind == "address"):
            return _NEVER
        if isinstance(value, Location):
            wanted = place.space_word(slots)
            total += 2 * (value.space not in ("?", slots.get("space", slots.get("ss", value.space))))
            if value.space != "?" and wanted not in ("?", value.space):
                if not _within(value, wanted):
                    return _NEVER
                total += 2
            if bool(value.coordinates) != bool(place.registers(slots)):
                return _NEVER
            continue
        count = place.registers(slots)
        if is_many(value) != (count != 0) or (is_many(value) and count > 0 and len(value) != count):
            return _NEVER
        if place.kind == "immediate" and not isinstance(value, int):
            return _NEVER
        total += sum(_type_misfit(place, slots, each) for each in _flat((value,)))
        if total >= _NEVER:
            return _NEVER
    return total


def _type_misfit(place: Place, slots: Mapping[str, str], value: Any) -> int:
    own = type_of(value)
    if place.kind == "predicate":
        return 0 if own == "pred" or isinstance(value, int) else _NEVER
    wanted = place.type_word(slots)
    if not own or wanted not in TYPES or own == wanted:
        return 0
    if own == "pred" or wanted == "pred":
        return _NEVER
    same = TYPES[own].bits == TYPES[wanted].bits
    return (1 if same else 8) + 2 * (TYPES[own].kind == "float") * (TYPES[wanted].kind != "bits")


def _within(place: Location, wanted: str) -> bool:
    """Whether memory of one space may be named by another's word; generic addresses are in registers alone."""
    if wanted == "":
        return isinstance(place.base, Register) and place.space == "global"
    return wanted.partition("::")[0] == place.space.partition("::")[0]


def _emit(candidate: Candidate, slots: Mapping[str, str], values: Mapping[str, Any], out: Any) -> Any:
    form = candidate.form
    results: list[Any] = []
    given: list[Any] = [*out] if type(out) is tuple else [out]
    operands: list[Operand] = []
    for name in form.syntax.places:
        place = form.operands[name.names[0]]
        if place.kind == "sink":
            operands.append(operand_of(None))
            continue
        if place.access == "write" and place.kind != "tuple":
            made = [_result(form.operands[each], slots, given) for each in _wanted(name)]
            results += made
            parts = [operand_of(each) for each in made]
            operands.append(parts[0] if len(parts) == 1 else Pair(*parts))
        elif name.names[0] in values:
            value = values[name.names[0]]
            operands.append(operand_of(value, place.type_word(slots)))
    words = (slots[word.slot] if word.slot else word.literal for word in form.syntax.words)
    current().emit(".".join(word for word in words if word), tuple(operands))
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def _wanted(name: PlaceName) -> tuple[str, ...]:
    return name.names[:1] if name.second_optional else name.names


def _result(place: Place, slots: Mapping[str, str], given: list[Any]) -> Any:
    """The registers of a result: the next that were given, or new ones."""
    chosen = given.pop(0) if given else None
    if chosen is not None:
        return chosen
    type_word = place.type_word(slots)
    count = place.registers(slots)
    kind = TYPES[type_word]
    if kind.bits < 16 and kind.kind != "predicate":
        type_word = "s32" if kind.kind == "signed" else "u32"
    if count:
        return tuple(new(type_word) for _ in range(count))
    return new(type_word)


def new(type_word: str, value: Any = None) -> Register:
    """A new register of a type, that holds a value where one is given. Errors: UsageError author.type."""
    if type_word not in TYPES:
        raise UsageError(
            f"there is no type '{type_word}'; expected one such as u32, f32 or pred", code="author.type"
        )
    made = Register(current().register(type_word), type_word)
    return made if value is None else made.set(value)


def _kind(value: Any) -> Any:
    """What decides how a value is read."""
    match value:
        case Register():
            return value.type, value.negated
        case Location():
            return "@", value.space, len(value.coordinates)
        case str() | bool():
            return value
        case int():
            return "int", value  # constants are judged by their value
        case _:
            return tuple(map(_kind, value)) if is_many(value) else type(value).__name__


@cache
def named(name: str) -> Instruction:
    """The instruction of a Python name. Errors: AttributeError."""
    candidates = catalogue().get(name)
    if candidates is None:
        from difflib import get_close_matches

        like = next(iter(get_close_matches(name, list(catalogue()), 1)), "")
        raise AttributeError(
            f"there is no instruction '{name}'" + (f"; did you mean '{like}'?" if like else "")
        )
    return Instruction(name, candidates)
