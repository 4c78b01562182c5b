"""Checks of calls and indirect branches.

Source: PTX ISA 9.7.12.4, 9.7.12.5, and ptxas 12.9 to 13.1
"""

from collections.abc import Iterator
from math import prod

from warploom.check.names import Names
from warploom.isa.binding.operands import BoundOperand, Problem, Where, describe, unparenthesised
from warploom.isa.model.form import Match
from warploom.isa.model.registers import register_types
from warploom.isa.model.types import TYPES
from warploom.ptx import Directive, Float, Function, Integer, Name, Operand, Prototype, Tuple, Variable

Signature = Function | Prototype

_PARAMETER = "a register or a variable in .param"
_POINTERS = register_types("u32", implied=True) | register_types("u64", implied=True)
_DECLARABLE = frozenset[str]().union(*(register_types(name) for name in ("b8", "b16", "b32", "b64", "b128")))


def call_problems(match: Match, operands: dict[str, BoundOperand], names: Names) -> Iterator[Problem]:
    """Yield the problems of a call: its callee, its list of targets, and its arguments."""
    form = match.form
    signatures: list[Signature] = []
    wrong_names = False
    symbols = {name: bound for name, bound in operands.items() if bound.spec.kind == "symbol"}
    for name, bound in symbols.items():
        if not isinstance(bound.operand, Name):
            continue
        text, expected = bound.operand.text, list[str](bound.spec.allowed(match.slots))
        if "function" in expected:
            wrong = _wrong_function(text, names, indirect=len(symbols) > 1)
            callee = names.find(text)
            found = [callee] if isinstance(callee, Function) else []
        else:
            wrong = _wrong_table(text, names, expected)
            found = _signatures(names.table(text), names)
        if wrong:
            wrong_names = True
            message = f"operand {name.replace('_', '-')} is {wrong}"
            yield Problem(f"{form.name}/{name}", message, ("operand", *bound.at), "", form.source)
        else:
            signatures += found
    for signature in () if wrong_names else signatures:
        problems = [
            problem
            for access, formals in (("write", signature.returns), ("read", signature.params))
            for problem in _wrong_arguments(match, access, operands, formals, names)
        ]
        if problems:
            yield from problems
            return


def _wrong_function(text: str, names: Names, *, indirect: bool) -> str:
    if text == "_":
        return "the sink '_'; expected a function"
    found = names.find(text)
    if found is None:
        return ""
    if isinstance(found, Function):
        if found.kind == "entry":
            return f"the kernel '{text}'; expected a function that is declared with .func"
        return f"the function '{text}', which needs no prototype; expected a register" if indirect else ""
    if isinstance(found, Variable) and found.space == "reg" and found.type in _POINTERS:
        return "" if indirect else f"the register '{text}', which needs a .callprototype or .calltargets"
    return f"'{text}', which is not a function; expected a function, or a register with a prototype"


def _wrong_table(text: str, names: Names, expected: list[str]) -> str:
    label = f"expected the label of a {' or '.join(expected)}"
    table = names.table(text)
    if table is None:
        undeclared = text != "_" and names.find(text) is None
        return "" if undeclared else f"'{text}'; {label}, above the instruction"
    return "" if table.name in expected else f"the label of a {table.name}; {label}"


def _signatures(table: Directive | None, names: Names) -> list[Signature]:
    if table is None:
        return []
    found = [argument for argument in table.args if isinstance(argument, Prototype)]
    functions = [names.find(name) for name in table.names]
    return [*found, *(function for function in functions if isinstance(function, Function))]


def _wrong_arguments(
    match: Match, access: str, operands: dict[str, BoundOperand], formals: tuple[Variable, ...], names: Names
) -> Iterator[Problem]:
    """Yield the problems of the arguments that a call passes for the parameters `formals`.

    `access` is "read" for arguments and "write" for results.
    """
    form = match.form
    name = next(name for name, spec in form.operands.items() if (spec.kind, spec.access) == ("tuple", access))
    bound = operands.get(name)
    given = bound.operand.items if bound is not None and isinstance(bound.operand, Tuple) else ()
    where: Where = ("operand", *bound.at) if bound is not None else ("all",)
    code, shown = f"{form.name}/{name}", "result" if access == "write" else "argument"
    if len(given) != len(formals):
        message = f"the call has {len(given)} {shown}s; expected {len(formals)}"
        yield Problem(code, message, where, "", form.source)
        return
    for k, (argument, formal) in enumerate(zip(given, formals, strict=True)):
        wrong = _wrong_argument(unparenthesised(argument), formal, names, result=access == "write")
        if wrong:
            message = f"{shown} {k + 1} of the call is {wrong[0]}; expected {wrong[1]}"
            yield Problem(code, message, (*where, k), "", form.source)


def _wrong_argument(argument: Operand, formal: Variable, names: Names, *, result: bool) -> tuple[str, str] | None:
    """Return (fault, expected value) of an illegal argument or result for `formal`, or None."""
    dimensions = "".join(f"[{size}]" for size in formal.shape)
    expected = f"a value that fits .{formal.type} {formal.name}{dimensions}"
    shown = describe(argument)
    takes_constants = not result and not formal.shape
    match argument:
        case Name("_"):
            return None if result else (shown, expected)
        case Name(text):
            found = names.find(text)
            if found is None:
                return None
            if not isinstance(found, Variable) or found.space not in ("reg", "param"):
                return shown, _PARAMETER
            if formal.shape or found.shape:
                fits = _size(found) == _size(formal)
            else:
                types = register_types(formal.type) if formal.type in _DECLARABLE else frozenset[str]()
                packed = found.type == "f16x2" and formal.type in TYPES and TYPES[formal.type].bits == 32
                fits = packed or found.type in types
            return None if fits else (f"{shown} of .{found.type}", expected)
        case Integer() if takes_constants and _takes(formal.type, "us"):
            return None
        case Float() if takes_constants and _takes(formal.type, "f"):
            return None
        case _:
            return shown, expected


def _takes(type_word: str, kinds: str) -> bool:
    return type_word[0] in f"b{kinds}" and type_word != "f16x2"


def _size(variable: Variable) -> tuple[int, int]:
    """Return (array size, alignment) of a parameter in bytes. The array size of a scalar is 0."""
    unit = TYPES[variable.type].bytes if variable.type in TYPES else 16
    return unit * prod(size or 0 for size in variable.shape) if variable.shape else 0, variable.align or unit
