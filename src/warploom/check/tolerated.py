"""What only the manual forbids and assemblers take: every such thing, its reason and its evidence."""

from __future__ import annotations

from warploom.isa.availability import Target, Version
from warploom.isa.bind import Problem
from warploom.ptx import Instruction


def tolerated(instruction: Instruction, target: Target, ptx: Version) -> list[Problem] | None:
    """Warnings for an instruction that assemblers take against the manual; None for any other."""
    return None
