"""Translation of text with calls of builtins, which is CUDA C or MLIR, to an MLIR module."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import Float64Type, IntAttr, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from warploom.diagnostics import Diagnostic, Span
from warploom.isa.model.availability import Target
from warploom.nvvm.builtins.c_types import CType, Value
from warploom.nvvm.builtins.emitter import Emitter
from warploom.nvvm.builtins.functions import Translator, expected_type
from warploom.nvvm.builtins.registry import BY_NAME, Builtin
from warploom.nvvm.builtins.source import BuiltinError, CudaText, diagnostic_at
from warploom.nvvm.builtins.to_nvvm import Call, CallEmitter, note_on, select_call
from warploom.nvvm.dialect.types import STATE_SPACES
from warploom.nvvm.mlir_text import ParsedModule, parse_mlir


@dataclass(frozen=True)
class Translation(ParsedModule):
    """MLIR module of a text, with the calls of builtins in the text."""

    calls: tuple[Call, ...] = ()

    def notes(self) -> Iterator[Diagnostic]:
        """Yield notes that state which operations surround the operations of calls."""
        for call in self.calls:
            yield from note_on(self.source, call)


def translate(text: str, target: Target, name: str = "<text>") -> Translation:
    """Translate CUDA C or MLIR text with calls of builtins to a module of the llvm and nvvm dialects.

    Errors: BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target; LowerError as in `parse_mlir`
    """
    if "llvm.call" in text or "llvm.func" in text:
        return _from_mlir(parse_mlir(text, name), target)
    parsed = CudaText(text, name)
    spaces: dict[object, str] = {}
    try:
        while True:
            translator = Translator(parsed, target, spaces)
            module = translator.module()
            if not translator.stale:
                return Translation(module, parsed.source, translator.spans, calls=tuple(translator.calls))
    except RecursionError:
        raise parsed.error("the text is nested too deeply", Span(0, 1)) from None


# Calls in MLIR text ---------------------------------------------------------------------------------------

_INTEGERS = {8: "char", 16: "short", 32: "int", 64: "unsigned long long"}


def _from_mlir(parsed: ParsedModule, target: Target) -> Translation:
    """Replace each `llvm.call` of a builtin by operations."""
    found: list[Call] = []
    for operation in list(parsed.module.walk()):
        callee = _attribute(operation, "callee") if operation.name == "llvm.call" else None
        builtin = BY_NAME.get(callee.root_reference.data) if isinstance(callee, SymbolRefAttr) else None
        if builtin is None:
            continue
        function = operation.parent_op()
        is_kernel = function is not None and _attribute(function, "nvvm.kernel") is not None
        span = parsed.spans.get(operation, Span(0, 0))
        arguments = [
            (_value(builtin, at, value, is_kernel=is_kernel), _span(parsed, value, span))
            for at, value in enumerate(operation.operands)
        ]
        call = select_call(parsed.source, builtin, span, arguments, target)
        found.append(call)
        emitter = Emitter()
        emitter.block = Block()
        CallEmitter(emitter, call).emit()
        made = list(emitter.block.ops)
        parsed.spans.update(dict.fromkeys(made, span))
        for each in made:
            each.detach()
        Rewriter.insert_op(made, InsertPoint.before(operation))
        Rewriter.erase_op(operation)
    if not found:
        raise BuiltinError([diagnostic_at(parsed.source, Span(0, 0), "expected a call of a builtin, got none")])
    for operation in list(parsed.module.ops):
        name = _attribute(operation, "sym_name")
        if isinstance(name, StringAttr) and name.data in BY_NAME and not operation.regions[0].blocks:
            Rewriter.erase_op(operation)
    return Translation(parsed.module, parsed.source, parsed.spans, calls=tuple(found))


def _attribute(operation: Operation, name: str) -> Attribute | None:
    return operation.properties.get(name, operation.attributes.get(name))


def _span(parsed: ParsedModule, value: SSAValue, otherwise: Span) -> Span:
    return parsed.spans.get(value.owner, otherwise) if isinstance(value.owner, Operation) else otherwise


def _value(builtin: Builtin, position: int, ssa: SSAValue, *, is_kernel: bool) -> Value:
    """Return the value of the argument at `position`."""
    match ssa.type:
        case LLVMPointerType():
            space = ssa.type.addr_space
            known = STATE_SPACES.get(space.data if isinstance(space, IntAttr) else 0, "")
            is_parameter = is_kernel and isinstance(ssa.owner, Block)
            is_extra = position >= len(builtin.parameters)  # the pointer to A in registers
            ctype = CType("int", 1, const=True) if is_extra else replace(expected_type(builtin, position), depth=1)
            return Value(ctype, None, ssa, known or ("global" if is_parameter else ""))
        case IntegerType():
            ctype = CType(_INTEGERS.get(ssa.type.width.data, "bool"))
        case Float64Type():
            ctype = CType("double")
        case _:
            ctype = CType("float")
    owner = ssa.owner
    constant = None
    if isinstance(owner, Operation) and owner.name in ("llvm.mlir.constant", "arith.constant"):
        constant = _attribute(owner, "value")
    return Value(ctype, constant.value.data, ssa) if isinstance(constant, IntegerAttr) else Value(ctype, None, ssa)
