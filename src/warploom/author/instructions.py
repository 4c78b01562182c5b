"""One Python call an instruction: the Forms of `isa` as functions.

`ptx.mad_lo(a, b, c, type="u32")` emits the instruction and returns its result in new registers, or in those
given as `out`. The name is that of the instruction, its words joined by underscores; slots of the Form are
keywords whose values are its words, single words are keywords that are true (`ftz=True`). What is left out is
found where only one choice fits: the type from the registers, the state space from the address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from warploom.author.building import AuthorError, current, misuse
from warploom.author.catalogue import Candidate, catalogue
from warploom.author.complaints import complaint, open_word, usage
from warploom.author.readings import NEVER, arranged, choices, is_many, misfit
from warploom.author.values import DYNAMIC, Location, Register, operand_of
from warploom.isa.model.effects import Access
from warploom.isa.model.form import Form
from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.syntax import PlaceName
from warploom.isa.model.types import TYPES
from warploom.ptx import Operand, Pair, Vector

Reading = tuple[Candidate, dict[str, str], dict[str, Any]]
_Known = tuple[Candidate, dict[str, str], str, tuple[str, ...] | None]
"""A reading, its opcode, and the names of its operands in the order of the call where none was named."""


class Instruction:
    """The call that emits the instructions of one name."""

    def __init__(self, name: str, candidates: tuple[Candidate, ...]) -> None:
        self.name = name
        self.candidates = candidates
        self._known: dict[tuple[Any, ...], _Known] = {}

    def __call__(self, *operands: Any, out: Any = None, **words: Any) -> Any:
        """Emit it. Errors: AuthorError, with the checker's diagnostic on the Python line."""
        building = current()
        key = (
            building.target.name,
            building.version,
            _kind(operands),
            _kind(out),
            tuple((k, _kind(v)) for k, v in words.items()),
        )
        if (known := self._known.get(key)) is not None:
            candidate, slots, opcode, order = known
            values = (
                dict(zip(order, operands))
                if order is not None
                else arranged(candidate, slots, operands, words) or {}
            )
            return _emit(self.name, candidate, slots, opcode, values, out)
        refused: list[AuthorError] = []
        for candidate, slots, values in self.readings(operands, words):
            opcode = opcode_of(candidate, slots)
            try:
                made = _emit(self.name, candidate, slots, opcode, values, out)
            except AuthorError as error:
                refused.append(error)
                continue
            by_place = words.keys().isdisjoint(candidate.places)
            self._known[key] = candidate, slots, opcode, tuple(values) if by_place else None
            return made
        if refused:
            raise refused[0]
        message, hint = complaint(self.name, self.candidates, operands, words)
        raise misuse(message, "author.call", hint)

    def readings(self, operands: Sequence[Any], words: Mapping[str, Any]) -> list[Reading]:
        """What the call may mean, the plainest first. Errors: AuthorError author.open where two are as plain."""
        found: list[tuple[tuple[int, int], Reading]] = []
        for order, candidate in enumerate(self.candidates):
            for slots, cost in choices(candidate, operands, words):
                values = arranged(candidate, slots, operands, words)
                if values is not None and (bad := misfit(candidate, slots, values)) < NEVER:
                    found.append(((bad + cost, order), (candidate, slots, values)))
        found.sort(key=lambda each: each[0])
        self._decided([reading for rank, reading in found if rank == found[0][0]])
        return [reading for _, reading in found]

    def _decided(self, plainest: Sequence[Reading]) -> None:
        """Refuse a call whose plainest readings differ in a word that nothing decides."""
        if len(plainest) < 2:
            return
        candidate = plainest[0][0]
        for slot in candidate.form.columns:
            legal = dict.fromkeys(slots[slot] for _, slots, _ in plainest)
            if len(legal) > 1:
                raise misuse(open_word(self.name, slot, legal), "author.open", usage([candidate]))

    def __repr__(self) -> str:
        return f"<instruction {self.name}>"


def opcode_of(candidate: Candidate, slots: Mapping[str, str]) -> str:
    """The opcode of a form with its slots filled."""
    words = (slots[word.slot] if word.slot else word.literal for word in candidate.form.syntax.words)
    return ".".join(word for word in words if word)


def _emit(
    name: str,
    candidate: Candidate,
    slots: Mapping[str, str],
    opcode: str,
    values: Mapping[str, Any],
    out: Any,
) -> Any:
    operands, results = spelled(name, candidate, slots, values, out)
    current().emit(opcode, operands)
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def spelled(
    name: str, candidate: Candidate, slots: Mapping[str, str], values: Mapping[str, Any], out: Any
) -> tuple[tuple[Operand, ...], list[Any]]:
    """The operands of a reading, and its results: registers that were given, or new ones.

    Errors: AuthorError author.out, author.misaligned
    """
    form = candidate.form
    results: list[Any] = []
    given: list[Any] = [*out] if type(out) is tuple else [out]
    operands: list[Operand] = []
    for where in form.syntax.places:
        place = form.operands[where.names[0]]
        if place.kind == "sink":
            operands.append(operand_of(None))
        elif place.access == "write" and place.kind != "tuple":
            wanted = where.names if out is not None and len(given) > 1 else results_of(where)
            made = [_result(form.operands[each], slots, given) for each in wanted]
            results += made
            parts = [operand_of(each) for each in made]
            operands.append(
                Vector(tuple(parts)) if where.parts else parts[0] if len(parts) == 1 else Pair(*parts)
            )
        elif where.names[0] in values:
            value = values[where.names[0]]
            _aligned(name, form, where.names[0], slots, value)
            operands.append(operand_of(value, place.type_word(slots)))
    if out is not None and given:
        count = f"{len(results)} result{'s' if len(results) != 1 else ''}"
        raise misuse(f"{name} has {count}; out has {len(results) + len(given)}", "author.out")
    return tuple(operands), results


def results_of(name: PlaceName) -> tuple[str, ...]:
    """The results of a place that a call makes registers for: not the second that may be left out."""
    return name.names[:1] if name.second_optional else name.names


def _aligned(name: str, form: Form, operand: str, slots: Mapping[str, str], value: Any) -> None:
    """Refuse an access of a single lane to shared memory at an offset that is known to be misaligned."""
    accesses = form.effects_of(Access) if not form.collective else ()
    if (
        all(access.address != operand or access.proxy != "generic" for access in accesses)
        or not isinstance(value, Location)
        or not isinstance(value.base, str)
        or value.base != DYNAMIC
    ):
        return
    type_word, vector = slots.get("type", ""), slots.get("vec", "")
    size = TYPES[type_word].bytes * int(vector.lstrip("v") or 1) if type_word in TYPES else 1
    if value.offset % size:
        raise misuse(
            f"{name} of {size} bytes at byte {value.offset} of shared memory; expected a multiple of {size}",
            "author.misaligned",
        )


def _result(place: OperandSpec, slots: Mapping[str, str], given: list[Any]) -> Any:
    """The registers of a result: the next that were given, or new ones."""
    chosen = given.pop(0) if given else None
    if chosen is not None:
        return chosen
    type_word = result_type(place, slots)
    count = place.registers(slots)
    return tuple(new(type_word) for _ in range(count)) if count else new(type_word)


def result_type(place: OperandSpec, slots: Mapping[str, str]) -> str:
    """The type of the registers that are made for a result: what is narrower than any is held in 32 bits."""
    type_word = place.type_word(slots)
    kind = TYPES[type_word]
    if kind.bits < 16 and kind.kind != "predicate":
        return "s32" if kind.kind == "signed" else "u32"
    return type_word


def new(type_word: str, value: Any = None) -> Register:
    """A new register of a type, that holds a value where one is given. Errors: AuthorError author.type."""
    if type_word not in TYPES:
        raise misuse(f"there is no type '{type_word}'; expected one such as u32, f32 or pred", "author.type")
    made = Register(current().register(type_word), type_word)
    return made if value is None else made.set(value)


def _kind(value: Any) -> Any:
    """What decides how a value is read."""
    match value:
        case Register():
            return value.type, value.negated
        case Location():
            return "@", value.space, len(value.coordinates)
        case str() | bool():
            return value
        case int():
            return "int", value  # constants are judged by their value
        case _:
            return tuple(map(_kind, value)) if is_many(value) else type(value).__name__


class UnknownInstruction(AuthorError, AttributeError):
    """There is no instruction of this name."""


@cache
def _named(name: str) -> Instruction | None:
    candidates = catalogue().get(name)
    return None if candidates is None else Instruction(name, candidates)


def named(name: str) -> Instruction:
    """The instruction of a Python name. Errors: UnknownInstruction author.instruction."""
    found = _named(name)
    if found is None:
        from difflib import get_close_matches

        like = next(iter(get_close_matches(name, list(catalogue()), 1)), "")
        unknown = misuse(
            f"there is no instruction '{name}'",
            "author.instruction",
            f"did you mean '{like}'?" if like else "",
        )
        raise UnknownInstruction(unknown.diagnostics)
    return found
