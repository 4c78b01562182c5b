"""Completion of partial opcodes, such as `wgmma.mma_async.m64n64`."""

from warploom.isa.binding.nearest import respell, spell
from warploom.isa.model.form import LONGEST_OPCODE, Form, Match, forms_of, match_opcode
from warploom.isa.model.syntax import Word, bind_word
from warploom.isa.model.table import Row


def completions(partial: str) -> dict[Form, str]:
    """Return, by Form, the first legal opcode with the words of a partial opcode in their order.

    The last number of a shape may be left out: `m64n64` stands for `m64n64k16`. Forms without such an opcode are
    omitted.
    """
    if len(partial) > LONGEST_OPCODE:
        return {}
    words = tuple(partial.split("."))
    return {form: found for form in forms_of(words[0]) if (found := _completed(form, words))}


def _completed(form: Form, words: tuple[str, ...]) -> str:
    for row in form.rows:
        slots: dict[str, str] = {column: cells[0] for column, cells in row.cells.items()}
        used = 0
        for word in form.syntax.words:
            bound = _bound(form, row, word, words[used]) if used < len(words) else None
            if bound is not None and all(row.allows(c, w) for c, w in bound.items() if c in row.cells):
                slots |= bound
                used += 1
            elif word.optional and word.slot not in row.cells:
                slots[word.slot] = ""
        found = spell(Match(form, respell(form, slots), (row,)))
        if used == len(words) and match_opcode(found):
            return found
    return ""


def _bound(form: Form, row: Row, word: Word, text: str) -> dict[str, str] | None:
    bound = bind_word(word, text, form.vocabulary)
    if bound is not None or word.composite is None:
        return bound
    last = form.composites[word.slot].rpartition("{")[2].removesuffix("}")
    begin = form.composites[word.slot].rpartition("{")[0]
    if begin[-1:].isalpha() and last in row.cells:
        return bind_word(word, f"{text}{begin[-1]}{row.cells[last][0]}", form.vocabulary)
    return None
