"""Repeated declarations of one name, and aliases.

Source: PTX ISA 5.4, 11.2, 11.6
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warploom.check.findings import error
from warploom.diagnostics import Diagnostic
from warploom.isa.model.availability import Version
from warploom.ptx import Directive, Function, Variable

_FIRST_ALIAS: Version = (6, 3)


def redeclared_variable(earlier: Variable, variable: Variable) -> Iterator[Diagnostic]:
    """Yield the findings on a variable that the module also declares `.extern`."""
    name = variable.name
    same_shape = len(earlier.shape) == len(variable.shape) and all(
        one == other or None in (one, other) for one, other in zip(earlier.shape, variable.shape, strict=True)
    )
    if (earlier.type, earlier.vector) != (variable.type, variable.vector) or not same_shape:
        message = f"'{name}' is declared before with another type"
        yield error("variable/linkage", message, variable, section="PTX ISA 11.6.1")
    elif not variable.linkage:
        message = f"'{name}' is declared .extern before and has no linkage here; expected .visible"
        yield error("variable/linkage", message, variable, section="PTX ISA 11.6.1")


def redeclared_function(earlier: Function, function: Function) -> Iterator[Diagnostic]:
    """Yield the findings on a function that is declared before."""
    if not _same_prototype(earlier, function):
        message = f"'{function.name}' is declared before with other parameters"
        yield error("function/prototype", message, function, section="PTX ISA 11.2")
    if "extern" in earlier.linkage and function.body is not None and "extern" not in function.linkage:
        message = f"'{function.name}' is declared .extern before and has a body here"
        yield error("function/linkage", message, function, section="PTX ISA 11.6.1")


def alias(directive: Directive, functions: Mapping[str, Function], ptx: Version) -> Iterator[Diagnostic]:
    """Yield the findings on an alias and its target, except for undeclared names."""
    if ptx < _FIRST_ALIAS:
        message = f".alias needs PTX {_FIRST_ALIAS[0]}.{_FIRST_ALIAS[1]}; the text is PTX {ptx[0]}.{ptx[1]}"
        yield error("directive/ptx", message, directive, section="PTX ISA 11.7.2")
    known = [functions[name] for name in directive.names if name in functions]
    if len(directive.names) != 2 or len(known) != 2:
        return
    name, function = known
    wrong = ""
    if name.body is not None:
        wrong = f"'{name.name}' has a body and cannot be an alias"
    elif function.kind == "entry":
        wrong = f"'{function.name}' is a kernel and cannot have an alias"
    elif {"extern", "weak"} & {*function.linkage}:
        wrong = f"'{function.name}' is .{function.linkage[0]} and cannot have an alias"
    if wrong:
        yield error("function/linkage", wrong, directive, section="PTX ISA 11.7.2")
    elif not _same_prototype(name, function):
        message = f"'{name.name}' and its target '{function.name}' have different parameters"
        yield error("function/prototype", message, directive, section="PTX ISA 11.7.2")


def _same_prototype(one: Function, other: Function) -> bool:
    shapes = [
        [(variable.type, variable.shape, variable.vector) for variable in group]
        for group in (one.params, one.returns, other.params, other.returns)
    ]
    return shapes[:2] == shapes[2:] and one.kind == other.kind
