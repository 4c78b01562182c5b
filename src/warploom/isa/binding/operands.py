"""Operands in the places of a form: which stands where, what keeps one from its place, and how that is said."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from warploom.diagnostics import Diagnostic, Severity, Span
from warploom.isa.binding.nearest import spell
from warploom.isa.model.form import Match
from warploom.isa.model.operands import VECTORS, OperandSpec
from warploom.isa.model.syntax import PlaceName
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

Where = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class BoundOperand:
    """An operand in its place: `type` is the PTX type word, `registers` the vector length (0: bare).

    `at` says where it stands: the operand's number, and its number in a pair or vector of named parts.
    """

    operand: Operand
    place: OperandSpec
    type: str
    registers: int
    at: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an instruction, and where in it.

    `where` is ("word", k), ("operand", k), ("operand", k, j) for an item of a vector, ("guard",), ("opcode",)
    or ("all",).
    """

    code: str
    message: str
    where: Where = ("opcode",)
    hint: str = ""
    section: str = ""
    severity: Severity = Severity.ERROR

    def at(self, instruction: Instruction) -> Diagnostic:
        """The diagnostic, placed in an instruction."""
        place = span_of(instruction, self.where)
        source = instruction.source
        return Diagnostic(self.code, self.severity, self.message, source, place, self.hint, self.section)


def span_of(instruction: Instruction, where: Where) -> Span | None:
    """The place of a part of an instruction; None for one made by program."""
    words = instruction.word_spans
    if not words or instruction.span is None:
        return None
    match where:
        case ("guard",):
            return Span(instruction.span.start, words[0].start)
        case ("word", int(k)) if k < len(words):
            return words[k]
        case ("operand", int(k), *rest) if k < len(operands := instruction.operand_spans):
            items = instruction.item_spans(k) if len(rest) == 1 else ()
            j = next(iter(rest), 0)
            return items[j] if isinstance(j, int) and j < len(items) else operands[k]
        case ("all",):
            return Span(words[0].start, instruction.span.end)
        case _:
            return Span(words[0].start, words[-1].end)


def unparenthesised(operand: Operand) -> Operand:
    """A constant in parentheses is that constant, but among the operands of a call."""
    match operand:
        case Tuple((Integer() | Float() as constant,)):
            return constant
        case Vector(items) if any(isinstance(item, Tuple) for item in items):
            return Vector(tuple(map(unparenthesised, items)))
        case _:
            return operand


Extensions = Callable[[str], Collection[str]]
"""Function that returns the kinds of syntax beyond the manual that an operand may use: bare, vector, predicate."""


def no_extensions(operand: str) -> Collection[str]:
    """Return no syntax beyond the manual."""
    return ()


def place_operands(
    match: Match, operands: tuple[Operand, ...], extensions: Extensions = no_extensions
) -> dict[str, BoundOperand] | list[Problem]:
    """Assign the operands of an instruction to those of a form, or return the problems that prevent it."""
    form = match.form
    best: dict[str, BoundOperand] | list[Problem] | None = None
    for names in _assignments(match, form.syntax.places, len(operands)):
        placed = _fill_all(match, names, operands, extensions)
        if isinstance(placed, dict):
            return placed
        if not isinstance(best, list) or len(placed) < len(best):
            best = placed
    return _wrong_count(match, operands) if best is None else best


def takes_count(match: Match, count: int) -> bool:
    """Whether there can be so many operands."""
    return any(True for _ in _assignments(match, match.form.syntax.places, count))


def _assignments(match: Match, names: tuple[PlaceName, ...], count: int) -> Iterator[tuple[PlaceName, ...]]:
    """The ways to choose as many places as there are operands; optional places are filled where they can be."""
    if not names:
        if count == 0:
            yield ()
        return
    name, rest = names[0], names[1:]
    tied = match.form.operands[name.names[0]].when
    stands = not tied or match.slots.get(tied, "") != ""
    if count and stands:
        for others in _assignments(match, rest, count - 1):
            yield (name, *others)
    if not stands or (name.optional and not tied):
        yield from _assignments(match, rest, count)


def _fill_all(
    match: Match, names: tuple[PlaceName, ...], operands: tuple[Operand, ...], extensions: Extensions
) -> dict[str, BoundOperand] | list[Problem]:
    bound: dict[str, BoundOperand] = {}
    problems: list[Problem] = []
    for k, (name, operand) in enumerate(zip(names, operands, strict=True)):
        filled = _fill(match, name, operand, k, extensions)
        if isinstance(filled, Problem):
            problems.append(filled)
        else:
            bound.update(filled)
    return problems or bound


def _fill(
    match: Match, name: PlaceName, operand: Operand, k: int, extensions: Extensions
) -> dict[str, BoundOperand] | Problem:
    form = match.form
    parts = _split_pair(name, operand, k)
    if parts is None:
        shown = "|".join(part for part in name.names) if name.second else ", ".join(name.names)
        what = f"a pair '{shown}'" if name.second else f"'{{{shown}}}'" if name.parts else "one operand"
        return Problem(
            f"{form.name}/{name.names[0]}",
            f"operand {k + 1} is {describe(operand)}; expected {what}",
            ("operand", k),
            "",
            form.source,
        )
    if parts[1:] and all(part == Name("_") for _, part, _ in parts):
        message = f"operand {k + 1} is '_|_'; expected a register on one side at least"
        return Problem(f"{form.name}/{name.names[0]}", message, ("operand", k), "", form.source)
    bound: dict[str, BoundOperand] = {}
    for part_name, part, at in parts:
        place = form.operands[part_name]
        if place.kind != "tuple":
            part = unparenthesised(part)
        count = place.registers(match.slots)
        if (
            count == 0
            and "braces" in place.allowed(match.slots)
            and isinstance(part, Vector)
            and len(part.items) == 1
        ):
            part = part.items[0]  # one register in braces is that register
        if not _fits(part, place, count, match.slots, extensions(part_name)):
            shown = part_name.replace("_", "-").strip("-") or "_"
            message = f"operand {shown} is {describe(part)}; expected {expected_operand(place, match.slots)}"
            return Problem(f"{form.name}/{part_name}", message, ("operand", *at), "", form.source)
        bound[part_name] = BoundOperand(part, place, place.type_word(match.slots), count, at)
    return bound


def _wrong_count(match: Match, operands: tuple[Operand, ...]) -> list[Problem]:
    form = match.form
    for name in form.syntax.places:
        tied = form.operands[name.names[0]].when
        if not tied:
            continue
        there = match.slots.get(tied, "") != ""
        needed = sum(
            1
            for place in form.syntax.places
            if not place.optional or (form.operands[place.names[0]].when and there)
        )
        if (len(operands) > needed) != there:
            word = match.slots.get(tied) or tied
            shown = name.names[0].replace("_", "-")
            verb = (
                f"'.{word}' needs an operand {shown}"
                if there
                else f"operand {shown} stands only with '.{word}'"
            )
            where: Where = ("operand", len(operands) - 1) if operands and not there else ("opcode",)
            return [Problem(f"{form.name}/{name.names[0]}", verb, where, "", form.source)]
    counts = sorted(
        {n for n in range(len(form.syntax.places) + 1) if any(_assignments(match, form.syntax.places, n))}
    )
    found = f"{len(operands)} operands" if len(operands) != 1 else "1 operand"
    shown = form.syntax_line.partition(" ")[2].strip().removesuffix(";")
    expected = f"{' or '.join(map(str, counts))}: {shown}" if counts != [0] else "none"
    where = ("operand", counts[-1]) if counts and len(operands) > counts[-1] else ("all",)
    message = f"'{spell(match)}' has {found}; expected {expected}"
    return [Problem(f"{form.name}/operands", message, where, "", form.source)]


def _split_pair(
    name: PlaceName, operand: Operand, k: int
) -> list[tuple[str, Operand, tuple[int, ...]]] | None:
    if name.parts:
        if not isinstance(operand, Vector) or len(operand.items) != len(name.parts):
            return None
        return [
            (part, item, (k, j)) for j, (part, item) in enumerate(zip(name.parts, operand.items, strict=True))
        ]
    if not name.second:
        return None if isinstance(operand, Pair) else [(name.first, operand, (k,))]
    if isinstance(operand, Pair):
        return [(name.first, operand.first, (k, 0)), (name.second, operand.second, (k, 1))]
    return [(name.first, operand, (k,))] if name.second_optional else None


def _fits(
    operand: Operand, place: OperandSpec, count: int, slots: Mapping[str, str], extensions: Collection[str]
) -> bool:
    if "bare" in extensions and isinstance(operand, (Name, Symbol, Float)):
        return True
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
            if place.access == "write":
                return isinstance(operand, Name)
            return isinstance(operand, (Name, Negated, Integer, Symbol))
        case "register":
            return _fits_register(operand, place, count, slots, extensions)
        case "any":
            return not isinstance(operand, (Vector, Address, Tuple, Pair))


def _fits_coordinates(operand: Address, count: int) -> bool:
    if count == 0:
        return not operand.extra
    return (
        len(operand.extra) == 1
        and isinstance(operand.extra[0], Vector)
        and len(operand.extra[0].items) == count
    )


def _fits_register(
    operand: Operand, place: OperandSpec, count: int, slots: Mapping[str, str], extensions: Collection[str]
) -> bool:
    if count != 0:
        is_sink = operand == Name("_") and "sink" in place.allowed(slots)
        is_bare = "bare" in extensions and isinstance(operand, Negated)
        if is_sink or is_bare or not isinstance(operand, Vector):
            return is_sink or is_bare
        return len(operand.items) in (VECTORS if count < 0 else (count,))
    if isinstance(operand, Vector):
        return "vectors" in extensions or ("vector" in extensions and len(operand.items) in VECTORS)
    if isinstance(operand, Negated) and "predicate" in extensions:
        return True
    if place.access == "read":
        if isinstance(operand, Negated):
            return (
                "minus" in place.allowed(slots) if operand.sign == "-" else place.type_word(slots) == "pred"
            )
        return isinstance(operand, (Name, Integer, Float, Symbol))
    return isinstance(operand, Name)


def wrong_constants(match: Match, operands: Mapping[str, BoundOperand]) -> list[Problem]:
    """The constants that are none of those that may stand in their place."""
    form = match.form
    problems: list[Problem] = []
    for name, bound in operands.items():
        constants = bound.place.constants(match.slots)
        upto = bound.place.legal.upto
        most = operands[upto].operand if upto else None
        if isinstance(most, Integer):
            constants = range(most.value + 1)
        if constants is None or not isinstance(bound.operand, Integer):
            continue
        if bound.place.legal.examined(bound.operand.value, match.slots) in constants:
            continue
        shown = name.replace("_", "-")
        others = "none" if bound.place.kind == "immediate" else "a register"
        message = f"operand {shown} is {bound.operand.value}; expected {list_values(constants) or others}"
        problems.append(Problem(f"{form.name}/{name}", message, ("operand", *bound.at), "", form.source))
    return problems


def describe(operand: Operand) -> str:
    """An operand as a message names it."""
    match operand:
        case Name("_"):
            return "the sink '_'"
        case Name(text):
            return f"'{text}'"
        case Integer() | Float():
            return f"the constant {operand.text}"
        case Symbol(name):
            return f"an address made from '{name}'"
        case Negated(name, sign):
            return f"'{sign}{name}'"
        case Pair():
            return "a pair of registers"
        case Vector(items):
            return f"a vector of {len(items)}"
        case Address(_, _, extra):
            return "an address with coordinates" if extra else "an address"
        case Tuple():
            return "a list in parentheses"
        case _:
            return "an element of an array"


def expected_operand(place: OperandSpec, slots: Mapping[str, str]) -> str:
    """What belongs in a place, as a message names it."""
    count = place.registers(slots)
    match place.kind:
        case "address":
            if count == 0:
                return "an address in brackets"
            return f"an address with {count} coordinate{'s' if count > 1 else ''}, as in [map, {{…}}]"
        case "immediate":
            constants = place.constants(slots)
            return "an integer constant" + (f": {list_values(constants)}" if constants is not None else "")
        case "label":
            return "a label"
        case "symbol":
            return "a name"
        case "tuple":
            return "a list in parentheses"
        case "sink":
            return "the sink '_'"
        case "predicate":
            return "a predicate"
        case "any":
            return f"a value of .{place.type_word(slots)} or a predicate"
        case "register":
            type_word = place.type_word(slots)
            if count > 0:
                return f"a vector of {count} register{'s' if count > 1 else ''} of .{type_word}"
            if count < 0:
                return f"a vector of registers of .{type_word}"
            return f"a register of .{type_word}" if place.access != "read" else f"a value of .{type_word}"


def list_values(values: Collection[int | str]) -> str:
    """Alternatives as a message lists them; long ranges are cut."""
    first = [str(value) for value in islice(values, 9)]
    if len(first) <= 8:
        return ", ".join(first)
    return f"{', '.join(first[:5])}, … {values[-1] if isinstance(values, Sequence) else max(values)}"
