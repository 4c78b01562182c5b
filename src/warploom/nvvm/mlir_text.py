"""MLIR text parsed to a verified module, with the span of each operation."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.llvm import LLVM
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from warploom.diagnostics import Diagnostic, Severity, Source, Span
from warploom.nvvm.dialect import NVVM
from warploom.nvvm.errors import LowerError
from warploom.nvvm.mlir.llvm_syntax import LlvmContext


@dataclass(frozen=True)
class ParsedModule:
    """MLIR module with its text and the span of each operation in the text.

    `sources` maps an operation that lowering made to the operation which it replaces.
    """

    module: ModuleOp
    source: Source
    spans: dict[Operation, Span]
    sources: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])

    def diagnostic(
        self, operation: Operation, message: str, code: str = "lower.operation", hint: str = ""
    ) -> Diagnostic:
        """Return an error at the span of an operation."""
        # An operation without a span has the span of the nearest operation around it.
        at: Operation | None = self.sources.get(operation, operation)
        while at is not None and at not in self.spans:
            at = at.parent_op()
        span = None if at is None else self.spans[at]
        return Diagnostic(code, Severity.ERROR, message, self.source, span, hint)


class _Parser(Parser):
    """Parser of xDSL that records the spans of operations."""

    def __init__(self, context: LlvmContext, source: Source) -> None:
        super().__init__(context, source.text, source.name)
        self.spans: dict[Operation, Span] = {}

    def parse_operation(self) -> Operation:
        start = self.pos
        try:
            operation = super().parse_operation()
        except VerifyException as error:
            self.raise_error(str(error), start, max(self.pos, start + 1))
        except ParseError as error:
            if "is not registered" not in error.msg or error.span.start < self.pos:
                raise
            self.raise_error(error.msg, start, start + 1)
        text = self.lexer.input.content
        end = self.pos
        while end > start and text[end - 1].isspace():
            end -= 1
        self.spans[operation] = Span(start, end)
        return operation


def parse_mlir(text: str, name: str = "<text>") -> ParsedModule:
    """Parse and verify MLIR text.

    Errors: LowerError lower.text for text that is no MLIR, lower.operation for an illegal operation
    """
    source = Source(name, text)
    context = LlvmContext()
    for dialect in (Builtin, LLVM, Func, Arith, NVVM):
        context.load_dialect(dialect)
    parser = _Parser(context, source)
    try:
        module = parser.parse_module()
    except ParseError as error:
        span = Span(error.span.start, error.span.end)
        raise LowerError([Diagnostic("lower.text", Severity.ERROR, error.msg, source, span)]) from None
    except RecursionError:
        span = Span(parser.pos, parser.pos + 1)
        message = "operations or types are nested too deeply"
        raise LowerError([Diagnostic("lower.text", Severity.ERROR, message, source, span)]) from None
    parsed = ParsedModule(module, source, parser.spans)
    if found := list(_errors(parsed)):
        raise LowerError(found)
    return parsed


def _errors(parsed: ParsedModule) -> Iterator[Diagnostic]:
    for operation in parsed.module.walk():
        if operation.name.startswith("llvm."):
            continue  # LLVM verifies the translation of these operations
        try:
            operation.verify(verify_nested_ops=False)
        except DiagnosticException as error:
            cause = error.__cause__ if isinstance(error.__cause__, VerifyException) else error
            yield parsed.diagnostic(operation, str(cause))
