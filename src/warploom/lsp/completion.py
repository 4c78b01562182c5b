"""Completion of opcodes and operands."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product

from warploom.check.header import find_target
from warploom.diagnostics import Span
from warploom.isa.model.availability import Target, Version, latest_version, unmet_by_row, unmet_by_words
from warploom.isa.model.form import LONGEST_OPCODE, Form, forms_of, heads
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.isa.model.syntax import Word
from warploom.isa.model.table import Row
from warploom.lsp.document import View
from warploom.lsp.names import Names, Symbol
from warploom.ptx import Label, Variable

_STATEMENT = re.compile(r"(?:^|[;{}]|[\w$]:(?!:))\s*(?:@!?\s*[\w$%]+\s+)?(?P<opcode>[A-Za-z_][\w$]*(?:\.[\w:]*)*)?$")
"""Pattern for the end of a line in which an opcode is incomplete or may begin."""
_PARTIAL = re.compile(r"[%$]?[\w$]*(?:\.\w*)?$")
_COMMENTS = re.compile(r'/\*.*?\*/|"[^"\n]*"', re.DOTALL)
_MOST_SPELLINGS = 4096
"""Maximum number of spellings of a composite modifier, such as a shape, in one row of a form's table."""


@dataclass(frozen=True, slots=True)
class Completion:
    """Word that may replace the text at `span`.

    `kind` is "instruction", "modifier", "register", "variable", "function" or "label". `detail` is a remark in the
    editor's list.
    """

    word: str
    kind: str
    span: Span
    detail: str = ""


def completions(view: View, offset: int) -> list[Completion]:
    """Return the words that may complete the text before an offset.

    Opcodes are completed with words that are legal on the target. Operands are completed with visible names.
    """
    line = view.text[view.text.rfind("\n", 0, offset) + 1 : offset]
    if "//" in _COMMENTS.sub("", line) or line.lstrip().startswith("."):
        return []
    statement = _STATEMENT.search(_COMMENTS.sub(lambda match: " " * len(match[0]), line))
    if statement is not None and statement["opcode"] is not None:
        return _opcodes(view, offset, statement["opcode"])
    return _names(view, offset, line)


def _opcodes(view: View, offset: int, opcode: str) -> list[Completion]:
    head, dot, partial = opcode.rpartition(".")
    target, ptx = view.target_and_version or (find_target("sm_90a"), latest_version())
    following = next_words(tuple(head.split(".")) if dot else (), target, ptx)
    span = Span(offset - len(partial), offset)
    return [
        Completion(word, "modifier" if dot else "instruction", span, detail)
        for word, detail in following.items()
        if word.startswith(partial)
    ]


def next_words(words: tuple[str, ...], target: Target, ptx: Version) -> dict[str, str]:
    """Return the words that may follow the first words of an opcode.

    The opcodes are legal for the target and the PTX version. Each word maps to the names of the Forms with such an
    opcode.
    """
    if sum(map(len, words)) > LONGEST_OPCODE:
        return {}
    found: dict[str, list[str]] = {}
    known = [form for head in heads() for form in forms_of(head)] if not words else forms_of(words[0])
    for form in dict.fromkeys(known):
        for word in dict.fromkeys(_following(form, words, target, ptx)):
            if unmet_by_words([word], target, ptx) is None:
                found.setdefault(word, []).append(form.name)
    return {
        word: ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        for word, names in sorted(found.items(), key=_order)
    }


def _order(item: tuple[str, list[str]]) -> tuple[object, ...]:
    return tuple((part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", item[0]))


def _following(form: Form, words: tuple[str, ...], target: Target, ptx: Version) -> Iterator[str]:
    for row in form.rows:
        if unmet_by_row(row, target, ptx) is not None:
            continue
        for order in form.orders:
            yield from _in_row(form, row, order, words)


def _in_row(form: Form, row: Row, order: tuple[Word, ...], words: tuple[str, ...]) -> Iterator[str]:
    """Yield the words that may follow `words` in opcodes of one row of a form's table.

    `order` is an order of the modifiers that the form's syntax allows.
    """
    # Indices in `order` at which the next word may match.
    positions = {0}
    for text in words:
        positions = {p + 1 for p in _reached(row, order, positions) if _fits(row, order[p], text)}
        if not positions:
            return
    for p in _reached(row, order, positions):
        yield from _spellings(form, row, order[p])


def _reached(row: Row, order: tuple[Word, ...], positions: Iterable[int]) -> set[int]:
    """Return `positions` and every later index in `order` that skips only optional words."""
    reached: set[int] = set()
    for p in positions:
        while p < len(order):
            reached.add(p)
            if not (order[p].optional and "" in row.cells.get(order[p].slot, ("",))):
                break
            p += 1
    return reached


def _fits(row: Row, word: Word, text: str) -> bool:
    if word.composite is not None:
        parts = word.composite.fullmatch(text)
        return parts is not None and all(
            value in row.cells.get(column, (value,)) for column, value in parts.groupdict().items()
        )
    return text == word.literal if word.literal else text in row.cells[word.slot]


def _spellings(form: Form, row: Row, word: Word) -> Iterator[str]:
    if word.composite is None:
        yield from (text for text in ((word.literal,) if word.literal else row.cells[word.slot]) if text)
        return
    columns = list(word.composite.groupindex)
    pattern = form.composites[word.slot]
    for values in islice(product(*(row.cells[column] for column in columns)), _MOST_SPELLINGS):
        yield pattern.format(**dict(zip(columns, values, strict=True)))


# Names ------------------------------------------------------------------------------------------------------


def _names(view: View, offset: int, line: str) -> list[Completion]:
    found = _PARTIAL.search(line)
    partial = "" if found is None else found[0]
    if not partial:
        return []
    span = Span(offset - len(partial), offset)
    names = [
        _completion(symbol, span)
        for symbol in Names(view).visible(offset)
        if symbol.text.startswith(partial) and symbol.text != partial
    ]
    special = [
        Completion(name, "register", span, f".{register.type}")
        for name, register in SPECIAL_REGISTERS.items()
        if name.startswith(partial)
    ]
    return names + special


def _completion(symbol: Symbol, span: Span) -> Completion:
    node = symbol.declaration
    if isinstance(node, Variable):
        kind = "register" if node.space == "reg" else "variable"
        return Completion(symbol.text, kind, span, f".{node.space} .{node.type}")
    return Completion(symbol.text, "label" if isinstance(node, Label) else "function", span)
