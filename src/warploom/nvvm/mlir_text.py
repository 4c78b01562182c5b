"""MLIR text parsed to a verified module, with the span of each operation."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp, UnregisteredAttr
from xdsl.dialects.cf import Cf
from xdsl.dialects.func import Func
from xdsl.dialects.gpu import GPU
from xdsl.dialects.llvm import LLVM
from xdsl.dialects.scf import Scf
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from warploom.diagnostics import Diagnostic, Severity, Source, Span
from warploom.diagnostics.wording import did_you_mean
from warploom.nvvm.dialect import NVVM
from warploom.nvvm.dialect.types import width_of
from warploom.nvvm.errors import LowerError
from warploom.nvvm.mlir.llvm_formats import SYNTAX_NAMES
from warploom.nvvm.mlir.llvm_syntax import operation_class
from warploom.nvvm.mlir.llvm_values import StructParser


@dataclass(frozen=True)
class ParsedModule:
    """MLIR module with its text and the span of each operation in the text.

    `sources` maps an operation that lowering made to the parsed operation that it came from, for the spans of errors.
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


class _Context(Context):
    """Context with the operations of the llvm dialect that xDSL lacks. Unknown attributes are opaque."""

    @property
    def operation_names(self) -> tuple[str, ...]:
        """Names of the registered operations, without those of `SYNTAX_NAMES`."""
        return tuple(self._loaded_ops)

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        """Return the class of an operation, or None if it is unknown."""
        if name in SYNTAX_NAMES or name.startswith("llvm.intr."):
            return operation_class(name)
        return super().get_optional_op(name, dialect_stack=dialect_stack)

    def get_optional_type(self, name: str) -> Any:
        """Return the class of a type, or None if it is unknown."""
        return StructParser if name == "llvm.struct" else super().get_optional_type(name)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        """Return the class of an attribute, or None if it is unknown."""
        found = None if name == "llvm.cconv" else super().get_optional_attr(name)  # xDSL lacks those of PTX
        if found is None and name.partition(".")[0] in {"llvm", "dlti", "nvvm", "gpu"}:
            found = self._loaded_attrs[name] = UnregisteredAttr.with_name_and_type(name, is_type=False)
        return found


class _Parser(Parser):
    """Parser of xDSL that records the spans of operations."""

    def __init__(self, context: _Context, source: Source) -> None:
        super().__init__(context, source.text, source.name)
        self.context = context
        self.structs: dict[str, Any] = {}
        self.spans: dict[Operation, Span] = {}
        self.uses: dict[str, Span] = {}  # the first use of each value that is not yet defined

    def parse_operation(self) -> Operation:
        start = self.pos
        found = _NAME.match(self.lexer.input.content, start)
        name = found[1] if found else ""
        try:
            operation = super().parse_operation()
        except VerifyException as error:
            self.raise_error(_about(name, str(error)), start, max(self.pos, start + 1))
        except MALFORMED:
            self.raise_error(f"cannot parse '{name}'; expected its syntax in MLIR 22", start, max(self.pos, start + 1))
        except ParseError as error:
            if "is not registered" not in error.msg or error.span.start < self.pos:
                raise
            dialect = name.partition(".")[0]
            known = [each for each in (*self.context.operation_names, *SYNTAX_NAMES) if each.startswith(f"{dialect}.")]
            hint = did_you_mean(name, known, "'") if known else f"expected an operation of {_DIALECTS}"
            hint = hint or f"MLIR 22's dialect '{dialect}' has none with a similar name"
            self.raise_error(f"unknown operation '{name}': {hint}", start, start + 1)
        text = self.lexer.input.content
        end = self.pos
        while end > start and text[end - 1].isspace():
            end -= 1
        self.spans[operation] = Span(start, end)
        return operation

    def resolve_operand(self, operand: UnresolvedOperand, type: Any) -> Any:
        """Return the value of an operand. Record the place of a value that is not yet defined."""
        name = operand.operand_name
        if name not in self.ssa_values and name not in self.forward_ssa_references:
            self.uses[name] = Span(operand.span.start, operand.span.end)
        return super().resolve_operand(operand, type)

    def _parse_optional_integer_or_float_type(self) -> Any:
        """Parse a type. An integer has at most as many bits as in LLVM."""
        start = self.pos
        found: Any = super()._parse_optional_integer_or_float_type()
        if (bits := width_of(found)) > _MOST_BITS:
            self.raise_error(f"an integer type has {bits} bits; expected at most {_MOST_BITS}", start, self.pos)
        return found

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Any:
        """Parse a type or attribute. A struct with the text of an earlier one is the same type."""
        parse: Any = super()._parse_extended_type_or_attribute
        found = _FLAT.match(self.lexer.input.content, self.pos) if attr_or_dialect_name == "llvm.struct" else None
        if found is None:
            return parse(attr_or_dialect_name, is_type)
        if found[0] in self.structs:
            self._resume_from(found.end())
        else:
            self.structs[found[0]] = parse(attr_or_dialect_name, is_type)
        return self.structs[found[0]]

    def _parse_dialect_symbol_body(self) -> str:
        """Return the text of an attribute's parameters, with aliases replaced by what they stand for."""
        body = super()._parse_dialect_symbol_body()
        return _ALIAS.sub(self._resolved, body) if "#" in body or "!" in body else body

    def _resolved(self, found: re.Match[str]) -> str:
        name = found[0]
        if not found[1]:
            return name
        if name not in self.attribute_aliases:
            self.raise_error(f"undefined symbol alias '{name}'")
        return str(self.attribute_aliases[name])


_MOST_BITS = 1 << 23
_FLAT = re.compile(r"<\([^<>()]*\)>")
"""Parameters of a struct without nested types."""
_ALIAS = re.compile(r'"(?:[^"\\]|\\.)*"|([#!]\w+)(?![\w.<])')
"""String, or name of an alias (the group) in the parameters of an attribute."""
_NAME = re.compile(r"\s*(?:%[^=]*=\s*)?\"?([\w.]+)")
MALFORMED = (MemoryError, OverflowError, ValueError, IndexError, KeyError, TypeError, AttributeError, AssertionError)
"""Exceptions that xDSL's parser raises for malformed text instead of ParseError."""


_DIALECTS = "the builtin, llvm, nvvm, gpu, func, arith, cf and scf dialects"
_PHRASES = {
    "expect symbol name": "expected a symbol name",
    "after block argument name!": "after the block argument",
    "operand expected": "expected an operand",
    "region ends with missing block declarations for block(s) ": "undefined block ^",
    "LLVM function argument #": "parameter ",
    "does not have a custom format.": "cannot be parsed; `mlir-opt -convert-gpu-to-nvvm` lowers gpu operations",
    "Could not parse entire input!": "expected an operation",
    "Expected attribute ": "expected ",
    "Unexpected attribute ": "has an operand or result of the wrong type ",
    "operand is used with": "{} is used with",
    "SSA value ": "",
    " Use the dictionary attribute to add arbitrary information to the operation.": "",
    "incompatible type 'index'": "incompatible type 'index'; expected i64",
    "values used but not defined: ": "values are used but not defined: ",
}
"""Replacements in messages of xDSL's parser. Braces stand for the text at the error."""


_COUNTS = re.compile(r"expected (\d+) operand types but had (\d+)")


def _about(name: str, message: str) -> str:
    """Return a message that names an operation."""
    message = _plain(message)
    return message if f"'{name}'" in message else f"'{name}' {message}"


def _plain(message: str, token: str = "") -> str:
    """Return a message of xDSL's parser as a sentence. `token` is the text at the error."""
    if message.startswith(" "):
        return f"found '{token}'; expected an operation" if token.strip() else f"the text ends{message}"
    if found := _COUNTS.fullmatch(message):
        return f"expected as many types as operands, got {found[1]} types for {found[2]} operands"
    for phrase, text in _PHRASES.items():
        message = message.replace(phrase, text.replace("{}", token))
    return message[:1].lower() + message[1:] if message[1:2].islower() else message


def parse_mlir(text: str, name: str = "<text>") -> ParsedModule:
    """Parse and verify MLIR text. Operations of the llvm dialect are not verified.

    Errors: LowerError lower.text for text that is no MLIR, lower.operation for an illegal operation
    """
    text = text.removeprefix("\ufeff")  # the byte order mark of some editors
    source = Source(name, text)
    context = _Context()
    for dialect in (Builtin, LLVM, Func, Arith, Cf, Scf, GPU, NVVM):
        context.load_dialect(dialect)
    parser: _Parser | None = None
    try:
        parser = _Parser(context, source)
        module = parser.parse_module()
    except ParseError as error:
        span = Span(error.span.start, error.span.end)
        message = _plain(error.msg, text[span.start : span.end])
        if "not defined" in message and parser is not None:
            starts = [use for name in parser.forward_ssa_references if (use := parser.uses.get(name))]
            span = min(starts, key=lambda each: each.start, default=span)
        elif message.startswith(("expected '", "expected as many")):
            span = _after_text(text, span)
        raise LowerError([Diagnostic("lower.text", Severity.ERROR, message, source, span)]) from None
    except (RecursionError, *MALFORMED) as error:
        message = "operations or types are nested too deeply" if isinstance(error, RecursionError) else "malformed text"
        span = None if parser is None else Span(parser.pos, parser.pos + 1)
        raise LowerError([Diagnostic("lower.text", Severity.ERROR, message, source, span)]) from None
    parsed = ParsedModule(module, source, parser.spans)
    if found := list(_errors(parsed)):
        raise LowerError(found)
    return parsed


def _after_text(text: str, span: Span) -> Span:
    """Return the span, or for one at the beginning of a line, the end of the text before the line."""
    before = text[: span.start].rstrip(" \t")
    if not before.endswith("\n"):
        return span
    end = len(before.rstrip())
    comment = before.find("//", before.rfind("\n", 0, end) + 1, end)
    return span if comment >= 0 else Span(end, end + 1)


def _errors(parsed: ParsedModule) -> Iterator[Diagnostic]:
    for operation in parsed.module.walk():
        if operation.name in ("builtin.module", "gpu.module"):
            yield from _redefinitions(operation, parsed)
            continue
        if operation.name.startswith("llvm."):
            continue  # LLVM verifies the translation of these operations
        try:
            operation.verify(verify_nested_ops=False)
        except DiagnosticException as error:
            cause = error.__cause__ if isinstance(error.__cause__, VerifyException) else error
            yield parsed.diagnostic(operation, _about(operation.name, str(cause)))


def _redefinitions(module: Operation, parsed: ParsedModule) -> Iterator[Diagnostic]:
    """Yield an error for each symbol of a module that an earlier operation defines."""
    seen: set[Attribute] = set()
    for operation in (each for block in module.regions[0].blocks for each in block.ops):
        name = operation.properties.get("sym_name", operation.attributes.get("sym_name"))
        if name is not None and name in seen:
            yield parsed.diagnostic(operation, f"'{operation.name}' defines the symbol {name} a second time")
        elif name is not None:
            seen.add(name)
