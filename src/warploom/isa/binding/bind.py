"""Binding of an instruction to the Form that allows it, and explanation of illegal opcodes.

A *slot* is a named modifier of a Form's syntax line, such as `.type`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from warploom.diagnostics import Diagnostic, Source
from warploom.diagnostics.wording import did_you_mean
from warploom.isa.binding.nearest import Fix, fixes, reordered, respell, spell
from warploom.isa.binding.operands import (
    BoundOperand,
    Problem,
    list_values,
    place_operands,
    takes_count,
    unparenthesised,
    wrong_constants,
)
from warploom.isa.model.form import LONGEST_OPCODE, Form, Match, forms_of, heads, match_opcode
from warploom.isa.model.types import TYPES
from warploom.lazy_dataclass import dataclass
from warploom.ptx import Address, Float, Instruction, Integer, Name, Operand, Pair, Tuple, Vector

_WAYS = 16  # maximum number of legal words of one slot that are tried with the operands


@dataclass(slots=True)  # not frozen, which would make the constructor several times as slow
class Binding:
    """Result of matching a legal instruction with a Form.

    `slots` maps each modifier of the syntax line to its word in the opcode, or to "" if the opcode omits the modifier.
    `operands` maps the operand names of the syntax line to the operands of the instruction.
    """

    form: Form
    slots: Mapping[str, str]
    operands: Mapping[str, BoundOperand]


def bind(instruction: Instruction, source: Source | None = None) -> Binding | Diagnostic:
    """Return the binding of a legal instruction, or a diagnostic for an illegal instruction.

    `source` replaces the instruction's own source in the diagnostic. The code of the diagnostic is isa.unknown for an
    unknown opcode, <form>/<slot> for an illegal modifier, and <form>/<operand> for an illegal operand.
    """
    outline = (instruction.opcode, *map(_outline, instruction.operands))
    if (known := _BOUND.get(outline)) is not None:
        return _bound_like(known, instruction.operands)
    best: list[Problem] = []
    least: tuple[bool, int] = (True, len(instruction.operands) + 2)
    # The words after the name of the instruction may be in any order.
    matches = match_opcode(instruction.opcode) or tuple(match for _, match in reordered(instruction.opcode))
    for match in matches:
        bound = place_operands(match, instruction.operands)
        problems = bound if isinstance(bound, list) else wrong_constants(match, bound)
        if not isinstance(bound, list) and not problems:
            binding = Binding(match.form, match.slots, bound)
            if all(spec.legal.values is None for spec in match.form.operands.values()):
                _BOUND[outline] = binding
            return binding
        if (rank := (isinstance(bound, list), len(problems))) < least:
            best, least = problems, rank
    problem = best[0] if best else explain_opcode(instruction)
    diagnostic = problem.at(instruction)
    return diagnostic if source is None else replace(diagnostic, source=source)


_BOUND: dict[tuple[object, ...], Binding] = {}
"""First binding by opcode and `_outline` of each operand, for Forms that allow all constants."""


def _outline(operand: Operand) -> object:
    """Return a key for the kind of an operand, without its names and numbers."""
    if type(operand) is Name:
        return operand.text == "_"
    match operand:
        case Vector(items):
            return tuple(_outline(item) for item in items)
        case Pair(first, second):
            return Pair, _outline(first), _outline(second)
        case Address(_, _, extra):
            return Address, *map(_outline, extra)
        case Tuple((Integer() | Float() as constant,)):
            return Tuple, type(constant)
        case _:
            return type(operand)


def _bound_like(known: Binding, operands: tuple[Operand, ...]) -> Binding:
    """Return the binding `known` with other operands of the same kinds."""
    bound: dict[str, BoundOperand] = {}
    for name, like in known.operands.items():
        operand: Operand = operands[like.at[0]]
        if type(operand) is not Name:
            if len(like.at) > 1:
                assert isinstance(operand, (Vector, Pair))
                parts = operand.items if isinstance(operand, Vector) else (operand.first, operand.second)
                operand = parts[like.at[1]]
            elif isinstance(operand, Vector) and not isinstance(like.operand, Vector):
                operand = operand.items[0]
            if like.spec.kind != "tuple":
                operand = unparenthesised(operand)
        bound[name] = BoundOperand(operand, like.spec, like.type, like.registers, like.at)
    return Binding(known.form, known.slots, bound)


_TEXTURES = frozenset(["tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq"])
"""First words of texture and surface instructions, which have no Forms.

Source: PTX ISA 9.7.10, 9.7.11.
"""


def is_unjudged(opcode: str) -> bool:
    """Return True for a texture or surface instruction, which is valid PTX but has no Form."""
    head = opcode.partition(".")[0]
    return head in _TEXTURES and not forms_of(head)


def explain_opcode(instruction: Instruction, misfits: Callable[[Match], int] | None = None) -> Problem:
    """Return the problem of an opcode that no Form allows.

    `misfits` counts the operands that do not fit a candidate opcode. The Form with the fewest misfits is preferred. The
    code of the problem is isa.unknown, isa.unjudged or <form>/<slot>.
    """
    opcode, operands = instruction.opcode, instruction.operands
    if is_unjudged(opcode):
        return Problem("isa.unjudged", f"unsupported instruction '{opcode}'", ("opcode",))
    if len(opcode) > LONGEST_OPCODE:
        opcode = ".".join(word[:_LONGEST_WORD] for word in opcode.split(".")[:_MOST_WORDS])
    found = nearest_fixes(opcode, operands)
    if not found:
        hint = _similar_head(opcode.partition(".")[0])
        return Problem("isa.unknown", f"unknown instruction '{opcode}'", ("opcode",), hint)
    if misfits is not None and len({fix.match.form.name for fix in found}) > 1:
        found = sorted(found, key=lambda fix: min(map(misfits, _ways(fix))))
    fix = found[0]
    form = fix.match.form
    hint = ""
    others = dict.fromkeys(
        f"{_words(other)} for {other.slot}" if other.kind in ("word", "missing") else f"no '.{other.found}'"
        for other in found[1:]
        if other.slot != fix.slot
    )
    if fix.nearest:
        hint = f"the nearest legal opcode is {fix.nearest}"
    elif fix.kind == "missing" and not takes_count(fix.match, len(operands)):
        hint = f"write '{usage(fix.match)}'"
    elif others:
        hint = "or " + "; or ".join(list(others)[:3])
    return Problem(f"{form.name}/{_slot_of(fix)}", _sentence(opcode, fix), ("word", fix.position), hint, form.source)


def usage(match: Match) -> str:
    """Return the opcode of a match, followed by the operands of the syntax line."""
    return f"{spell(match)} {match.form.operand_line}".strip()


_MOST_WORDS, _LONGEST_WORD = 32, 64
"""Maximum number and length of the opcode words that messages show."""


@lru_cache(maxsize=1024)
def nearest_fixes(opcode: str, operands: tuple[Operand, ...]) -> list[Fix]:
    """Return the fixes of an illegal opcode that suit the given operands best."""
    found = fixes(opcode)
    greatest = max((fix.similarity for fix in found), default=0.0)
    misfits = [(min(_misfit(match, operands) for match in _ways(fix)), fix) for fix in found]
    ranked = [
        (misfit, fix)
        for misfit, fix in misfits
        if fix.is_known or fix.similarity >= greatest - 0.5 or (fix.kind == "missing" and misfit == 0)
    ]
    least = min((misfit for misfit, _ in ranked), default=0)
    # The insertion of a missing word keeps every word that the user wrote. A new type changes the operands as well.
    return sorted(
        (fix for misfit, fix in ranked if misfit == least),
        key=lambda fix: fix.kind != "missing" or fix.legal[0] in TYPES,
    )


def _ways(fix: Fix) -> Iterator[Match]:
    form, slots = fix.match.form, fix.match.slots
    yield fix.match
    if fix.slot in form.columns:
        for word in islice(fix.legal, _WAYS):
            changed = respell(form, {**slots, fix.slot: word})
            yield Match(form, changed, form.rows_of(changed))


def _misfit(match: Match, operands: tuple[Operand, ...]) -> int:
    if not takes_count(match, len(operands)):
        return len(operands) + 1
    bound = place_operands(match, operands)
    return len(bound) if isinstance(bound, list) else 0


def _slot_of(fix: Fix) -> str:
    form = fix.match.form
    if fix.kind not in ("doubled", "extra") or fix.slot in form.slot_names:
        return fix.slot
    return next((slot for slot, word in fix.match.slots.items() if word == fix.found), "extra")


def _sentence(opcode: str, fix: Fix) -> str:
    if fix.kind == "doubled":
        return f"'{opcode}' has '.{fix.found}' twice"
    if fix.kind == "extra":
        return f"'{opcode}' has '.{fix.found}', which does not belong there"
    if fix.slot in fix.match.form.parts:
        found = f"{fix.slot} = {fix.found}"
    elif not fix.found:
        noun = _NOUNS.get(fix.slot)
        found = f"no {noun} '.{fix.slot}'" if noun else f"no '.{fix.slot}'"
    else:
        found = f"'.{fix.found}'" if fix.legal == (fix.slot,) else f"'.{fix.found}' for {fix.slot}"
    expected = (
        f"'{spell(fix.match)}'" if fix.legal == (fix.slot,) and not fix.found and not fix.nearest else _words(fix)
    )
    return f"'{opcode}' has {found}; expected {expected}"


_NOUNS = {
    "rnd": "rounding modifier", "type": "type", "dtype": "result type", "atype": "source type", "btype": "type of b",
    "ctype": "type of c", "mode": "mode", "op": "operation", "cmp": "comparison", "space": "state space",
    "sem": "memory order", "scope": "scope", "shape": "shape",
}  # fmt: skip
"""Names of modifiers in messages."""


def _words(fix: Fix) -> str:
    if fix.slot in fix.match.form.parts:
        return list_values(fix.legal)
    return list_values([f"'.{word}'" if word else "none" for word in fix.legal]) or "none"


@lru_cache(maxsize=1024)
def _similar_head(head: str) -> str:
    return did_you_mean(head, heads(), "'")


def changes_of_one_word(match: Match) -> Iterator[tuple[str, Match]]:
    """Yield a description and the result of each legal change of one modifier of an opcode."""
    form, slots = match.form, match.slots
    for column in reversed(form.columns):
        for word in dict.fromkeys(word for row in form.rows for word in row.cells[column]):
            if word == slots.get(column, ""):
                continue
            changed = respell(form, {**slots, column: word})
            if rows := form.rows_of(changed):
                quoted = f"{column} = {word}" if column in form.parts else f"'.{word}' for {column}"
                yield quoted if word else f"no {column}", Match(form, changed, rows)
