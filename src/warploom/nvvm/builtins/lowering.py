"""Lowering of a builtin's call to PTX, or to the nvvm or llvm dialect."""

from dataclasses import replace

from xdsl.dialects import llvm
from xdsl.dialects.builtin import Float64Type, IntAttr, IntegerAttr, IntegerType
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue

from warploom.diagnostics import Span, UsageError
from warploom.isa.model.availability import Target, Version
from warploom.nvvm.builtins import to_nvvm, to_ptx
from warploom.nvvm.builtins.c_types import CType, Value, computed
from warploom.nvvm.builtins.cuda_parser import Argument, Call, expected_type, parse_call
from warploom.nvvm.builtins.registry import BY_NAME, Builtin
from warploom.nvvm.builtins.selection import RefusedCall, Selection, select
from warploom.nvvm.builtins.tokens import BuiltinError, diagnostic_at
from warploom.nvvm.dialect.types import STATE_SPACES
from warploom.nvvm.mlir_text import parse_mlir
from warploom.nvvm.to_ptx import KERNEL, check_version, target_named


def read_and_select(text: str, target: Target, name: str = "<text>") -> tuple[Call, Selection]:
    """Parse the call of a builtin in CUDA C or MLIR text, and select its instruction for a target.

    Errors: BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target
    """
    is_mlir = "llvm.call" in text or "llvm.func" in text
    call = _call_from_mlir(text, name) if is_mlir else parse_call(text, name)
    try:
        return call, select(call.builtin, [argument.value for argument in call.arguments], target)
    except RefusedCall as refused:
        spans: dict[int | None, Span] = {at: argument.span for at, argument in enumerate(call.arguments)}
        errors = [
            diagnostic_at(call.source, spans.get(each.position, call.span), each.message, each.code)
            for each in refused.errors
        ]
        raise BuiltinError(errors) from None


def lower_builtin(text: str, to: str, target: str, version: Version | None = None, name: str = "<text>") -> str:
    """Lower the text of a call to PTX, or to an MLIR module in the nvvm or llvm dialect.

    `text` is CUDA C or MLIR. `to` is "ptx", "nvvm" or "llvm". The default version of the PTX is the first that has all
    instructions.

    Errors: UsageError lower.level, lower.target; BuiltinError as in `read_and_select`, and builtin.computed
    """
    known = target_named(target)
    call, selection = read_and_select(text, known, name)
    check_version(version)
    if to == "ptx":
        return str(to_ptx.write(call, selection, known, version))
    if to not in ("nvvm", "llvm"):
        raise UsageError(f"cannot lower builtin to {to}", code="lower.level")
    module = to_nvvm.module_of(call, selection)
    module.verify()
    return str(module) + "\n"


# Calls in MLIR text ---------------------------------------------------------------------------------------

_INTEGERS = {8: "char", 16: "short", 32: "int", 64: "unsigned long long"}


def _call_from_mlir(text: str, name: str) -> Call:
    """Parse MLIR text that contains exactly one `llvm.call` of a builtin.

    Errors: LowerError as in `parse_mlir`; BuiltinError builtin.text for another number of calls
    """
    parsed = parse_mlir(text, name)
    calls = [
        (operation, BY_NAME[operation.callee.root_reference.data])
        for operation in parsed.module.walk()
        if isinstance(operation, llvm.CallOp)
        and operation.callee is not None
        and operation.callee.root_reference.data in BY_NAME
    ]
    if len(calls) != 1:
        message = f"expected one call of a builtin, got {len(calls)}"
        raise BuiltinError([diagnostic_at(parsed.source, Span(0, 0), message)])
    ((call, builtin),) = calls
    function = call.parent_op()
    assert isinstance(function, llvm.FuncOp)
    span = parsed.spans.get(call, Span(0, 0))
    is_kernel = KERNEL in function.attributes or KERNEL in function.properties
    names: dict[SSAValue, str] = {value: f"arg{k}" for k, value in enumerate(function.body.blocks[0].args)}
    parameters = {name: _type_of(value) for value, name in names.items()}
    arguments: list[Argument] = []
    for position, value in enumerate(call.args):
        found = _value(builtin, position, value, names, is_kernel=is_kernel)
        if value in names and found.type.depth:
            parameters[names[value]] = found.type
        at = parsed.spans.get(value.owner, span) if isinstance(value.owner, Operation) else span
        arguments.append(Argument(found, at))
    symbol = function.sym_name.data
    return Call(parsed.source, builtin, span, tuple(arguments), symbol, is_kernel, parameters)


def _type_of(value: SSAValue) -> CType:
    match value.type:
        case LLVMPointerType():
            return CType("void", 1)
        case IntegerType():
            return CType(_INTEGERS.get(value.type.width.data, "bool"))
        case Float64Type():
            return CType("double")
        case _:
            return CType("float")


def _value(builtin: Builtin, position: int, value: SSAValue, names: dict[SSAValue, str], *, is_kernel: bool) -> Value:
    """Return the value of the argument at `position`. `names` maps the parameters to their names."""
    if isinstance(value.owner, llvm.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return Value(_type_of(value), value.owner.value.value.data)
    if isinstance(value.type, LLVMPointerType):
        space = value.type.addr_space
        number = space.data if isinstance(space, IntAttr) else 0
        known = STATE_SPACES.get(number, "") or ("global" if is_kernel else "")
        is_extra = position >= len(builtin.parameters)  # the pointer to A in registers
        ctype = CType("int", 1, const=True) if is_extra else replace(expected_type(builtin, position), depth=1)
        return Value(ctype, None, names[value], 0, known) if value in names else computed(ctype, known)
    ctype = _type_of(value)
    return Value(ctype, None, terms=((names[value], 1),)) if value in names else computed(ctype)
