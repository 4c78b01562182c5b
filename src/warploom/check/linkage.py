"""Names that are declared again, and aliases.

Source: PTX ISA 5.4, 11.2, 11.6
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warploom.check.found import Found, error
from warploom.isa.model.availability import Version
from warploom.ptx import Directive, Function, Variable

_FIRST_ALIAS: Version = (6, 3)


def redeclared_variable(earlier: Variable, variable: Variable) -> Iterator[Found]:
    """What is wrong with a variable that is declared `.extern` elsewhere in the module."""
    name = variable.name
    rows = zip(earlier.shape, variable.shape, strict=False)
    same_shape = len(earlier.shape) == len(variable.shape) and all(
        a in (b, None) or b is None for a, b in rows
    )
    if (earlier.type, earlier.vector) != (variable.type, variable.vector) or not same_shape:
        message = f"'{name}' is declared before with another type"
        yield error("variable/linkage", message, variable, section="PTX ISA 11.6.1")
    elif not variable.linkage:
        message = f"'{name}' is declared .extern before and has no linkage here; expected .visible"
        yield error("variable/linkage", message, variable, section="PTX ISA 11.6.1")


def redeclared_function(earlier: Function, function: Function) -> Iterator[Found]:
    """What is wrong with a function that is declared before."""
    if not _same_prototype(earlier, function):
        message = f"'{function.name}' is declared before with other parameters"
        yield error("function/prototype", message, function, section="PTX ISA 11.2")
    if "extern" in earlier.linkage and function.body is not None and "extern" not in function.linkage:
        message = f"'{function.name}' is declared .extern before and has a body here"
        yield error("function/linkage", message, function, section="PTX ISA 11.6.1")


def alias(directive: Directive, functions: Mapping[str, Function], ptx: Version) -> Iterator[Found]:
    """What is wrong with an alias and what it stands for; names that are not declared are not told here."""
    if ptx < _FIRST_ALIAS:
        message = f".alias needs PTX {_FIRST_ALIAS[0]}.{_FIRST_ALIAS[1]}; the text is PTX {ptx[0]}.{ptx[1]}"
        yield error("directive/ptx", message, directive, section="PTX ISA 11.7.2")
    known = [functions.get(name) for name in directive.names]
    if len(known) != 2 or known[0] is None or known[1] is None:
        return
    name, function = known[0], known[1]
    wrong = ""
    if name.body is not None:
        wrong = f"'{name.name}' has a body and cannot be an alias"
    elif function.kind == "entry":
        wrong = f"'{function.name}' is a kernel and can have no alias"
    elif {"extern", "weak"} & {*function.linkage}:
        wrong = f"'{function.name}' is .{function.linkage[0]} and can have no alias"
    if wrong:
        yield error("function/linkage", wrong, directive, section="PTX ISA 11.7.2")
    elif not _same_prototype(name, function):
        message = f"'{name.name}' has other parameters than '{function.name}', which it stands for"
        yield error("function/prototype", message, directive, section="PTX ISA 11.7.2")


def _same_prototype(one: Function, other: Function) -> bool:
    shapes = [
        [(variable.type, variable.shape, variable.vector) for variable in group]
        for group in (one.params, one.returns, other.params, other.returns)
    ]
    return shapes[:2] == shapes[2:] and one.kind == other.kind
