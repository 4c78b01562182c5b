"""Instructions as Python functions, derived from the forms of `isa`.

`ptx.mad_lo(a, b, c, type="u32")` emits an instruction and returns the register with its result.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from warploom.author.builder import current
from warploom.author.call_diagnostics import ambiguous_word, explain_mismatch, usage
from warploom.author.errors import AuthorError, author_error
from warploom.author.overloads import (
    IMPOSSIBLE,
    Candidate,
    arrange,
    candidates_of,
    catalogue,
    is_vector,
    mismatch,
    slot_choices,
)
from warploom.author.values import DYNAMIC, Location, Register, operand_of
from warploom.diagnostics.wording import did_you_mean
from warploom.isa.model.effects import Access
from warploom.isa.model.form import Form
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.types import TYPES
from warploom.ptx import Operand, Pair, Vector

Overload = tuple[Candidate, dict[str, str], dict[str, Any]]
"""Candidate, the modifiers by name, and the arguments by operand name."""
_Resolved = tuple[Candidate, dict[str, str], str, tuple[str, ...] | None]
"""Overload: candidate, modifiers, opcode, and the names of the operands if all are positional."""


class Instruction:
    """Function that emits instructions under one Python name, such as `mad_lo`.

    The name contains the modifiers that choose an operation (`lo`). The other modifiers are keywords. A modifier with a
    single spelling has the value True (`ftz=True`). The default type is that of the registers. The default state space
    is that of the address.
    """

    def __init__(self, name: str, candidates: tuple[Candidate, ...]) -> None:
        self.name = name
        self.candidates = candidates
        self._resolved: dict[tuple[Any, ...], list[_Resolved]] = {}  # the best overload first

    def __call__(self, *operands: Any, out: Any = None, **words: Any) -> Any:
        """Emit the instruction and return its results: `out`, or new registers. Errors: AuthorError."""
        key = _kind(operands), tuple([(word, _word_kind(value)) for word, value in words.items()])
        resolved = self._resolved.get(key)
        if resolved is None:
            resolved = self._resolved[key] = self._resolve(operands, words)
        refused: AuthorError | None = None
        for candidate, slots, opcode, order in resolved:
            values = arrange(candidate, slots, operands, words) if order is None else dict(zip(order, operands))
            try:
                return self._emit(candidate, slots, opcode, values or {}, out)
            except AuthorError as error:
                refused = refused or error
        if refused is not None:
            raise refused
        message, hint = explain_mismatch(self.name, self.candidates, operands, words)
        raise author_error(message, "author.call", hint)

    def _resolve(self, operands: Sequence[Any], words: Mapping[str, Any]) -> list[_Resolved]:
        """Return the overloads that match a call, the best first. Errors: AuthorError author.open."""
        return [
            (
                candidate,
                slots,
                opcode_of(candidate, slots),
                tuple(values) if words.keys().isdisjoint(candidate.operands) else None,
            )
            for candidate, slots, values in self.overloads(operands, words)
        ]

    def overloads(self, operands: Sequence[Any], words: Mapping[str, Any]) -> list[Overload]:
        """Return the overloads that match a call, the best first. Errors: AuthorError author.open."""
        found: list[tuple[tuple[int, int], Overload]] = []
        for order, candidate in enumerate(self.candidates):
            for slots, cost in slot_choices(candidate, operands, words):
                values = arrange(candidate, slots, operands, words)
                if values is None:
                    continue
                bad = sum(mismatch(candidate, slots, name, value) for name, value in values.items())
                if bad < IMPOSSIBLE:
                    found.append(((bad + cost, order), (candidate, slots, values)))
        found.sort(key=lambda each: each[0])
        self._refuse_ambiguous([overload for rank, overload in found if rank == found[0][0]])
        return [overload for _, overload in found]

    def _refuse_ambiguous(self, best: Sequence[Overload]) -> None:
        """Raise an error if the overloads in `best` differ in a modifier of the opcode."""
        if len(best) < 2:
            return
        candidate = best[0][0]
        for slot in candidate.form.columns:
            legal = dict.fromkeys(slots[slot] for _, slots, _ in best)
            if len(legal) > 1:
                message = ambiguous_word(self.name, slot, legal)
                raise author_error(message, "author.open", usage([candidate]))

    def _emit(
        self, candidate: Candidate, slots: Mapping[str, str], opcode: str, values: Mapping[str, Any], out: Any
    ) -> Any:
        operands, results = spell_operands(self.name, candidate, slots, values, out)
        current().emit(opcode, operands)
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def __repr__(self) -> str:
        return f"<instruction {self.name}>"


def opcode_of(candidate: Candidate, slots: Mapping[str, str]) -> str:
    """Return the opcode of a candidate. `slots` maps the name of each modifier to its word."""
    words = (slots[word.slot] if word.slot else word.literal for word in candidate.form.syntax.words)
    return ".".join(word for word in words if word)


def spell_operands(
    name: str, candidate: Candidate, slots: Mapping[str, str], values: Mapping[str, Any], out: Any
) -> tuple[tuple[Operand, ...], list[Any]]:
    """Return the PTX operands of a call, and the result registers: `out` or new registers.

    `values` maps operand names to arguments. Errors: AuthorError author.out, author.misaligned.
    """
    form = candidate.form
    results: list[Any] = []
    given: list[Any] = [*out] if type(out) is tuple else [out]
    operands: list[Operand] = []
    for where in form.syntax.operands:
        operand = form.operands[where.names[0]]
        if operand.kind == "sink":
            operands.append(operand_of(None))
        elif operand.access == "write" and operand.kind != "tuple":
            has_second = not where.second_optional or (out is not None and len(given) > 1)
            names = where.names if has_second else where.names[:1]
            made = [_result(form.operands[each], slots, given) for each in names]
            results += made
            parts = [operand_of(each) for each in made]
            whole = Vector(tuple(parts)) if where.parts else parts[0] if len(parts) == 1 else Pair(*parts)
            operands.append(whole)
        elif where.names[0] in values:
            value = values[where.names[0]]
            if isinstance(value, Location):
                _check_alignment(name, form, where.names[0], slots, value)
            operands.append(operand_of(value, operand.type_word(slots)))
    if out is not None and given:
        count = f"{len(results)} result{'s' if len(results) != 1 else ''}"
        raise author_error(f"{name} returns {count}, but out has {len(results) + len(given)}", "author.out")
    return tuple(operands), results


def _check_alignment(name: str, form: Form, operand: str, slots: Mapping[str, str], value: Location) -> None:
    """Raise an error if an access to a known byte of the dynamic shared memory is misaligned."""
    if not isinstance(value.base, str) or value.base != DYNAMIC:
        return
    accesses = () if form.collective else form.effects_of(Access)
    if not any(access.address == operand and access.proxy == "generic" for access in accesses):
        return
    type_word, vector = slots.get("type", ""), slots.get("vec", "")
    size = TYPES[type_word].bytes * int(vector.lstrip("v") or 1) if type_word in TYPES else 1
    if value.offset % size:
        message = f"{name} of {size} bytes is at byte {value.offset} of shared memory; expected a multiple of {size}"
        raise author_error(message, "author.misaligned")


def _result(operand: OperandSpec, slots: Mapping[str, str], given: list[Any]) -> Any:
    """Remove and return the next item of `given`. Return new registers if the item is None or missing."""
    chosen = given.pop(0) if given else None
    if chosen is not None:
        return chosen
    type_word, count = result_type(operand, slots), operand.registers(slots)
    return tuple(new(type_word) for _ in range(count)) if count else new(type_word)


def result_type(operand: OperandSpec, slots: Mapping[str, str]) -> str:
    """Return the type of new registers for a result. Types below 16 bits are widened to 32 bits."""
    type_word = operand.type_word(slots)
    kind = TYPES[type_word]
    if kind.bits < 16 and kind.kind != "predicate":
        return "s32" if kind.kind == "signed" else "u32"
    return type_word


def new(type_word: str, value: Any = None) -> Register:
    """Return a new register of type `type_word`, set to `value` if given. Errors: AuthorError author.type."""
    if type_word not in TYPES:
        raise author_error(f"unknown type '{type_word}'; expected a type such as u32, f32 or pred", "author.type")
    made = Register(current().register(type_word), type_word)
    return made if value is None else made.set(value)


def _kind(value: Any) -> Any:
    """Return a key that is equal for operands that resolve to the same overloads."""
    match value:
        case Register():
            return value.type
        case Location():
            return "@", value.space, isinstance(value.base, Register), len(value.coordinates)
        case _:
            return tuple([_kind(each) for each in value]) if is_vector(value) else type(value).__name__


def _word_kind(value: Any) -> Any:
    """Return a key that is equal for keyword arguments that resolve to the same overloads."""
    return (type(value).__name__, value) if isinstance(value, str | int) else _kind(value)


class UnknownInstruction(AuthorError, AttributeError):
    """Error for an unknown instruction name. `ptx.NAME` raises this error for an unknown NAME."""


@cache
def instruction(name: str) -> Instruction:
    """Return the function for an instruction's Python name. Errors: UnknownInstruction author.instruction."""
    candidates = candidates_of(name)
    if not candidates:
        hint = did_you_mean(name, catalogue(), "'")
        unknown = author_error(f"unknown instruction '{name}'", "author.instruction", hint)
        raise UnknownInstruction(unknown.diagnostics)
    return Instruction(name, candidates)
