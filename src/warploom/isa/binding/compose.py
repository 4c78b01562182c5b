"""Composition of instructions from Forms: the opcode from modifiers, and the operands in syntax order.

A *slot* is a named modifier of a Form's syntax line, such as `.type`. Its *word* is its text in an opcode, or "".
"""

from collections.abc import Mapping, Sequence

from warploom.isa.binding.nearest import respell
from warploom.isa.model.form import Form
from warploom.isa.model.table import FormError, Row
from warploom.ptx import Guard, Instruction, Operand, Pair, Vector


def slots_of(form: Form, words: Mapping[str, str]) -> dict[str, str]:
    """Return the word of each modifier in a Form's syntax line, given some of the words.

    The other modifiers have the word "". The word of a composite modifier such as `m{m}n{n}k{k}` is formed from the
    words of m, n and k.

    Errors: FormError for a modifier that the Form does not have.
    """
    slots = {word.slot: "" for word in form.syntax.words if word.slot} | dict.fromkeys(form.columns, "")
    if unknown := words.keys() - slots.keys():
        raise FormError(f"form {form.name}: unknown slots {sorted(unknown)}")
    return respell(form, {**slots, **words})


def form_that_allows(forms: Sequence[Form], words: Mapping[str, str]) -> Form:
    """Return the first Form whose table of legal modifiers has a row that allows all given words.

    `words` maps modifiers of the syntax line to words. Without such a row, return the first Form that has all these
    modifiers. Without such a Form, return the first Form.
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
    """Return the rows of the Forms' tables that allow every given word, whatever other columns contain.

    `words` maps columns to words. If a Form lacks one of the columns, none of its rows is returned. Optional literal
    words need no column, because every row allows them.
    """
    found: list[Row] = []
    for form in forms:
        optional = {word.slot for word in form.syntax.words if word.optional and word.slot == word.literal}
        found += (
            row
            for row in form.rows
            if all(word in row.cells.get(c, ()) or (c in optional and word in ("", c)) for c, word in words.items())
        )
    return found


def compose(
    form: Form, words: Mapping[str, str], operands: Mapping[str, Operand], guard: Guard | None = None,
    late: Sequence[str] = (),
) -> Instruction:  # fmt: skip
    """Return the instruction of a Form with the given words, operands and guard.

    `words` maps modifiers to words, and `operands` maps the operand names of the syntax line to operands. Operands may
    be absent, and operands that the Form does not have are ignored. The words of the modifiers in `late` follow all
    other words of the opcode, in the order of `late`, as some compilers write them.
    """
    slots = slots_of(form, {slot: word for slot, word in words.items() if word})
    ordered = sorted(form.syntax.words, key=lambda word: late.index(word.slot) if word.slot in late else -1)
    opcode = ".".join(text for word in ordered if (text := slots[word.slot] if word.slot else word.literal))
    placed: list[Operand] = []
    for pattern in form.syntax.operands:
        parts = [operands[name] for name in pattern.names if name in operands]
        if not parts:
            continue
        if pattern.parts:
            placed.append(Vector(tuple(parts)))
        elif len(parts) == 2:
            placed.append(Pair(parts[0], parts[1]))
        else:
            placed.append(parts[0])
    return Instruction(guard, opcode, tuple(placed))
