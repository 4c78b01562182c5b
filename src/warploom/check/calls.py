"""Calls and branch tables: what their names stand for, and arguments against the parameters of what is called.

Source: PTX ISA 9.7.12.4, 9.7.12.5, and assemblers asked
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from warploom.check.names import Names
from warploom.isa.binding.operands import BoundOperand, Problem, Where, describe, unparenthesised
from warploom.isa.model.form import Match
from warploom.isa.model.registers import holders
from warploom.isa.model.types import TYPES
from warploom.ptx import (
    Directive,
    Float,
    Function,
    Integer,
    Name,
    Operand,
    Prototype,
    Tuple,
    Variable,
)

Signature = Function | Prototype

_PARAMETER = "a register or a variable in .param"


def call_problems(match: Match, operands: dict[str, BoundOperand], names: Names) -> Iterator[Problem]:
    """What is wrong with the names of an instruction, and with the arguments of a call."""
    form = match.form
    signatures: list[Signature] = []
    named = True
    for name, bound in operands.items():
        if bound.place.kind != "symbol" or not isinstance(bound.operand, Name):
            continue
        text, wanted = bound.operand.text, list[str](bound.place.allowed(match.slots))
        wrong = ""
        if "function" in wanted:
            indirect = any(other.place.kind == "symbol" and other is not bound for other in operands.values())
            wrong = _wrong_function(text, names, indirect=indirect)
            meaning = names.find(text)
            if not wrong and isinstance(meaning, Function):
                signatures.append(meaning)
        else:
            wrong = _wrong_table(text, names, wanted)
            if not wrong:
                signatures += _signatures(names.table(text), names)
        if wrong:
            named = False
            yield Problem(
                f"{form.name}/{name}",
                f"operand {name.replace('_', '-')} is {wrong}",
                ("operand", *bound.at),
                "",
                form.source,
            )
    lists = {bound.place.access: (name, bound) for name, bound in operands.items() if _is_list(bound)}
    for signature in signatures if named else ():
        problems = [
            problem
            for access, formals in (("write", signature.returns), ("read", signature.params))
            for problem in _wrong_arguments(match, *lists.get(access, (access, None)), formals, names)
        ]
        if problems:
            yield from problems
            return


def _is_list(bound: BoundOperand) -> bool:
    return bound.place.kind == "tuple"


def _wrong_function(text: str, names: Names, *, indirect: bool) -> str:
    """What a name in the place of a function is, where it may not stand."""
    meaning = names.find(text)
    if text == "_":
        return "the sink '_'; expected a function"
    if meaning is None:
        return ""
    if isinstance(meaning, Function):
        if meaning.kind == "entry":
            return f"the kernel '{text}'; expected a function that is declared with .func"
        return f"the function '{text}', which needs no prototype; expected a register" if indirect else ""
    if isinstance(meaning, Variable) and meaning.space == "reg" and meaning.type in _POINTERS:
        return "" if indirect else f"the register '{text}', which needs a .callprototype or .calltargets"
    return f"'{text}', which is no function; expected a function, or a register with a prototype"


_POINTERS = holders("u32", implied=True) | holders("u64", implied=True)


def _wrong_table(text: str, names: Names, wanted: list[str]) -> str:
    """What a name in the place of a table is, where it may not stand."""
    expected = f"expected the label of a {' or '.join(wanted)}"
    table = names.table(text)
    if table is None:
        undeclared = text != "_" and names.find(text) is None
        return "" if undeclared else f"'{text}'; {expected}, above the instruction"
    return "" if table.name in wanted else f"the label of a {table.name}; {expected}"


def _signatures(table: Directive | None, names: Names) -> list[Signature]:
    """The signatures that a table of targets, or a prototype, promises."""
    if table is None:
        return []
    found = [argument for argument in table.args if isinstance(argument, Prototype)]
    functions = [names.find(name) for name in table.names]
    return [*found, *(function for function in functions if isinstance(function, Function))]


def _wrong_arguments(
    match: Match, name: str, bound: BoundOperand | None, formals: tuple[Variable, ...], names: Names
) -> Iterator[Problem]:
    form = match.form
    given = bound.operand.items if bound is not None and isinstance(bound.operand, Tuple) else ()
    where: Where = ("operand", *bound.at) if bound is not None else ("all",)
    slot = name if bound is not None else ("ret_param" if name == "write" else "param_list")
    code, shown = f"{form.name}/{slot}", "results" if "ret" in slot else "arguments"
    if len(given) != len(formals):
        message = f"the call has {len(given)} {shown}; expected {len(formals)}"
        yield Problem(code, message, where, "", form.source)
        return
    for k, (argument, formal) in enumerate(zip(given, formals, strict=True)):
        wrong = _wrong_argument(unparenthesised(argument), formal, names, result=shown == "results")
        if wrong:
            message = f"{shown[:-1]} {k + 1} of the call is {wrong[0]}; expected {wrong[1]}"
            yield Problem(code, message, (*where, k), "", form.source)


def _wrong_argument(
    argument: Operand, formal: Variable, names: Names, *, result: bool
) -> tuple[str, str] | None:
    dimensions = "".join(f"[{size}]" for size in formal.shape)
    expected = f"what fits .{formal.type} {formal.name}{dimensions}"
    shown = describe(argument)
    taken = holders(formal.type) if formal.type in _DECLARABLE else frozenset[str]()
    if TYPES.get(formal.type) is not None and TYPES[formal.type].bits == 32:
        taken |= {"f16x2"}
    match argument:
        case Name("_"):
            return None if result else (shown, expected)
        case Name(text):
            meaning = names.find(text)
            if meaning is None:
                return None
            if isinstance(meaning, int):
                fits = not result and not formal.shape and _takes(formal.type, "us")
            elif not isinstance(meaning, Variable) or meaning.space not in ("reg", "param"):
                return shown, _PARAMETER
            elif formal.shape or meaning.shape:
                fits = _size(meaning) == _size(formal)
            else:
                fits = meaning.type in taken
            return (
                None
                if fits
                else (f"{shown} of .{meaning.type}" if isinstance(meaning, Variable) else shown, expected)
            )
        case Integer() if not result and not formal.shape and _takes(formal.type, "us"):
            return None
        case Float() if not result and not formal.shape and _takes(formal.type, "f"):
            return None
        case _:
            return shown, expected


_DECLARABLE = frozenset[str]().union(*(holders(name) for name in ("b8", "b16", "b32", "b64", "b128")))


def _takes(type_word: str, kinds: str) -> bool:
    return type_word[0] in f"b{kinds}" and type_word != "f16x2"


def _size(variable: Variable) -> tuple[int, int]:
    """Bytes of a parameter that is an array, and their alignment."""
    unit = TYPES[variable.type].bytes if variable.type in TYPES else 16
    return unit * prod(size or 0 for size in variable.shape) if variable.shape else 0, variable.align or unit
