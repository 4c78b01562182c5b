"""From an instruction of the tree to a bound form: which form, which slots, which operand in which place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warploom.diag import Diagnostic, Severity, Source, Span
from warploom.isa.kit import Form, Match, forms_of, match_opcode, nearest_slot
from warploom.isa.operands import Place
from warploom.isa.syntax import PlaceName
from warploom.ptx import Address, Expression, Float, Instruction, Integer, Name, Negated, Operand, Pair, Tuple, Vector


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
    for match in matches:
        operands = _place_operands(match, instruction.operands)
        if operands is not None:
            return Binding(match.form, match.slots, operands)
    code, message, hint, section = _explain(instruction, matches)
    span = Span(instruction.opcode_span.start, instruction.span.end) if matches else instruction.opcode_span
    return Diagnostic(code, Severity.ERROR, message, source, span, hint, section)


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
        found = f"'.{word}'" if word else f"no '.{slot}'"
        expected = ", ".join(f"'.{w}'" if w else "none" for w in legal)
        return f"{form.name}/{slot}", f"'{opcode}' has {found}; expected {expected}", "", form.source
    family = forms_of(opcode.partition(".")[0])
    if family:
        lines = "; ".join(dict.fromkeys(form.syntax_line.partition(" ")[0] for form in family))
        return "isa.modifiers", f"'{opcode}' is not a form that is implemented", f"implemented: {lines}", family[0].source
    return "isa.unknown", f"'{opcode}' is not an instruction that is implemented", "", ""


def _operand_hint(match: Match) -> str:
    parts: list[str] = []
    for name in match.form.syntax.places:
        place = match.form.operands[name.first]
        count = place.registers(match.slots)
        if count > 0:
            parts.append(f"{name.first}: {count} registers of {place.type_word(match.slots)}")
    return "; ".join(parts)


def _place_operands(match: Match, operands: tuple[Operand, ...]) -> dict[str, BoundOperand] | None:
    names = match.form.syntax.places
    if not match.form.syntax.required <= len(operands) <= len(names):
        return None
    bound: dict[str, BoundOperand] = {}
    for name, operand in zip(names, operands, strict=False):
        parts = _split_pair(name, operand)
        if parts is None:
            return None
        for part_name, part in parts:
            place = match.form.operands[part_name]
            count = place.registers(match.slots)
            if not _fits(part, place, count):
                return None
            bound[part_name] = BoundOperand(part, place, place.type_word(match.slots), count)
    return bound


def _split_pair(name: PlaceName, operand: Operand) -> list[tuple[str, Operand]] | None:
    if not name.second:
        return None if isinstance(operand, Pair) else [(name.first, operand)]
    if isinstance(operand, Pair):
        return [(name.first, operand.first), (name.second, operand.second)]
    return [(name.first, operand)] if name.second_optional else None


def _fits(operand: Operand, place: Place, count: int) -> bool:
    match place.kind:
        case "address":
            return isinstance(operand, Address)
        case "immediate":
            return isinstance(operand, (Integer, Expression))
        case "label" | "symbol":
            return isinstance(operand, Name)
        case "tuple":
            return isinstance(operand, Tuple)
        case "predicate":
            return isinstance(operand, (Name, Negated, Integer))
        case "register":
            return _fits_register(operand, place, count)
        case "any":
            return True


def _fits_register(operand: Operand, place: Place, count: int) -> bool:
    if count != 0:
        return isinstance(operand, Vector) and count in (-1, len(operand.items))
    if place.access == "read":
        return isinstance(operand, (Name, Integer, Float, Expression))
    return isinstance(operand, Name)
