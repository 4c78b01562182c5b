"""Binding of an instruction's operands to the operand specifications of a Form."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice

from warploom.diagnostics import Diagnostic, Severity, Span
from warploom.diagnostics.wording import one_of
from warploom.isa.binding.nearest import spell
from warploom.isa.model.form import Match
from warploom.isa.model.operands import VECTORS, OperandSpec
from warploom.isa.model.syntax import OperandPattern
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Address, Float, Instruction, Integer, Name, Negated, Operand, Pair, Symbol, Tuple, Vector

Where = tuple[str | int, ...]


@dataclass(slots=True)  # not frozen, which would make the constructor several times as slow
class BoundOperand:
    """Operand of an instruction with its specification.

    `type` is its PTX type. `registers` is the number of registers, as in `OperandSpec.registers`. `at` is the index of
    the operand in the instruction, followed by the index of an item in a pair or vector.
    """

    operand: Operand
    spec: OperandSpec
    type: str
    registers: int
    at: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Error at a word or an operand of an instruction.

    `where` is ("word", k) for word k of the opcode, ("operand", k), ("operand", k, j) for item j of a vector,
    ("guard",), ("opcode",), or ("all",) for the opcode and all operands.
    """

    code: str
    message: str
    where: Where = ("opcode",)
    hint: str = ""
    section: str = ""
    severity: Severity = Severity.ERROR

    def at(self, instruction: Instruction) -> Diagnostic:
        """Return the diagnostic, with the source span of the problem in `instruction`."""
        spec = span_of(instruction, self.where)
        source = instruction.source
        return Diagnostic(self.code, self.severity, self.message, source, spec, self.hint, self.section)


def span_of(instruction: Instruction, where: Where) -> Span | None:
    """Return the source span of a position in an instruction, or None without source text.

    `Problem` lists the values of `where`.
    """
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
    """Return an operand without the parentheses around constants."""
    match operand:
        case Tuple((Integer() | Float() as constant,)):
            return constant
        case Vector(items) if any(isinstance(item, Tuple) for item in items):
            return Vector(tuple(map(unparenthesised, items)))
        case _:
            return operand


Extensions = Callable[[str], Collection[str]]
"""Function that returns the legal syntax beyond the manual, given the name of an operand.

The result contains "bare", "predicate", "vector" or "vectors".
"""


def no_extensions(operand: str) -> Collection[str]:
    """Allow no syntax beyond the manual for any operand."""
    return ()


def place_operands(
    match: Match, operands: tuple[Operand, ...], extensions: Extensions = no_extensions
) -> dict[str, BoundOperand] | list[Problem]:
    """Return the operands by their names in the syntax line, or the problems of operands that do not fit.

    `match` is the matched opcode. `extensions` returns the syntax beyond the manual that an operand may use.
    """
    form = match.form
    best: dict[str, BoundOperand] | list[Problem] | None = None
    for names in _assignments(match, form.syntax.operands, len(operands)):
        placed = _fill_all(match, names, operands, extensions)
        if isinstance(placed, dict):
            return placed
        if not isinstance(best, list) or len(placed) < len(best):
            best = placed
    return _wrong_count(match, operands) if best is None else best


def takes_count(match: Match, count: int) -> bool:
    """Return True if an instruction with the opcode `match` can have `count` operands."""
    return any(True for _ in _assignments(match, match.form.syntax.operands, count))


def _assignments(match: Match, names: tuple[OperandPattern, ...], count: int) -> Iterator[tuple[OperandPattern, ...]]:
    """Yield each choice of `count` operands that the syntax line `names` allows."""
    if not names:
        if count == 0:
            yield ()
        return
    name, rest = names[0], names[1:]
    tied = match.form.operands[name.names[0]].when
    is_present = not tied or match.slots.get(tied, "") != ""
    if count and is_present:  # the first choices contain the early optional operands
        for others in _assignments(match, rest, count - 1):
            yield (name, *others)
    if not is_present or (name.optional and not tied):
        yield from _assignments(match, rest, count)


def _fill_all(
    match: Match, names: tuple[OperandPattern, ...], operands: tuple[Operand, ...], extensions: Extensions
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
    match: Match, name: OperandPattern, operand: Operand, k: int, extensions: Extensions
) -> dict[str, BoundOperand] | Problem:
    form = match.form
    parts = _split_pair(name, operand, k)
    if parts is None:
        shown = "|".join(name.names) if name.second else ", ".join(name.names)
        what = f"a pair '{shown}'" if name.second else f"'{{{shown}}}'" if name.parts else "one operand"
        message = f"operand {k + 1} is {describe(operand)}; expected {what}"
        return Problem(f"{form.name}/{name.names[0]}", message, ("operand", k), "", form.source)
    if parts[1:] and all(part == Name("_") for _, part, _ in parts):
        message = f"operand {k + 1} is '_|_'; expected a register on one side at least"
        return Problem(f"{form.name}/{name.names[0]}", message, ("operand", k), "", form.source)
    bound: dict[str, BoundOperand] = {}
    for part_name, part, at in parts:
        spec = form.operands[part_name]
        if spec.kind != "tuple":
            part = unparenthesised(part)
        count = spec.registers(match.slots)
        if count == 0 and "braces" in spec.allowed(match.slots) and isinstance(part, Vector) and len(part.items) == 1:
            part = part.items[0]  # {%r1} stands for %r1
        if not _fits(part, spec, count, match.slots, extensions(part_name)):
            shown = part_name.replace("_", "-").strip("-") or "_"
            message = f"operand {shown} is {describe(part)}; expected {expected_operand(spec, match.slots)}"
            return Problem(f"{form.name}/{part_name}", message, ("operand", *at), "", form.source)
        bound[part_name] = BoundOperand(part, spec, spec.type_word(match.slots), count, at)
    return bound


def _wrong_count(match: Match, operands: tuple[Operand, ...]) -> list[Problem]:
    form = match.form
    for name in form.syntax.operands:
        tied = form.operands[name.names[0]].when
        if not tied:
            continue
        there = match.slots.get(tied, "") != ""
        needed = sum(
            1 for each in form.syntax.operands if not each.optional or (form.operands[each.names[0]].when and there)
        )
        if (len(operands) > needed) != there:
            word = match.slots.get(tied) or tied
            shown = name.names[0].replace("_", "-")
            verb = f"'.{word}' needs an operand {shown}" if there else f"operand {shown} requires '.{word}'"
            where: Where = ("operand", len(operands) - 1) if operands and not there else ("opcode",)
            return [Problem(f"{form.name}/{name.names[0]}", verb, where, "", form.source)]
    counts = [n for n in range(len(form.syntax.operands) + 1) if takes_count(match, n)]
    found = f"{len(operands)} operands" if len(operands) != 1 else "1 operand"
    expected = f"{one_of(counts)}: {form.operand_line}" if counts != [0] else "none"
    where = ("operand", counts[-1]) if counts and len(operands) > counts[-1] else ("all",)
    message = f"'{spell(match)}' has {found}; expected {expected}"
    return [Problem(f"{form.name}/operands", message, where, "", form.source)]


def _split_pair(name: OperandPattern, operand: Operand, k: int) -> list[tuple[str, Operand, tuple[int, ...]]] | None:
    if name.parts:
        if not isinstance(operand, Vector) or len(operand.items) != len(name.parts):
            return None
        return [(part, item, (k, j)) for j, (part, item) in enumerate(zip(name.parts, operand.items, strict=True))]
    if not name.second:
        return None if isinstance(operand, Pair) else [(name.first, operand, (k,))]
    if isinstance(operand, Pair):
        return [(name.first, operand.first, (k, 0)), (name.second, operand.second, (k, 1))]
    return [(name.first, operand, (k,))] if name.second_optional else None


def _fits(
    operand: Operand, spec: OperandSpec, count: int, slots: Mapping[str, str], extensions: Collection[str]
) -> bool:
    if "bare" in extensions and isinstance(operand, (Name, Symbol, Float)):
        return True
    match spec.kind:
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
            if spec.access == "write":
                return isinstance(operand, Name)
            return isinstance(operand, (Name, Negated, Integer, Symbol))
        case "register":
            return _fits_register(operand, spec, count, slots, extensions)
        case "any":
            return not isinstance(operand, (Vector, Address, Tuple, Pair))


def _fits_coordinates(operand: Address, count: int) -> bool:
    if count == 0:
        return not operand.extra
    return len(operand.extra) == 1 and isinstance(operand.extra[0], Vector) and len(operand.extra[0].items) == count


def _fits_register(
    operand: Operand, spec: OperandSpec, count: int, slots: Mapping[str, str], extensions: Collection[str]
) -> bool:
    if count != 0:
        is_sink = operand == Name("_") and "sink" in spec.allowed(slots)
        is_bare = "bare" in extensions and isinstance(operand, Negated)
        if is_sink or is_bare or not isinstance(operand, Vector):
            return is_sink or is_bare
        return len(operand.items) in (VECTORS if count < 0 else (count,))
    if isinstance(operand, Vector):
        return "vectors" in extensions or ("vector" in extensions and len(operand.items) in VECTORS)
    if isinstance(operand, Negated) and "predicate" in extensions:
        return True
    if spec.access == "read":
        if isinstance(operand, Negated):
            return "minus" in spec.allowed(slots) if operand.sign == "-" else spec.type_word(slots) == "pred"
        return isinstance(operand, (Name, Integer, Float, Symbol))
    return isinstance(operand, Name)


def wrong_constants(match: Match, operands: Mapping[str, BoundOperand]) -> list[Problem]:
    """Return a problem for each constant operand that the Form forbids."""
    form = match.form
    problems: list[Problem] = []
    for name, bound in operands.items():
        constants = bound.spec.constants(match.slots)
        upto = bound.spec.legal.upto
        most = operands[upto].operand if upto else None
        if isinstance(most, Integer):
            constants = range(most.value + 1)
        if constants is None or not isinstance(bound.operand, Integer):
            continue
        if bound.spec.legal.examined(bound.operand.value, match.slots) in constants:
            continue
        shown = name.replace("_", "-")
        others = "none" if bound.spec.kind == "immediate" else "a register"
        message = f"operand {shown} is {bound.operand.value}; expected {list_values(constants) or others}"
        problems.append(Problem(f"{form.name}/{name}", message, ("operand", *bound.at), "", form.source))
    return problems


def describe(operand: Operand) -> str:
    """Return a description of an operand for messages."""
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


_EXPECTED = {
    "label": "a label", "symbol": "a name", "tuple": "a list in parentheses", "sink": "the sink '_'",
    "predicate": "a predicate",
}  # fmt: skip


def expected_operand(spec: OperandSpec, slots: Mapping[str, str]) -> str:
    """Return a description of a legal operand for messages, such as `an address in brackets`."""
    count = spec.registers(slots)
    match spec.kind:
        case "address":
            if count == 0:
                return "an address in brackets"
            return f"an address with {count} coordinate{'s' if count > 1 else ''}, as in [map, {{…}}]"
        case "immediate":
            constants = spec.constants(slots)
            return "an integer constant" + (f": {list_values(constants)}" if constants is not None else "")
        case "label" | "symbol" | "tuple" | "sink" | "predicate":
            return _EXPECTED[spec.kind]
        case "any":
            return f"a value of .{spec.type_word(slots)} or a predicate"
        case "register":
            type_word = spec.type_word(slots)
            if count > 0:
                return f"a vector of {count} register{'s' if count > 1 else ''} of .{type_word}"
            if count < 0:
                return f"a vector of registers of .{type_word}"
            return f"a register of .{type_word}" if spec.access != "read" else f"a value of .{type_word}"


def list_values(values: Collection[int | str]) -> str:
    """Return a comma-separated list of values, shortened if it has more than eight."""
    first = [str(value) for value in islice(values, 9)]
    if len(first) <= 8:
        return ", ".join(first)
    return f"{', '.join(first[:5])}, … {values[-1] if isinstance(values, Sequence) else max(values)}"
