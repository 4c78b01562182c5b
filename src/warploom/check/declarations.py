"""Variables, parameters and the directives of functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from warploom.check.found import Found, error, warning
from warploom.isa.model.availability import Target, Version
from warploom.isa.model.registers import DECLARABLE
from warploom.isa.model.types import TYPES
from warploom.ptx import Directive, Function, Text, Variable

_OPAQUE = frozenset({"texref", "samplerref", "surfref"})
_PARAMETER_BYTES = 32764
_NO_BANKS: Version = (2, 2)
_UNKNOWN_BITS = 32
_WORD = re.compile(r"\.(?!ptr$|managed$)\w+")
"""An attribute that is none."""

_VARIABLES = "PTX ISA 5.4"
_PERFORMANCE = "PTX ISA 11.4"


# Variables --------------------------------------------------------------------------------------------------


def variable(declared: Variable, target: Target, ptx: Version, at_module: bool) -> Iterator[Found]:
    """What is wrong with a variable where it stands."""
    yield from _type(declared)
    yield from _type_gates(declared, target, ptx)
    space, name = declared.space, declared.name
    if at_module and space in ("reg", "local", "param"):
        message = f"'{name}' in .{space} stands at module scope; expected it in a function"
        yield error("variable/space", message, declared, section=_VARIABLES)
    if space in ("tex", "sreg"):
        yield error(
            "variable/space", f"variables in .{space} are not supported", declared, section=_VARIABLES
        )
    if not at_module and declared.linkage:
        message = f"'{name}' is .{declared.linkage[0]} in a function; linkage belongs to module scope"
        yield error("variable/linkage", message, declared, section=_VARIABLES)
    if "common" in declared.linkage and space != "global":
        yield error(
            "variable/linkage",
            f"'{name}' is .common in .{space}; expected .global",
            declared,
            section=_VARIABLES,
        )
    if space == "reg" and declared.shape:
        message = f"'{name}' is an array in .reg; expected a range such as %r<8>"
        yield error("variable/space", message, declared, section=_VARIABLES)
    elif _lacks_size(declared):
        message = f"'{name}' has no size, which only .extern variables may lack"
        yield error("variable/size", message, declared, section=_VARIABLES)
    if any(".managed" in attribute for attribute in declared.attributes) and space != "global":
        yield error(
            "variable/attribute",
            f"'{name}' is .managed in .{space}; expected .global",
            declared,
            section=_VARIABLES,
        )
    bank = next((attribute for attribute in declared.attributes if attribute.startswith("[")), "")
    if bank and ptx >= _NO_BANKS:
        message = f"'{name}' is in a bank of .const; there are none since PTX 2.2"
        yield error("variable/space", message, declared, section="PTX ISA 5.1.3")


def _lacks_size(declared: Variable) -> bool:
    open_ended = bool(declared.shape) and (declared.shape[0] is None or 0 in declared.shape)
    return open_ended and "extern" not in declared.linkage and declared.initializer is None


def _type(declared: Variable) -> Iterator[Found]:
    type_word, name = declared.type, declared.name
    if declared.align is not None and (declared.align < 1 or declared.align & (declared.align - 1)):
        message = f"the alignment of '{name}' is {declared.align}; expected a power of two"
        yield error("variable/align", message, declared, section=_VARIABLES)
    if type_word in _OPAQUE:
        return
    if type_word not in DECLARABLE:
        width = TYPES[type_word].bits if type_word in TYPES else 0
        hint = f"declare it .b{max(8, width)}" if width else ""
        message = f"'{name}' is declared .{type_word}, which is no type of a variable"
        yield error("variable/type", message, declared, hint, section="PTX ISA 5.2")
        return
    if type_word == "pred" and declared.space != "reg":
        message = f"'{name}' is a predicate in .{declared.space}; predicates are registers"
        yield error("variable/type", message, declared, section="PTX ISA 5.2")
    vector = "" if declared.vector in (1, 2, 4) else f".v{declared.vector}"
    odd = next((word for word in declared.attributes if _WORD.fullmatch(word)), vector)
    if odd:
        message = f"'{name}' is declared {odd}; a variable is one, .v2 or .v4"
        yield error("variable/type", message, declared, section="PTX ISA 5.4.2")
        return
    bits = (128 if type_word == "b128" else TYPES[type_word].bits) * declared.vector
    if declared.vector > 1 and bits > 128:
        message = f"'{name}' is a vector of {bits} bits; expected 128 at most"
        yield error("variable/type", message, declared, section="PTX ISA 5.4.2")


def as_declared(declared: Variable) -> Variable:
    """A variable as it is judged where it is used: a register of no type is one of bits."""
    if declared.space != "reg" or declared.type in DECLARABLE:
        return declared
    bits = TYPES[declared.type].bits if declared.type in TYPES else _UNKNOWN_BITS
    return replace(declared, type=f"b{max(8, bits)}")


_GATES: dict[str, tuple[int, Version]] = {"f16": (53, (4, 2)), "f16x2": (53, (4, 2)), "b128": (70, (8, 3))}
"""The first target and PTX version of types that came late."""


def _type_gates(declared: Variable, target: Target, ptx: Version) -> Iterator[Found]:
    number, version = _GATES.get(declared.type, (0, (1, 0)))
    if target.number < number:
        message = f"variables of .{declared.type} need sm_{number} or higher; the target is {target.name}"
        yield error("variable/type", message, declared, section="PTX ISA 5.2")
    elif ptx < version:
        needed, have = (f"PTX {major}.{minor}" for major, minor in (version, ptx))
        message = f"variables of .{declared.type} need {needed}; the text is {have}"
        yield error("variable/type", message, declared, section="PTX ISA 5.2")


def parameters(function: Function) -> Iterator[Found]:
    """What is wrong with the parameters of a function."""
    end = 0
    for declared in (*function.returns, *function.params):
        yield from _type(declared)
        name, bits = declared.name, 8
        if declared.type in DECLARABLE and declared.type != "pred":
            bits = (128 if declared.type == "b128" else TYPES[declared.type].bits) * declared.vector
        if function.kind != "entry":
            continue
        if declared.space != "param":
            message = f"the parameter '{name}' of a kernel is in .{declared.space}; expected .param"
            yield error("function/parameter", message, declared, section="PTX ISA 7.1")
        if declared.vector > 1 or declared.type == "f16x2":
            message = (
                f"the parameter '{name}' of a kernel is a vector; expected a scalar or an array of bytes"
            )
            yield error("function/parameter", message, declared, section="PTX ISA 7.1")
        size = bits // 8
        for extent in declared.shape:
            if not extent:
                message = f"the parameter '{name}' of a kernel has no size"
                yield error("function/parameter", message, declared, section="PTX ISA 7.1")
            size *= extent or 1
        align = max(declared.align or 1, bits // 8)
        end = -(-end // align) * align + size
    if end > _PARAMETER_BYTES:
        message = f"the parameters of '{function.name}' take {end} bytes; expected {_PARAMETER_BYTES} at most"
        yield error("function/parameter", message, function, section="PTX ISA 7.1")


# Directives -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    """A directive of functions: how many integers it takes, the least of each, and where it exists."""

    counts: range
    least: int = 0
    number: int = 0
    ptx: Version = (1, 0)


_ENTRY = {
    ".maxntid": _Rule(range(1, 4), 1, ptx=(1, 3)),
    ".reqntid": _Rule(range(1, 4), 1, ptx=(2, 1)),
    ".minnctapersm": _Rule(range(1, 2), 1, ptx=(2, 0)),
    ".maxnreg": _Rule(range(1, 2), 1, ptx=(1, 3)),
    ".reqnctapercluster": _Rule(range(1, 4), 0, 90, (7, 8)),
    ".maxclusterrank": _Rule(range(1, 2), 0, 90, (7, 8)),
    ".explicitcluster": _Rule(range(1), 0, 90, (7, 8)),
    ".blocksareclusters": _Rule(range(1), 0, 90, (9, 0)),
    ".pragma": _Rule(range(1)),
}
_FUNCTION = {".noreturn": _Rule(range(1), ptx=(6, 4)), ".abi_preserve": _Rule(range(1, 2), ptx=(9, 0)),
             ".abi_preserve_control": _Rule(range(1, 2), ptx=(9, 0))}  # fmt: skip
_CONFLICTS = ((".maxntid", ".reqntid"), (".reqnctapercluster", ".maxclusterrank"))


_IN_BODIES = (".loc", ".pragma")


def directives(function: Function, target: Target, ptx: Version) -> Iterator[Found]:
    """What is wrong with the directives between a function's signature and its body."""
    allowed = _ENTRY if function.kind == "entry" else _FUNCTION
    given: dict[str, Directive] = {}
    for directive in function.directives:
        given.setdefault(directive.name, directive)
        yield from _directive(directive, allowed, function.kind, target, ptx)
    for one, other in _CONFLICTS:
        if one in given and other in given:
            message = f"{one} and {other} cannot both stand on one kernel"
            yield error("directive/conflict", message, given[other], section=_PERFORMANCE)
    if ".blocksareclusters" in given and not given.keys() >= {".reqntid", ".reqnctapercluster"}:
        message = ".blocksareclusters needs .reqntid and .reqnctapercluster beside it"
        yield error("directive/conflict", message, given[".blocksareclusters"], section=_PERFORMANCE)
    if ".noreturn" in given and function.returns:
        message = f"'{function.name}' is .noreturn and returns a value"
        yield error("directive/conflict", message, given[".noreturn"], section=_PERFORMANCE)
    if ".minnctapersm" in given and not given.keys() & {".maxntid", ".reqntid"}:
        message = ".minnctapersm has no effect without .maxntid or .reqntid"
        yield warning("directive/no-effect", message, given[".minnctapersm"], section=_PERFORMANCE)


def statement(directive: Directive) -> Iterator[Found]:
    """What is wrong with a directive among the statements of a body."""
    if directive.name not in _IN_BODIES:
        message = f"{directive.name} does not belong in a body; expected {', '.join(_IN_BODIES)}"
        yield error("directive/unknown", message, directive, section="PTX ISA 11.5")
    elif directive.name == ".pragma" and not (
        directive.args and all(isinstance(argument, Text) for argument in directive.args)
    ):
        message = ".pragma has something other than quoted text; expected strings"
        yield error("directive/arguments", message, directive, section="PTX ISA 11.4.6")


def _directive(
    directive: Directive, allowed: Mapping[str, _Rule], kind: str, target: Target, ptx: Version
) -> Iterator[Found]:
    name, ints = directive.name, directive.ints
    rule = allowed.get(name)
    if rule is None:
        other = name in _ENTRY or name in _FUNCTION
        where = f"does not belong on .{kind}" if other else "is no directive of a function"
        known = ", ".join(sorted(allowed))
        yield error("directive/unknown", f"{name} {where}; expected {known}", directive, section=_PERFORMANCE)
        return
    if len(ints) not in rule.counts:
        counts = f"{rule.counts[0]} to {rule.counts[-1]}" if len(rule.counts) > 1 else f"{rule.counts[0]}"
        message = f"{name} has {len(ints)} numbers; expected {counts}"
        yield error("directive/arguments", message, directive, section=_PERFORMANCE)
    elif any(value < rule.least for value in ints):
        bad = next(value for value in ints if value < rule.least)
        message = f"{name} has {bad}; expected at least {rule.least}"
        yield error("directive/arguments", message, directive, section=_PERFORMANCE)
    if target.number < rule.number:
        message = f"{name} needs sm_{rule.number} or higher; the target is {target.name}"
        yield error("directive/target", message, directive, section=_PERFORMANCE)
    if ptx < rule.ptx:
        message = f"{name} needs PTX {rule.ptx[0]}.{rule.ptx[1]}; the text is PTX {ptx[0]}.{ptx[1]}"
        yield error("directive/ptx", message, directive, section=_PERFORMANCE)
