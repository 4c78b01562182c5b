"""Translation of text with calls of builtins, which is CUDA C or MLIR, to an MLIR module."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import Float64Type, IntegerAttr, IntegerType, StringAttr, SymbolRefAttr
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, Operation, SSAValue

from warploom.diagnostics import Diagnostic, Severity, Span
from warploom.isa.model.availability import Target
from warploom.nvvm.builtins.c_types import CType, Value
from warploom.nvvm.builtins.calls import CallText
from warploom.nvvm.builtins.functions import Translator
from warploom.nvvm.builtins.registry import BY_NAME, Builtin
from warploom.nvvm.builtins.selection import RefusedCall, Selection, select
from warploom.nvvm.builtins.source import BuiltinError, CudaText, diagnostic_at
from warploom.nvvm.builtins.spaces import space_of
from warploom.nvvm.builtins.to_nvvm import replace_call
from warploom.nvvm.mlir_text import ParsedModule, parse_mlir

_SIZES = 3
"""Number of arguments before the flags of a warpgroup multiplication: m, n and k."""


@dataclass(frozen=True, slots=True)
class Call(CallText):
    """Call of a builtin with the selected instruction."""

    selection: Selection


@dataclass(frozen=True)
class Translation(ParsedModule):
    """MLIR module of a text, with the calls of builtins in the text."""

    calls: tuple[Call, ...] = ()

    def notes(self) -> Iterator[Diagnostic]:
        """Yield notes for each warpgroup multiplication: what lowering adds around it, and what has no effect."""
        for call in self.calls:
            if call.builtin.kind == "warpgroup":
                added = "lower adds a wgmma fence before the call, and a commit and a wait after it"
                yield self._note(call, call.span, added)
                if "trans_a" in call.builtin.booleans and "a" in call.selection.fragments:
                    value, span = call.arguments[_SIZES + call.builtin.booleans.index("trans_a")]
                    if value.constant:
                        yield self._note(call, span, "trans_a has no effect, because A is in registers")
                # As in nvcc, A and B end the arguments.
                for _, span in call.arguments[len(call.builtin.parameters) + 2 :]:
                    yield self._note(call, span, "an argument after B has no effect")

    def _note(self, call: Call, span: Span, message: str) -> Diagnostic:
        found = diagnostic_at(self.source, span, f"'{call.builtin.name}': {message}", "builtin.added")
        return replace(found, severity=Severity.NOTE)


def translate(text: str, target: Target, name: str = "<text>") -> Translation:
    """Translate CUDA C or MLIR text with calls of builtins to a module of the llvm and nvvm dialects.

    Text that contains `llvm.func` or `llvm.call` is MLIR.

    Errors: BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target; LowerError as in `parse_mlir`
    """
    if "llvm.call" in text or "llvm.func" in text:
        parsed = parse_mlir(text, name)
        calls = _calls_in(parsed)
        if not calls:
            raise BuiltinError([diagnostic_at(parsed.source, Span(0, 0), "expected a call of a builtin, got none")])
    else:
        cuda = CudaText(text, name)
        translator = Translator(cuda)
        try:
            parsed = ParsedModule(translator.module(), cuda.source, translator.spans)
        except RecursionError:
            raise cuda.error("the text is nested too deeply", translator.position) from None
        calls = translator.calls
    lowered = tuple(_lowered(parsed, operation, call, target) for operation, call in calls.items())
    return Translation(parsed.module, parsed.source, parsed.spans, calls=lowered)


def _lowered(parsed: ParsedModule, operation: Operation, call: CallText, target: Target) -> Call:
    """Replace a call of a builtin by operations of the nvvm dialect."""
    function = operation.parent_op()
    is_kernel = function is not None and _attribute(function, "nvvm.kernel") is not None
    arguments = tuple(
        (value if value.ssa is None else replace(value, space=space_of(value.ssa, is_kernel=is_kernel)), span)
        for value, span in call.arguments
    )
    try:
        selection = select(call.builtin, [value for value, _ in arguments], target)
    except RefusedCall as refused:
        raise _refused(parsed, call, refused) from None
    made = replace_call(operation, call.builtin, [value for value, _ in arguments], selection)
    parsed.spans.update(dict.fromkeys(made, call.span))
    return Call(call.builtin, call.span, arguments, selection)


def _refused(parsed: ParsedModule, call: CallText, refused: RefusedCall) -> BuiltinError:
    spans: dict[int | None, Span] = {at: span for at, (_, span) in enumerate(call.arguments)}
    return BuiltinError(
        diagnostic_at(parsed.source, spans.get(each.position, call.span), each.message, each.code)
        for each in refused.errors
    )


# Calls in MLIR text ---------------------------------------------------------------------------------------

_INTEGERS = {8: "char", 16: "short", 32: "int", 64: "unsigned long long"}


def _calls_in(parsed: ParsedModule) -> dict[Operation, CallText]:
    """Return the calls of builtins in a module, and delete the declarations of the builtins."""
    found: dict[Operation, CallText] = {}
    for operation in parsed.module.walk():
        callee = _attribute(operation, "callee") if operation.name == "llvm.call" else None
        builtin = BY_NAME.get(callee.root_reference.data) if isinstance(callee, SymbolRefAttr) else None
        if builtin is not None:
            span = parsed.spans.get(operation, Span(0, 0))
            found[operation] = CallText(builtin, span, tuple(_arguments(parsed, builtin, operation.operands, span)))
    for operation in list(parsed.module.ops) if found else ():
        name = _attribute(operation, "sym_name")
        if isinstance(name, StringAttr) and name.data in BY_NAME and not operation.regions[0].blocks:
            operation.detach()
            operation.erase()
    return found


def _attribute(operation: Operation, name: str) -> Attribute | None:
    return operation.properties.get(name, operation.attributes.get(name))


def _arguments(
    parsed: ParsedModule, builtin: Builtin, operands: Sequence[SSAValue], span: Span
) -> Iterator[tuple[Value, Span]]:
    for position, ssa in enumerate(operands):
        owner = ssa.owner if isinstance(ssa.owner, Operation) else None
        match ssa.type:
            case LLVMPointerType():
                is_a = position >= len(builtin.parameters)  # the pointer to A in registers
                ctype = CType("int", 1, const=True) if is_a else replace(builtin.expected_type(position), depth=1)
            case IntegerType():
                ctype = CType(_INTEGERS.get(ssa.type.width.data, "bool"))
            case Float64Type():
                ctype = CType("double")
            case _:
                ctype = CType("float")
        is_constant = owner is not None and owner.name in ("llvm.mlir.constant", "arith.constant")
        value = _attribute(owner, "value") if owner is not None and is_constant else None
        constant = value.value.data if isinstance(value, IntegerAttr) else None
        yield Value(ctype, constant, ssa), span if owner is None else parsed.spans.get(owner, span)
