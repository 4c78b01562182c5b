"""From an instruction of the tree to a bound form: which form, which slots, which operand in which place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from warploom.diag import Diagnostic, Severity, Source, Span
from warploom.isa.kit import Form, Match, forms_of, match_opcode, nearest_slot
from warploom.isa.operands import Place
from warploom.isa.syntax import PlaceName
from warploom.ptx import (
    Address,
    Float,
    Instruction,
    Integer,
    Name,
    Negated,
    Operand,
    Pair,
    Symbol,
    Tuple,
    Vector,
)


@dataclass(frozen=True, slots=True)
class BoundOperand:
    """An operand in its place: `type` is the PTX type word, `registers` the vector length (0: bare)."""

    operand: Operand
    place: Place
    type: str
    registers: int


@dataclass(frozen=True, slots=True)
class Binding:
    """An instruction bound to a form. `slots` maps each slot to its word ("" when absent)."""

    form: Form
    slots: Mapping[str, str]
    operands: Mapping[str, BoundOperand]


def bind(instruction: Instruction, source: Source | None = None) -> Binding | Diagnostic:
    """Bind an instruction, or say in one sentence why no form takes it.

    Errors: isa.unknown (no such opcode), <form>/<slot> (a modifier no row allows), isa.operands.
    """
    matches = match_opcode(instruction.opcode)
    wrong: tuple[str, str, str, str] | None = None
    for match in matches:
        operands = _place_operands(match, instruction.operands)
        if operands is None:
            continue
        wrong = _wrong_constant(match, operands)
        if wrong is None:
            return Binding(match.form, match.slots, operands)
    code, message, hint, section = wrong or _explain(instruction, matches)
    return Diagnostic(
        code, Severity.ERROR, message, source, _place(instruction, bool(matches)), hint, section
    )


def _place(instruction: Instruction, whole: bool) -> Span | None:
    """The opcode's place, or the whole instruction's; None for an instruction made by program."""
    words = instruction.word_spans
    if not words or instruction.span is None:
        return None
    return Span(words[0].start, instruction.span.end if whole else words[-1].end)


def _explain(instruction: Instruction, matches: tuple[Match, ...]) -> tuple[str, str, str, str]:
    opcode = instruction.opcode
    if matches:
        form = matches[0].form
        return (
            f"{form.name}/operands",
            f"the operands of '{opcode}' do not fit '{form.syntax_line}'",
            _operand_hint(matches[0]),
            form.source,
        )
    near = nearest_slot(opcode)
    if near is not None:
        form, slot, word, legal = near
        if slot in form.parts:
            found, expected = f"{slot} = {word}", _list(legal)
        else:
            found = f"'.{word}'" if word else f"no '.{slot}'"
            expected = ", ".join(f"'.{w}'" if w else "none" for w in legal)
        return f"{form.name}/{slot}", f"'{opcode}' has {found}; expected {expected}", "", form.source
    family = forms_of(opcode.partition(".")[0])
    if family:
        lines = "; ".join(dict.fromkeys(form.syntax_line.partition(" ")[0] for form in family))
        return (
            "isa.modifiers",
            f"'{opcode}' is not a form that is implemented",
            f"implemented: {lines}",
            family[0].source,
        )
    return "isa.unknown", f"'{opcode}' is not an instruction that is implemented", "", ""


def _wrong_constant(match: Match, operands: Mapping[str, BoundOperand]) -> tuple[str, str, str, str] | None:
    form = match.form
    for name, bound in operands.items():
        constants = bound.place.constants(match.slots)
        if constants is None or not isinstance(bound.operand, Integer) or bound.operand.value in constants:
            continue
        message = f"operand {name.replace('_', '-')} is {bound.operand.value}; expected {_list(constants)}"
        return f"{form.name}/{name}", message, "", form.source
    return None


def _operand_hint(match: Match) -> str:
    parts: list[str] = []
    for name, place in match.form.operands.items():
        count = place.registers(match.slots)
        constants = place.constants(match.slots)
        if place.kind == "address" and count > 0:
            parts.append(f"{name}: {count} coordinates")
        elif count > 0:
            parts.append(f"{name}: {count} registers of {place.type_word(match.slots)}")
        if constants is not None:
            parts.append(f"{name}: {_list(constants)}")
        if place.when:
            there = "there" if match.slots[place.when] else "absent"
            parts.append(f"{name}: {there}, as '.{place.when}' is")
    return "; ".join(parts)


def _list(constants: Collection[int | str]) -> str:
    if len(constants) <= 8:
        return ", ".join(str(constant) for constant in constants)
    *few, last = (*islice(constants, 5), constants[-1] if isinstance(constants, Sequence) else max(constants))
    return f"{', '.join(str(constant) for constant in few)}, … {last}"


def _place_operands(match: Match, operands: tuple[Operand, ...]) -> dict[str, BoundOperand] | None:
    return _assign(match, match.form.syntax.places, operands)


def _assign(
    match: Match, names: tuple[PlaceName, ...], operands: tuple[Operand, ...]
) -> dict[str, BoundOperand] | None:
    """Operands in their places, in order; an optional place is filled where it can be."""
    if not names:
        return None if operands else {}
    name = names[0]
    tied = match.form.operands[name.names[0]].when
    stands = not tied or match.slots[tied] != ""
    if operands and stands:
        bound = _fill(match, name, operands[0])
        rest = None if bound is None else _assign(match, names[1:], operands[1:])
        if bound is not None and rest is not None:
            return bound | rest
    if not stands or (name.optional and not tied):
        return _assign(match, names[1:], operands)
    return None


def _fill(match: Match, name: PlaceName, operand: Operand) -> dict[str, BoundOperand] | None:
    bound: dict[str, BoundOperand] = {}
    parts = _split_pair(name, operand)
    if parts is None:
        return None
    for part_name, part in parts:
        place = match.form.operands[part_name]
        count = place.registers(match.slots)
        if count == 0 and place.kind == "register" and isinstance(part, Vector) and len(part.items) == 1:
            part = part.items[0]  # one register in braces is that register
        if not _fits(part, place, count):
            return None
        bound[part_name] = BoundOperand(part, place, place.type_word(match.slots), count)
    return bound


def _split_pair(name: PlaceName, operand: Operand) -> list[tuple[str, Operand]] | None:
    if name.parts:
        if not isinstance(operand, Vector) or len(operand.items) != len(name.parts):
            return None
        return list(zip(name.parts, operand.items, strict=True))
    if not name.second:
        return None if isinstance(operand, Pair) else [(name.first, operand)]
    if isinstance(operand, Pair):
        return [(name.first, operand.first), (name.second, operand.second)]
    return [(name.first, operand)] if name.second_optional else None


def _fits(operand: Operand, place: Place, count: int) -> bool:
    match place.kind:
        case "address":
            return isinstance(operand, Address) and _fits_coordinates(operand, count)
        case "immediate":
            return isinstance(operand, Integer)
        case "label" | "symbol":
            return isinstance(operand, Name)
        case "tuple":
            return isinstance(operand, Tuple)
        case "sink":
            return isinstance(operand, Name) and operand.text == "_"
        case "predicate":
            return isinstance(operand, (Name, Negated, Integer))
        case "register":
            return _fits_register(operand, place, count)
        case "any":
            return True


def _fits_coordinates(operand: Address, count: int) -> bool:
    if count == 0:
        return not operand.extra
    return (
        len(operand.extra) == 1
        and isinstance(operand.extra[0], Vector)
        and len(operand.extra[0].items) == count
    )


def _fits_register(operand: Operand, place: Place, count: int) -> bool:
    if count != 0:
        return isinstance(operand, Vector) and count in (-1, len(operand.items))
    if place.access == "read":
        return isinstance(operand, (Name, Integer, Float, Symbol))
    return isinstance(operand, Name)
