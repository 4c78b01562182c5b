"""`wl.lower`: translation between compiler builtins, MLIR's nvvm dialect, LLVM IR and PTX."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from warploom.check import check
from warploom.check.header import find_target, find_version
from warploom.diagnostics import Diagnostic, Severity, Source, Span, UsageError
from warploom.isa.model.availability import Target, Version
from warploom.nvvm.errors import LowerError, require_xdsl
from warploom.nvvm.llvm.backend import BackendError, canonical, error_at, line_like, with_target_layout, without_bits
from warploom.nvvm.llvm.calls import Call, follow, instruction_lines
from warploom.nvvm.llvm.compile import CompileError, Report, compile_llvm, line_of
from warploom.ptx import parse

if TYPE_CHECKING:
    from warploom.nvvm.mlir_text import ParsedModule

_LEVELS = {"builtin": ("nvvm", "llvm", "ptx"), "nvvm": ("nvvm", "llvm", "ptx"), "llvm": ("ptx",), "ptx": ("nvvm",)}


class Lowered(str):
    """Result of `lower`: a `str`, with the LLVM IR from which PTX was compiled.

    `llvm_ir` is this LLVM IR, with the data layout of nvptx64 in its first line. For MLIR it is "".
    """

    __slots__ = ("_target", "llvm_ir")

    llvm_ir: str
    _target: Target

    def __new__(cls, text: str, llvm_ir: str, target: Target) -> Lowered:
        """Return a result. `llvm_ir` is the LLVM IR from which LLVM compiled it, or ""."""
        found = super().__new__(cls, text)
        found.llvm_ir = llvm_ir
        found._target = target
        return found

    def calls(self) -> list[Call]:
        """Return each call in the LLVM IR with its arguments, its PTX instructions and their Forms.

        Errors: UsageError lower.level for a text that is no PTX from LLVM IR
        """
        if not self.llvm_ir or not (version := parse(self).version):
            raise UsageError("only PTX that was lowered from LLVM IR has calls", code="lower.level")
        return follow(self.llvm_ir, self._target, version)


def lower(
    text: str,
    source: str = "nvvm",
    to: str = "ptx",
    target: str = "sm_90a",
    ptx_version: str | tuple[int, int] | None = None,
    name: str = "<text>",
) -> Lowered:
    """Translate a text to another level: CUDA C with builtins, MLIR (nvvm dialect), LLVM IR or PTX.

    `source` is "builtin", "nvvm", "llvm" or "ptx". `to` is "nvvm", "llvm" or "ptx". From PTX, only "nvvm" is possible.
    `name` is the file name in diagnostics. The default `ptx_version` is the first with all needed instructions. The
    result is a `str` with the method `calls`, which follows each call to its PTX instructions.

    "builtin" is CUDA C, or MLIR with calls of builtins. "nvvm" is MLIR. From LLVM IR, only "ptx" is possible.

    Errors: UsageError lower.level, lower.target, lower.packages, check.target and check.ptx-version (unknown target or
        version); PtxSyntaxError for PTX that cannot be parsed; LowerError lower.text, lower.operation,
        lower.unknown, lower.function, lower.llvm, lower.lift, and the rule codes of `check` for instructions that the
        target lacks; BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target
    """
    known = find_target(target)
    version = None if ptx_version is None else find_version(ptx_version)
    if to not in _LEVELS.get(source, ()):
        raise UsageError(f"cannot lower {source} to {to}", code="lower.level")
    if source == "llvm":
        return _from_llvm(text, known, version, name)
    require_xdsl()
    from warploom.nvvm.mlir_text import parse_mlir

    if source == "ptx":
        from warploom.nvvm.lifting import lift

        return Lowered(str(lift(parse(text, name))) + "\n", "", known)
    if source == "builtin":
        from warploom.nvvm.builtins.lowering import translate

        parsed = translate(text, known, name)
    else:
        parsed = parse_mlir(text, name)
    return Lowered(str(parsed.module) + "\n", "", known) if to == "nvvm" else _from_mlir(parsed, to, known, version)


def _from_llvm(text: str, target: Target, version: Version | None, name: str) -> Lowered:
    source, text = Source(name, text), with_target_layout(without_bits(text))

    def report(line: int | None, message: str) -> Diagnostic:
        span = _line_span(source, line)
        subject = "the module" if span is None else f"'{source.text[span.start : span.end]}'"
        message = message if message.startswith("cannot lower") else f"{subject} {message}"
        return Diagnostic("lower.llvm", Severity.ERROR, message, source, span)

    ptx = _compile(text, target, version, report)
    if found := [each for each in check(ptx) if each.severity is Severity.ERROR]:
        printed = canonical(text)
        lines = text.splitlines()
        spans = [
            _line_span(source, line_like(printed.splitlines()[line - 1], lines))
            for line in _lines(ptx, found, printed, target)
        ]
        raise LowerError(replace(each, source=source, span=span) for each, span in zip(found, spans, strict=True))
    return Lowered(ptx, text, target)


def _line_span(source: Source, line: int | None) -> Span | None:
    lines = source.text.splitlines(keepends=True)
    if line is None or line > len(lines):
        return None
    start = sum(map(len, lines[: line - 1]))
    text = lines[line - 1]
    return Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def _compile(text: str, target: Target, version: Version | None, report: Report) -> str:
    """Return the PTX of LLVM IR. Errors: LowerError."""
    try:
        ptx = compile_llvm(text, target, version, report)
        if unknown := re.search(r"(?m)^\.extern \.func .*?\b(llvm\.[\w.]+)", ptx):
            message = f"cannot lower the call of '{unknown[1]}': LLVM 22 has no intrinsic of this name"
            raise LowerError([report(line_of(unknown[1], text), message)])
        return ptx
    except CompileError as error:
        raise LowerError([error.diagnostic]) from None
    except BackendError as error:
        line, message = error_at(error, text)
        raise LowerError([report(line, message)]) from None


def _from_mlir(parsed: ParsedModule, to: str, target: Target, version: Version | None) -> Lowered:
    from warploom.nvvm.mlir.gpu import lower_gpu
    from warploom.nvvm.mlir.to_llvm_ir import to_llvm_ir
    from warploom.nvvm.to_llvm import to_llvm

    lower_gpu(parsed)
    to_llvm(parsed)
    made = to_llvm_ir(parsed)

    def report(line: int | None, message: str) -> Diagnostic:
        operation = None if line is None else made.operation_at(line)
        if operation is None:
            subject = "" if message.startswith("cannot lower") else "the module "
            return parsed.diagnostic(parsed.module, f"{subject}{message}", "lower.llvm")
        return parsed.diagnostic(operation, f"'{operation.name}' {message}", "lower.llvm")

    if to == "llvm":
        try:
            return Lowered(canonical(made.text), made.text, target)
        except BackendError as error:
            raise LowerError([report(*error_at(error, made.text))]) from None
    ptx = _compile(made.text, target, version, report)
    if found := [each for each in check(ptx) if each.severity is Severity.ERROR]:
        owners = [made.operation_at(line) or parsed.module for line in _lines(ptx, found, made.text, target)]
        raise LowerError(
            replace(parsed.diagnostic(owner, each.message, each.code, each.hint), section=each.section)
            for owner, each in zip(owners, found, strict=True)
        )
    return Lowered(ptx, made.text, target)


def _lines(ptx: str, found: list[Diagnostic], llvm_ir: str, target: Target) -> list[int]:
    """Return the line of LLVM IR that produced the PTX of each diagnostic, or 1 if it is unknown."""
    module = parse(ptx)
    bodies = [function.body for function in module.functions.values() if function.body is not None]
    instructions = [each for body in bodies for each in body.instructions()]
    lines = [line for _, line in instruction_lines(llvm_ir, target, module.version or (0, 0))]
    return [
        next(
            (
                line
                for instruction, line in zip(instructions, lines, strict=False)
                if each.span and instruction.span and instruction.span.start <= each.span.start < instruction.span.end
            ),
            1,
        )
        for each in found
    ]


def protocol_warnings(text: str, name: str = "<text>") -> list[Diagnostic]:
    """Return warnings for missing wgmma fences, commits and waits in MLIR text.

    Each block is checked alone. Errors: UsageError lower.packages; LowerError lower.text, lower.operation
    """
    require_xdsl()
    from warploom.nvvm.dialect.wgmma import protocol_violations
    from warploom.nvvm.mlir_text import parse_mlir

    parsed = parse_mlir(text, name)
    return [
        replace(
            parsed.diagnostic(operation, f"'{operation.name}' {message}", "lower.protocol"), severity=Severity.WARNING
        )
        for operation, message in protocol_violations(parsed.module)
    ]


def notes(text: str, target: str = "sm_90a", name: str = "<text>") -> list[Diagnostic]:
    """Return notes that state what `lower` adds around the calls of builtins in CUDA C or MLIR text.

    Errors: as in `lower`; BuiltinError builtin.text for MLIR text without a call of a builtin
    """
    require_xdsl()
    from warploom.nvvm.builtins.lowering import translate

    return list(translate(text, find_target(target), name).notes())
