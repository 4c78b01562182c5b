"""Check of operands against the operand specifications of a Form."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TypeGuard

from warploom import ptx
from warploom.check.calls import call_problems
from warploom.check.names import Names, Part, Referent
from warploom.check.operand_rule import COORDINATE, PREDICATE, Rule
from warploom.check.ptxas import operands as ptxas
from warploom.check.ptxas.fragment_registers import FragmentRegisters
from warploom.isa.binding.operands import BoundOperand, Extensions, Problem, describe, no_extensions
from warploom.isa.model.availability import Target, Version, read_target
from warploom.isa.model.form import Match
from warploom.isa.model.registers import DECLARABLE, inferred_type, register_types, takes_floats, takes_integers
from warploom.isa.model.special_registers import SpecialRegister
from warploom.isa.model.types import TYPES

_Fault = tuple[str, str]
"""Description of an illegal operand, and of a legal one."""

_ItemFault = tuple[str, str, int | None]
"""Description of an illegal operand, of a legal one, and the index of the illegal item in a vector."""

_GENERIC = frozenset({"global", "shared", "local"})
_INTEGERS = {"f16": ("u16", "s16"), "f32": ("u32", "s32"), "f64": ("u64", "s64")}


def names_in(operand: ptx.Operand) -> Iterator[str]:
    """Yield every name in an operand, except for the sink `_`."""
    match operand:
        case ptx.Name(text):
            if text != "_":
                yield text
        case ptx.Negated(name) | ptx.Symbol(name):
            yield name
        case ptx.Element(name, index):
            yield name
            yield from names_in(index)
        case ptx.Pair(first, second):
            yield from names_in(first)
            yield from names_in(second)
        case ptx.Vector(items) | ptx.Tuple(items):
            for item in items:
                yield from names_in(item)
        case ptx.Address(base, _, extra):
            for part in (base, *extra):
                if part is not None:
                    yield from names_in(part)
        case _:
            return


class OperandChecker:
    """Checker of the operands of single instructions in the scope `names`.

    With `with_extensions`, operands that the manual forbids and ptxas accepts are legal too.
    """

    def __init__(self, names: Names, target: Target, ptx: Version, *, with_extensions: bool = False) -> None:
        self.names = names
        self.target = target
        self.ptx = ptx
        self.with_extensions = with_extensions
        self.used_extensions: set[str] = set()  # extensions that operands needed

    def extensions(self, match: Match) -> Extensions:
        """Return a function from the name of an operand to its legal ptxas extensions."""
        if not self.with_extensions:
            return no_extensions

        def found(name: str) -> Collection[str]:
            fragment_rule = ptxas.fragment_rule(match.form, name)
            if fragment_rule is not None:
                return fragment_rule(match.slots, self.target.number).extensions
            return ptxas.extensions_of(match.form, name, match.slots, self.target.number)

        return found

    def problems(self, match: Match, operands: dict[str, BoundOperand]) -> list[Problem]:
        """Return the problems of the operands of a matched instruction."""
        problems: list[Problem] = []
        valid = self._valid_parts(match, operands)
        for name, bound in operands.items():
            for fault, expected, item in () if name in valid else self._check(match, name, bound):
                shown = name.replace("_", "-").strip("-") or "_"
                where = ("operand", *bound.at)
                where = where if item is None or len(bound.at) > 1 else (*where, item)
                message = f"operand {shown} {fault}" + (f"; expected {expected}" if expected else "")
                problems.append(Problem(f"{match.form.name}/{name}", message, where, "", match.form.source))
        problems += call_problems(match, operands, self.names)
        return problems

    def _valid_parts(self, match: Match, operands: dict[str, BoundOperand]) -> set[str]:
        """Return the names of the operands whose vector is legal as a whole."""
        found: set[str] = set()
        for pattern in match.form.syntax.operands:
            parts = {name: operands[name] for name in pattern.parts if name in operands}
            rules = {name: self._rule(match, name) for name in parts}
            declared = [self._declared(part.operand, rules[name]) for name, part in parts.items()]
            inferred = inferred_type(declared, [_constant_type(part.operand) for part in parts.values()])
            # The common type of the registers must be legal for each operand in the vector.
            if "pred" not in declared and all(inferred in register_types(part.type) for part in parts.values()):
                found |= parts.keys()
        return found

    def _rule(self, match: Match, name: str) -> Rule:
        return Rule.on_target(match, name, self.target.number)

    def _check(self, match: Match, name: str, bound: BoundOperand) -> Iterator[_ItemFault]:
        operand, rule = bound.operand, self._rule(match, name)
        if not self._has(bound.spec.legal.target):
            yield f"needs {bound.spec.legal.target}; the target is {self.target.name}", "", None
        fragment_rule = ptxas.fragment_rule(match.form, name)
        fragment = None if fragment_rule is None else fragment_rule(match.slots, self.target.number)
        if fragment is not None:
            rule = rule.for_fragment(fragment)
            bound = replace(bound, type=fragment.type)
        wrong = None
        if rule.kind == "address":
            yield from self._address(match, bound, rule)
        elif rule.kind == "label":
            wrong = self._label(operand)
        elif rule.kind not in ("register", "predicate", "any"):
            return
        elif not isinstance(operand, ptx.Vector):
            wrong = self._scalar(match, bound, rule)
        elif bound.registers == 0 and not self._allows(rule, "vector", "vectors"):
            wrong = f"is {describe(operand)}", _expected_type(rule, bound.type)
        else:
            illegal = list(self._unavailable(operand))
            illegal += [] if fragment is None else self._illegal_items(operand, bound.type, rule, fragment)
            yield from illegal or self._vector(operand, bound.type, rule)
        if wrong is not None:
            yield (*wrong, None)

    def _scalar(self, match: Match, bound: BoundOperand, rule: Rule) -> _Fault | None:
        operand = bound.operand
        if bound.registers != 0 and operand != ptx.Name("_") and not self._allows(rule, "bare"):
            return f"is {describe(operand)}", "a vector"
        register = self._register(operand)
        is_predicate = isinstance(operand, ptx.Negated) or (register is not None and register.type == "pred")
        type_word = "pred" if rule.kind == "any" and is_predicate else bound.type
        operand = self._without_selector(operand, rule.selector)
        space = bound.spec.space_word(match.slots)
        return self._value(operand, rule, type_word, in_vector=False) or self._symbol(operand, bound.type, rule, space)

    def _without_selector(self, operand: ptx.Operand, parts: str) -> ptx.Operand:
        """Return an operand without its selector, such as `.b0`, if the pattern `parts` permits the selector."""
        if not parts or not isinstance(operand, (ptx.Name, ptx.Negated)):
            return operand
        text = operand.text if isinstance(operand, ptx.Name) else operand.name
        referent = self.names.find(text)
        if not isinstance(referent, Part) or re.fullmatch(parts, referent.selector) is None:
            return operand
        register = text.rpartition(".")[0]
        return ptx.Name(register) if isinstance(operand, ptx.Name) else ptx.Negated(register, operand.sign)

    def _referent(self, operand: ptx.Operand | None) -> Referent:
        return self.names.find(operand.text) if isinstance(operand, ptx.Name) else None

    def _register(self, operand: ptx.Operand | None) -> ptx.Variable | None:
        referent = self._referent(operand)
        return referent if _is_register(referent) else None

    def _has(self, target: str) -> bool:
        needed = read_target(target) if target else None
        return needed is None or self.target.has(needed)

    def _allows(self, rule: Rule, *kinds: str) -> bool:
        """Return True if `rule` permits one of the ptxas extensions `kinds`, and record its use."""
        for kind in kinds if self.with_extensions else ():
            if kind in rule.extensions:
                self.used_extensions.add(kind)
                return True
        return False

    # Values ---------------------------------------------------------------------------------------------

    def _vector(self, operand: ptx.Vector, type_word: str, rule: Rule) -> Iterator[_ItemFault]:
        declared = [self._declared(item, rule) for item in operand.items]
        constants = [_constant_type(item) for item in operand.items]
        inferred = inferred_type(declared, constants)
        accepted = not (rule.registers_only and "pred" in declared) and (
            inferred in register_types(type_word, rule.accepts, rule.implied)
            or (inferred == "pred" and self._allows(rule, "predicate"))
        )
        if rule.access == "read" and any(constants) and "special" in map(self._item_kind, operand.items):
            yield "mixes a special register with constants", "registers only or constants only", None
            return
        clean = True
        for k, (item, name, constant) in enumerate(zip(operand.items, declared, constants, strict=True)):
            if accepted and (name or (constant and rule.access == "read" and not rule.registers_only)):
                continue  # these items determine the type of the vector, which is legal
            if item == ptx.Name("_") and "gap" in rule.allows:
                continue
            wrong = self._value(item, rule, type_word, in_vector=True)
            if wrong is not None:
                clean = False
                yield (*wrong, k)
        if clean and not inferred and any(declared):
            shown = ", ".join(dict.fromkeys(f".{name}" for name in declared if name))
            mixed = "registers of" if not any(constants) else "constants with registers of"
            yield f"mixes {mixed} {shown}", "one type", None
        if clean and rule.registers_only and not any(declared) and "s64" in constants:
            yield "has constants only", "at least one register", None
        sinks = [item for item in operand.items if item == ptx.Name("_")]
        if clean and len(sinks) == len(operand.items):
            yield "has sinks only", "at least one register", None

    def _unavailable(self, operand: ptx.Vector) -> Iterator[_ItemFault]:
        for k, item in enumerate(operand.items):
            referent = self._referent(item)
            lack = self._lack(referent) if isinstance(referent, SpecialRegister) else None
            if lack is not None:
                yield (*lack, k)

    def _illegal_items(
        self, operand: ptx.Vector, type_word: str, rule: Rule, fragment: FragmentRegisters
    ) -> Iterator[_ItemFault]:
        """Yield a fault for each illegal item of a vector that holds a matrix fragment."""
        expected = _expected_type(rule, type_word)
        legal_types = register_types(type_word, rule.accepts, rule.implied)
        kinds = [self._item_kind(item) for item in operand.items]
        declared = [self._declared(item, rule) for item in operand.items]
        constants = [_constant_type(item) for item in operand.items]
        for k, (item, kind) in enumerate(zip(operand.items, kinds, strict=True)):
            coded = isinstance(item, ptx.Float) and item.width == 32 and "coded" in fragment.words
            if kind not in ("", *fragment.words) and not coded:
                yield f"has {describe(item)} in its vector", expected, k
        size, count = fragment.group or len(kinds), fragment.judged or len(kinds)
        for first in range(0, count if fragment.group or all(constants) else 0, size):
            registers, numbers = declared[first : first + size], constants[first : first + size]
            if any(registers) and inferred_type(registers, numbers) not in legal_types:
                yield f"has {describe(operand.items[first])} in its vector", expected, first
            if all(numbers) and "constants" not in fragment.words and not {*numbers} <= legal_types:
                yield "has constants only", expected, None
        if "special" in kinds and any(constants):
            yield "mixes a special register with constants", expected, None

    def _item_kind(self, item: ptx.Operand) -> str:
        """Return the kind of a vector item, a word of `FragmentRegisters`, or "" for a plain register."""
        match item:
            case ptx.Integer():
                return "integer"
            case ptx.Float():
                return "float"
            case ptx.Name("_"):
                return "sink"
            case ptx.Name(text):
                referent = self.names.find(text)
                if isinstance(referent, SpecialRegister):
                    return "special"
                return "predicate" if isinstance(referent, ptx.Variable) and referent.type == "pred" else ""
            case _:
                return ""

    def _declared(self, item: ptx.Operand, rule: Rule) -> str:
        """Return the type of a register or special register, or "" for any other item."""
        referent = self._referent(item)
        hard = rule.registers_only and "special" not in rule.extensions
        if isinstance(referent, SpecialRegister) and self.with_extensions and not hard:
            self.used_extensions.add("special")
            return "pred" if referent.type == "pred" else f"b{TYPES[referent.type].bits}"
        register = self._register(item)
        return register.type if register is not None and register.type in DECLARABLE else ""

    def _value(self, operand: ptx.Operand, rule: Rule, type_word: str, *, in_vector: bool) -> _Fault | None:
        expected = _expected_type(rule, type_word)
        match operand:
            case ptx.Name("_"):
                return self._sink(rule, in_vector)
            case ptx.Name(text):
                return self._name(text, rule, type_word, in_vector)
            case ptx.Negated(name, sign):
                return self._negated(name, sign, rule, type_word, in_vector)
            case ptx.Integer() | ptx.Float() | ptx.Symbol() if rule.access != "read" or rule.accepts in (
                "bits",
                "packed",
            ):
                return f"is {describe(operand)}", expected
            case ptx.Integer():
                if takes_integers(type_word):
                    return None
                constants = "a constant such as 1.0 or 0f3F800000"
                return f"is the integer {operand.text}", f"{constants}, or {expected}"
            case ptx.Float(_, width):
                fits = rule.accepts != "coded" or width == TYPES[type_word].bits
                if fits and takes_floats(type_word, width):
                    return None
                return f"is the floating constant {operand.text}", expected
            case ptx.Symbol():
                return self._sum(operand, rule, type_word, in_vector)
            case _:
                return f"is {describe(operand)}", expected

    def _negated(self, name: str, sign: str, rule: Rule, type_word: str, in_vector: bool) -> _Fault | None:
        referent = self.names.find(name)
        if referent is None:
            return None
        is_read = rule.access == "read"
        if sign == "!" and type_word != "pred" and is_read and self._allows(rule, "predicate"):
            return self._name(name, PREDICATE, "pred", in_vector)
        is_legal = "minus" in rule.allows if sign == "-" else type_word == "pred" and is_read
        if not is_legal or (isinstance(referent, ptx.Variable) and referent.type == "f16x2"):
            return f"is '{sign}{name}'", _expected_type(rule, type_word)
        return self._name(name, replace(rule, extensions=()), type_word, in_vector)

    def _sum(self, symbol: ptx.Symbol, rule: Rule, type_word: str, in_vector: bool) -> _Fault | None:
        """Return the fault of an operand such as `x+4` (a name plus a number), or None.

        `type_word` is the legal type of the operand.
        """
        expected = _expected_type(rule, type_word)
        name = symbol.name
        if symbol.generic or symbol.mask is not None:
            return f"is '{symbol}', which is legal in initial values only", expected
        referent = self.names.find(name)
        if isinstance(referent, ptx.Function):
            return f"is an address made from the function '{name}'", expected
        takes_address = takes_integers(type_word) and type_word != "pred"
        if _is_register(referent):
            if not self.with_extensions or in_vector or rule.selector:
                return f"is the register '{name}' plus a number", expected
            self.used_extensions.add("sum")
            has_type = rule.type in TYPES and type_word[0] != "b"
            if referent.type[0] in "bus" and type_word != "pred" and not has_type:
                return None
            return self._name(name, rule, type_word, in_vector)
        if referent is None or (takes_address and not (rule.registers_only or rule.selector)):
            return None
        return f"is an address made from '{name}'", expected

    def _sink(self, rule: Rule, in_vector: bool) -> _Fault | None:
        if rule.access == "write" and ("sink" in rule.allows or (in_vector and not rule.registers_only)):
            return None
        if rule.access == "read":
            return "is the sink '_'", "a value"
        return "is the sink '_'", "a register, because this result cannot be discarded"

    def _name(self, text: str, rule: Rule, type_word: str, in_vector: bool) -> _Fault | None:
        referent = self.names.find(text)
        expected = _expected_type(rule, type_word)
        match referent:
            case None:
                return None
            case ptx.Variable() if referent.space == "reg":
                is_legal = referent.vector == 1 and (
                    referent.type in register_types(type_word, rule.accepts, rule.implied)
                    or (referent.type == "pred" and not in_vector and self._allows(rule, "predicate"))
                    or (referent.type == "f16x2" and type_word == "pred" and self._allows(rule, "packed"))
                    or (in_vector and referent.type in _integers(rule, type_word))
                )
                kind = f"register '{text}' of .{referent.type}" if referent.vector == 1 else f"vector register '{text}'"
                return None if is_legal else (f"is the {kind}", expected)
            case Part():
                return f"is '.{referent.selector}' of a register", expected
            case SpecialRegister():
                return self._special(referent, rule, type_word)
            case ptx.Variable() | ptx.Function():
                if rule.access != "read":
                    return f"is the variable '{text}'", expected
                if isinstance(referent, ptx.Function) and not in_vector and self._allows(rule, "function"):
                    return None
                if "symbol" not in rule.allows or not takes_integers(type_word) or type_word == "pred":
                    return f"is the address of '{text}'", expected
                is_parameter = isinstance(referent, ptx.Variable) and referent.space == "param"
                if is_parameter and self.names.role(text) == "call":
                    return f"is the address of the parameter '{text}' of a call", expected
                return None
            case ptx.Label():
                return f"is the label '{text}'", expected

    def _special(self, register: SpecialRegister, rule: Rule, type_word: str) -> _Fault | None:
        expected = _expected_type(rule, type_word)
        if rule.access != "read":
            return f"is the special register '{register.name}', which cannot be written", expected
        if "special" not in rule.allows:
            return f"is the special register '{register.name}', which only a move can read", expected
        lack = self._lack(register)
        wide = rule.accepts == "wide" and TYPES[type_word].kind != "float"
        fits = register.holds(type_word) or (wide and register.type in register_types(type_word, "wide"))
        if lack is not None or fits:
            return lack
        return f"is the special register '{register.name}' of .{register.type}", expected

    def _lack(self, register: SpecialRegister) -> _Fault | None:
        if not self._has(register.target):
            needed = f"{register.target} or higher; the target is {self.target.name}"
            return f"is '{register.name}', which needs {needed}", ""
        if self.ptx < register.ptx:
            needed, have = (f"PTX {major}.{minor}" for major, minor in (register.ptx, self.ptx))
            return f"is '{register.name}', which needs {needed}; the text is {have}", ""
        return None

    def _symbol(self, operand: ptx.Operand, type_word: str, rule: Rule, space: str) -> _Fault | None:
        """Return the fault of the address of a variable in a wrong state space or of a wrong width, or None."""
        if "symbol" not in rule.allows or not isinstance(operand, (ptx.Name, ptx.Symbol)):
            return None
        name = operand.text if isinstance(operand, ptx.Name) else operand.name
        referent = self.names.find(name)
        legal_space = space.partition("::")[0]
        if isinstance(referent, ptx.Variable) and referent.space != "reg":
            if legal_space not in ("", "?", referent.space):
                return f"is the address of '{name}' in .{referent.space}", f"a variable in .{legal_space}"
            if referent.space == "global" and TYPES[type_word].bits == 32:
                return f"is the address of '{name}' in .global, which has 64 bits", "an address in another state space"
        is_function = isinstance(referent, ptx.Function) and "function" not in self.used_extensions
        if is_function and legal_space not in ("", "?"):
            return f"is the address of '{name}'", f"a variable in .{legal_space}"
        return None

    # Addresses and labels -------------------------------------------------------------------------------

    def _label(self, operand: ptx.Operand) -> _Fault | None:
        if operand == ptx.Name("_"):
            return "is the sink '_'", "a label"
        if not isinstance(operand, ptx.Name):
            return None
        referent = self.names.find(operand.text)
        table = self.names.table(operand.text)
        if table is not None:
            return f"is the label of a {table.name}", "the label of an instruction"
        if self.names.label(operand.text) is None and referent is not None:
            return f"is {_described(operand.text, referent)}", "a label"
        return None

    def _address(self, match: Match, bound: BoundOperand, rule: Rule) -> Iterator[_ItemFault]:
        operand, refused = bound.operand, rule.refused_bases
        space = bound.spec.space_word(match.slots)
        if not isinstance(operand, ptx.Address):
            if self._allows(rule, "bare") and isinstance(operand, ptx.Name):
                wrong = self._base(operand.text, space, rule, refused)
                if wrong is not None:
                    yield (*wrong, None)
            return
        base = operand.base
        if base is None:
            if space != "local" and not self._allows(rule, "base"):
                yield "is an address without a base", "a register or a variable", None
        elif base == ptx.Name("_"):
            yield "has the sink as its base", "a register or a variable", 0
        elif isinstance(base, ptx.Name):
            if space == "tensor":
                wrong = self._tensor_base(base.text, bound.type, rule)
            else:
                wrong = self._base(base.text, space, rule, refused)
            if wrong is not None:
                yield (*wrong, 0)
        may_be_unified = self._register(base) and space in ("", "global") and "unified" in rule.allows
        if operand.unified and not may_be_unified:
            yield "has '.unified'", "a load from a generic or global address in a register", None
        if operand.extra and operand.offset:
            yield "has an offset beside its coordinates", "a register or a variable without an offset", 0
        for vector in operand.extra:
            if isinstance(vector, ptx.Vector):
                for what, expected, _ in self._vector(vector, "s32", COORDINATE):
                    yield f"has a coordinate that {what}", expected, 1

    def _tensor_base(self, text: str, type_word: str, rule: Rule) -> _Fault | None:
        referent = self.names.find(text)
        legal_types = register_types(type_word) if rule.accepts == "same" else {f"b{TYPES[type_word].bits}"}
        if referent is None or (_is_register(referent) and referent.type in legal_types):
            return None
        return f"has {_described(text, referent)} as its base", f"a register of {_dotted(frozenset(legal_types))}"

    def _base(self, text: str, space: str, rule: Rule, refused: Collection[int]) -> _Fault | None:
        referent = self.names.find(text)
        if referent is None:
            return None
        if _is_register(referent):
            is_whole = referent.type[0] in "bus" and referent.type != "b128"
            if is_whole and int(referent.type[1:]) not in refused:
                return None
            if referent.type != "b128" and self._allows(rule, "base"):
                return None
            movable = not refused or referent.type == "f64"
            if referent.type != "pred" and movable and self._allows(rule, "untyped"):
                return None
            return f"has the register '{text}' of .{referent.type} as its base", "one of .b64, .u64 or .s64"
        if isinstance(referent, SpecialRegister):
            is_whole = "." not in text and referent.type != "pred"
            if is_whole and self._allows(rule, "special"):
                return self._lack(referent)
        if not isinstance(referent, ptx.Variable):
            return f"has {_described(text, referent)} as its base", "a register or a variable"
        if space == "register":
            return f"has the variable '{text}' as its base", "a register"
        if referent.space == "param" and space.startswith("param"):
            return self._parameter(text, space, rule)
        legal_space = space.partition("::")[0]
        if legal_space in ("?", referent.space) or (legal_space == "" and referent.space in _GENERIC):
            return None
        where = f"a variable in .{legal_space}" if legal_space else "a variable in .global, .shared or .local"
        return f"has '{text}' in .{referent.space} as its base", where

    def _parameter(self, text: str, space: str, rule: Rule) -> _Fault | None:
        """Return the fault of a parameter as the base of an address, or None for a legal base."""
        role = self.names.role(text)
        if "output" in rule.allows and role in ("entry", "input"):
            return f"has the read-only input parameter '{text}' as its base", "an output parameter"
        if space == "param::entry" and role != "entry":
            return f"has '{text}' as its base", "a parameter of the kernel"
        if space == "param::func" and role == "entry":
            return f"has the kernel parameter '{text}' as its base", "a parameter of a function or call"
        return None


def _constant_type(item: ptx.Operand) -> str:
    if isinstance(item, ptx.Float):
        return f"f{item.width or 64}"
    return "s64" if isinstance(item, ptx.Integer) else ""


def _is_register(referent: Referent) -> TypeGuard[ptx.Variable]:
    return isinstance(referent, ptx.Variable) and referent.space == "reg"


def _integers(rule: Rule, type_word: str) -> tuple[str, ...]:
    takes_integers = not rule.is_fragment and ("integers" in rule.allows or type_word == "f64")
    return _INTEGERS.get(type_word, ()) if takes_integers else ()


def _described(text: str, referent: Referent) -> str:
    match referent:
        case ptx.Variable():
            kind = "register" if referent.space == "reg" else "variable"
            return f"the {kind} '{text}'" + (f" of .{referent.type}" if kind == "register" else "")
        case ptx.Function():
            return f"the function '{text}'"
        case ptx.Label():
            return f"the label '{text}'"
        case SpecialRegister():
            return f"the special register '{text}'"
        case _:
            return f"'{text}'"


def _expected_type(rule: Rule, type_word: str) -> str:
    if type_word == "pred":
        return "a predicate"
    return f"a register of {_dotted(register_types(type_word, rule.accepts, rule.implied))}"


@lru_cache(maxsize=512)
def _dotted(types: frozenset[str]) -> str:
    shown = sorted(types, key=lambda name: (128 if name == "b128" else TYPES[name].bits, name))
    return ", ".join(f".{name}" for name in shown[:6]) + (", …" if len(shown) > 6 else "")
