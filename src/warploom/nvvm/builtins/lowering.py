"""Lowering of a builtin's call to PTX, or to operations of the nvvm and llvm dialects."""

from __future__ import annotations

from warploom.diagnostics import Span, UsageError
from warploom.isa.model.availability import Target, Version
from warploom.nvvm.builtins import to_nvvm, to_ptx
from warploom.nvvm.builtins.calls import call_from_mlir, is_mlir
from warploom.nvvm.builtins.cuda_parser import Call, parse_call
from warploom.nvvm.builtins.selection import RefusedCall, Selection, select
from warploom.nvvm.builtins.tokens import BuiltinError, diagnostic_at
from warploom.nvvm.mlir_text import parse_mlir
from warploom.nvvm.to_llvm import to_llvm
from warploom.nvvm.to_ptx import check_version, target_named


def read_and_select(text: str, target: Target, name: str = "<text>") -> tuple[Call, Selection]:
    """Return the call of a builtin in CUDA C or MLIR text, and its instruction on a target.

    Errors: BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target
    """
    call = call_from_mlir(text, name) if is_mlir(text) else parse_call(text, name)
    try:
        return call, select(call.builtin, [argument.value for argument in call.arguments], target)
    except RefusedCall as refused:
        spans: dict[int | None, Span] = {at: argument.span for at, argument in enumerate(call.arguments)}
        errors = [
            diagnostic_at(call.source, spans.get(each.position, call.span), each.message, each.code)
            for each in refused.errors
        ]
        raise BuiltinError(errors) from None


def lower_builtin(text: str, to: str, target: str, version: Version | None = None, name: str = "<text>") -> str:
    """Lower the text of a call to PTX, or to an operation of the nvvm or llvm dialect.

    Errors: UsageError lower.level, lower.target; BuiltinError as in `read_and_select`, and builtin.computed
    """
    known = target_named(target)
    call, selection = read_and_select(text, known, name)
    check_version(version)
    if to == "ptx":
        return str(to_ptx.write(call, selection, known, version))
    if to not in ("nvvm", "llvm"):
        raise UsageError(f"cannot lower builtin to {to}", code="lower.level")
    module = to_nvvm.module_of(call, selection)
    module.verify()
    text = str(module) + "\n"
    return text if to == "nvvm" else str(to_llvm(parse_mlir(text))) + "\n"
