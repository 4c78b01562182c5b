"""Initial values of variables: their shapes, their kinds, and the names in them.

Source: PTX ISA 5.4.4
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warploom.check.findings import error
from warploom.check.names import Names
from warploom.diagnostics import Diagnostic
from warploom.isa.model.types import TYPES
from warploom.ptx import Float, Function, Initializer, Integer, Name, Property, Symbol, Variable

_INTEGER_KINDS = frozenset({"bits", "unsigned", "signed"})
_UNSIZED = 1 << 62  # elements of a dimension without a number


def initial_value(declared: Variable, names: Names) -> Iterator[Diagnostic]:
    """Yield the finding on the initial value of a variable, except for undeclared names."""
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
    """Yield the faults in the nesting of braces, which must follow the dimensions."""
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
