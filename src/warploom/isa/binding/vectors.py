"""Vector registers in operands: `.reg .v2 .f32 %v` in `ld.v2.f32 %v, [a]` is `{%v.x, %v.y}` (PTX ISA 5.4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.ptx import Instruction, Name, Vector

MEMBERS = "xyzw"
_NAMES = (MEMBERS, "rgba")


def member_of(selector: str, members: int) -> int:
    """The number of the member that a selector such as `y` names in a vector register; -1 where it names none."""
    if len(selector) != 1 or members == 1:
        return -1
    return max(names.find(selector, 0, members) for names in _NAMES)


def spread(instruction: Instruction, length: Callable[[str], int]) -> Instruction:
    """An instruction with the members of its vector registers, and of special ones, in their stead.

    `length(name)` is the number of members of a register; what is no vector register has 1 or 0. Special
    registers are read whole by moves alone.
    """
    moves = instruction.words[0] == "mov"
    operands = tuple(
        Vector(tuple(Name(f"{operand.text}.{member}") for member in MEMBERS[:count]))
        if isinstance(operand, Name) and (count := _members(operand.text, length, moves)) > 1
        else operand
        for operand in instruction.operands
    )
    return instruction if operands == instruction.operands else replace(instruction, operands=operands)


def _members(name: str, length: Callable[[str], int], moves: bool) -> int:
    return len(MEMBERS) if moves and f"{name}.x" in SPECIAL_REGISTERS else length(name)
