"""What may be written next: the words that lead to a legal opcode on the target, and names that are declared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product

from warploom.diagnostics import Span
from warploom.isa.model.availability import Target, Version, available, latest_version, read_target, word_lack
from warploom.isa.model.form import LONGEST_OPCODE, Form, forms_of, heads
from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.isa.model.syntax import Word
from warploom.isa.model.table import Row
from warploom.lsp.document import View
from warploom.lsp.names import Names
from warploom.ptx import Function, Label, Variable

_STATEMENT = re.compile(
    r"(?:^|[;{}]|[\w$]:(?!:))\s*(?:@!?\s*[\w$%]+\s+)?(?P<opcode>[A-Za-z_][\w$]*(?:\.[\w:]*)*)?$"
)
"""The end of a line in which an opcode is being written."""
_PARTIAL = re.compile(r"[%$]?[\w$]*(?:\.\w*)?$")
_COMMENTS = re.compile(r'/\*.*?\*/|"[^"\n]*"', re.DOTALL)
_MOST_SPELLINGS = 4096
"""Words that a composite slot such as a shape may have in a row."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A word that may stand at `span`. `kind` is "instruction", "modifier", "register", "variable", "function"
    or "label"; `detail` says more.
    """

    word: str
    kind: str
    span: Span
    detail: str = ""


def completions(view: View, offset: int) -> list[Completion]:
    """What may be written at an offset."""
    line = view.text[view.text.rfind("\n", 0, offset) + 1 : offset]
    if "//" in _COMMENTS.sub("", line) or line.lstrip().startswith("."):
        return []
    statement = _STATEMENT.search(_COMMENTS.sub(lambda match: " " * len(match[0]), line))
    if statement is not None and statement["opcode"] is not None:
        return _opcodes(view, offset, statement["opcode"])
    return _names(view, offset, line)


def _opcodes(view: View, offset: int, opcode: str) -> list[Completion]:
    head, dot, _ = opcode.rpartition(".")
    partial = opcode.rpartition(".")[2]
    target, ptx = view.judged_by or _newest()
    words = tuple(head.split(".")) if dot else ()
    following = next_words(words, target, ptx)
    begin = offset - len(partial)
    kind = "modifier" if dot else "instruction"
    return [
        Completion(word, kind, Span(begin, offset), detail)
        for word, detail in following.items()
        if word.startswith(partial)
    ]


def _newest() -> tuple[Target, Version]:
    target = read_target("sm_90a")
    assert target is not None
    return target, latest_version()


def next_words(words: tuple[str, ...], target: Target, ptx: Version) -> dict[str, str]:
    """The words that may follow the first words of an opcode, so that it can become legal on a target at a PTX
    version, and the forms that have them there.
    """
    if sum(map(len, words)) > LONGEST_OPCODE:
        return {}
    found: dict[str, list[str]] = {}
    known = [form for head in heads() for form in forms_of(head)] if not words else forms_of(words[0])
    for form in dict.fromkeys(known):
        for word in dict.fromkeys(_following(form, words, target, ptx)):
            if word_lack([word], target, ptx) is None:
                found.setdefault(word, []).append(form.name)
    return {word: _few(names) for word, names in sorted(found.items(), key=_order)}


def _order(item: tuple[str, list[str]]) -> tuple[object, ...]:
    """Words by their letters, and by their numbers as numbers."""
    return tuple(
        (part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", item[0])
    )


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _following(form: Form, words: tuple[str, ...], target: Target, ptx: Version) -> Iterator[str]:
    for row in form.rows:
        if available(row, target, ptx) is not None:
            continue
        for order in form.orders:
            yield from _in_row(form, row, order, words)


def _in_row(form: Form, row: Row, order: tuple[Word, ...], words: tuple[str, ...]) -> Iterator[str]:
    """The words that may stand behind the first words of an opcode that follows a row."""
    places = {0}  # of the pattern, that the next word may be at
    for text in words:
        places = {p + 1 for p in _reached(form, row, order, places) if _fits(form, row, order[p], text)}
        if not places:
            return
    for p in _reached(form, row, order, places):
        yield from _spellings(form, row, order[p])


def _reached(form: Form, row: Row, order: tuple[Word, ...], places: Iterable[int]) -> set[int]:
    """Places of the pattern and those behind them, where what lies between may be absent."""
    reached: set[int] = set()
    for p in places:
        while p < len(order):
            reached.add(p)
            if not (order[p].optional and "" in row.cells.get(order[p].slot, ("",))):
                break
            p += 1
    return reached


def _fits(form: Form, row: Row, word: Word, text: str) -> bool:
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
        Completion(symbol.text, _kind(symbol.declaration), span, _detail(symbol.declaration))
        for symbol in Names(view).visible(offset)
        if symbol.text.startswith(partial) and symbol.text != partial
    ]
    special = [
        Completion(name, "register", span, f".{register.type}")
        for name, register in SPECIAL_REGISTERS.items()
        if name.startswith(partial)
    ]
    return names + special


def _kind(node: Variable | Label | Function) -> str:
    if isinstance(node, Variable):
        return "register" if node.space == "reg" else "variable"
    return "label" if isinstance(node, Label) else "function"


def _detail(node: Variable | Label | Function) -> str:
    return f".{node.space} .{node.type}" if isinstance(node, Variable) else ""
