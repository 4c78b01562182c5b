"""From a Form to the text of its instructions: opcodes from slots, operands from places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product

from warploom.isa.model.form import Form
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.syntax import PlaceName, Word
from warploom.isa.model.table import Row
from warploom.isa.model.types import TYPES
from warploom_lab.ptxas.probe import TABLES

Slots = dict[str, str]

_PRODUCT = 48  # rows with more combinations than this are covered pair by pair
_PREFIX = {"f32": "f", "f64": "d", "pred": "p", "b128": "rq"}
_BY_BITS = {1: "r", 4: "r", 8: "h", 16: "h", 32: "r", 64: "rd", 128: "rq"}
ANY_LENGTH = 4


@dataclass(slots=True)
class Writer:
    """Writes operands, each with registers of its own; `indirect` functions stand in registers."""

    used: Counter[str] = field(default_factory=Counter[str])
    indirect: bool = False

    def registers(self, prefix: str, count: int = 0) -> str:
        """`%r0`, or for a count `{%r[0:4]}`, of registers not used before."""
        first = self.used[prefix]
        self.used[prefix] += max(count, 1)
        if count == 0:
            return f"%{prefix}{first}"
        return f"{{%{prefix}[{first}:{first + count}]}}" if count > 1 else f"{{%{prefix}{first}}}"

    def place(self, place: OperandSpec, slots: Mapping[str, str]) -> str:
        """What the plainest legal operand of a place is."""
        count = place.registers(slots)
        constants = place.constants(slots)
        match place.kind:
            case "address":
                base = self.registers(prefix_of(place.type_word(slots)))
                return f"[{base}, {self.registers('r', count)}]" if count else f"[{base}]"
            case "immediate":
                return str(next(iter(constants))) if constants else "1"
            case "label":
                return "L0"
            case "symbol":
                return (
                    self.registers("rd")
                    if self.indirect and "function" in place.allowed(slots)
                    else _symbol(place)
                )
            case "tuple":
                return "()"
            case "sink":
                return "_"
            case "predicate":
                return self.registers("p")
            case "register" | "any":
                length = ANY_LENGTH if count == -1 else count
                wide = place.accepts(slots) == "wide"
                return self.registers(prefix_of(place.type_word(slots), wide=wide), length)


def _symbol(place: OperandSpec) -> str:
    """The name of a probe that is what a place asks for."""
    return next((name for name, (directive, _) in TABLES.items() if directive in place.allowed({})), "callee")


def prefix_of(type_word: str, *, wide: bool = True) -> str:
    """The prefix of the registers that hold a type, and of eight bits a `wide` one where it may be."""
    if type_word in _PREFIX:
        return _PREFIX[type_word]
    bits = TYPES[type_word].bits
    return "b" if bits == 8 and not wide else _BY_BITS[bits]


def write_operands(form: Form, slots: Mapping[str, str], *, optional: bool = False) -> list[str]:
    """The operands of an instruction, in order; `optional` ones too if asked."""
    standing = standing_places(form, slots, optional=optional)
    symbols = [name for name in standing if form.operands[name.names[0]].kind == "symbol"]
    writer = Writer(indirect=len(symbols) > 1)
    return [write_place(form, name, slots, writer) for name in standing]


def standing_places(form: Form, slots: Mapping[str, str], *, optional: bool) -> list[PlaceName]:
    """The places that stand for the slots; of those that nothing ties, the optional ones if asked."""
    found: list[PlaceName] = []
    for name in form.syntax.places:
        place = form.operands[name.names[0]]
        stands = slots.get(place.when, "") != "" if place.when else optional or not name.optional
        if stands and (place.kind != "immediate" or place.constants(slots) != range(0)):
            found.append(name)
    return found


def write_place(form: Form, name: PlaceName, slots: Mapping[str, str], writer: Writer) -> str:
    """The text of one place of the syntax line."""
    if name.parts:
        return "{" + ", ".join(writer.place(form.operands[part], slots) for part in name.parts) + "}"
    if name.second and not name.second_optional:
        first, second = (writer.place(form.operands[part], slots) for part in name.names)
        return f"{first}|{second}"
    return writer.place(form.operands[name.first], slots)


def opcode_words(form: Form, slots: Mapping[str, str], order: tuple[Word, ...] | None = None) -> list[str]:
    """The opcode's words, absent modifiers left out."""
    words = (slots[word.slot] if word.slot else word.literal for word in order or form.syntax.words)
    return [word for word in words if word]


def instruction(words: list[str], operands: list[str]) -> str:
    """The statement."""
    return f"{'.'.join(words)} {', '.join(operands)};" if operands else f"{'.'.join(words)};"


def combinations_of(form: Form, row: Row) -> Iterator[Slots]:
    """Slots that a row allows: all of them, or where they are many, every pair of words at least once."""
    cells: dict[str, tuple[str, ...]] = dict(row.cells)
    for word in form.syntax.words:
        if word.slot and word.slot == word.literal:
            cells[word.slot] = ("", word.literal)
    size = 1
    for words in cells.values():
        size *= len(words)
    chosen = product(*cells.values()) if size <= _PRODUCT else _pairwise(tuple(cells.values()))
    for values in chosen:
        slots = dict(zip(cells, values, strict=True))
        for word in form.syntax.words:
            if word.composite:
                slots[word.slot] = form.composites[word.slot].format(**slots)
        yield slots


def _pairwise(cells: tuple[tuple[str, ...], ...]) -> Iterator[tuple[str, ...]]:
    """Choices of one word from each cell, such that every pair of words of two cells is in one of them."""
    wanted = {
        (i, a, j, b)
        for i, j in combinations(range(len(cells)), 2)
        for a in range(len(cells[i]))
        for b in range(len(cells[j]))
    }
    open_ = sorted(wanted)
    while wanted:
        seed = next(pair for pair in open_ if pair in wanted)
        chosen = {seed[0]: seed[1], seed[2]: seed[3]}
        for column in range(len(cells)):
            if column not in chosen:
                chosen[column] = max(
                    range(len(cells[column])), key=lambda word: _gain(wanted, chosen, column, word)
                )
        wanted -= {(i, chosen[i], j, chosen[j]) for i, j in combinations(range(len(cells)), 2)}
        open_ = [pair for pair in open_ if pair in wanted]
        yield tuple(cells[column][chosen[column]] for column in range(len(cells)))


def _gain(wanted: set[tuple[int, int, int, int]], chosen: Mapping[int, int], column: int, word: int) -> int:
    pairs = (
        (column, word, other, at) if column < other else (other, at, column, word)
        for other, at in chosen.items()
    )
    return sum(pair in wanted for pair in pairs)
