"""PTX of a Form's instructions: opcodes from modifiers, operands from operand specifications.

The parameter `slots` of the functions maps names of modifiers to words, such as "type" to "f32".
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product

from warploom.isa.model.form import Form
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.syntax import OperandPattern, Word
from warploom.isa.model.table import Row
from warploom.isa.model.types import TYPES
from warploom_lab.ptxas.probe import TABLES

Slots = dict[str, str]

_PRODUCT = 48  # rows with more combinations are covered pair by pair
_PREFIX = {"f32": "f", "f64": "d", "pred": "p", "b128": "rq"}
_BY_BITS = {1: "r", 4: "r", 8: "h", 16: "h", 32: "r", 64: "rd", 128: "rq"}
ANY_LENGTH = 4


@dataclass(slots=True)
class Writer:
    """Writer of operands. Each operand has its own registers.

    With `indirect`, the operand for a called function is a register.
    """

    used: Counter[str] = field(default_factory=Counter[str])
    indirect: bool = False

    def registers(self, prefix: str, count: int = 0) -> str:
        """Return unused registers, such as `%r0`, or `{%r[0:4]}` for a vector of `count` 4."""
        first = self.used[prefix]
        self.used[prefix] += max(count, 1)
        if count == 0:
            return f"%{prefix}{first}"
        return f"{{%{prefix}[{first}:{first + count}]}}" if count > 1 else f"{{%{prefix}{first}}}"

    def operand(self, spec: OperandSpec, slots: Mapping[str, str]) -> str:
        """Return the simplest legal operand in an opcode with the modifiers `slots`."""
        count = spec.registers(slots)
        constants = spec.constants(slots)
        match spec.kind:
            case "address":
                base = self.registers(prefix_of(spec.type_word(slots)))
                return f"[{base}, {self.registers('r', count)}]" if count else f"[{base}]"
            case "immediate":
                return str(next(iter(constants))) if constants else "1"
            case "label":
                return "L0"
            case "symbol":
                if self.indirect and "function" in spec.allowed(slots):
                    return self.registers("rd")
                return _symbol(spec)
            case "tuple":
                return "()"
            case "sink":
                return "_"
            case "predicate":
                return self.registers("p")
            case "register" | "any":
                length = ANY_LENGTH if count == -1 else count
                wide = spec.accepts(slots) == "wide"
                return self.registers(prefix_of(spec.type_word(slots), wide=wide), length)


def _symbol(spec: OperandSpec) -> str:
    return next((name for name, (directive, _) in TABLES.items() if directive in spec.allowed({})), "callee")


def prefix_of(type_word: str, *, wide: bool = True) -> str:
    """Return the prefix, such as "r" or "rd", of the names of registers of a type.

    With `wide`, 8-bit types use 16-bit registers.
    """
    if type_word in _PREFIX:
        return _PREFIX[type_word]
    bits = TYPES[type_word].bits
    return "b" if bits == 8 and not wide else _BY_BITS[bits]


def write_operands(form: Form, slots: Mapping[str, str], *, optional: bool = False) -> list[str]:
    """Return the operands of an instruction as PTX, in order.

    With `optional`, the optional operands are present.
    """
    present = present_operands(form, slots, optional=optional)
    symbols = [name for name in present if form.operands[name.names[0]].kind == "symbol"]
    writer = Writer(indirect=len(symbols) > 1)
    return [write_operand(form, name, slots, writer) for name in present]


def present_operands(form: Form, slots: Mapping[str, str], *, optional: bool) -> list[OperandPattern]:
    """Return the operands that an instruction with the modifiers `slots` has, in order.

    With `optional`, these include the optional operands that no modifier requires.
    """
    found: list[OperandPattern] = []
    for name in form.syntax.operands:
        spec = form.operands[name.names[0]]
        stands = slots.get(spec.when, "") != "" if spec.when else optional or not name.optional
        if stands and (spec.kind != "immediate" or spec.constants(slots) != range(0)):
            found.append(name)
    return found


def write_operand(form: Form, name: OperandPattern, slots: Mapping[str, str], writer: Writer) -> str:
    """Return the operand, pair or vector at one place of the syntax line as PTX."""
    if name.parts:
        return "{" + ", ".join(writer.operand(form.operands[part], slots) for part in name.parts) + "}"
    if name.second and not name.second_optional:
        first, second = (writer.operand(form.operands[part], slots) for part in name.names)
        return f"{first}|{second}"
    return writer.operand(form.operands[name.first], slots)


def opcode_words(form: Form, slots: Mapping[str, str], order: tuple[Word, ...] | None = None) -> list[str]:
    """Return the words of the opcode with the modifiers `slots`. Absent modifiers are left out.

    `order` replaces the order of the words in the syntax line.
    """
    words = (slots[word.slot] if word.slot else word.literal for word in order or form.syntax.words)
    return [word for word in words if word]


def instruction(words: list[str], operands: list[str]) -> str:
    """Return the statement with the given opcode words and operands."""
    return f"{'.'.join(words)} {', '.join(operands)};" if operands else f"{'.'.join(words)};"


def combinations_of(form: Form, row: Row) -> Iterator[Slots]:
    """Yield the modifiers of opcodes that a row of the Form's table permits.

    If the row permits more than 48 opcodes, yield some that contain every pair of words.
    """
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
    """Yield choices of one word from each cell that together contain every pair of words."""
    wanted = {
        (i, a, j, b)
        for i, j in combinations(range(len(cells)), 2)
        for a in range(len(cells[i]))
        for b in range(len(cells[j]))
    }
    remaining = sorted(wanted)
    while wanted:
        seed = next(pair for pair in remaining if pair in wanted)
        chosen = {seed[0]: seed[1], seed[2]: seed[3]}
        for column in range(len(cells)):
            if column not in chosen:
                chosen[column] = max(range(len(cells[column])), key=lambda word: _gain(wanted, chosen, column, word))
        wanted -= {(i, chosen[i], j, chosen[j]) for i, j in combinations(range(len(cells)), 2)}
        remaining = [pair for pair in remaining if pair in wanted]
        yield tuple(cells[column][chosen[column]] for column in range(len(cells)))


def _gain(wanted: set[tuple[int, int, int, int]], chosen: Mapping[int, int], column: int, word: int) -> int:
    pairs = ((column, word, other, at) if column < other else (other, at, column, word) for other, at in chosen.items())
    return sum(pair in wanted for pair in pairs)
