"""`wl.lower`: translation between compiler builtins, MLIR's nvvm dialect, its llvm dialect and PTX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from warploom.check import check
from warploom.diagnostics import Diagnostic, Severity, UsageError
from warploom.nvvm.errors import LowerError, require_xdsl
from warploom.ptx import parse

if TYPE_CHECKING:
    from warploom.nvvm.mlir_text import ParsedModule
    from warploom.nvvm.to_ptx import LoweredModule

_TRANSLATIONS = {("nvvm", "ptx"), ("nvvm", "nvvm"), ("nvvm", "llvm"), ("llvm", "ptx")}


def lower(
    text: str,
    source: str = "nvvm",
    to: str = "ptx",
    target: str = "sm_90a",
    ptx_version: tuple[int, int] | None = None,
    name: str = "<text>",
) -> str:
    """Translate a text to another level: a builtin call, nvvm dialect, llvm dialect or PTX.

    `source` is "builtin", "nvvm", "llvm" or "ptx". `to` is "nvvm", "llvm" or "ptx". From PTX, only "nvvm" is possible.
    `name` is the file name in diagnostics. The default `ptx_version` is the first with all needed instructions.

    Errors: UsageError lower.level, lower.target, lower.packages; LowerError lower.text, lower.operation,
        lower.unknown, lower.function, and the rule codes of `check` for instructions that the target lacks;
        BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target, builtin.computed
    """
    require_xdsl()
    if source == "builtin":
        from warploom.nvvm.builtins.lowering import lower_builtin

        return lower_builtin(text, to, target, ptx_version, name)
    from warploom.nvvm.mlir_text import parse_mlir
    from warploom.nvvm.to_llvm import to_llvm
    from warploom.nvvm.to_ptx import check_version, to_ptx

    if source == "ptx" and to == "nvvm":
        from warploom.nvvm.raise_to_nvvm import raise_to_nvvm

        return str(raise_to_nvvm(parse(text, name))) + "\n"
    if (source, to) not in _TRANSLATIONS:
        raise UsageError(f"cannot lower {source} to {to}", code="lower.level")
    check_version(ptx_version)
    parsed = parse_mlir(text, name)
    if to == "llvm":
        return str(to_llvm(parsed)) + "\n"
    if to == "nvvm":
        return str(parsed.module) + "\n"
    lowered = to_ptx(parsed, target, ptx_version)
    ptx = str(lowered.module)
    if found := list(_errors(ptx, lowered, parsed)):
        raise LowerError(found)
    return ptx


def protocol_warnings(text: str, name: str = "<text>") -> list[Diagnostic]:
    """Return warnings for missing wgmma fences, commits and waits in MLIR text.

    Errors: LowerError as in `lower`
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


def _errors(ptx: str, lowered: LoweredModule, parsed: ParsedModule) -> Iterator[Diagnostic]:
    """Yield the errors of `check` in the PTX. Their spans are those of the MLIR operations."""
    module = parse(ptx)
    found = [each for each in check(module) if each.severity is Severity.ERROR]
    if not found:
        return
    bodies = [function.body for function in module.functions.values() if function.body is not None]
    instructions = list(chain.from_iterable(body.instructions() for body in bodies))
    for each in found:
        owners = (
            operation
            for instruction, operation in zip(instructions, lowered.operations, strict=True)
            if each.span and instruction.span and instruction.span.start <= each.span.start < instruction.span.end
        )
        owner = next(owners, parsed.module)
        at = parsed.diagnostic(owner, each.message, each.code, each.hint)
        yield replace(at, section=each.section)
