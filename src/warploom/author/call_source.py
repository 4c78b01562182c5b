"""Translation of PTX instructions into Python calls such as `ptx.add(a, b)`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any

from warploom.author.errors import AuthorError
from warploom.author.instructions import instruction, opcode_of, result_type, spell_operands
from warploom.author.overloads import Candidate, catalogue, input_operands, is_vector
from warploom.author.values import Location, Register, operand_of
from warploom.isa.binding.bind import Binding, bind
from warploom.isa.model.form import Form
from warploom.isa.model.syntax import OperandPattern
from warploom.ptx import Address, Float, Integer, Name, Negated, Operand, Symbol, Vector, tree

Registers = Callable[[str], Register | None]
"""Function that returns the register of a name, with its type in Python, or None for other names."""


@dataclass(frozen=True, slots=True)
class Call:
    """Python call that emits an instruction. `types` are the types of new result registers."""

    name: str
    arguments: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    results: tuple[Any, ...]
    types: tuple[str, ...]
    needs_out: bool  # True if the call would emit another instruction without `out`
    jumps: bool


def call_of(statement: tree.Instruction, registers: Registers) -> Call | None:
    """Return the Python call that emits `statement` without its guard, or None if no call does.

    `registers` maps the name of a PTX register to its Python register, and any other name to None.
    """
    binding = bind(statement)
    if not isinstance(binding, Binding):
        return None
    for name, candidate in _named_candidates(binding.form, tuple(sorted(binding.slots.items()))):
        try:
            values, results = _values(statement, binding, candidate, registers)
            found = _shortest(name, candidate, binding, statement, values, results)
        except _NoPythonValue:
            continue
        if found is not None:
            return found
    return None


class _NoPythonValue(Exception):
    """Exception for an operand that no Python value can represent."""


@cache
def _named_candidates(form: Form, slots: tuple[tuple[str, str], ...]) -> tuple[tuple[str, Candidate], ...]:
    return tuple(
        (name, candidate)
        for name, candidates in catalogue().items()
        for candidate in candidates
        if candidate.form is form and all(fixed in slots for fixed in candidate.fixed)
    )


# Values -----------------------------------------------------------------------------------------------------


def _values(
    statement: tree.Instruction, binding: Binding, candidate: Candidate, registers: Registers
) -> tuple[dict[str, Any], list[tuple[OperandPattern, tuple[Any, ...]]]]:
    """Return the arguments of a call by operand name. Also return the Python values of each result."""
    form, slots = binding.form, binding.slots
    values: dict[str, Any] = {}
    results: list[tuple[OperandPattern, tuple[Any, ...]]] = []
    inputs = {name.names[0] for name in input_operands(candidate, slots)}
    for where in form.syntax.operands:
        first = where.names[0]
        spec = form.operands[first]
        bound = [binding.operands[name].operand for name in where.names if name in binding.operands]
        if spec.access == "write" and spec.kind != "tuple":
            results.append((where, tuple(_python(each, "", "", registers) for each in bound)))
        elif bound and first in inputs:
            operand = statement.operands[binding.operands[first].at[0]] if where.parts else bound[0]
            values[first] = _python(operand, spec.type_word(slots), spec.space_word(slots), registers)
    return values, results


def _python(operand: Operand, type_word: str, space: str, registers: Registers) -> Any:
    """Return the Python value of an operand. `type_word` is its type, `space` the space of an address."""
    match operand:
        case Name(text):
            found = registers(text)
            return text if found is None else found
        case Negated(name, "!"):
            found = registers(name)
            if found is None or found.type != "pred":
                raise _NoPythonValue
            return ~found
        case Integer(value):
            return value
        case Float():
            value = operand.value
            return value if isfinite(value) and operand_of(value, type_word) == operand else operand
        case Symbol(generic=False, mask=None, minus=""):
            return operand
        case Vector(items):
            return [_python(item, type_word, "", registers) for item in items]
        case Address(Name(base), offset, extra, False):
            coordinates: tuple[Any, ...] = ()
            if extra:
                if len(extra) != 1 or not isinstance(extra[0], Vector):
                    raise _NoPythonValue
                coordinates = tuple(_python(item, "", "", registers) for item in extra[0].items)
            found = registers(base)
            return Location(base if found is None else found, offset, space or "?", coordinates)
        case _:
            raise _NoPythonValue


# Keywords ---------------------------------------------------------------------------------------------------

_CACHE: dict[tuple[object, ...], tuple[tuple[tuple[str, Any], ...], bool] | None] = {}
"""Shortest keywords of a call, and True if its best overload is the form of the instruction."""


def _shortest(
    name: str,
    candidate: Candidate,
    binding: Binding,
    statement: tree.Instruction,
    values: Mapping[str, Any],
    results: list[tuple[OperandPattern, tuple[Any, ...]]],
) -> Call | None:
    form, slots = binding.form, binding.slots
    given = tuple(each for _, found in results for each in found)
    out = None if not given else given[0] if len(given) == 1 else given
    arguments = tuple(values.values())
    key = (name, statement.opcode, _kind(arguments), _kind(given))
    if key not in _CACHE:
        ways = [_least(name, start, arguments, out, statement) for start in _all_keywords(candidate, slots)]
        least = min((way for way in ways if way is not None), key=len, default=None)
        _CACHE[key] = None
        if least is not None:
            first = instruction(name).overloads(arguments, dict(least))[0][0]
            _CACHE[key] = least, first.form is form
    found = _CACHE[key]
    if found is None:
        return None
    keywords, is_first = found
    types = tuple(
        result_type(form.operands[each], slots) for where, found in results for each in where.names[: len(found)]
    )
    needs_out = not is_first or any(len(each) > 1 and where.second_optional for where, each in results)
    return Call(name, arguments, keywords, given, types, needs_out, form.control == "jump")


def _all_keywords(candidate: Candidate, slots: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return one or two dicts with all keywords of a call.

    The first dict has a keyword for each part of a composite modifier. The second has one for the whole modifier.
    """
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
    name: str, keywords: dict[str, Any], arguments: tuple[Any, ...], out: Any, statement: tree.Instruction
) -> tuple[tuple[str, Any], ...] | None:
    """Return the keywords that the call needs, or None if the call does not emit `statement`."""
    if not _emits(name, arguments, out, keywords, statement):
        return None
    for key in list(keywords):
        fewer = {word: value for word, value in keywords.items() if word != key}
        if _emits(name, arguments, out, fewer, statement):
            keywords = fewer
    return tuple(keywords.items())


def _emits(
    name: str, arguments: tuple[Any, ...], out: Any, keywords: Mapping[str, Any], wanted: tree.Instruction
) -> bool:
    try:
        overloads = instruction(name).overloads(arguments, keywords)
    except AuthorError:
        return False
    for candidate, slots, values in overloads:
        try:
            operands, _ = spell_operands(name, candidate, slots, values, out)
        except AuthorError:
            continue
        return opcode_of(candidate, slots) == wanted.opcode and operands == wanted.operands
    return False


def _kind(value: Any) -> object:
    """Return a key that is equal for values that need the same keywords."""
    match value:
        case Register():
            return value.type
        case Location():
            return "@", value.space, isinstance(value.base, Register), len(value.coordinates)
        case int() | str():
            return type(value).__name__
        case _:
            return tuple(map(_kind, value)) if is_vector(value) else type(value).__name__
