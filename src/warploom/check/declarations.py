"""Checks of variables, initial values, parameters, directives of functions, and aliases.

Source: PTX ISA 5.2, 5.4, 7.1, 11.2, 11.4, 11.6
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from warploom.check.names import Names
from warploom.check.report import error, warning
from warploom.diagnostics import Diagnostic
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.capacity import PARAMETER_BYTES
from warploom.isa.model.directives import OF_ENTRIES, OF_FUNCTIONS, DirectiveRule, directive_rules
from warploom.isa.model.registers import DECLARABLE
from warploom.isa.model.types import TYPES
from warploom.ptx import Directive, Float, Function, Initializer, Integer, Name, Property, Symbol, Text, Variable

_OPAQUE = frozenset({"texref", "samplerref", "surfref"})
_LAST_WITH_BANKS: Version = (2, 1)
_UNKNOWN_BITS = 32
_UNSIZED = 1 << 62  # elements of a dimension without a number
_INTEGER_KINDS = frozenset({"bits", "unsigned", "signed"})
_FIRST_ALIAS: Version = (6, 3)
_UNKNOWN_ATTRIBUTE = re.compile(r"\.(?!ptr$|managed$)\w+")
_FIRST_SUPPORT: dict[str, tuple[int, Version]] = {"f16": (53, (4, 2)), "f16x2": (53, (4, 2)), "b128": (70, (8, 3))}
"""First target and PTX version of the types that the oldest targets lack."""


# Variables --------------------------------------------------------------------------------------------------


def variable(declared: Variable, target: Target, ptx: Version, at_module: bool) -> Iterator[Diagnostic]:
    """Yield the diagnostics for the declaration of a variable, at module scope or in a function.

    `target` and `ptx` are the target and the PTX version of the module.

    Errors: variable/type, variable/align, variable/space, variable/linkage, variable/size, variable/attribute
    """
    yield from _type(declared)
    yield from _type_support(declared, target, ptx)
    space, name, linkage = declared.space, declared.name, declared.linkage
    fault = partial(error, node=declared, section="PTX ISA 5.4")
    if at_module and space in ("reg", "local", "param"):
        yield fault("variable/space", f"'{name}' in .{space} is at module scope; expected it in a function")
    if space in ("tex", "sreg"):
        yield fault("variable/space", f"variables in .{space} are not supported")
    if not at_module and linkage:
        message = f"'{name}' is .{linkage[0]} in a function; linkage is for module scope only"
        yield fault("variable/linkage", message)
    if "common" in linkage and space != "global":
        yield fault("variable/linkage", f"'{name}' is .common in .{space}; expected .global")
    open_ended = bool(declared.shape) and (declared.shape[0] is None or 0 in declared.shape)
    if space == "reg" and declared.shape:
        yield fault("variable/space", f"'{name}' is an array in .reg; expected a range such as %r<8>")
    elif open_ended and "extern" not in linkage and declared.initializer is None:
        yield fault("variable/size", f"'{name}' has no size; only .extern variables may omit it")
    if any(".managed" in attribute for attribute in declared.attributes) and space != "global":
        yield fault("variable/attribute", f"'{name}' is .managed in .{space}; expected .global")
    if any(attribute.startswith("[") for attribute in declared.attributes) and ptx > _LAST_WITH_BANKS:
        message = f"'{name}' is in a bank of .const; PTX 2.2 and later have no banks"
        yield fault("variable/space", message, section="PTX ISA 5.1.3")


def _type(declared: Variable) -> Iterator[Diagnostic]:
    type_word, name = declared.type, declared.name
    fault = partial(error, "variable/type", node=declared)
    if declared.align is not None and (declared.align < 1 or declared.align & (declared.align - 1)):
        message = f"the alignment of '{name}' is {declared.align}; expected a power of two"
        yield error("variable/align", message, declared, section="PTX ISA 5.4")
    if type_word in _OPAQUE:
        return
    if type_word not in DECLARABLE:
        width = TYPES[type_word].bits if type_word in TYPES else 0
        hint = f"declare it .b{max(8, width)}" if width else ""
        message = f"'{name}' is declared .{type_word}, which is not a type of variables"
        yield fault(message, hint=hint, section="PTX ISA 5.2")
        return
    if type_word == "pred" and declared.space != "reg":
        message = f"'{name}' is a predicate in .{declared.space}; expected .reg"
        yield fault(message, section="PTX ISA 5.2")
    vector = "" if declared.vector in (1, 2, 4) else f".v{declared.vector}"
    unknown = next((word for word in declared.attributes if _UNKNOWN_ATTRIBUTE.fullmatch(word)), vector)
    bits = _bits(declared)
    if unknown:
        message = f"'{name}' is declared {unknown}; expected .v2, .v4 or no vector"
        yield fault(message, section="PTX ISA 5.4.2")
    elif declared.vector > 1 and bits > 128:
        message = f"'{name}' is a vector of {bits} bits; expected 128 at most"
        yield fault(message, section="PTX ISA 5.4.2")


def _bits(declared: Variable) -> int:
    return (128 if declared.type == "b128" else TYPES[declared.type].bits) * declared.vector


def as_declared(declared: Variable) -> Variable:
    """Return the variable that checks of instructions use in place of a declared variable."""
    if declared.space != "reg" or declared.type in DECLARABLE:
        return declared
    # A register of an unknown type becomes untyped bits, so that its uses give no further diagnostics.
    bits = TYPES[declared.type].bits if declared.type in TYPES else _UNKNOWN_BITS
    return replace(declared, type=f"b{max(8, bits)}")


def _type_support(declared: Variable, target: Target, ptx: Version) -> Iterator[Diagnostic]:
    number, version = _FIRST_SUPPORT.get(declared.type, (0, (1, 0)))
    fault = partial(error, "variable/type", node=declared, section="PTX ISA 5.2")
    if target.number < number:
        yield fault(f"variables of .{declared.type} need sm_{number} or higher; the target is {target.name}")
    elif ptx < version:
        needed, have = (f"PTX {major}.{minor}" for major, minor in (version, ptx))
        yield fault(f"variables of .{declared.type} need {needed}; the text is {have}")


def parameters(function: Function) -> Iterator[Diagnostic]:
    """Yield the diagnostics for the parameters of a function.

    Errors: variable/type, variable/align, function/parameter
    """
    end = 0
    for declared in (*function.returns, *function.params):
        yield from _type(declared)
        if function.kind != "entry":
            continue
        fault = partial(error, "function/parameter", node=declared, section="PTX ISA 7.1")
        shown = f"the kernel parameter '{declared.name}'"
        if declared.space != "param":
            yield fault(f"{shown} is in .{declared.space}; expected .param")
        if declared.vector > 1 or declared.type == "f16x2":
            yield fault(f"{shown} is a vector; expected a scalar or an array of bytes")
        bits = _bits(declared) if declared.type in DECLARABLE and declared.type != "pred" else 8
        size = bits // 8
        for extent in declared.shape:
            if not extent:
                yield fault(f"{shown} has no size")
            size *= extent or 1
        align = max(declared.align or 1, bits // 8)
        end = -(-end // align) * align + size
    if end > PARAMETER_BYTES:
        message = f"the parameters of '{function.name}' take {end} bytes; expected {PARAMETER_BYTES} at most"
        yield error("function/parameter", message, function, section="PTX ISA 7.1")


# Initial values ---------------------------------------------------------------------------------------------


def initial_value(declared: Variable, names: Names) -> Iterator[Diagnostic]:
    """Yield the diagnostic for an illegal initial value of a variable. Undeclared names are ignored.

    Errors: variable/initial
    """
    wrong = next(_faults(declared, names), None)
    if wrong is not None:
        yield error("variable/initial", f"'{declared.name}' {wrong}", declared, section="PTX ISA 5.4.4")


def initial_names(declared: Variable) -> Iterator[str]:
    """Yield the names in the initial value of a variable."""
    for leaf in _leaves(declared.initializer):
        if isinstance(leaf, Name):
            yield leaf.text
        elif isinstance(leaf, Symbol):
            yield leaf.name


def _faults(declared: Variable, names: Names) -> Iterator[str]:
    value, space, type_word = declared.initializer, declared.space, declared.type
    if value is None:
        return
    if space not in ("global", "const"):
        yield f"in .{space} has an initial value; only .global and .const variables may"
    if "extern" in declared.linkage:
        yield "is .extern and has an initial value"
    leaves = list(_leaves(value))
    if type_word not in TYPES or any(isinstance(leaf, Property) for leaf in leaves):
        return
    if type_word in ("f16", "f16x2"):
        yield f"of .{type_word} has an initial value; declare it .b{TYPES[type_word].bits}"
    extents = [_UNSIZED if extent is None else extent for extent in declared.shape]
    yield from _shape_faults(value, [*extents, declared.vector] if declared.vector > 1 else extents)
    kind = TYPES[type_word].kind
    for leaf in leaves:
        match leaf:
            case Float() if kind in ("unsigned", "signed"):
                yield f"of .{type_word} has the initial value {leaf.text}; expected an integer"
            case Integer() if kind not in _INTEGER_KINDS:
                yield f"of .{type_word} has the initial value {leaf.text}; expected a number such as 1.0"
            case Name(text):
                yield from _address_faults(text, names, generic=False)
            case Symbol(text):
                yield from _address_faults(text, names, generic=leaf.generic)
            case _:
                pass


def _shape_faults(value: Initializer, extents: Sequence[int]) -> Iterator[str]:
    """Yield the faults of the braces around the initial values of an array with dimensions `extents`."""
    if not extents:
        if isinstance(value, tuple):
            yield "has an initial value in more braces than it has dimensions"
        return
    if not isinstance(value, tuple):
        yield "has an initial value in fewer braces than it has dimensions"
    elif len(value) > extents[0]:
        yield f"has {len(value)} initial values for {extents[0]} elements"
    elif not value and extents[0] == _UNSIZED:
        yield "has neither a size nor an initial value that determines its size"
    else:
        for part in value:
            yield from _shape_faults(part, extents[1:])


def _address_faults(name: str, names: Names, *, generic: bool) -> Iterator[str]:
    declared = names.find(name)
    if isinstance(declared, Variable) and declared.space not in ("global", "const"):
        yield f"has the address of '{name}' in .{declared.space} as its initial value; expected .global or .const"
    if isinstance(declared, Function) and generic:
        yield f"has the initial value generic({name}); write the address of a function as its name alone"


def _leaves(value: Initializer | None) -> Iterator[Initializer]:
    if isinstance(value, tuple):
        for part in value:
            yield from _leaves(part)
    elif value is not None:
        yield value


# Directives -------------------------------------------------------------------------------------------------


_CONFLICTS = ((".maxntid", ".reqntid"), (".reqnctapercluster", ".maxclusterrank"))
_IN_BODIES = (".loc", ".pragma")


def directives(function: Function, target: Target, ptx: Version) -> Iterator[Diagnostic]:
    """Yield the diagnostics for the directives between the signature and the body of a function.

    Errors: directive/unknown, directive/arguments, directive/target, directive/ptx, directive/conflict,
    directive/no-effect
    """
    allowed = directive_rules(function)
    given: dict[str, Directive] = {}
    for directive in function.directives:
        given.setdefault(directive.name, directive)
        yield from _directive(directive, allowed, function.kind, target, ptx)
    conflict = partial(error, "directive/conflict", section="PTX ISA 11.4")
    for one, other in _CONFLICTS:
        if one in given and other in given:
            yield conflict(f"a kernel cannot have both {one} and {other}", given[other])
    if ".blocksareclusters" in given and not given.keys() >= {".reqntid", ".reqnctapercluster"}:
        message = ".blocksareclusters needs .reqntid and .reqnctapercluster beside it"
        yield conflict(message, given[".blocksareclusters"])
    if ".noreturn" in given and function.returns:
        yield conflict(f"'{function.name}' is .noreturn and returns a value", given[".noreturn"])
    if ".minnctapersm" in given and not given.keys() & {".maxntid", ".reqntid"}:
        message = ".minnctapersm has no effect without .maxntid or .reqntid"
        yield warning("directive/no-effect", message, given[".minnctapersm"], section="PTX ISA 11.4")


def statement(directive: Directive) -> Iterator[Diagnostic]:
    """Yield the diagnostics for a directive inside the body of a function.

    Errors: directive/unknown, directive/arguments
    """
    if directive.name not in _IN_BODIES:
        message = f"{directive.name} does not belong in a body; expected {', '.join(_IN_BODIES)}"
        yield error("directive/unknown", message, directive, section="PTX ISA 11.5")
    elif directive.name == ".pragma" and not (
        directive.args and all(isinstance(argument, Text) for argument in directive.args)
    ):
        message = ".pragma has an argument that is not a string; expected quoted strings"
        yield error("directive/arguments", message, directive, section="PTX ISA 11.4.6")


def _directive(
    directive: Directive, allowed: Mapping[str, DirectiveRule], kind: str, target: Target, ptx: Version
) -> Iterator[Diagnostic]:
    name, ints = directive.name, directive.ints
    fault = partial(error, node=directive, section="PTX ISA 11.4")
    rule = allowed.get(name)
    if rule is None:
        other = name in OF_ENTRIES or name in OF_FUNCTIONS
        where = f"does not belong on .{kind}" if other else "is not a directive of functions"
        yield fault("directive/unknown", f"{name} {where}; expected {', '.join(sorted(allowed))}")
        return
    if len(ints) not in rule.counts:
        counts = f"{rule.counts[0]} to {rule.counts[-1]}" if len(rule.counts) > 1 else f"{rule.counts[0]}"
        yield fault("directive/arguments", f"{name} has {len(ints)} numbers; expected {counts}")
    elif (low := next((value for value in ints if value < rule.least), None)) is not None:
        yield fault("directive/arguments", f"{name} has {low}; expected at least {rule.least}")
    if target.number < rule.number:
        message = f"{name} needs sm_{rule.number} or higher; the target is {target.name}"
        yield fault("directive/target", message)
    if ptx < rule.ptx:
        message = f"{name} needs PTX {rule.ptx[0]}.{rule.ptx[1]}; the text is PTX {ptx[0]}.{ptx[1]}"
        yield fault("directive/ptx", message)


# Repeated declarations and aliases ---------------------------------------------------------------------------


def redeclared_variable(earlier: Variable, variable: Variable) -> Iterator[Diagnostic]:
    """Yield the diagnostics for a second declaration of a variable. The first one is `.extern`.

    Errors: variable/linkage
    """
    name = variable.name
    same_shape = len(earlier.shape) == len(variable.shape) and all(
        one == other or None in (one, other) for one, other in zip(earlier.shape, variable.shape, strict=True)
    )
    if (earlier.type, earlier.vector) != (variable.type, variable.vector) or not same_shape:
        message = f"'{name}' is declared with another type before; expected the same type"
        yield error("variable/linkage", message, variable, section="PTX ISA 11.6.1")
    elif not variable.linkage:
        message = f"'{name}' is declared .extern before and has no linkage here; expected .visible"
        yield error("variable/linkage", message, variable, section="PTX ISA 11.6.1")


def redeclared_function(earlier: Function, function: Function) -> Iterator[Diagnostic]:
    """Yield the diagnostics for a second declaration of a function.

    Errors: function/prototype, function/linkage
    """
    if not _same_prototype(earlier, function):
        message = f"'{function.name}' is declared with other parameters before; expected the same parameters"
        yield error("function/prototype", message, function, section="PTX ISA 11.2")
    if "extern" in earlier.linkage and function.body is not None and "extern" not in function.linkage:
        message = f"'{function.name}' is declared .extern before and has a body here"
        yield error("function/linkage", message, function, section="PTX ISA 11.6.1")


def alias(directive: Directive, functions: Mapping[str, Function], ptx: Version) -> Iterator[Diagnostic]:
    """Yield the diagnostics for an alias and its target. Undeclared names are ignored.

    Errors: directive/ptx, function/linkage, function/prototype
    """
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
