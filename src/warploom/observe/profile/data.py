"""Data model of a profile."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.diagnostics import SourceLine
from warploom.emulator.program import Program

Extents = tuple[int, int, int]

_COLUMNS = "executions lanes shared ideal_wavefronts wavefronts ways global ideal_sectors sectors lines bytes"
ROW = np.dtype([(name, "i8") for name in _COLUMNS.split()])
"""Columns of an instruction in a profile.

- executions: warps that executed the instruction with at least one lane; lanes: all these lanes.
- shared, global: accesses of warps to that memory.
- ideal_wavefronts, wavefronts: wavefronts of shared memory without bank conflicts, and actual wavefronts.
- ways: the most wavefronts of one phase; 1 without a bank conflict.
- ideal_sectors, sectors: sectors of global memory, 32 bytes each, if the bytes were contiguous, and actual sectors.
- lines: lines of global memory, 128 bytes each.
- bytes: bytes of bulk and tensor copies.
"""


@dataclass(frozen=True, slots=True)
class Tile:
    """Tile of shared memory that an asynchronous instruction accesses.

    The tile is the matrix A or B of a multiplication, or the box of a tensor copy. `swizzle` is the swizzle mode in
    bytes (32, 64 or 128), 0 without a swizzle.
    """

    step: int  # index of the instruction in `Profile.rows`
    what: str  # "A", "B", or the box with its outermost dimension first, such as 64 by 32 of f16
    swizzle: int


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Executions and memory accesses of each instruction of a launch.

    `rows` is a structured array of dtype `ROW` with one element for each instruction. Units: `dynamic_shared` and
    `total_shared` are bytes of one CTA.
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
        """Number of threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def lines(self) -> tuple[int, ...]:
        """Line of each instruction in the PTX, from 1; 0 if the kernel has no source text."""
        return tuple(map(self.program.line_of, range(len(self.program.steps))))

    @property
    def source_lines(self) -> tuple[SourceLine | None, ...]:
        """Line of Python or CUDA C++ of each instruction; None if the PTX does not state it."""
        return tuple(map(self.program.source_line, range(len(self.program.steps))))

    @property
    def opcodes(self) -> tuple[str, ...]:
        """Opcode of each instruction."""
        return tuple(step.instruction.opcode for step in self.program.steps)
