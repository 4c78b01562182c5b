"""The reason is right, not only the verdict: one word of a legal opcode is changed, and its slot is named."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

import warploom.isa  # noqa: F401  (declares every form)
from warploom.isa.binding.bind import explain_opcode
from warploom.isa.binding.nearest import respell
from warploom.isa.model.form import Form, forms, match_opcode
from warploom.isa.model.operands import OperandSpec
from warploom.ptx import Address, Instruction, Integer, Name, Operand, Pair, Vector

SPOKEN = sorted({word for form in forms() for words in form.vocabulary.values() for word in words})


def spelled(form: Form, slots: Mapping[str, str]) -> str:
    words = (slots.get(word.slot, "") if word.slot else word.literal for word in form.syntax.words)
    return ".".join(word for word in words if word)


def operand(spec: OperandSpec, slots: Mapping[str, str]) -> Operand:
    """Something of the shape that an operand takes."""
    constants = spec.constants(slots)
    count = spec.registers(slots)
    if spec.kind == "immediate":
        return Integer(0 if constants is None else next(iter(constants)))
    if spec.kind == "address":
        return Address(Name("a"), 0, (Vector((Name("x"),) * count),) if count else ())
    if spec.kind == "sink":
        return Name("_")
    return Vector((Name("x"),) * max(count, 1)) if count else Name("x")


def operands(form: Form, slots: Mapping[str, str]) -> Iterator[Operand]:
    for pattern in form.syntax.operands:
        tied = form.operands[pattern.names[0]].when
        if (tied and not slots[tied]) or (pattern.optional and not tied):
            continue
        made = [operand(form.operands[name], slots) for name in pattern.names]
        if pattern.parts:
            yield Vector(tuple(made))
        elif len(made) == 2 and not pattern.second_optional:
            yield Pair(made[0], made[1])
        else:
            yield made[0]


def near_misses(count: int, seed: int) -> list[tuple[Form, str, str, Instruction]]:
    """Instructions with one word changed: form, slot, new word, what was made. Families have equal shares."""
    chance = random.Random(seed)
    families: dict[str, list[Form]] = {}
    for form in forms():
        kinds = {spec.kind for spec in form.operands.values()}
        if form.columns and not kinds & {"label", "symbol", "tuple"}:
            families.setdefault(form.family, []).append(form)
    made: list[tuple[Form, str, str, Instruction]] = []
    while len(made) < count:
        form = chance.choice(families[chance.choice(sorted(families))])
        row = chance.choice(form.rows)
        slots = {column: chance.choice(words) for column, words in row.cells.items()}
        for word in form.syntax.words:
            if word.slot and word.composite is None:
                slots.setdefault(word.slot, "")
        slots = respell(form, slots)
        head = form.syntax.words[0].slot
        fixed = form.parts | {head}
        candidates = [column for column in form.columns if slots[column] and column not in fixed]
        if not candidates:
            continue
        column = chance.choice(candidates)
        pool = sorted(form.vocabulary[column]) if chance.random() < 0.5 else SPOKEN
        changed = {**slots, column: chance.choice(pool)}
        opcode = spelled(form, changed)
        if not match_opcode(opcode):
            made.append((form, column, changed[column], Instruction(None, opcode, tuple(operands(form, slots)))))
    return made


def is_named(slot: str, word: str, instruction: Instruction) -> bool:
    """Whether the diagnostic names the slot, or another form's slot in which the same word is at fault."""
    problem = explain_opcode(instruction)
    match problem.where:
        case ("word", int(place)):
            pointed_at = instruction.words[place : place + 1] == (word,)
        case _:
            pointed_at = False
    return problem.code.partition("/")[2] == slot or f"for {slot}" in problem.hint or pointed_at


@pytest.mark.parametrize("seed", [1, 2])
def test_the_slot_that_was_changed_is_named(seed: int) -> None:
    made = near_misses(200, seed)
    assert len({form.family for form, *_ in made}) >= 18
    missed = [
        f"{form.name}/{slot}: {instruction.opcode}: {explain_opcode(instruction)}"
        for form, slot, word, instruction in made
        if not is_named(slot, word, instruction)
    ]
    assert not missed, "\n".join(missed)
