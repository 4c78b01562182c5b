"""The layouts of an instruction's operands, asked for as people write instructions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from warploom.diagnostics import UsageError
from warploom.isa.binding.nearest import fixes, respell, spell
from warploom.isa.model.form import LONGEST_OPCODE, Form, Match, forms, forms_of, heads, match_opcode
from warploom.isa.model.operand_layout import LayoutInputs, LayoutMap, OperandLayout
from warploom.isa.model.syntax import bind_word
from warploom.layout import Descriptor, InstructionDescriptor, TensorMapFields

_SPOKEN = {
    "selector": "a sparsity selector",
    "byte_id": "a byte id",
    "thread_id": "a thread id",
    "descriptor": "a descriptor",
    "swizzle": "a swizzle",
    "major": "a major",
    "tensor_map": "a tensor map",
    "idesc": "an instruction descriptor",
}
_LONGEST = 8 * LONGEST_OPCODE  # with all its operands, of which some have 128 registers


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand whose layout is known: what it is called, its place in the syntax line, and how it lies."""

    opcode: str
    place: str
    slots: Mapping[str, str]
    layout: OperandLayout

    @property
    def name(self) -> str:
        """What it is called: A, B, C, D, metadata, scale A, scale B, R or box."""
        return self.layout.operand

    def map(self, given: LayoutInputs) -> LayoutMap:
        """Its map. Errors: UsageError for what no layout is known of."""
        return self.layout.map(self.slots, given)


def layout(
    instruction: str,
    operand: str,
    *,
    selector: int = 0,
    byte_id: int = 0,
    thread_id: int = 0,
    descriptor: Descriptor | int | None = None,
    swizzle: int = 0,
    major: str = "K",
    tensor_map: TensorMapFields | None = None,
    idesc: InstructionDescriptor | int | None = None,
) -> LayoutMap:
    """Where the elements of an operand lie: (lane, item) -> (row, col), in shared memory (row, col) -> byte, in
    tensor memory (row, col) -> CTA, lane, column and bit.

    `instruction` is an opcode, with operands or without. `operand` is "A", "B", "C", "D", "metadata", "scale A",
    "scale B", "R" (what a matrix load, store or move has in registers), "box" (what a tensor copy has in shared
    memory), or the operand's name in the syntax line ("a-desc"). Where A may be in registers, or in tensor
    memory, and behind a descriptor it is not that behind the descriptor, unless a descriptor, a swizzle or a
    major is given.

    Of metadata `selector`, of scale factors `byte_id` and `thread_id` name who has them. A tile in shared memory
    lies as its `descriptor` says, or without one packed from address 0 with a `swizzle` of 0, 32, 64 or 128 bytes;
    `major` is "K" or "MN". A box lies as the fields of its `tensor_map` say. Of a multiplication in tensor memory
    shape, types and majors are in its instruction descriptor, `idesc`.

    Errors: UsageError for an instruction or an operand that there is not, and for what is given to an operand
        that does not depend on it.
    """
    given = LayoutInputs(selector, byte_id, thread_id, descriptor, swizzle, major, tensor_map, idesc)
    return operand_called(operands_of(instruction), operand, given).map(given)


def operands_of(instruction: str) -> tuple[Operand, ...]:
    """Every operand of an instruction whose layout is known, in the order of its syntax line.

    Errors: UsageError for an opcode that there is not, and one that has no such operand.
    """
    opcode, values = _split(instruction)
    matches = match_opcode(opcode)
    if not matches:
        raise UsageError(f"there is no instruction {opcode!r}", hint=_nearest(opcode))
    fitting = [match for match in matches if values is None or _fits(match, values)] or matches
    found = {
        (name, place.layout.operand): Operand(opcode, name, match.slots, place.layout)
        for match in fitting
        for named in match.form.syntax.places
        for name in named.names
        if (place := match.form.operands[name]).layout is not None
        and (not place.when or match.slots.get(place.when))
    }
    if not found:
        with_layouts = ", ".join(sorted({form.family for form in forms() if _lies(form)}))
        raise UsageError(
            f"no operand of {opcode} has a layout that its words fix; those of {with_layouts} have"
        )
    return tuple(found.values())


def operand_called(operands: Iterable[Operand], name: str, given: LayoutInputs) -> Operand:
    """The operand of a name. Errors: UsageError where there is none, or where it depends on nothing given."""
    operands = tuple(operands)
    wanted = _plain(name)
    called = [each for each in operands if _plain(each.name) == wanted] or [
        each for each in operands if _plain(each.place) == wanted
    ]
    if not called:
        legal = ", ".join(dict.fromkeys(each.name for each in operands))
        raise UsageError(f"{operands[0].opcode} has no operand {name!r}; expected {legal}")
    changed = given.changed()
    fitting = [each for each in called if set(changed) <= set(each.layout.needs)]
    if not fitting:
        unused = next(field for field in changed if field not in called[0].layout.needs)
        raise UsageError(f"{called[0].name} of {called[0].opcode} does not depend on {_SPOKEN[unused]}")
    return max(fitting, key=lambda each: _suits(each, changed))


def all_with(operands: Iterable[Operand], given: LayoutInputs) -> tuple[Operand, ...]:
    """One operand of each name, those that depend on what is given before those that do not.

    Errors: UsageError where none depends on something given.
    """
    operands = tuple(operands)
    for field in given.changed():
        if not any(field in each.layout.needs for each in operands):
            raise UsageError(f"no operand of {operands[0].opcode} depends on {_SPOKEN[field]}")
    changed = given.changed()
    chosen: dict[str, Operand] = {}
    for each in operands:
        before = chosen.get(each.name)
        if before is None or _suits(each, changed) > _suits(before, changed):
            chosen[each.name] = each
    return tuple(chosen.values())


def _suits(operand: Operand, changed: Iterable[str]) -> tuple[int, int]:
    """How well an operand goes with what is given: it depends on much of it, and on little else."""
    needs = operand.layout.needs
    return len(set(changed) & set(needs)), -len(needs)


def _lies(form: Form) -> bool:
    return any(place.layout is not None for place in form.operands.values())


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


def _split(instruction: str) -> tuple[str, list[str] | None]:
    """The opcode of an instruction, and the texts of its operands; None where there are none."""
    if not instruction.strip(" ;"):
        raise UsageError("no instruction was given; expected an opcode")
    if len(instruction) > _LONGEST:
        raise UsageError(f"an instruction of {len(instruction)} characters; expected at most {_LONGEST}")
    text = re.sub(r"^@!?[%\w$]+\s+", "", instruction.strip().rstrip(";").strip())
    opcode, *rest = text.split(maxsplit=1)
    if not rest:
        return opcode, None
    return opcode, [part.strip() for part in re.split(r",(?![^{\[(]*[}\])])", rest[0])]


def _fits(match: Match, values: list[str]) -> bool:
    """Whether vectors stand in a text where a form has vectors, as far as both go."""
    for named, value in zip(match.form.syntax.places, values):
        place = match.form.operands[named.names[0]]
        if place.kind == "register" and value.startswith("{") != (
            bool(named.parts) or place.registers(match.slots) > 0
        ):
            return False
    return True


def _nearest(opcode: str) -> str:
    """What was meant, as a question."""
    if len(opcode) > LONGEST_OPCODE:
        return ""
    head = opcode.split(".", maxsplit=1)[0]
    if not forms_of(head):
        like = get_close_matches(head, heads(), 1, 0.5)
        return f"did you mean {like[0]}?" if like else ""
    words = tuple(opcode.split("."))
    longer = [found for form in forms_of(head) if (found := _completed(form, words))]
    near = longer[:1] or [fix.nearest or spell(fix.match) for fix in fixes(opcode)[:2]]
    return f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""


def _completed(form: Form, words: tuple[str, ...]) -> str:
    """The first opcode of a form that has some words in their order, and others between them; "" without one."""
    for row in form.rows:
        slots: dict[str, str] = {column: cells[0] for column, cells in row.cells.items()}
        used = 0
        for word in form.syntax.words:
            bound = bind_word(word, words[used], form.vocabulary) if used < len(words) else None
            if bound is not None and all(row.allows(c, w) for c, w in bound.items() if c in row.cells):
                slots |= bound
                used += 1
            elif word.optional and word.slot not in row.cells:
                slots[word.slot] = ""
        found = spell(Match(form, respell(form, slots), (row,)))
        if used == len(words) and match_opcode(found):
            return found
    return ""
