"""From an instruction of the tree to a bound form: which form, which slots, which operand in which place."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from warploom.diag import Diagnostic, Severity, Source, Span
from warploom.isa.kit import LONGEST_OPCODE, Form, Match, heads, match_opcode
from warploom.isa.nearest import Fix, fixes, reordered, respell, spell
from warploom.isa.operands import Place
from warploom.isa.syntax import PlaceName
from warploom.isa.unjudged import is_unjudged
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
_WAYS = 16  # legal words of one slot that operands are laid beside


@dataclass(frozen=True, slots=True)
class BoundOperand:
    """An operand in its place: `type` is the PTX type word, `registers` the vector length (0: bare).

    `at` says where it stands: the operand's number, and its number in a pair or vector of named parts.
    """

    operand: Operand
    place: Place
    type: str
    registers: int
    at: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Binding:
    """An instruction bound to a form. `slots` maps each slot to its word ("" when absent)."""

    form: Form
    slots: Mapping[str, str]
    operands: Mapping[str, BoundOperand]


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


def bind(instruction: Instruction, source: Source | None = None) -> Binding | Diagnostic:
    """Bind an instruction, or say in one sentence why no form takes it. Words after its name stand in any
    order.

    Errors: isa.unknown (no such opcode), <form>/<slot> (a modifier no row allows), <form>/<operand>.
    """
    outline = (instruction.opcode, *map(_outline, instruction.operands))
    if (known := _BOUND.get(outline)) is not None:
        return _bound_like(known, instruction.operands)
    best: list[Problem] = []
    least: tuple[bool, int] = (True, len(instruction.operands) + 2)
    matches = match_opcode(instruction.opcode) or tuple(match for _, match in reordered(instruction.opcode))
    for match in matches:
        bound = place_operands(match, instruction.operands)
        problems = bound if isinstance(bound, list) else wrong_constants(match, bound)
        if not isinstance(bound, list) and not problems:
            binding = Binding(match.form, match.slots, bound)
            if all(place.values is None for place in match.form.operands.values()):
                _BOUND[outline] = binding
            return binding
        if (rank := (isinstance(bound, list), len(problems))) < least:
            best, least = problems, rank
    problem = best[0] if best else explain_opcode(instruction)
    diagnostic = problem.at(instruction)
    return diagnostic if source is None else replace(diagnostic, source=source)


_BOUND: dict[tuple[object, ...], Binding] = {}
"""The first binding of each opcode with operands of each outline, where no constant is judged by its value."""


def _outline(operand: Operand) -> object:
    """What decides where an operand may stand."""
    match operand:
        case Name(text):
            return text == "_"
        case Vector(items):
            return tuple(_outline(item) for item in items)
        case Pair(first, second):
            return Pair, _outline(first), _outline(second)
        case Address(_, _, extra):
            return Address, *map(_outline, extra)
        case Tuple((Integer() | Float() | Name("WARP_SZ") as constant,)):
            return Tuple, type(constant)
        case _:
            return type(operand)


def _bound_like(known: Binding, operands: tuple[Operand, ...]) -> Binding:
    """A binding as one of the same opcode and outlines was made."""
    bound: dict[str, BoundOperand] = {}
    for name, like in known.operands.items():
        operand: Operand = operands[like.at[0]]
        if len(like.at) > 1:
            assert isinstance(operand, (Vector, Pair))
            operand = (
                operand.items[like.at[1]] if isinstance(operand, Vector) else _of_pair(operand, like.at[1])
            )
        elif isinstance(operand, Vector) and not isinstance(like.operand, Vector):
            operand = operand.items[0]
        if like.place.kind != "tuple":
            operand = unparenthesised(operand)
        bound[name] = BoundOperand(operand, like.place, like.type, like.registers, like.at)
    return Binding(known.form, known.slots, bound)


def unparenthesised(operand: Operand) -> Operand:
    """A constant in parentheses is that constant, but among the operands of a call."""
    match operand:
        case Tuple((Integer() | Float() | Name("WARP_SZ") as constant,)):
            return constant
        case Vector(items) if any(isinstance(item, Tuple) for item in items):
            return Vector(tuple(map(unparenthesised, items)))
        case _:
            return operand


def _of_pair(pair: Pair, k: int) -> Operand:
    return pair.second if k else pair.first


# Opcodes ----------------------------------------------------------------------------------------------------


def explain_opcode(instruction: Instruction, misfits: Callable[[Match], int] | None = None) -> Problem:
    """Why no row of any form allows an opcode. `misfits` counts how badly the operands, as they are declared,
    suit a form that is as near as another.

    Errors: isa.unknown, <form>/<slot>
    """
    opcode, operands = instruction.opcode, instruction.operands
    if is_unjudged(opcode):
        return Problem("isa.unjudged", f"'{opcode}' is an instruction that has no form here", ("opcode",))
    if len(opcode) > LONGEST_OPCODE:
        opcode = ".".join(word[:_LONGEST_WORD] for word in opcode.split(".")[:_MOST_WORDS])
    found = nearest_fixes(opcode, operands)
    if not found:
        like = _like(opcode.partition(".")[0])
        hint = f"did you mean '{like}'?" if like else ""
        return Problem("isa.unknown", f"'{opcode}' is no instruction", ("opcode",), hint)
    if misfits is not None and len({fix.match.form.name for fix in found}) > 1:
        found = sorted(found, key=lambda fix: min(map(misfits, _ways(fix))))
    fix = found[0]
    form = fix.match.form
    hint = ""
    others = dict.fromkeys(_expectation(other) for other in found[1:] if other.slot != fix.slot)
    if fix.nearest:
        hint = f"the nearest that is legal: {fix.nearest}"
    elif others:
        hint = "or " + "; or ".join(list(others)[:3])
    return Problem(f"{form.name}/{_slot_of(fix)}", _sentence(opcode, fix), _place_of(fix), hint, form.source)


_MOST_WORDS, _LONGEST_WORD = 32, 64
"""What is explained of an opcode that no form could have."""


@lru_cache(maxsize=1024)
def nearest_fixes(opcode: str, operands: tuple[Operand, ...]) -> list[Fix]:
    """The changes that would make an opcode legal; of those alike, the ones after which its operands fit
    best.
    """
    found = fixes(opcode)
    likest = max((fix.likeness for fix in found), default=0.0)
    misfits = [(_misfit(fix, operands), fix) for fix in found]
    ranked = [
        (misfit, fix)
        for misfit, fix in misfits
        if fix.is_known or fix.likeness >= likest - 0.5 or (fix.kind == "missing" and misfit == 0)
    ]
    least = min((misfit for misfit, _ in ranked), default=0)
    return [fix for misfit, fix in ranked if misfit == least]


def _misfit(fix: Fix, operands: tuple[Operand, ...]) -> int:
    """How badly operands fit the opcode after a change, with the legal word that suits them best."""
    return min(_misfit_of(match, operands) for match in _ways(fix))


def _ways(fix: Fix) -> Iterator[Match]:
    form, slots = fix.match.form, fix.match.slots
    yield fix.match
    if fix.slot in form.columns:
        for word in islice(fix.legal, _WAYS):
            changed = respell(form, {**slots, fix.slot: word})
            yield Match(form, changed, form.rows_of(changed))


def _misfit_of(match: Match, operands: tuple[Operand, ...]) -> int:
    if not takes_count(match, len(operands)):
        return len(operands) + 1
    bound = place_operands(match, operands)
    return len(bound) if isinstance(bound, list) else 0


def _slot_of(fix: Fix) -> str:
    """The slot at fault; of a word too much the one that has it already, or "extra" where none may have it."""
    form = fix.match.form
    if fix.kind not in ("doubled", "extra") or fix.slot in form.slot_names:
        return fix.slot
    return next((slot for slot, word in fix.match.slots.items() if word == fix.found), "extra")


def _place_of(fix: Fix) -> Where:
    return ("word", fix.position)


def _sentence(opcode: str, fix: Fix) -> str:
    match fix.kind:
        case "doubled":
            return f"'{opcode}' has '.{fix.found}' twice"
        case "extra":
            return f"'{opcode}' has '.{fix.found}', which does not belong there"
        case _:
            return f"'{opcode}' has {_found(fix)}; expected {_words(fix)}"


def _found(fix: Fix) -> str:
    if fix.slot in fix.match.form.parts:
        return f"{fix.slot} = {fix.found}"
    literal = fix.legal == (fix.slot,)
    if not fix.found:
        return f"no '.{fix.slot}'"
    return f"'.{fix.found}'" if literal else f"'.{fix.found}' for {fix.slot}"


def _words(fix: Fix) -> str:
    if fix.slot in fix.match.form.parts:
        return list_values(fix.legal)
    if not fix.legal:
        return "none"
    return list_values([f"'.{word}'" if word else "none" for word in fix.legal])


def _expectation(fix: Fix) -> str:
    if fix.kind in ("word", "missing"):
        return f"{_words(fix)} for {fix.slot}"
    return f"no '.{fix.found}'"


@lru_cache(maxsize=1024)
def _like(head: str) -> str:
    from difflib import get_close_matches

    return next(iter(get_close_matches(head, list(heads()), 1, 0.6)), "")


# Operands ---------------------------------------------------------------------------------------------------


def place_operands(
    match: Match, operands: tuple[Operand, ...], *, lenient: bool = False
) -> dict[str, BoundOperand] | list[Problem]:
    """Operands in their places, in order; or what keeps them from there. A `lenient` reading has
    addresses without brackets, where a place eases them.
    """
    form = match.form
    best: dict[str, BoundOperand] | list[Problem] | None = None
    for names in _assignments(match, form.syntax.places, len(operands)):
        placed = _fill_all(match, names, operands, lenient)
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
    match: Match, names: tuple[PlaceName, ...], operands: tuple[Operand, ...], lenient: bool
) -> dict[str, BoundOperand] | list[Problem]:
    bound: dict[str, BoundOperand] = {}
    problems: list[Problem] = []
    for k, (name, operand) in enumerate(zip(names, operands, strict=True)):
        filled = _fill(match, name, operand, k, lenient)
        if isinstance(filled, Problem):
            problems.append(filled)
        else:
            bound.update(filled)
    return problems or bound


def _fill(
    match: Match, name: PlaceName, operand: Operand, k: int, lenient: bool
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
        place = form.operands[part_name].at(match.slots)
        if place.kind != "tuple":
            part = unparenthesised(part)
        count = place.registers(match.slots)
        if count == 0 and "braces" in place.also and isinstance(part, Vector) and len(part.items) == 1:
            part = part.items[0]  # one register in braces is that register
        if not _fits(part, place, count, match.slots) and not (lenient and _is_bare(part, place)):
            shown = part_name.replace("_", "-").strip("-") or "_"
            message = f"operand {shown} is {describe(part)}; expected {_expected(place, count, match.slots)}"
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


def _fits(operand: Operand, place: Place, count: int, slots: Mapping[str, str]) -> bool:
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
            return _fits_register(operand, place, count, slots)
        case "any":
            return not isinstance(operand, (Vector, Address, Tuple, Pair))


def _is_bare(operand: Operand, place: Place) -> bool:
    """Whether an address goes without its brackets where assemblers let it."""
    return "bare" in place.eased.split() and isinstance(operand, (Name, Symbol, Float))


def _fits_coordinates(operand: Address, count: int) -> bool:
    if count == 0:
        return not operand.extra
    return (
        len(operand.extra) == 1
        and isinstance(operand.extra[0], Vector)
        and len(operand.extra[0].items) == count
    )


def _fits_register(operand: Operand, place: Place, count: int, slots: Mapping[str, str]) -> bool:
    eased = place.eased.split()
    if count != 0:
        is_sink = operand == Name("_") and "sink" in place.also
        is_bare = "bare" in eased and isinstance(operand, (Name, Float, Negated))
        return is_sink or is_bare or (isinstance(operand, Vector) and count in (-1, len(operand.items)))
    if isinstance(operand, Vector):
        return "vectors" in eased or ("vector" in eased and len(operand.items) in (1, 2, 4))
    if isinstance(operand, Negated) and "predicate" in eased:
        return True
    if place.access == "read":
        if isinstance(operand, Negated):
            return "minus" in place.also if operand.sign == "-" else place.type_word(slots) == "pred"
        return isinstance(operand, (Name, Integer, Float, Symbol))
    return isinstance(operand, Name)


def wrong_constants(match: Match, operands: Mapping[str, BoundOperand]) -> list[Problem]:
    """The constants that are none of those that may stand in their place."""
    form = match.form
    problems: list[Problem] = []
    for name, bound in operands.items():
        constants = bound.place.constants(match.slots)
        most = operands[bound.place.upto].operand if bound.place.upto else None
        if isinstance(most, Integer):
            constants = range(most.value + 1)
        if constants is None or not isinstance(bound.operand, Integer):
            continue
        if bound.place.as_read(bound.operand.value, match.slots) in constants:
            continue
        shown = name.replace("_", "-")
        others = "none" if bound.place.kind == "immediate" else "a register"
        message = f"operand {shown} is {bound.operand.value}; expected {list_values(constants) or others}"
        problems.append(Problem(f"{form.name}/{name}", message, ("operand", *bound.at), "", form.source))
    return problems


def changes_of_one_word(match: Match) -> Iterator[tuple[str, Match]]:
    """The legal opcodes that differ from one in the word of one slot, and how a message names the change."""
    form, slots = match.form, match.slots
    for column in reversed(form.columns):
        words = dict.fromkeys(word for row in form.rows for word in row.cells[column])
        for word in words:
            if word == slots.get(column, ""):
                continue
            changed = respell(form, {**slots, column: word})
            rows = form.rows_of(changed)
            if rows:
                quoted = f"{column} = {word}" if column in form.parts else f"'.{word}' for {column}"
                yield quoted if word else f"no {column}", Match(form, changed, rows)


# Words of messages ------------------------------------------------------------------------------------------


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


def _expected(place: Place, count: int, slots: Mapping[str, str]) -> str:
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
    if len(values) <= 8:
        return ", ".join(str(value) for value in values)
    *few, last = (*islice(values, 5), values[-1] if isinstance(values, Sequence) else max(values))
    return f"{', '.join(str(value) for value in few)}, … {last}"
