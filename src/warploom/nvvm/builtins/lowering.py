"""From the text of a call to PTX and to operations of the nvvm dialect."""

from __future__ import annotations

from warploom.diag import UsageError
from warploom.isa.availability import Target, Version, is_version
from warploom.nvvm.builtins import ptx
from warploom.nvvm.builtins.choose import Choice, Refused, choose
from warploom.nvvm.builtins.source import Call, complain, read_call
from warploom.nvvm.to_ptx import asked_target


def understand(text: str, target: Target, name: str = "<text>") -> tuple[Call, Choice]:
    """The call of a text, and its instruction on a target.

    Errors: BuiltinError builtin.text, builtin.arguments, builtin.operand, builtin.target
    """
    call = read_call(text, name)
    try:
        return call, choose(call.builtin, [argument.value for argument in call.arguments], target)
    except Refused as refused:
        places = len(call.arguments)
        found = [
            (at if at is None or at < places else None, said, code) for at, said, code in refused.complaints
        ]
        raise complain(call, found) from None


def lower_builtin(
    text: str, to: str, target: str, version: Version | None = None, name: str = "<text>"
) -> str:
    """The text of a call as PTX.

    Errors: UsageError lower.level, lower.target; BuiltinError as `understand`, and builtin.computed
    """
    found = asked_target(target)
    if version is not None and not is_version(version):
        raise UsageError(f"there is no PTX version {version[0]}.{version[1]}", code="lower.target")
    if to != "ptx":
        raise UsageError(f"there is no way from builtin to {to}", code="lower.level")
    call, choice = understand(text, found, name)
    return str(ptx.write(call, choice, found, version))
