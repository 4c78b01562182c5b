"""From the nvvm dialect to the llvm dialect: the call of an intrinsic where LLVM has one, else inline PTX."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from warploom.nvvm import dialect
from warploom.nvvm.calls import call_of
from warploom.nvvm.dialect.operation import instruction_of
from warploom.nvvm.dialect.pieces import Local, Mark, registers_of
from warploom.nvvm.errors import LowerError
from warploom.nvvm.inline import LETTERS
from warploom.nvvm.reading import Reading


def to_llvm(reading: Reading) -> ModuleOp:
    """The module with every operation of the dialect as LLVM's.

    Errors: LowerError lower.unknown for values that inline PTX cannot have
    """
    module = reading.module
    for operation in list(module.walk()):
        if isinstance(operation, dialect.InlinePtx) or not isinstance(operation, dialect.Operation):
            continue
        if (call := call_of(operation)) is not None:
            made, results = call
        elif (missing := _unfit(operation)) is not None:
            message = (
                f"'{operation.name}' has a value of type {missing}, which inline PTX cannot have, and no intrinsic"
                " with one is called here"
            )
            hint = "its PTX has the registers of it"
            raise LowerError([reading.finding(operation, message, "lower.unknown", hint)])
        else:
            made, results = _inline(operation)
        Rewriter.replace_op(operation, made, results)
    return module


def _unfit(operation: dialect.Operation) -> Attribute | None:
    """The type of a value of several registers that are not elements of a struct."""
    for value in (*operation.operands, *operation.results):
        elements = value.type.types.data if isinstance(value.type, LLVMStructType) else [value.type]
        if any(len(registers_of(element)) != 1 for element in elements):
            return value.type
    return None


def _inline(operation: dialect.Operation) -> tuple[list[Operation], Sequence[SSAValue]]:
    """Inline PTX: results first, then what they take over, then the other operands, as LLVM counts them."""
    code = operation.code()
    made: list[Operation] = []
    numbers: dict[SSAValue, tuple[str, ...]] = {}
    constraints: list[str] = []
    inputs: list[SSAValue] = []
    for result in operation.results:
        types = registers_of(result.type)
        numbers[result] = tuple(f"${len(constraints) + k}" for k in range(len(types)))
        constraints += [f"={LETTERS[word]}" for word in types]
    taken = dict(code.same)
    for operand in dict.fromkeys(operation.operands):
        types = registers_of(operand.type)
        tied = numbers.get(taken[operand], ()) if operand in taken else ()
        numbers[operand] = tied or tuple(f"${len(constraints) + k}" for k in range(len(types)))
        constraints += [name[1:] for name in tied] or [LETTERS[word] for word in types]
        if not isinstance(operand.type, LLVMStructType):
            inputs.append(operand)
            continue
        for k, element in enumerate(operand.type.types.data):
            part = llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [k]), operand, element)
            made.append(part)
            inputs.append(part.res)
    locals_: dict[str, str] = {}

    def name_of(value: SSAValue | Local) -> tuple[str, ...]:
        if isinstance(value, Local):
            locals_.setdefault(value.name, value.type)
            return (value.name,)
        return numbers[value]

    lines = [
        f"{statement.name}:" if isinstance(statement, Mark) else str(instruction_of(statement, name_of))
        for statement in code.statements
    ]
    declared = [f".reg .{word} {name};" for name, word in locals_.items() if word != "label"]
    text = "\n".join(("{", *declared, *lines, "}")) if declared or len(lines) > 1 else lines[0]
    results = [result.type for result in operation.results]
    asm = llvm.InlineAsmOp(text, ",".join(constraints), inputs, results, asm_dialect=0, has_side_effects=True)
    return [*made, asm], asm.results
