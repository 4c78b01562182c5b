"""Expansion of vector registers into their members.

The register `.reg .v2 .f32 %v` in `ld.v2.f32 %v, [a]` stands for `{%v.x, %v.y}`.

Source: PTX ISA 5.4.2.
"""

from collections.abc import Callable
from dataclasses import replace

from warploom.isa.model.special_registers import SPECIAL_REGISTERS
from warploom.ptx import Instruction, Name, Vector

MEMBERS = "xyzw"
_NAMES = (MEMBERS, "rgba")


def member_of(selector: str, members: int) -> int:
    """Return the index of a member such as "y" in a register of `members` members, or -1."""
    if len(selector) != 1 or members == 1:
        return -1
    return max(names.find(selector, 0, members) for names in _NAMES)


def expand_vectors(instruction: Instruction, length: Callable[[str], int] | None) -> Instruction:
    """Return the instruction with each vector register replaced by a vector of the register's members.

    `length` returns the number of members of a register, given its name. None means that no declared register is a
    vector.
    """
    moves = instruction.opcode.startswith("mov.")  # a move may read all members of a special register such as %tid
    if length is None and not moves:
        return instruction
    expanded: dict[int, Vector] = {}
    for i, operand in enumerate(instruction.operands):
        if type(operand) is Name:
            is_special = moves and f"{operand.text}.x" in SPECIAL_REGISTERS
            count = len(MEMBERS) if is_special else length(operand.text) if length is not None else 1
            if count > 1:
                expanded[i] = Vector(tuple(Name(f"{operand.text}.{member}") for member in MEMBERS[:count]))
    if not expanded:
        return instruction
    operands = (expanded.get(i, operand) for i, operand in enumerate(instruction.operands))
    return replace(instruction, operands=tuple(operands))
