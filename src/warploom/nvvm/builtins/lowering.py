"""From the text of a call to PTX and to operations of the nvvm dialect."""

from __future__ import annotations

from warploom.diagnostics import UsageError
from warploom.isa.model.availability import Target, Version, is_version
from warploom.nvvm.builtins import operations, ptx
from warploom.nvvm.builtins.calls import Pointer, Variable, call_of, call_of_module, is_mlir
from warploom.nvvm.builtins.choose import Choice, Refused, choose
from warploom.nvvm.builtins.source import Call, complain, read_call
from warploom.nvvm.reading import read
from warploom.nvvm.to_llvm import to_llvm
from warploom.nvvm.to_ptx import asked_target


def understand(text: str, target: Target, name: str = "<text>") -> tuple[Call, Choice]:
    """The call of a text, CUDA C or MLIR, and its instruction on a target.

    Errors: BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target
    """
    call = call_of_module(text, name) if is_mlir(text) else read_call(text, name)
    return call, choice_of(call, target)


def choice_of(call: Call, target: Target) -> Choice:
    """The instruction of a call on a target. Errors: BuiltinError, as `understand`."""
    try:
        return choose(call.builtin, [argument.value for argument in call.arguments], target)
    except Refused as refused:
        places = len(call.arguments)
        found = [
            (at if at is None or at < places else None, said, code) for at, said, code in refused.complaints
        ]
        raise complain(call, found) from None


def lower_builtin(
    text: str, to: str, target: str, version: Version | None = None, name: str = "<text>"
) -> str:
    """The text of a call as PTX, or as an operation of the nvvm dialect.

    Errors: UsageError lower.level, lower.target; BuiltinError as `understand`, and builtin.computed
    """
    found = asked_target(target)
    return _written(*understand(text, found, name), to, found, version)


def lower_call(
    name: str,
    *arguments: int | Pointer | Variable,
    to: str = "ptx",
    target: str = "sm_90a",
    ptx_version: Version | None = None,
) -> str:
    """A call in Python as PTX, or as an operation of the nvvm dialect: constants, `Pointer`s and `Variable`s.

    Errors: UsageError for a name that no builtin has, lower.level, lower.target; BuiltinError as `understand`
    """
    found = asked_target(target)
    call = call_of(name, arguments)
    return _written(call, choice_of(call, found), to, found, ptx_version)


def _written(call: Call, choice: Choice, to: str, target: Target, version: Version | None) -> str:
    if version is not None and not is_version(version):
        raise UsageError(f"there is no PTX version {version[0]}.{version[1]}", code="lower.target")
    if to not in ("nvvm", "llvm", "ptx"):
        raise UsageError(f"there is no way from builtin to {to}", code="lower.level")
    if to == "ptx":
        return str(ptx.write(call, choice, target, version))
    module = operations.module_of(call, choice)
    module.verify()
    text = str(module) + "\n"
    return text if to == "nvvm" else str(to_llvm(read(text))) + "\n"
