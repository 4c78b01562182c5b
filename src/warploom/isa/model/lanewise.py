"""Evaluation of lane-wise semantics over batches of warps.

Lane-wise semantics are pure functions of lane values. The interpreter evaluates such a function over arrays of shape
(warps, 32).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from warploom.isa.model.operands import OperandSpec
from warploom.isa.model.semantics import Bound, Warps

LaneFunction = Callable[..., Any]

Word = Any
"""Text of a modifier in an opcode, or "" if the opcode does not have the modifier."""


def evaluate_lanes(
    form: str, function: LaneFunction, operands: Mapping[str, OperandSpec]
) -> Callable[[Warps, Bound], None]:
    """Return a function that executes an instruction with lane-wise semantics on a batch of warps.

    The returned function reads the operands, evaluates `function` and writes the results. It passes a vector operand as
    a sequence of registers and an absent operand as None. A parameter with the name of a destination is True if the
    instruction has this destination. A parameter `carry` receives the carry flag; the last result is then the new carry
    flag.
    """
    readers = [_reader(name, operands) for name in signature(function).parameters]
    targets = [name for name, each in operands.items() if each.access == "write"]
    writers = [_write_vector if operands[name].count else _write for name in targets]
    if "carry" in signature(function).parameters:
        targets.append("carry")
        writers.append(_write_carry)
    only = targets[0] if len(targets) == 1 else ""
    write_only = writers[0] if writers else _write

    def execution(warps: Warps, i: Bound) -> None:
        results = function(*[read(warps, i) for read in readers])
        if only:
            write_only(warps, getattr(i, only), results)
            return
        for name, write, result in zip(targets, writers, results, strict=True):
            write(warps, getattr(i, name, None), result)

    execution.__name__ = f"{form}: {function.__name__}"
    return execution


def _reader(name: str, operands: Mapping[str, OperandSpec]) -> Callable[[Warps, Bound], Any]:
    """Return the function that reads the argument for a parameter of the semantics."""
    spec = operands.get(name)
    if name == "carry":
        return lambda warps, i: warps.read_carry()
    if spec is None or spec.kind == "immediate":
        return lambda warps, i: getattr(i, name)
    if spec.access == "write":
        return lambda warps, i: getattr(i, name) is not None
    vector = bool(spec.count)

    def read(warps: Warps, i: Bound) -> Any:
        value = getattr(i, name)
        return None if value is None else warps.read_vector(value) if vector else warps.read(value)

    return read


def _write(warps: Warps, value: Any, result: Any) -> None:
    if value is not None:
        warps.write(value, result)


def _write_vector(warps: Warps, value: Any, result: Any) -> None:
    if value is not None:
        warps.write_vector(value, result)


def _write_carry(warps: Warps, value: Any, result: Any) -> None:
    warps.write_carry(result)
