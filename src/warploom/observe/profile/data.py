"""What a profile holds: a row for each instruction, and the tiles that asynchronous instructions used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
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
"""The columns of an instruction.

- executions: warps that executed it with at least one lane; lanes: those lanes, all together.
- shared, global: accesses of warps to that memory.
- ideal_wavefronts, wavefronts: of shared memory, where no two words of a phase were in one bank, and as it was;
  ways: the most of one phase, 1 being without a conflict.
- ideal_sectors, sectors: of global memory, 32 bytes each, if the bytes lay together, and as it was; lines: of
  128 bytes.
- bytes: of bulk and tensor copies.
"""


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of shared memory that an instruction reads or writes on its own: A or B behind a descriptor, or the
    box of a tensor copy.

    Units: `swizzle` is the span in bytes, 0 without one.
    """

    step: int  # which instruction, an index of `Profile.rows`
    what: str  # "A", "B", or the box and its elements, outermost first, such as "64 × 32 of f16"
    swizzle: int


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """How often each instruction of a launch ran and what its accesses cost, and how it was launched.

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
    total_shared: int  # static and dynamic, with what alignment leaves between them
    rows: NDArray[Any]
    tiles: tuple[Tile, ...]

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def lines(self) -> tuple[int, ...]:
        """The line of each instruction, from 1; 0 where the kernel has no text."""
        return tuple(self.program.line_of(pc) for pc in range(len(self.program.steps)))

    @property
    def opcodes(self) -> tuple[str, ...]:
        """The opcode of each instruction."""
        return tuple(step.instruction.opcode for step in self.program.steps)
