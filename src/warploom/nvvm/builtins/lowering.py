"""Lowering of a builtin's call to PTX, or to operations of the nvvm and llvm dialects."""

from __future__ import annotations

from warploom.diagnostics import UsageError
from warploom.isa.model.availability import Target, Version
from warploom.nvvm.builtins import to_nvvm, to_ptx
from warploom.nvvm.builtins.calls import Pointer, Variable, call_from_arguments, call_from_mlir, is_mlir
from warploom.nvvm.builtins.cuda_parser import Call, call_error, parse_call
from warploom.nvvm.builtins.selection import RefusedCall, Selection, select
from warploom.nvvm.mlir_text import parse_mlir
from warploom.nvvm.to_llvm import to_llvm
from warploom.nvvm.to_ptx import check_version, target_named


def read_and_select(text: str, target: Target, name: str = "<text>") -> tuple[Call, Selection]:
    """Return the call in CUDA C or MLIR text, and its instruction on a target.

    Errors: BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target
    """
    call = call_from_mlir(text, name) if is_mlir(text) else parse_call(text, name)
    return call, selection_of(call, target)


def selection_of(call: Call, target: Target) -> Selection:
    """Return the instruction of a call on a target. Errors: BuiltinError as in `read_and_select`."""
    try:
        return select(call.builtin, [argument.value for argument in call.arguments], target)
    except RefusedCall as refused:
        count = len(call.arguments)
        found = [
            (at if at is None or at < count else None, message, code) for at, message, code in refused.errors
        ]
        raise call_error(call, found) from None


def lower_builtin(
    text: str, to: str, target: str, version: Version | None = None, name: str = "<text>"
) -> str:
    """Lower the text of a call to PTX, or to an operation of the nvvm or llvm dialect.

    Errors: UsageError lower.level, lower.target; BuiltinError as in `read_and_select`, and builtin.computed
    """
    known = target_named(target)
    return _written(*read_and_select(text, known, name), to, known, version)


def lower_call(
    name: str,
    *arguments: int | Pointer | Variable,
    to: str = "ptx",
    target: str = "sm_90a",
    ptx_version: Version | None = None,
) -> str:
    """Lower a call that is given as a name and arguments: constants, `Pointer`s and `Variable`s.

    Errors: UsageError for an unknown builtin, lower.level, lower.target; BuiltinError as in `read_and_select`
    """
    known = target_named(target)
    call = call_from_arguments(name, arguments)
    return _written(call, selection_of(call, known), to, known, ptx_version)


def _written(call: Call, selection: Selection, to: str, target: Target, version: Version | None) -> str:
    check_version(version)
    if to == "ptx":
        return str(to_ptx.write(call, selection, target, version))
    if to not in ("nvvm", "llvm"):
        raise UsageError(f"cannot lower builtin to {to}", code="lower.level")
    module = to_nvvm.module_of(call, selection)
    module.verify()
    text = str(module) + "\n"
    return text if to == "nvvm" else str(to_llvm(parse_mlir(text))) + "\n"
