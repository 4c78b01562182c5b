"""From a Form to an instruction of the tree: opcode from slots, operands in the order of the syntax line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from warploom.isa.binding.nearest import respell
from warploom.isa.model.form import Form, forms
from warploom.isa.model.table import FormError, Row
from warploom.ptx import Guard, Instruction, Operand, Pair, Vector


@cache
def form_named(name: str) -> Form:
    """The form of a name. Errors: FormError where there is none, for the author of the name only."""
    for form in forms():
        if form.name == name:
            return form
    raise FormError(f"no form is called {name!r}")


def slots_of(form: Form, words: Mapping[str, str]) -> dict[str, str]:
    """Every slot of a form: those given, "" for the others, composite words spelled from their parts.

    Errors: FormError for a word of a slot that the form does not have.
    """
    slots = {word.slot: "" for word in form.syntax.words if word.slot} | dict.fromkeys(form.columns, "")
    if unknown := words.keys() - slots.keys():
        raise FormError(f"form {form.name}: no slots {sorted(unknown)}")
    return respell(form, {**slots, **words})


def form_that_allows(forms: Sequence[Form], words: Mapping[str, str]) -> Form:
    """The first of some forms that has a row for the words; the first of those that know every one of the
    slots where none has; the first of all where none does.
    """
    fitting: list[Form] = []
    for form in forms:
        given = {slot: word for slot, word in words.items() if word}
        known = {*form.columns, *(word.slot for word in form.syntax.words if word.slot)}
        if not given.keys() <= known:
            continue
        slots = slots_of(form, given)
        if form.rows_of({column: slots[column] for column in form.columns}):
            return form
        fitting.append(form)
    return fitting[0] if fitting else forms[0]


def rows_with(forms: Sequence[Form], words: Mapping[str, str]) -> list[Row]:
    """The rows of some forms that allow the words, whatever their other columns say.

    A form without the column of a word has no such row, but for optional words, which any row may have.
    """
    return [
        row
        for form in forms
        for row in form.rows
        if all(
            word in row.cells.get(column, ()) or word in _optional(form, column)
            for column, word in words.items()
        )
    ]


def _optional(form: Form, slot: str) -> tuple[str, ...]:
    """What may stand in the place of an optional word: it, or nothing."""
    return next(
        (
            ("", word.literal)
            for word in form.syntax.words
            if word.optional and word.literal == slot == word.slot
        ),
        (),
    )


def compose(
    form: Form,
    words: Mapping[str, str],
    operands: Mapping[str, Operand],
    guard: Guard | None = None,
    late: Sequence[str] = (),
) -> Instruction:
    """The instruction of a form: `words` by slot, `operands` by place; the words of the `late` slots stand last,
    in their order, as some compilers write them.

    Places that are not given stand nowhere, and operands that the form has no place for are left out.
    """
    slots = slots_of(form, {slot: word for slot, word in words.items() if word})
    ordered = sorted(form.syntax.words, key=lambda word: late.index(word.slot) if word.slot in late else -1)
    opcode = ".".join(text for word in ordered if (text := slots[word.slot] if word.slot else word.literal))
    placed: list[Operand] = []
    for place in form.syntax.places:
        parts = [operands[name] for name in place.names if name in operands]
        if not parts:
            continue
        if place.parts:
            placed.append(Vector(tuple(parts)))
        elif len(parts) == 2:
            placed.append(Pair(parts[0], parts[1]))
        else:
            placed.append(parts[0])
    return Instruction(guard, opcode, tuple(placed))
