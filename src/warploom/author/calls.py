"""The call that writes an instruction: its Python name, its arguments, and as few keywords as it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any

from warploom.author.building import AuthorError
from warploom.author.catalogue import Candidate, catalogue
from warploom.author.instructions import named, opcode_of, result_type, spelled
from warploom.author.readings import is_many, standing
from warploom.author.values import Location, Register, operand_of
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.model.form import Form
from warploom.isa.model.syntax import PlaceName
from warploom.ptx import (
    Address,
    Float,
    Instruction,
    Integer,
    Name,
    Negated,
    Operand,
    Symbol,
    Vector,
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call that writes an instruction. `results` are what it gives back, `types` those of new registers."""

    name: str
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    results: tuple[Any, ...]
    types: tuple[str, ...]
    asks: bool  # it is `out` that asks for the results there are
    jumps: bool


def call_of(instruction: Instruction, register: Callable[[str], Register | None]) -> Call | None:
    """The call that writes an instruction without its guard; None where there is none.

    `register` gives the register of a name, with the type that it has in Python.
    """
    binding = bind(instruction)
    if not isinstance(binding, Binding):
        return None
    for name, candidate in _named_candidates(binding.form, tuple(sorted(binding.slots.items()))):
        try:
            values, results = _values(instruction, binding, candidate, register)
            found = _shortest(name, candidate, binding, instruction, values, results)
        except _Wordless:
            continue
        if found is not None:
            return found
    return None


class _Wordless(Exception):
    """An operand has no Python value."""


@cache
def _by_form() -> Mapping[str, tuple[tuple[str, Candidate], ...]]:
    found: dict[str, list[tuple[str, Candidate]]] = {}
    for name, candidates in catalogue().items():
        for candidate in candidates:
            found.setdefault(candidate.form.name, []).append((name, candidate))
    return {name: tuple(each) for name, each in found.items()}


@cache
def _named_candidates(form: Form, slots: tuple[tuple[str, str], ...]) -> tuple[tuple[str, Candidate], ...]:
    """The names that a form with some slots goes by."""
    return tuple(
        (name, candidate)
        for name, candidate in _by_form().get(form.name, ())
        if all((slot, text) in slots for slot, text in candidate.fixed)
    )


# Values -----------------------------------------------------------------------------------------------------


def _values(
    instruction: Instruction,
    binding: Binding,
    candidate: Candidate,
    register: Callable[[str], Register | None],
) -> tuple[dict[str, Any], list[tuple[PlaceName, tuple[Any, ...]]]]:
    """What is given for each place, and what comes out of those that are written."""
    form, slots = binding.form, binding.slots
    values: dict[str, Any] = {}
    results: list[tuple[PlaceName, tuple[Any, ...]]] = []
    read = {name.names[0] for name in standing(candidate, slots)}
    for where in form.syntax.places:
        place = form.operands[where.names[0]]
        bound = [binding.operands[name].operand for name in where.names if name in binding.operands]
        if place.access == "write" and place.kind != "tuple":
            results.append((where, tuple(_python(each, "", "", register) for each in bound)))
        elif bound and where.names[0] in read:
            operand = (
                instruction.operands[binding.operands[where.names[0]].at[0]] if where.parts else bound[0]
            )
            values[where.names[0]] = _python(
                operand, place.type_word(slots), place.space_word(slots), register
            )
    return values, results


def _python(operand: Operand, type_word: str, space: str, register: Callable[[str], Register | None]) -> Any:
    """An operand as the value that stands for it, where a type and a state space are expected."""
    match operand:
        case Name(text):
            found = register(text)
            return text if found is None else found
        case Negated(name, "!"):
            found = register(name)
            if found is None or found.type != "pred":
                raise _Wordless
            return ~found
        case Integer(value):
            return value
        case Float():
            value = operand.value
            return value if isfinite(value) and operand_of(value, type_word) == operand else operand
        case Symbol(generic=False, mask=None, minus=""):
            return operand
        case Vector(items):
            return [_python(item, type_word, "", register) for item in items]
        case Address(Name(base), offset, extra, False):
            coordinates: tuple[Any, ...] = ()
            if extra:
                if len(extra) != 1 or not isinstance(extra[0], Vector):
                    raise _Wordless
                coordinates = tuple(_python(item, "", "", register) for item in extra[0].items)
            found = register(base)
            return Location(base if found is None else found, offset, space or "?", coordinates)
        case _:
            raise _Wordless


# Keywords ---------------------------------------------------------------------------------------------------

_FOUND: dict[tuple[object, ...], tuple[tuple[tuple[str, Any], ...], bool] | None] = {}
"""Keywords that were found, and whether the call's first reading has the form of the instruction, by the opcode and
what decides how its operands are read.
"""


def _shortest(
    name: str,
    candidate: Candidate,
    binding: Binding,
    instruction: Instruction,
    values: Mapping[str, Any],
    results: list[tuple[PlaceName, tuple[Any, ...]]],
) -> Call | None:
    form, slots = binding.form, binding.slots
    given = tuple(each for _, found in results for each in found)
    out = None if not given else given[0] if len(given) == 1 else given
    arguments = tuple(values.values())
    key = (name, instruction.opcode, _outline(arguments), _outline(given))
    if key not in _FOUND:
        ways = [_least(name, start, arguments, out, instruction) for start in _keywords(candidate, slots)]
        least = min((way for way in ways if way is not None), key=len, default=None)
        _FOUND[key] = None if least is None else (least, _first_form(name, arguments, dict(least)) is form)
    found = _FOUND[key]
    if found is None:
        return None
    keywords, is_first = found
    types = tuple(
        result_type(form.operands[each], slots)
        for where, found in results
        for each in where.names[: len(found)]
    )
    asks = not is_first or any(len(each) > 1 and where.second_optional for where, each in results)
    return Call(name, arguments, keywords, given, types, asks, form.control == "jump")


def _keywords(candidate: Candidate, slots: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every word that the instruction has: composite words by their parts, and as they are written."""
    by_parts: dict[str, Any] = {}
    whole: dict[str, Any] = {}
    for key, word in candidate.keywords.items():
        if word.literal and not word.slot:
            by_parts[key] = whole[key] = True
            continue
        is_part = word.composite is not None and key in word.composite.groupindex
        text = slots.get(key if is_part else word.slot, "")
        if not text:
            continue
        value: Any = True if text == word.literal else int(text) if text.isdecimal() else text
        if word.composite is None:
            by_parts[key] = whole[key] = value
        else:
            (by_parts if is_part else whole)[key] = value
    return [by_parts] if by_parts == whole else [by_parts, whole]


def _least(
    name: str, keywords: dict[str, Any], arguments: tuple[Any, ...], out: Any, instruction: Instruction
) -> tuple[tuple[str, Any], ...] | None:
    """As few of the keywords as still write the instruction."""
    if not _writes(name, arguments, out, keywords, instruction):
        return None
    for key in list(keywords):
        fewer = {word: value for word, value in keywords.items() if word != key}
        if _writes(name, arguments, out, fewer, instruction):
            keywords = fewer
    return tuple(keywords.items())


def _writes(
    name: str, arguments: tuple[Any, ...], out: Any, keywords: Mapping[str, Any], wanted: Instruction
) -> bool:
    """Whether a call writes an instruction."""
    try:
        readings = named(name).readings(arguments, keywords)
    except AuthorError:
        return False
    for candidate, slots, values in readings:
        try:
            operands, _ = spelled(name, candidate, slots, values, out)
        except AuthorError:
            continue
        return opcode_of(candidate, slots) == wanted.opcode and operands == wanted.operands
    return False


def _first_form(name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Form:
    """The form of what a call means where nothing is given for its results."""
    return named(name).readings(arguments, keywords)[0][0].form


def _outline(value: Any) -> object:
    """What decides how a value is read."""
    match value:
        case Register():
            return value.type
        case Location():
            return "@", value.space, isinstance(value.base, Register), len(value.coordinates)
        case int() | str():
            return type(value).__name__
        case _:
            return tuple(map(_outline, value)) if is_many(value) else type(value).__name__
