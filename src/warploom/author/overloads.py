"""Overload resolution: the form, modifiers and operands that a Python call selects.

`slots` maps the names of an opcode's modifiers to words.
"""

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import Any, TypeGuard

import warploom.isa  # noqa: F401  # pyright: ignore[reportUnusedImport] -- declares every form
from warploom.author.values import Location, Register, type_of
from warploom.isa.model.form import IMPLIED, Form, forms_of, heads
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.syntax import OperandPattern, Word
from warploom.isa.model.table import Row
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass

_CHOICE_LIMIT = 512  # combinations of words that are tried for one row
_VECTORS = frozenset((list, tuple))
_SCALARS = frozenset((Register, Location, int, float, str, bool, type(None)))
IMPOSSIBLE = 1 << 20
"""Measure of `mismatch` for a value that an operand cannot take."""


# Instructions by name ---------------------------------------------------------------------------------------


@cache
def python_name(word: str) -> str:
    """Return a PTX word as a Python name: `L2_cache_hint` for `L2::cache_hint`, `and_` for `and`."""
    name = re.sub(r"\W+", "_", word)
    return name + "_" if keyword.iskeyword(name) else name


@dataclass(frozen=True, slots=True)
class Candidate:
    """Instruction form that a Python name may refer to. The name determines the modifiers in `fixed`."""

    form: Form
    fixed: tuple[tuple[str, str], ...]
    keywords: Mapping[str, Word]  # slots, parts of composite words and literal words by Python name
    operands: Mapping[str, str]  # operands by Python name


@cache
def catalogue() -> Mapping[str, tuple[Candidate, ...]]:
    """Return the candidates of each Python name of an instruction, such as `mad_lo`."""
    names = {name for head in heads() for name in _named_forms(head)}
    return {name: candidates_of(name) for name in sorted(names)}


@cache
def candidates_of(name: str) -> tuple[Candidate, ...]:
    """Return the candidates of one Python name, or () for an unknown name."""
    head = name.removesuffix("_").partition("_")[0]  # the first word of an opcode has no underscore
    return tuple([_candidate(*named) for named in _named_forms(head).get(name, ())])


_NamedForm = tuple[Form, Sequence[Word], tuple[tuple[str, str], ...]]
"""Form, the words in its Python name, and the modifiers that the name determines."""


@cache
def _named_forms(head: str) -> dict[str, list[_NamedForm]]:
    """Return a dict from Python name to forms, for names whose first word is `head`."""
    found: dict[str, list[_NamedForm]] = {}
    for form in forms_of(head):
        words = form.common_name
        choices = [sorted(form.vocabulary[word.slot]) if word.slot else [word.literal] for word in words]
        for spelled in product([head], *choices[1:]):
            fixed = tuple([(word.slot, text) for word, text in zip(words, spelled, strict=True) if word.slot])
            found.setdefault(python_name("_".join(spelled)), []).append((form, words, fixed))
    return found


def _candidate(form: Form, named: Sequence[Word], fixed: tuple[tuple[str, str], ...]) -> Candidate:
    keywords: dict[str, Word] = {}
    for word in form.syntax.words:
        if not any(word is each for each in named):
            keywords[python_name(word.slot or word.literal)] = word
        if word.composite is not None:
            keywords.update(dict.fromkeys(word.composite.groupindex, word))
    operands = {python_name(n): n for name in form.syntax.operands for n in name.names}
    return Candidate(form, fixed, keywords, operands)


# Words ------------------------------------------------------------------------------------------------------


def slot_choices(
    candidate: Candidate, operands: Sequence[Any], words: Mapping[str, Any]
) -> Iterator[tuple[dict[str, str], int]]:
    """Yield the combinations of modifiers that fit a call, each with its cost.

    `operands` and `words` are the arguments and keywords of the call. The cost grows with the number of modifiers that
    the call does not name.
    """
    form, given = candidate.form, _given_slots(candidate, words)
    if given is None:
        return
    cost = sum(
        bool(word.literal) and not word.optional and name not in words and word.literal not in IMPLIED
        for name, word in candidate.keywords.items()
    )
    slots_of = _slot_groups(form)
    parts: dict[str, tuple[str, ...]] = {}  # words of the parts of composite modifiers that the call gives
    for slot, pattern in slots_of.composites:
        if slot in given:
            found = pattern.fullmatch(given[slot])
            parts.update({part: () if found is None else (found[part],) for part in pattern.groupindex})
    rows = form.rows
    if not parts:
        for slot, word in given.items():
            if slot in form.columns:
                rows = [row for row in rows if word in row.cells[slot]]
    if not rows:
        return
    values = [*operands, *words.values()]
    types = set(map(type_of, flatten(values)))
    spaces = {value.space for value in values if isinstance(value, Location)}
    seen: set[tuple[tuple[str, str], ...]] = set()
    for row in rows:
        options = {
            slot: parts[slot] if slot in parts else _options(slots_of, slot, choices, types, spaces)
            for slot, choices in row.cells.items()
            if slot not in given
        }
        if prod(map(len, options.values())) > _CHOICE_LIMIT:
            continue
        for chosen in product(*options.values()):
            slots = {**given, **dict(zip(options, chosen, strict=True))}
            if not _complete(form, row, slots) or (key := tuple(sorted(slots.items()))) in seen:
                continue
            seen.add(key)
            unasked = len([slot for slot, text in zip(options, chosen) if text and slot in slots_of.optional])
            yield slots, cost + 4 * unasked


def _given_slots(candidate: Candidate, words: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the modifiers that a call gives by name or keyword, or None for an unknown keyword."""
    form, given = candidate.form, dict(candidate.fixed)
    for name, value in words.items():
        if name in candidate.operands:
            when = form.operands[candidate.operands[name]].when
            if when and python_name(when) not in words:
                given.setdefault(when, min(form.vocabulary.get(when, {when}), default=when))
            continue
        word = candidate.keywords.get(name)
        if word is None:
            return None
        if not isinstance(value, bool):
            given[name if name in form.columns else word.slot] = str(value)
        elif word.literal and not word.optional and not value:
            return None
        elif word.slot and (word.slot == word.literal or word.slot in form.columns):
            given[word.slot] = (word.literal or word.slot) if value else ""
    return given


@dataclass(frozen=True, slots=True)
class _SlotGroups:
    """Modifiers of a form by purpose.

    - `types`: types of operands
    - `spaces`: state spaces
    - `addressed`: state spaces of addresses that each call has
    - `optional`: modifiers that an opcode may lack, except for state spaces
    - `composites`: composite modifiers with the patterns of their words
    """

    types: frozenset[str]
    spaces: frozenset[str]
    addressed: frozenset[str]
    optional: frozenset[str]
    composites: tuple[tuple[str, re.Pattern[str]], ...]


@cache
def _slot_groups(form: Form) -> _SlotGroups:
    words, operands = form.syntax.words, form.operands.values()
    return _SlotGroups(
        frozenset([operand.type for operand in operands if isinstance(operand.type, str)]),
        frozenset(["ss", "space", *(operand.space for operand in operands if isinstance(operand.space, str))]),
        _addressed(form),
        frozenset([word.slot for word in words if word.optional]).difference(("ss", "space")),
        tuple([(word.slot, word.composite) for word in words if word.composite is not None]),
    )


def _addressed(form: Form) -> frozenset[str]:
    """Return the modifiers that are the state space of an address operand that each call has."""
    required = [form.operands[each.names[0]] for each in form.syntax.operands if not each.optional]
    default = "ss" if "ss" in form.columns else "space"
    spaces = [each.space for each in required if each.kind == "address" and not each.when]
    return frozenset([default if space == "?" else space for space in spaces if isinstance(space, str)])


def _options(
    slots_of: _SlotGroups, slot: str, choices: Sequence[str], types: set[str], spaces: set[str]
) -> Sequence[str]:
    """Return the words for the modifier `slot` that fit the types and the state spaces of the arguments."""
    if slot in slots_of.types:
        return [c for c in choices if c and c in types] or choices
    if slot in slots_of.spaces and (narrow := [c for c in choices if c in spaces]):
        return narrow
    if "" in choices:
        return ("",)
    if slot not in slots_of.addressed or "?" in spaces:
        return choices
    whole = {space.partition("::")[0] for space in spaces}
    return [c for c in choices if c.partition("::")[0] in whole]  # `mismatch` would refuse the others


def _complete(form: Form, row: Row, slots: dict[str, str]) -> bool:
    """Add missing modifiers to `slots`, those of `row`. Return True if the combination is legal."""
    for word in form.syntax.words:
        if word.composite is not None:
            slots.setdefault(word.slot, form.composites[word.slot].format(**slots))
        elif word.slot:
            slots.setdefault(word.slot, "")
    for word in form.syntax.words:
        if word.composite is not None:
            found = word.composite.fullmatch(slots[word.slot])
            if found is None:
                return False
            slots.update(found.groupdict())
    return row.holds(slots) or bool(form.rows_of(slots))


# Operands ---------------------------------------------------------------------------------------------------


def is_vector(value: object) -> TypeGuard[Sequence[Any]]:
    """Return True if a value stands for a vector in braces: a sequence that is no string."""
    kind = type(value)
    if kind in _VECTORS or kind in _SCALARS:  # faster than the abstract class below
        return kind in _VECTORS
    return isinstance(value, Sequence) and not isinstance(value, str)


def flatten(values: Sequence[Any]) -> Iterator[Any]:
    """Yield the values, with each vector replaced by its items."""
    for value in values:
        if is_vector(value):
            yield from flatten(value)
        else:
            yield value


def input_operands(candidate: Candidate, slots: Mapping[str, str]) -> list[OperandPattern]:
    """Return the operands that are arguments of a call with the modifiers `slots`."""
    form = candidate.form
    found: list[OperandPattern] = []
    for name in form.syntax.operands:
        operand = form.operands[name.names[0]]
        is_result = operand.access == "write" and operand.kind != "tuple"
        is_absent = operand.kind == "sink" or (operand.when and not slots.get(operand.when))
        has_no_value = operand.kind == "immediate" and operand.constants(slots) == range(0)
        if not (is_result or is_absent or has_no_value):
            found.append(name)
    return found


def arrange(
    candidate: Candidate, slots: Mapping[str, str], operands: Sequence[Any], words: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the arguments of a call by operand name, or None if the call has too few or too many.

    `operands` are the positional arguments, `words` the keyword arguments.
    """
    named = {candidate.operands[name]: value for name, value in words.items() if name in candidate.operands}
    rest, values = list(operands), dict[str, Any]()
    inputs = input_operands(candidate, slots)
    unnamed = [name for name in inputs if named.keys().isdisjoint(name.names)]

    def may_be_absent(name: OperandPattern) -> bool:
        return name.optional and not candidate.form.operands[name.names[0]].when

    surplus = len(rest) - sum(not may_be_absent(name) for name in unnamed)
    if surplus < 0 or len(rest) > len(unnamed):
        return None
    for name in inputs:
        if not named.keys().isdisjoint(name.names):
            values[name.names[0]] = named.pop(name.names[0])
            continue
        if may_be_absent(name):
            if surplus == 0:
                continue
            surplus -= 1
        values[name.names[0]] = rest.pop(0)
    return None if named or rest else values


def mismatch(candidate: Candidate, slots: Mapping[str, str], name: str, value: Any) -> int:
    """Return a measure of how badly a value fits the operand `name`.

    The measure is 0 for an exact fit, and at least IMPOSSIBLE for a value that the operand cannot take. `name` is the
    first name of a vector of named operands, whose value is a sequence.
    """
    parts = named_parts(candidate.form, name)
    if len(parts) > 1:
        if not is_vector(value) or len(value) != len(parts):
            return IMPOSSIBLE
        return sum(_mismatch(candidate, slots, part, each) for part, each in zip(parts, value, strict=True))
    return _mismatch(candidate, slots, name, value)


def named_parts(form: Form, name: str) -> tuple[str, ...]:
    """Return the operands of the vector `{name, ...}` in the syntax of a form, or () without one."""
    return next((each.parts for each in form.syntax.operands if each.parts and each.parts[0] == name), ())


def _mismatch(candidate: Candidate, slots: Mapping[str, str], name: str, value: Any) -> int:
    operand = candidate.form.operands[name]
    if isinstance(value, Location) != (operand.kind == "address"):
        return IMPOSSIBLE
    if isinstance(value, Location):
        expected = operand.space_word(slots)
        total = 2 * (value.space not in ("?", slots.get("space", slots.get("ss", value.space))))
        if value.space != "?" and expected not in ("?", value.space):
            if not _is_within(value, expected):
                return IMPOSSIBLE
            total += 2
        return total if bool(value.coordinates) == bool(operand.registers(slots)) else IMPOSSIBLE
    count = operand.registers(slots)
    if is_vector(value) != (count != 0) or (is_vector(value) and count > 0 and len(value) != count):
        return IMPOSSIBLE
    if operand.kind == "immediate" and not isinstance(value, int):
        return IMPOSSIBLE
    return sum(_type_mismatch(operand, slots, each) for each in flatten((value,)))


def _type_mismatch(operand: OperandSpec, slots: Mapping[str, str], value: Any) -> int:
    own = type_of(value)
    if operand.kind == "predicate":
        return 0 if own == "pred" or isinstance(value, int) else IMPOSSIBLE
    expected = operand.type_word(slots)
    if not own or expected not in TYPES or own == expected:
        return 0
    kinds = {TYPES[own].kind, TYPES[expected].kind}
    if "predicate" in kinds or ("float" in kinds and kinds & {"signed", "unsigned"}):
        return IMPOSSIBLE
    same = TYPES[own].bits == TYPES[expected].bits
    return (1 if same else 8) + 2 * (TYPES[own].kind == "float") * (TYPES[expected].kind != "bits")


def _is_within(location: Location, space: str) -> bool:
    """Return True if an instruction on `space` can access a location. The space "" is generic."""
    if space == "":
        return isinstance(location.base, Register) and location.space == "global"
    return space.partition("::")[0] == location.space.partition("::")[0]
