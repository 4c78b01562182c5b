"""Calls that are not C text: those of Python, and those of operations in MLIR text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warploom.diagnostics import Source, Span
from warploom.nvvm.builtins.ctypes import INT, CType, Value, computed
from warploom.nvvm.builtins.registry import BUILTINS, Builtin, builtin_named
from warploom.nvvm.builtins.source import Argument, Call
from warploom.nvvm.builtins.tokens import BuiltinError, problem

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from warploom.nvvm.reading import Reading

_NAMES = {each.name: each for each in BUILTINS}
_SPACES = {0: "", 1: "global", 3: "shared", 4: "const", 5: "local"}
_DESCRIPTOR = CType("unsigned long long")


@dataclass(frozen=True, slots=True)
class Pointer:
    """An argument that points somewhere: into "global" memory, "shared" memory, or where is not known ("")."""

    space: str = "global"


@dataclass(frozen=True, slots=True)
class Variable:
    """An argument that is a number known when the kernel runs."""


def call_of(name: str, arguments: Sequence[int | Pointer | Variable]) -> Call:
    """A call in Python: constants are integers and booleans.

    Errors: UsageError for a name that no builtin has
    """
    builtin = builtin_named(name)
    text = f"{name}({', '.join(map(str, arguments))})"
    source = Source("<call>", text)
    span = Span(0, len(text))
    parameters: dict[str, CType] = {}
    found: list[Argument] = []
    for place, argument in enumerate(arguments):
        ctype = _type_at(builtin, place, pointer=isinstance(argument, Pointer))
        if isinstance(argument, int):
            found.append(Argument(Value(ctype if ctype == _DESCRIPTOR else INT, int(argument)), span))
            continue
        parameter = f"arg{place}"
        parameters[parameter] = ctype
        if isinstance(argument, Pointer):
            found.append(Argument(Value(ctype, None, parameter, 0, argument.space), span))
        else:
            found.append(Argument(Value(ctype, None, terms=((parameter, 1),)), span))
    return Call(source, builtin, span, tuple(found), parameters=parameters)


def _type_at(builtin: Builtin, place: int, *, pointer: bool) -> CType:
    """The type of an argument that fits its place, as far as pointers and numbers are not confused."""
    if place >= len(builtin.parameters):
        return CType("int", 1, const=True) if pointer else _DESCRIPTOR
    parameter = builtin.parameters[place]
    base = parameter.base if parameter.base != "void" else "float"
    return CType(base, int(pointer), parameter.const and pointer)


def is_mlir(text: str) -> bool:
    """Whether the text of a call is MLIR text."""
    return "llvm.call" in text or "llvm.func" in text


def call_of_module(text: str, name: str) -> Call:
    """The one call of a builtin in MLIR text: an `llvm.call` in a function.

    Errors: LowerError as `read`; BuiltinError builtin.text where there is not one call
    """
    from xdsl.dialects import llvm

    from warploom.nvvm.reading import read

    reading = read(text, name)
    calls = [
        operation
        for operation in reading.module.walk()
        if isinstance(operation, llvm.CallOp)
        and operation.callee is not None
        and operation.callee.root_reference.data in _NAMES
    ]
    if len(calls) != 1:
        message = f"{len(calls)} calls of builtins; expected one"
        raise BuiltinError([problem(reading.source, Span(0, 0), message)])
    (call,) = calls
    assert call.callee is not None
    builtin = _NAMES[call.callee.root_reference.data]
    function = call.parent_op()
    assert isinstance(function, llvm.FuncOp)
    span = reading.spans.get(call, Span(0, 0))
    is_kernel = "nvvm.kernel" in function.attributes or "nvvm.kernel" in function.properties
    entry = function.body.blocks[0]
    names: dict[SSAValue, str] = {value: f"arg{at}" for at, value in enumerate(entry.args)}
    parameters = {name: _type_of(value) for value, name in names.items()}
    arguments: list[Argument] = []
    for place, value in enumerate(call.args):
        found = _value(builtin, place, value, names, is_kernel=is_kernel)
        if value in names and found.type.depth:
            parameters[names[value]] = found.type
        arguments.append(Argument(found, _span_of(reading, value, span)))
    symbol = function.sym_name.data
    return Call(reading.source, builtin, span, tuple(arguments), symbol, is_kernel, parameters)


def _span_of(reading: Reading, value: SSAValue, otherwise: Span) -> Span:
    from xdsl.ir import Operation

    return reading.spans.get(value.owner, otherwise) if isinstance(value.owner, Operation) else otherwise


def _type_of(value: SSAValue) -> CType:
    """The C type of a function's argument."""
    from xdsl.dialects.builtin import Float64Type, IntegerType
    from xdsl.dialects.llvm import LLVMPointerType

    match value.type:
        case LLVMPointerType():
            return CType("void", 1)
        case IntegerType():
            bits = value.type.width.data
            return CType({8: "char", 16: "short", 32: "int", 64: "unsigned long long"}.get(bits, "bool"))
        case Float64Type():
            return CType("double")
        case _:
            return CType("float")


def _value(
    builtin: Builtin, place: int, value: SSAValue, names: dict[SSAValue, str], *, is_kernel: bool
) -> Value:
    """What an operand is, as far as the compiler knows it: a constant, an argument, or computed."""
    from xdsl.dialects import llvm
    from xdsl.dialects.builtin import IntAttr, IntegerAttr
    from xdsl.dialects.llvm import LLVMPointerType

    if isinstance(value.owner, llvm.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return Value(_type_of(value), value.owner.value.value.data)
    if isinstance(value.type, LLVMPointerType):
        space = value.type.addr_space
        number = space.data if isinstance(space, IntAttr) else 0
        known = _SPACES.get(number, "") or ("global" if is_kernel else "")
        ctype = _type_at(builtin, place, pointer=True)
        return Value(ctype, None, names[value], 0, known) if value in names else computed(ctype, known)
    ctype = _type_of(value)
    return Value(ctype, None, terms=((names[value], 1),)) if value in names else computed(ctype)
