"""`wl.lower`: translation between compiler builtins, MLIR's nvvm dialect, LLVM IR and PTX."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from warploom.check import check
from warploom.check.header import find_target, find_version
from warploom.diagnostics import Diagnostic, Severity, Source, Span, UsageError
from warploom.diagnostics.wording import one_of
from warploom.isa.model.availability import Target, Version
from warploom.nvvm.errors import LowerError, require_xdsl, shortened
from warploom.nvvm.llvm.backend import (
    BackendError,
    canonical,
    error_at,
    line_like,
    line_of_function,
    with_target_layout,
    without_bits,
)
from warploom.nvvm.llvm.calls import Call, follow, instruction_lines, line_of_text
from warploom.nvvm.llvm.compile import CompileError, Report, check_bounds, compile_llvm, line_of
from warploom.ptx import PtxSyntaxError, parse

if TYPE_CHECKING:
    from warploom.nvvm.mlir_text import ParsedModule

_DEFAULT_TARGET = "sm_90a"
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
        if not self.llvm_ir or not self.startswith("//") or not (version := parse(self).version):
            raise UsageError("only PTX that was lowered from LLVM IR has calls", code="lower.level")
        return follow(self.llvm_ir, self._target, version)


def lower(
    text: str,
    source: str = "nvvm",
    to: str = "ptx",
    target: str | None = None,
    ptx_version: str | tuple[int, int] | None = None,
    name: str = "<text>",
) -> Lowered:
    """Translate a text to another level: CUDA C with builtins, MLIR (nvvm dialect), LLVM IR or PTX.

    `source` is "builtin", "nvvm", "llvm" or "ptx". `to` is "nvvm", "llvm" or "ptx". From PTX, only "nvvm" is possible.
    The default `target` is that of the module, otherwise "sm_90a". The default `ptx_version` is the first with all
    needed instructions, and at least that of the module. `name` is the file name in diagnostics. The result is a `str`
    with the method `calls`, which follows each call to its PTX instructions.

    "builtin" is CUDA C, or MLIR with calls of builtins. "nvvm" is MLIR. From LLVM IR, only "ptx" is possible.

    Errors: UsageError lower.level, lower.target, lower.packages, check.target and check.ptx-version (unknown target or
        version); PtxSyntaxError for PTX that cannot be parsed; LowerError lower.text, lower.operation,
        lower.unknown, lower.function, lower.llvm, lower.lift, and the rule codes of `check` for instructions that the
        target lacks; BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- any object
        raise UsageError(
            f"text is {_shown(text)}; expected a string with CUDA C, MLIR, LLVM IR or PTX", code="lower.text"
        )
    _check_levels(source, to)
    known = find_target(_DEFAULT_TARGET if target is None else target)
    version = None if ptx_version is None else find_version(ptx_version)
    if source == "llvm":
        return _from_llvm(text, known, version, name)
    require_xdsl()
    from warploom.nvvm.mlir_text import parse_mlir

    if source == "ptx":
        from warploom.nvvm.lifting import lift

        if target is not None or version is not None:
            message = "a target and a PTX version have no effect on the translation of PTX, which states its own"
            raise UsageError(message, code="lower.level", hint="state them when you lower the result")
        return Lowered(str(lift(parse(text, name))) + "\n", "", known)
    if source == "builtin":
        from warploom.nvvm.builtins.lowering import translate

        parsed = translate(text, known, name)
    else:
        parsed = parse_mlir(text, name)
    if to == "nvvm":
        return Lowered(str(parsed.module) + "\n", "", known)
    least = None
    if source == "nvvm" and to == "ptx":
        from warploom.nvvm.mlir.targets import stated_target

        stated, least = stated_target(parsed) if target is None else (None, None)
        known = stated or known
    return _from_mlir(parsed, to, known, version, least)


def _check_levels(source: str, to: str) -> None:
    if source not in _LEVELS:
        raise UsageError(f"source is {_shown(source)}; expected {one_of(_LEVELS)}", code="lower.level")
    if to not in _LEVELS[source]:
        message = f"cannot lower {source} to {_shown(to)}; expected {one_of(_LEVELS[source])}"
        hint = "`warploom lower FILE --to nvvm` translates PTX to MLIR" if source == "ptx" else ""
        raise UsageError(message, code="lower.level", hint=hint)


def _shown(value: object) -> str:
    return shortened(value if isinstance(value, str) else repr(value))


def _from_llvm(text: str, target: Target, version: Version | None, name: str) -> Lowered:
    text = text.removeprefix("\ufeff")
    source, text = Source(name, text), with_target_layout(without_bits(text))

    def report(line: int | None, message: str) -> Diagnostic:
        span = _line_span(source, line)
        subject = "the module" if span is None else f"'{source.text[span.start : span.end]}'"
        message = message if message.startswith("cannot lower") else f"{subject} {message}"
        return Diagnostic("lower.llvm", Severity.ERROR, message, source, span)

    ptx = _compile(text, target, version, report)
    if found := [each for each in check(ptx) if each.severity is Severity.ERROR]:
        printed = canonical(text)
        lines = [*source.text.splitlines()[:1], *text.splitlines()[1:]]
        spans = [
            _line_span(source, line_like(printed.splitlines()[line - 1], lines) or _line_of_head(line, printed, text))
            for line in _lines(ptx, found, printed, target)
        ]
        raise LowerError(replace(each, source=source, span=span) for each, span in zip(found, spans, strict=True))
    return Lowered(ptx, text, target)


def _line_of_head(line: int, printed: str, text: str) -> int | None:
    """Return the line of `text` with the function whose first line in `printed` has a number."""
    name = re.search(r"^define .*?(@[\w.$]+)\(", printed.splitlines()[line - 1])
    return line_of_function(name[1], text) if name else None


def _line_span(source: Source, line: int | None) -> Span | None:
    lines = source.text.splitlines(keepends=True)
    if line is None or line > len(lines):
        return None
    start = sum(map(len, lines[: line - 1]))
    text = lines[line - 1]
    return Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def _compile(text: str, target: Target, version: Version | None, report: Report, least: Version | None = None) -> str:
    """Return the PTX of LLVM IR. Errors: LowerError."""
    try:
        check_bounds(text, target, report)
        ptx = compile_llvm(text, target, version, report, least)
        parse(ptx)
        if unknown := re.search(r"(?m)^\.extern \.func .*?\b(llvm\.[\w.]+)", ptx):
            message = f"cannot lower the call of '{unknown[1]}': LLVM 22 has no intrinsic of this name"
            raise LowerError([report(line_of(unknown[1], text), message)])
        return ptx
    except CompileError as error:
        raise LowerError([error.diagnostic]) from None
    except PtxSyntaxError as error:
        first = error.diagnostics[0]
        assert first.source is not None
        place = None if first.span is None else line_of_text(first.source.text, first.span.start, text)
        message = f"leads to PTX with a syntax error: {first.message}"
        raise LowerError([report(place, message)]) from None
    except BackendError as error:
        line, message = error_at(error, text)
        raise LowerError([report(line, message)]) from None


def _from_mlir(
    parsed: ParsedModule, to: str, target: Target, version: Version | None, least: Version | None
) -> Lowered:
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
        message = message.replace("cannot lower the call of", "cannot be lowered to a call of")
        return parsed.diagnostic(operation, f"'{operation.name}' {message}", "lower.llvm")

    if to == "llvm":
        try:
            return Lowered(canonical(made.text), made.text, target)
        except BackendError as error:
            raise LowerError([report(*error_at(error, made.text))]) from None
    ptx = _compile(made.text, target, version, report, least)
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
    try:
        lines = [line for _, line in instruction_lines(llvm_ir, target, module.version or (0, 0))]
    except PtxSyntaxError:  # the locations show that inline assembly does not end with a semicolon
        lines = []

    def line_at(place: int) -> int:
        for instruction, line in zip(instructions, lines, strict=False):
            if line and instruction.span and instruction.span.start <= place < instruction.span.end:
                return line
        if line := line_of_text(ptx, place, llvm_ir):
            return line
        names = [
            name for name, each in module.functions.items() if each.span and each.span.start <= place < each.span.end
        ]
        return line_of_function(f"@{names[0]}", llvm_ir) or 1 if names else 1

    return [line_at(each.span.start) if each.span else 1 for each in found]


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


def notes(text: str, target: str | None = None, name: str = "<text>") -> list[Diagnostic]:
    """Return notes that state what `lower` adds around the calls of builtins in CUDA C or MLIR text.

    Errors: as in `lower`; BuiltinError builtin.text for MLIR text without a call of a builtin
    """
    require_xdsl()
    from warploom.nvvm.builtins.lowering import translate

    return list(translate(text, find_target(target or _DEFAULT_TARGET), name).notes())
