"""Lowering of the nvvm dialect to the llvm dialect: intrinsic calls where possible, else inline PTX."""

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from warploom.nvvm import dialect
from warploom.nvvm.dialect.lowering import Temporary
from warploom.nvvm.dialect.types import CONSTRAINTS, SHARED_SPACE, elements_of, pointer_to, registers_of
from warploom.nvvm.errors import LowerError
from warploom.nvvm.intrinsic_calls import call_of
from warploom.nvvm.llvm_builder import LlvmBuilder
from warploom.nvvm.mlir_text import ParsedModule


def to_llvm(parsed: ParsedModule) -> ModuleOp:
    """Replace nvvm operations in place by calls of intrinsics or inline PTX. Return the module.

    Errors: LowerError lower.unknown for an operation without an intrinsic that has a value of several registers
    """
    module = parsed.module
    for operation in list(module.walk()):
        if not isinstance(operation, dialect.Operation):
            continue
        build = LlvmBuilder()
        try:
            results = _replacement(operation, build)
        except VerifyException as error:
            raise LowerError([parsed.diagnostic(operation, str(error), "lower.unknown")]) from None
        for made in build.operations:
            parsed.sources[made] = operation
        Rewriter.replace_op(operation, build.operations, results)
    return module


def _replacement(operation: dialect.Operation, build: LlvmBuilder) -> Sequence[SSAValue]:
    """Append the operations that replace `operation`, and return the values for its results."""
    if (results := operation.to_llvm(build)) is not None:
        return results
    if (results := call_of(operation, build)) is not None:
        return results
    if (unsupported := _unsupported_type(operation)) is not None:
        problem = f"inline PTX does not support a value of type {unsupported}"
        raise VerifyException(f"cannot lower '{operation.name}' to LLVM: {problem}")
    return _inline_asm(operation, build)


def _unsupported_type(operation: dialect.Operation) -> Attribute | None:
    """Return the type of the first value that inline PTX cannot have in its registers, or None."""
    for value in (*operation.operands, *operation.results):
        types = elements_of(value.type) if isinstance(value.type, LLVMStructType) else [value.type]
        # A value, or each element of a struct, needs exactly one register.
        if any(len(registers_of(each)) != 1 for each in types):
            return value.type
    return None


def _inline_asm(operation: dialect.Operation, build: LlvmBuilder) -> Sequence[SSAValue]:
    """Lower `operation` to inline PTX. Return the values for the results."""
    lowering = operation.lower()
    names: dict[SSAValue, tuple[str, ...]] = {}
    constraints: list[str] = []
    inputs: list[SSAValue] = []
    # LLVM numbers the results first, then the operands.
    for result in operation.results:
        types = registers_of(result.type)
        names[result] = tuple(f"${len(constraints) + k}" for k in range(len(types)))
        constraints += [f"={CONSTRAINTS[word]}" for word in types]
    copied = dict(lowering.copies)
    for operand in dict.fromkeys(operation.operands):
        types = registers_of(operand.type)
        tied = names.get(copied[operand], ()) if operand in copied else ()
        names[operand] = tied or tuple(f"${len(constraints) + k}" for k in range(len(types)))
        constraints += [name[1:] for name in tied] or [_constraint(operand, word) for word in types]
        inputs += build.elements(operand)
    temporaries: dict[str, str] = {}

    def names_of(value: SSAValue | Temporary) -> tuple[str, ...]:
        if isinstance(value, Temporary):
            temporaries.setdefault(value.name, value.type)
            return (value.name,)
        return names[value]

    lines = [
        f"{each.name}:" if isinstance(each, Temporary) else str(each.instruction(names_of))
        for each in lowering.statements
    ]
    declared = [f".reg .{word} {name};" for name, word in temporaries.items() if word != "label"]
    text = "\n".join(("{", *declared, *lines, "}")) if declared or len(lines) > 1 else lines[0]
    results = [result.type for result in operation.results]
    asm = llvm.InlineAsmOp(text, ",".join(constraints), inputs, results, asm_dialect=0, has_side_effects=True)
    build.operations.append(asm)
    return asm.results


def _constraint(operand: SSAValue, word: str) -> str:
    # As in the output of MLIR, a constant is an immediate, and a pointer to shared memory is passed in 32 bits.
    if isinstance(operand.owner, llvm.ConstantOp):
        return "n"
    return "r" if operand.type == pointer_to(SHARED_SPACE) else CONSTRAINTS[word]
