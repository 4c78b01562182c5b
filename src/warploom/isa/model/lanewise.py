"""Evaluation of lane-wise semantics over batches of warps.

Lane-wise semantics are pure functions of lane values. A lane value is here an array of shape (warps, 32).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from types import FunctionType
from typing import Any, cast

from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.semantics import Bound, Warps

LaneFunction = Callable[..., Any]

Word = Any
"""Text of a modifier in an opcode, or "" if the opcode does not have the modifier."""


def evaluate_lanes(
    form: str, function: LaneFunction, operands: Mapping[str, OperandSpec]
) -> Callable[[Warps, Bound], None]:
    """Return the function that executes lane-wise semantics on a batch of warps.

    The parameters of `function` have the names of modifiers and operands. `function` receives these arguments:

    - the word of a modifier
    - the value of a source operand, as a sequence of registers for a vector, or None for an absent operand
    - True for a destination that the instruction has, else False
    - the carry flag for a last parameter `carry`; the last result is then the new carry flag
    """
    code = cast("FunctionType", function).__code__  # read from the code, which is faster than `inspect.signature`
    names = list(code.co_varnames[: code.co_argcount])
    has_carry = names[-1:] == ["carry"]
    if has_carry:
        names.pop()
    values_of = _getter(names)
    conversions = [(k, found) for k, name in enumerate(names) if (found := _conversion(name, operands)) is not None]
    targets = [name for name, each in operands.items() if each.access == "write"]
    writers = [_write_vector if operands[name].count else _write for name in targets]
    if has_carry:
        targets.append("carry")
        writers.append(lambda warps, value, result: warps.write_carry(result))
    only = targets[0] if len(targets) == 1 else ""
    write_only = writers[0] if writers else _write

    def execution(warps: Warps, i: Bound) -> None:
        arguments = [*values_of(i)]
        for k, convert in conversions:
            arguments[k] = convert(warps, arguments[k])
        if has_carry:
            arguments.append(warps.read_carry())
        results = function(*arguments)
        if only:
            write_only(warps, getattr(i, only), results)
            return
        for name, write, result in zip(targets, writers, results, strict=True):
            write(warps, getattr(i, name, None), result)

    execution.__name__ = f"{form}: {function.__name__}"
    return execution


def _getter(names: Sequence[str]) -> Callable[[Bound], Iterable[Any]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda i: [getattr(i, name) for name in names]


def _conversion(name: str, operands: Mapping[str, OperandSpec]) -> Callable[[Warps, Any], Any] | None:
    """Return the conversion of operand `name` to an argument, or None if the operand is passed unchanged."""
    spec = operands.get(name)
    if spec is None or spec.kind == "immediate":
        return None
    if spec.access == "write":
        return lambda warps, value: value is not None
    if spec.count:
        return lambda warps, value: None if value is None else warps.read_vector(value)
    return lambda warps, value: None if value is None else warps.read(value)


def _write(warps: Warps, value: Any, result: Any) -> None:
    if value is not None:
        warps.write(value, result)


def _write_vector(warps: Warps, value: Any, result: Any) -> None:
    if value is not None:
        warps.write_vector(value, result)
