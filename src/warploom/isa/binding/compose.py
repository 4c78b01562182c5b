"""Construction of an instruction from its Form, modifiers and operands.

A *slot* is a named modifier of a Form's syntax line, such as `.type`. Its *word* is its text in an opcode, or "".
"""

from collections.abc import Mapping, Sequence

from warploom.isa.binding.nearest import respell
from warploom.isa.model.form import Form
from warploom.isa.model.table import FormError, Row
from warploom.ptx import Guard, Instruction, Operand, Pair, Vector


def slots_of(form: Form, words: Mapping[str, str]) -> dict[str, str]:
    """Return the word of every modifier of a Form, with "" for the modifiers that `words` lacks.

    The word of a composite modifier such as `m{m}n{n}k{k}` is built from the words of m, n and k.

    Errors: FormError for a modifier that the Form does not have.
    """
    slots = {word.slot: "" for word in form.syntax.words if word.slot} | dict.fromkeys(form.columns, "")
    if unknown := words.keys() - slots.keys():
        raise FormError(f"form {form.name}: unknown slots {sorted(unknown)}")
    return respell(form, {**slots, **words})


def form_that_allows(forms: Sequence[Form], words: Mapping[str, str]) -> Form:
    """Return the first Form that allows all given words together.

    `words` maps modifiers to words. If no Form allows the words, return the first Form that has all these modifiers. If
    no Form has them, return the first Form.
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
    """Return the table rows that allow all given words, from the tables of all `forms`.

    `words` maps columns to words. A Form that lacks one of the columns contributes no rows.
    """
    found: list[Row] = []
    for form in forms:
        # Every row allows optional literal words.
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

    `words` maps modifiers to words. `operands` maps operand names of the syntax line to operands. Missing operands are
    left out, and operands that the Form does not have are ignored. The opcode ends with the modifiers in `late`.
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
