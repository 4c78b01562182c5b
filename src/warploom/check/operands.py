"""Operands against their places: declared types, constants, state spaces."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import lru_cache

from warploom.check.calls import call_problems
from warploom.check.names import Names, Part
from warploom.check.operand_rule import COORDINATE, PREDICATE, Rule
from warploom.check.ptxas import operands as ptxas
from warploom.check.ptxas.fragment_registers import FragmentRegisters
from warploom.isa.binding.operands import BoundOperand, Extensions, Problem, describe, no_extensions
from warploom.isa.model.availability import Target, Version, read_target
from warploom.isa.model.form import Match
from warploom.isa.model.registers import DECLARABLE, holders, inferred_type, takes_floats, takes_integers
from warploom.isa.model.special_registers import SpecialRegister
from warploom.isa.model.types import TYPES
from warploom.ptx import (
    Address,
    Element,
    Float,
    Function,
    Integer,
    Label,
    Name,
    Negated,
    Operand,
    Pair,
    Symbol,
    Tuple,
    Variable,
    Vector,
)

_GENERIC = frozenset({"global", "shared", "local"})
_INTEGERS = {"f16": ("u16", "s16"), "f32": ("u32", "s32"), "f64": ("u64", "s64")}


def names_in(operand: Operand) -> Iterator[str]:
    """Every name that an operand mentions, the sink aside."""
    match operand:
        case Name(text):
            if text != "_":
                yield text
        case Negated(name) | Symbol(name):
            yield name
        case Element(name, index):
            yield name
            yield from names_in(index)
        case Pair(first, second):
            yield from names_in(first)
            yield from names_in(second)
        case Vector(items) | Tuple(items):
            for item in items:
                yield from names_in(item)
        case Address(base, _, extra):
            for part in (base, *extra):
                if part is not None:
                    yield from names_in(part)
        case _:
            return


class Judge:
    """Judges the operands of a bound instruction in a scope, on a target, at a PTX version.

    A `lenient` one takes what a place eases, and says of what sort that was in `eased`.
    """

    def __init__(self, names: Names, target: Target, ptx: Version, *, lenient: bool = False) -> None:
        self.names = names
        self.target = target
        self.ptx = ptx
        self.lenient = lenient
        self.eased: set[str] = set()

    def extensions(self, match: Match) -> Extensions:
        """Return the syntax beyond the manual that operands may use when they are bound."""
        if not self.lenient:
            return no_extensions

        def found(name: str) -> Collection[str]:
            rule = ptxas.fragment_rule(match.form, name)
            if rule is not None:
                return rule(match.slots, self.target.number).extensions
            return ptxas.extensions_of(match.form, name, match.slots, self.target.number)

        return found

    def problems(self, match: Match, operands: dict[str, BoundOperand]) -> list[Problem]:
        """What is wrong with operands in their places."""
        found: list[Problem] = []
        together = self._judged_together(match, operands)
        for name, bound in operands.items():
            for what, expected, index in () if name in together else self._judge(match, name, bound):
                shown = name.replace("_", "-").strip("-") or "_"
                where = (
                    ("operand", *bound.at)
                    if index is None or len(bound.at) > 1
                    else ("operand", *bound.at, index)
                )
                message = f"operand {shown} {what}" + (f"; expected {expected}" if expected else "")
                found.append(Problem(f"{match.form.name}/{name}", message, where, "", match.form.source))
        found += call_problems(match, operands, self.names)
        return found

    def _judged_together(self, match: Match, operands: dict[str, BoundOperand]) -> set[str]:
        """The registers in vectors whose parts have names that are right as what they make together."""
        found: set[str] = set()
        for place in match.form.syntax.places:
            parts = {name: operands[name] for name in place.parts if name in operands}
            declared = [
                self._declared(part.operand, Rule.on_target(match, name, part.place, self.target.number))
                for name, part in parts.items()
            ]
            inferred = inferred_type(declared, [_constant_type(part.operand) for part in parts.values()])
            if "pred" not in declared and all(inferred in holders(part.type) for part in parts.values()):
                found |= parts.keys()
        return found

    def _judge(self, match: Match, name: str, bound: BoundOperand) -> Iterator[tuple[str, str, int | None]]:
        operand, place = bound.operand, Rule.on_target(match, name, bound.place, self.target.number)
        target = bound.place.legal.target
        needed = read_target(target) if target else None
        if needed is not None and not self.target.has(needed):
            yield f"stands only on {target}; the target is {self.target.name}", "", None
        rule = ptxas.fragment_rule(match.form, name)
        hold = None if rule is None else rule(match.slots, self.target.number)
        if hold is not None:
            accepts = "own" if hold.type != "u32" else "same"
            place = replace(
                place, extensions=hold.extensions, accepts=accepts, implied=accepts == "own" or place.implied,
                is_fragment=True,
            )  # fmt: skip
            bound = replace(bound, type=hold.type)
        match place.kind:
            case "address":
                yield from self._address(match, bound, place)
            case "label":
                yield from self._label(operand)
            case "register" | "predicate" | "any":
                if isinstance(operand, Vector):
                    if bound.registers == 0 and not (
                        self._eases(place, "vector") or self._eases(place, "vectors")
                    ):
                        yield f"is {describe(operand)}", _expected_type(place, bound.type), None
                        return
                    odd = list(self._unavailable(operand))
                    odd += [] if hold is None else self._odd_items(operand, bound.type, place, hold)
                    yield from odd or self._vector(operand, bound.type, place)
                    return
                if bound.registers != 0 and operand != Name("_") and not self._eases(place, "bare"):
                    yield f"is {describe(operand)}", "a vector", None
                    return
                type_word = "pred" if place.kind == "any" and self._is_predicate(operand) else bound.type
                operand = self._whole(operand, place.selector)
                wrong = self._value(operand, place, type_word, in_vector=False) or self._symbol(
                    operand, bound.type, place, bound.place.space_word(match.slots)
                )
                if wrong is not None:
                    yield (*wrong, None)
            case _:
                return

    def _whole(self, operand: Operand, parts: str) -> Operand:
        """An operand without a selector that may stand there."""
        if not parts or not isinstance(operand, (Name, Negated)):
            return operand
        text = operand.text if isinstance(operand, Name) else operand.name
        meaning = self.names.find(text)
        if not isinstance(meaning, Part) or re.fullmatch(parts, meaning.selector) is None:
            return operand
        whole = text.rpartition(".")[0]
        return Name(whole) if isinstance(operand, Name) else Negated(whole, operand.sign)

    def _is_predicate(self, operand: Operand) -> bool:
        if isinstance(operand, Negated):
            return True
        meaning = self.names.find(operand.text) if isinstance(operand, Name) else None
        return isinstance(meaning, Variable) and meaning.space == "reg" and meaning.type == "pred"

    # Values ---------------------------------------------------------------------------------------------

    def _vector(self, operand: Vector, type_word: str, place: Rule) -> Iterator[tuple[str, str, int | None]]:
        declared = [self._declared(item, place) for item in operand.items]
        constants = [_constant_type(item) for item in operand.items]
        inferred = inferred_type(declared, constants)
        accepted = not (place.registers_only and "pred" in declared) and (
            inferred in holders(type_word, place.accepts, place.implied)
            or (inferred == "pred" and self._eases(place, "predicate"))
        )
        if place.access == "read" and any(constants) and "special" in map(self._sort, operand.items):
            yield "has a special register beside constants", "registers, or constants, alone", None
            return
        clean = True
        for k, (item, name, constant) in enumerate(zip(operand.items, declared, constants, strict=True)):
            if accepted and (name or (constant and place.access == "read" and not place.registers_only)):
                continue  # what makes the type of the vector is judged together
            if item == Name("_") and "gap" in place.allows:
                continue
            wrong = self._value(item, place, type_word, in_vector=True)
            if wrong is not None:
                clean = False
                yield (*wrong, k)
        if clean and not inferred and any(declared):
            shown = ", ".join(dict.fromkeys(f".{name}" for name in declared if name))
            mixed = "registers of" if not any(constants) else "constants with registers of"
            yield f"mixes {mixed} {shown}", "one type", None
        if clean and place.registers_only and not any(declared) and "s64" in constants:
            yield "has nothing but numbers", "at least one register", None
        sinks = [item for item in operand.items if item == Name("_")]
        if clean and len(sinks) == len(operand.items):
            yield "has nothing but sinks", "at least one register", None

    def _unavailable(self, operand: Vector) -> Iterator[tuple[str, str, int | None]]:
        """The special registers in a vector that the target or the version does not have."""
        for k, item in enumerate(operand.items):
            meaning = self.names.find(item.text) if isinstance(item, Name) else None
            lack = self._lack(meaning) if isinstance(meaning, SpecialRegister) else None
            if lack is not None:
                yield (*lack, k)

    def _odd_items(
        self, operand: Vector, type_word: str, place: Rule, hold: FragmentRegisters
    ) -> Iterator[tuple[str, str, int | None]]:
        """What a vector may not hold, in a place that says what it may."""
        expected = _expected_type(place, type_word)
        taken = holders(type_word, place.accepts, place.implied)
        sorts = [self._sort(item) for item in operand.items]
        declared = [self._declared(item, place) for item in operand.items]
        constants = [_constant_type(item) for item in operand.items]
        for k, (item, sort) in enumerate(zip(operand.items, sorts, strict=True)):
            coded = isinstance(item, Float) and item.width == 32 and "coded" in hold.words
            if sort not in ("", *hold.words) and not coded:
                yield f"has {describe(item)} in its vector", expected, k
        size, count = hold.group or len(sorts), hold.judged or len(sorts)
        for first in range(0, count if hold.group or all(constants) else 0, size):
            registers, numbers = declared[first : first + size], constants[first : first + size]
            if any(registers) and inferred_type(registers, numbers) not in taken:
                yield f"has {describe(operand.items[first])} in its vector", expected, first
            if all(numbers) and "constants" not in hold.words and not {*numbers} <= taken:
                yield "has nothing but constants", expected, None
        if "special" in sorts and any(constants):
            yield "has a special register beside constants", expected, None

    def _sort(self, item: Operand) -> str:
        """What an item of a vector is beside a register, in a word of Hold."""
        match item:
            case Integer():
                return "integer"
            case Float():
                return "float"
            case Name("_"):
                return "sink"
            case Name(text):
                meaning = self.names.find(text)
                if isinstance(meaning, SpecialRegister):
                    return "special"
                return "predicate" if isinstance(meaning, Variable) and meaning.type == "pred" else ""
            case _:
                return ""

    def _declared(self, item: Operand, place: Rule) -> str:
        """The type that a register in a vector brings; that of a special one is bits."""
        meaning = self.names.find(item.text) if isinstance(item, Name) else None
        hard = place.registers_only and "special" not in place.extensions
        if isinstance(meaning, SpecialRegister) and self.lenient and not hard:
            self.eased.add("special")
            return "pred" if meaning.type == "pred" else f"b{TYPES[meaning.type].bits}"
        if not isinstance(meaning, Variable) or meaning.space != "reg":
            return ""
        return meaning.type if meaning.type in DECLARABLE else ""

    def _value(
        self, operand: Operand, place: Rule, type_word: str, *, in_vector: bool
    ) -> tuple[str, str] | None:
        expected = _expected_type(place, type_word)
        match operand:
            case Name("_"):
                return self._sink(place, in_vector)
            case Name(text):
                return self._name(text, place, type_word, in_vector)
            case Negated(name, sign):
                meaning = self.names.find(name)
                if meaning is None:
                    return None
                is_minus = sign == "-" and "minus" in place.allows
                is_read = place.access == "read"
                if sign == "!" and type_word != "pred" and is_read and self._eases(place, "predicate"):
                    return self._name(name, PREDICATE, "pred", in_vector)
                is_packed = isinstance(meaning, Variable) and meaning.type == "f16x2"
                if is_packed or (not is_minus and (sign != "!" or type_word != "pred" or not is_read)):
                    return f"is '{sign}{name}'", expected
                return self._name(name, replace(place, extensions=()), type_word, in_vector)
            case Integer() | Float() | Symbol() if place.access != "read" or place.accepts == "bits":
                return f"is {describe(operand)}", expected
            case Integer():
                if not takes_integers(type_word):
                    return (
                        f"is the integer {operand.text}",
                        f"a constant such as 1.0 or 0f3F800000, or {expected}",
                    )
                return None
            case Float(_, width):
                coded = place.accepts != "coded" or width == TYPES[type_word].bits
                if not coded or not takes_floats(type_word, width):
                    return f"is the floating constant {operand.text}", expected
                return None
            case Symbol(name) if operand.generic or operand.mask is not None:
                return f"makes an address from '{name}' as initial values alone do", expected
            case Symbol(name):
                meaning = self.names.find(name)
                if isinstance(meaning, Function):
                    return f"is an address made from the function '{name}'", expected
                if isinstance(meaning, Variable) and meaning.space == "reg":
                    if not self.lenient or in_vector or place.selector:
                        return f"adds to the register '{name}'", expected
                    self.eased.add("sum")
                    is_number = meaning.type[0] in "bus" and type_word != "pred"
                    is_judged = place.type in TYPES and type_word[0] != "b"
                    return (
                        None if is_number and not is_judged else self._name(name, place, type_word, in_vector)
                    )
                is_plain = place.registers_only or bool(place.selector)
                if meaning is None or (takes_integers(type_word) and type_word != "pred" and not is_plain):
                    return None
                return f"is an address made from '{name}'", expected
            case _:
                return f"is {describe(operand)}", expected

    def _eases(self, place: Rule, what: str) -> bool:
        if not self.lenient or what not in place.extensions:
            return False
        self.eased.add(what)
        return True

    def _sink(self, place: Rule, in_vector: bool) -> tuple[str, str] | None:
        if place.access == "write" and ("sink" in place.allows or (in_vector and not place.registers_only)):
            return None
        if place.access == "read":
            return "is the sink '_'", "a value"
        return "is the sink '_'", "a register, for the result may not be dropped here"

    def _name(self, text: str, place: Rule, type_word: str, in_vector: bool) -> tuple[str, str] | None:
        meaning = self.names.find(text)
        expected = _expected_type(place, type_word)
        match meaning:
            case None:
                return None
            case Variable() if meaning.space == "reg":
                if meaning.vector != 1:
                    return f"is the vector register '{text}'", expected
                if meaning.type in holders(type_word, place.accepts, place.implied):
                    return None
                if meaning.type == "pred" and not in_vector and self._eases(place, "predicate"):
                    return None
                if meaning.type == "f16x2" and type_word == "pred" and self._eases(place, "packed"):
                    return None
                stands = not place.is_fragment and ("integers" in place.allows or type_word == "f64")
                if in_vector and stands and meaning.type in _INTEGERS.get(type_word, ()):
                    return None
                return f"is the register '{text}' of .{meaning.type}", expected
            case Part():
                return f"is '.{meaning.selector}' of a register", expected
            case SpecialRegister():
                return self._special(meaning, place, type_word)
            case Variable() | Function():
                if place.access != "read":
                    return f"is the variable '{text}'", expected
                if isinstance(meaning, Function) and not in_vector and self._eases(place, "function"):
                    return None
                if "symbol" not in place.allows or not takes_integers(type_word) or type_word == "pred":
                    return f"is the address of '{text}'", expected
                if (
                    isinstance(meaning, Variable)
                    and meaning.space == "param"
                    and self.names.role(text) == "call"
                ):
                    return f"is the address of the parameter '{text}' of a call", expected
                return None
            case Label():
                return f"is the label '{text}'", expected

    def _special(self, register: SpecialRegister, place: Rule, type_word: str) -> tuple[str, str] | None:
        expected = _expected_type(place, type_word)
        if place.access != "read":
            return f"is the special register '{register.name}', which cannot be written", expected
        if "special" not in place.allows:
            return f"is the special register '{register.name}', which only a move can read", expected
        lack = self._lack(register)
        wide = place.accepts == "wide" and TYPES[type_word].kind != "float"
        if (
            lack is not None
            or register.holds(type_word)
            or (wide and register.type in holders(type_word, "wide"))
        ):
            return lack
        return f"is the special register '{register.name}' of .{register.type}", expected

    def _lack(self, register: SpecialRegister) -> tuple[str, str] | None:
        needed = read_target(register.target) if register.target else None
        if needed is not None and not self.target.has(needed):
            return f"is '{register.name}', which needs {register.target} or higher", ""
        if self.ptx < register.ptx:
            return f"is '{register.name}', which needs PTX {register.ptx[0]}.{register.ptx[1]}", ""
        return None

    def _symbol(self, operand: Operand, type_word: str, place: Rule, space: str) -> tuple[str, str] | None:
        """The address of a variable in a place that asks for one of a state space, or is too narrow for it."""
        name = (
            operand.text if isinstance(operand, Name) else operand.name if isinstance(operand, Symbol) else ""
        )
        meaning = self.names.find(name) if "symbol" in place.allows else None
        wanted = space.partition("::")[0]
        if isinstance(meaning, Variable) and meaning.space != "reg":
            if wanted not in ("", "?", meaning.space):
                return f"is the address of '{name}' in .{meaning.space}", f"a variable in .{wanted}"
            if meaning.space == "global" and TYPES[type_word].bits == 32:
                return f"is the address of '{name}' in .global, which has 64 bits", "one in another space"
        elif isinstance(meaning, Function) and wanted not in ("", "?") and "function" not in self.eased:
            return f"is the address of '{name}'", f"a variable in .{wanted}"
        return None

    # Addresses and labels -------------------------------------------------------------------------------

    def _label(self, operand: Operand) -> Iterator[tuple[str, str, int | None]]:
        if not isinstance(operand, Name):
            return
        if operand.text == "_":
            yield "is the sink '_'", "a label", None
            return
        meaning = self.names.find(operand.text)
        table = self.names.table(operand.text)
        if table is not None:
            yield f"is the label of a {table.name}", "the label of an instruction", None
        elif self.names.label(operand.text) is None and meaning is not None:
            yield f"is {_what(operand.text, meaning)}", "a label", None

    def _address(
        self, match: Match, bound: BoundOperand, place: Rule
    ) -> Iterator[tuple[str, str, int | None]]:
        operand, barred = bound.operand, place.refused_bases
        space = bound.place.space_word(match.slots)
        if not isinstance(operand, Address):
            if self._eases(place, "bare") and isinstance(operand, Name):
                wrong = self._base(operand.text, space, place, barred)
                if wrong is not None:
                    yield (*wrong, None)
            return
        base = operand.base
        if base is None:
            if space != "local" and not self._eases(place, "base"):
                yield "is an address without a base", "a register or a variable", None
        elif base == Name("_"):
            yield "has the sink for a base", "a register or a variable", 0
        elif isinstance(base, Name):
            if space == "tensor":
                wrong = self._tensor_base(base.text, bound.type, place)
            else:
                wrong = self._base(base.text, space, place, barred)
            if wrong is not None:
                yield (*wrong, 0)
        if operand.unified and not self._may_be_unified(base, space, place):
            yield "is '.unified'", "a register with a generic or global address that is read", None
        if operand.extra and operand.offset:
            yield "has an offset beside its coordinates", "a register or a variable alone", 0
        for vector in operand.extra:
            if isinstance(vector, Vector):
                for what, expected, _ in self._vector(vector, "s32", COORDINATE):
                    yield f"has a coordinate that {what}", expected, 1

    def _may_be_unified(self, base: Operand | None, space: str, place: Rule) -> bool:
        meaning = self.names.find(base.text) if isinstance(base, Name) else None
        held = isinstance(meaning, Variable) and meaning.space == "reg"
        return held and space in ("", "global") and "unified" in place.allows

    def _tensor_base(self, text: str, type_word: str, place: Rule) -> tuple[str, str] | None:
        meaning = self.names.find(text)
        taken = holders(type_word) if place.accepts == "same" else {f"b{TYPES[type_word].bits}"}
        if meaning is None or (
            isinstance(meaning, Variable) and meaning.space == "reg" and meaning.type in taken
        ):
            return None
        return f"has {_what(text, meaning)} for a base", f"a register of {_dotted(frozenset(taken))}"

    def _base(self, text: str, space: str, place: Rule, barred: Collection[int]) -> tuple[str, str] | None:
        meaning = self.names.find(text)
        if meaning is None:
            return None
        if isinstance(meaning, Variable) and meaning.space == "reg":
            is_whole = meaning.type[0] in "bus" and meaning.type != "b128"
            if is_whole and int(meaning.type[1:]) not in barred:
                return None
            if meaning.type != "b128" and self._eases(place, "base"):
                return None
            movable = not barred or meaning.type == "f64"
            if meaning.type != "pred" and movable and self._eases(place, "untyped"):
                return None
            return f"has the register '{text}' of .{meaning.type} for a base", "one of .b64, .u64 or .s64"
        if isinstance(meaning, SpecialRegister):
            is_whole = "." not in text and meaning.type != "pred"
            if is_whole and self._eases(place, "special"):
                return self._lack(meaning)
        if not isinstance(meaning, Variable):
            return f"has {_what(text, meaning)} for a base", "a register or a variable"
        if space == "register":
            return f"has the variable '{text}' for a base", "a register"
        if meaning.space == "param" and space.startswith("param"):
            return self._parameter(text, space, place)
        wanted = space.partition("::")[0]
        if wanted in ("?", meaning.space) or (wanted == "" and meaning.space in _GENERIC):
            return None
        where = f"a variable in .{wanted}" if wanted else "a variable in .global, .shared or .local"
        return f"has '{text}' in .{meaning.space} for a base", where

    def _parameter(self, text: str, space: str, place: Rule) -> tuple[str, str] | None:
        """A kernel's parameters, a function's, and those of a call are spaces apart; what goes in is not
        written.
        """
        role = self.names.role(text)
        if "output" in place.allows and role in ("entry", "input"):
            return f"has the parameter '{text}' for a base, which is not written", "one that goes out"
        if space == "param::entry" and role != "entry":
            return f"has '{text}' for a base", "a parameter of the kernel"
        if space == "param::func" and role == "entry":
            return f"has the kernel's parameter '{text}' for a base", "a parameter of a function or of a call"
        return None


def _constant_type(item: Operand) -> str:
    """The type that a constant in a vector brings."""
    if isinstance(item, Float):
        return f"f{item.width or 64}"
    return "s64" if isinstance(item, Integer) else ""


def _what(text: str, meaning: object) -> str:
    match meaning:
        case Variable():
            return (
                f"the register '{text}' of .{meaning.type}"
                if meaning.space == "reg"
                else f"the variable '{text}'"
            )
        case Function():
            return f"the function '{text}'"
        case Label():
            return f"the label '{text}'"
        case SpecialRegister():
            return f"the special register '{text}'"
        case _:
            return f"'{text}'"


def _expected_type(place: Rule, type_word: str) -> str:
    if type_word == "pred":
        return "a predicate"
    return f"a register of {_dotted(holders(type_word, place.accepts, place.implied))}"


@lru_cache(maxsize=512)
def _dotted(types: frozenset[str]) -> str:
    shown = sorted(types, key=_order)
    return ", ".join(f".{name}" for name in shown[:6]) + (", …" if len(shown) > 6 else "")


def _order(declared: str) -> tuple[int, str]:
    return (128 if declared == "b128" else TYPES[declared].bits, declared)
