"""Data model of a profile: one row per instruction, and the tiles of asynchronous instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.program import Program

Extents = tuple[int, int, int]

ROW = np.dtype(
    [
        ("executions", "i8"),
        ("lanes", "i8"),
        ("shared", "i8"),
        ("ideal_wavefronts", "i8"),
        ("wavefronts", "i8"),
        ("ways", "i8"),
        ("global", "i8"),
        ("ideal_sectors", "i8"),
        ("sectors", "i8"),
        ("lines", "i8"),
        ("bytes", "i8"),
    ]
)
"""Columns of an instruction.

- executions: warps that executed it with at least one lane; lanes: all these lanes.
- shared, global: accesses of warps to that memory.
- ideal_wavefronts, wavefronts: of shared memory, without bank conflicts and actual; ways: the most of one phase, 1
  without a conflict.
- ideal_sectors, sectors: of global memory, 32 bytes each, for contiguous bytes and actual; lines: of 128 bytes.
- bytes: of bulk and tensor copies.
"""


@dataclass(frozen=True, slots=True)
class Tile:
    """Tile of shared memory that an asynchronous instruction accesses.

    It is A or B behind a descriptor, or the box of a tensor copy. Units: `swizzle` is the span in bytes, 0 without one.
    """

    step: int  # index of the instruction in `Profile.rows`
    what: str  # "A", "B", or the box and its elements, outermost first, such as 64 by 32 of f16
    swizzle: int


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Profile of a launch: executions and cost of accesses of each instruction, and the launch parameters.

    `rows` is a structured array with the columns of `ROW`, one element for each of `program.steps`.

    Units: bytes of shared memory for a CTA.
    """

    program: Program
    arch: str
    schedule: str
    grid: Extents
    block: Extents
    cluster: Extents
    dynamic_shared: int
    total_shared: int  # static and dynamic, with padding
    rows: NDArray[Any]
    tiles: tuple[Tile, ...]

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def lines(self) -> tuple[int, ...]:
        """Line of each instruction, from 1; 0 if the kernel has no source text."""
        return tuple(self.program.line_of(pc) for pc in range(len(self.program.steps)))

    @property
    def opcodes(self) -> tuple[str, ...]:
        """Opcode of each instruction."""
        return tuple(step.instruction.opcode for step in self.program.steps)
