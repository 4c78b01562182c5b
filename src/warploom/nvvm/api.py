"""`wl.lower`: from one level of the compiler's path to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from warploom.check import check
from warploom.diagnostics import Diagnostic, Severity, Span, UsageError
from warploom.isa.model.availability import is_version
from warploom.nvvm.errors import LowerError
from warploom.nvvm.packages import need_xdsl
from warploom.ptx import parse

if TYPE_CHECKING:
    from warploom.nvvm.reading import Reading
    from warploom.nvvm.to_ptx import Lowered

SOURCES = ("builtin", "nvvm", "llvm", "ptx")
TARGETS = ("nvvm", "llvm", "ptx")


def lower(
    text: str,
    source: str = "nvvm",
    to: str = "ptx",
    target: str = "sm_90a",
    ptx_version: tuple[int, int] | None = None,
    name: str = "<text>",
) -> str:
    """A text of one level of the compiler's path as a text of a lower one.

    `name` is what diagnostics call the text.

    Errors: UsageError lower.level, lower.target, lower.packages; LowerError lower.text, lower.operation,
        lower.unknown, lower.function, and the rule codes of `check` for what the target does not have;
        BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target, builtin.computed
    """
    need_xdsl()
    if source == "builtin":
        from warploom.nvvm.builtins.lowering import lower_builtin

        return lower_builtin(text, to, target, ptx_version, name)
    from warploom.nvvm.reading import read
    from warploom.nvvm.to_llvm import to_llvm
    from warploom.nvvm.to_ptx import to_ptx

    if source == "ptx" and to == "nvvm":
        from warploom.nvvm.lift import lift

        return str(lift(parse(text, name))) + "\n"
    if (source, to) not in {("nvvm", "ptx"), ("nvvm", "nvvm"), ("nvvm", "llvm"), ("llvm", "ptx")}:
        raise UsageError(f"there is no way from {source} to {to}", code="lower.level")
    if ptx_version is not None and not is_version(ptx_version):
        raise UsageError(f"there is no PTX version {'.'.join(map(str, ptx_version))}", code="lower.target")
    reading = read(text, name)
    if to == "llvm":
        return str(to_llvm(reading)) + "\n"
    if to == "nvvm":
        return str(reading.module) + "\n"
    lowered = to_ptx(reading, target, ptx_version)
    ptx = str(lowered.module)
    if found := list(_errors(ptx, lowered, reading)):
        raise LowerError(found)
    return ptx


def remarks(text: str, name: str = "<text>") -> list[Diagnostic]:
    """Where MLIR text breaks the protocol of warpgroup multiplication: warnings, for MLIR takes it.

    Errors: as `lower`, for a text that cannot be read
    """
    need_xdsl()
    from warploom.nvvm.protocol import breaches
    from warploom.nvvm.reading import read

    reading = read(text, name)
    return [
        replace(
            reading.finding(operation, f"'{operation.name}' {message}", "lower.protocol"),
            severity=Severity.WARNING,
        )
        for operation, message in breaches(reading.module)
    ]


def _errors(ptx: str, lowered: Lowered, reading: Reading) -> Iterator[Diagnostic]:
    """What `check` finds wrong with the PTX, at the operation it is of."""
    module = parse(ptx)
    found = [each for each in check(module) if each.severity is Severity.ERROR]
    if not found:
        return
    bodies = [function.body for function in module.functions.values() if function.body is not None]
    instructions = list(chain.from_iterable(body.instructions() for body in bodies))
    for each in found:
        owner = next(
            (
                operation
                for instruction, operation in zip(instructions, lowered.operations, strict=True)
                if each.span is not None and _holds(instruction.span, each.span)
            ),
            reading.module,
        )
        at = reading.finding(owner, each.message, each.code, each.hint)
        yield replace(at, section=each.section)


def _holds(outer: Span | None, inner: Span) -> bool:
    return outer is not None and outer.start <= inner.start < outer.end
