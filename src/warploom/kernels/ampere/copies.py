"""Copies by one thread of its share of the tiles of A and B, from global memory into a stage.

A stage is a part of shared memory that holds some elements of K of both tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.author import Register, new, s32, u32
from warploom.kernels.ampere.plan import WarpPlan
from warploom.kernels.plan import BLOCK, CHUNK, size_of, swizzle_mask
from warploom.kernels.ptx import ptx

_ROW = 128  # bytes of a row of 64 elements in shared memory


@dataclass(frozen=True, slots=True)
class Source:
    """Source of the tile of one operand in global memory.

    `matrix` is the address, and `stride` the distance of lines, or of elements of K, in bytes. Lines are rows of A or
    columns of B. The operand has `extent` lines and `k` elements along K. The tile has `lines` lines, which start at
    line `first`.
    """

    matrix: Any
    stride: Any
    extent: Any
    first: Any
    lines: int
    k: Any


class _OperandCopies:
    """Copies of one operand into rows of `span` bytes. `target` is the address of the first stage."""

    def __init__(self, plan: WarpPlan, source: Source, target: Any, thread: Any, span: int) -> None:
        chunks = span // CHUNK
        self.span, self.stride, self.k = span, source.stride, source.k
        self.rows = plan.tile.threads // chunks  # rows that all threads together copy at once
        self.first_row, self.chunk = thread // chunks, thread % chunks
        row = self.first_row
        self.target = target + row * span + (swizzle_mask(row, span) ^ self.chunk) * CHUNK

    def begin(self, stage: Any) -> None:
        """Select the stage at an offset in shared memory for the following copies. Units: bytes."""
        self.here = self.target + stage

    def _copy(self, offset: int, source: Register, source_offset: int, size: Any) -> None:
        to, origin = self.here.at(offset, "shared"), source.at(source_offset, "global")
        ptx.cp_async(to, origin, CHUNK, size, cop="cg", level_prefetch_size="L2::128B", shared_space="shared")


class AlongK(_OperandCopies):
    """Copies of an operand that is contiguous along K. A stage has a row of `span` bytes for each line.

    Lines beyond the last line of the operand repeat it. Their products are not stored. Bytes beyond K become zero.
    """

    def __init__(self, plan: WarpPlan, source: Source, target: Any, thread: Any) -> None:
        super().__init__(plan, source, target, thread, plan.tile.span)
        self.count = source.lines // self.rows
        self.line, self.last = source.first + self.first_row, source.extent - 1
        self.address = source.matrix + ptx.mul_wide(self.chunk, CHUNK, type=u32)
        self.left = new(s32, source.k * size_of(plan.a) - self.chunk * CHUNK)  # remaining bytes of K

    def begin(self, stage: Any) -> None:
        """Select the stage at an offset in shared memory for the following copies. Units: bytes."""
        super().begin(stage)
        self.size = ptx.max(ptx.min(self.left, CHUNK, type=s32), 0, type=s32)

    def issue(self, number: int) -> None:
        """Issue one of the `count` copies that a thread makes for each stage."""
        line = ptx.min(self.line + number * self.rows, self.last, type=u32)
        source = ptx.mad_wide(line, self.stride, self.address, type=u32)
        self._copy(number * self.rows * self.span, source, 0, self.size)

    def end(self) -> None:
        """Advance along K after the last copy of a stage."""
        self.address += self.span
        self.left -= self.span


class AcrossK(_OperandCopies):
    """Copies of an operand that is contiguous along M or N.

    A stage has a block for every 64 lines. A block has a row of 128 bytes for each element of K. Elements beyond the
    last line and beyond K become zero.
    """

    def __init__(self, plan: WarpPlan, source: Source, target: Any, thread: Any) -> None:
        super().__init__(plan, source, target, thread, _ROW)
        self.depth = plan.stage_k
        self.turns = plan.stage_k // self.rows
        self.count = source.lines // BLOCK * self.turns
        self.row = new(u32, self.first_row)
        size = size_of(plan.a)
        begin = source.first + self.chunk * (CHUNK // size)
        self.address = source.matrix + ptx.mul_wide(begin, size, type=u32)
        self.sizes: list[Register] = []
        for block in range(source.lines // BLOCK):
            left = new(s32, (source.extent - (begin + block * BLOCK)) * size)
            self.sizes.append(ptx.max(ptx.min(left, CHUNK, type=s32), 0, type=s32))

    def issue(self, number: int) -> None:
        """Issue one of the `count` copies that a thread makes for each stage."""
        block, turn = divmod(number, self.turns)
        row = self.row + turn * self.rows
        source = ptx.mad_wide(row, self.stride, self.address, type=u32)
        size = ptx.selp(self.sizes[block], 0, row < self.k, type=s32)
        self._copy((block * self.depth + turn * self.rows) * _ROW, source, block * _ROW, size)

    def end(self) -> None:
        """Advance along K after the last copy of a stage."""
        self.row += self.depth


class Copies:
    """All copies of a thread. In each stage, the copies of A precede the copies of B."""

    def __init__(self, *operands: AlongK | AcrossK) -> None:
        self.operands = operands
        self.each = [(operand, number) for operand in operands for number in range(operand.count)]

    def begin(self, stage: Any) -> None:
        """Select the stage at an offset in shared memory for the following copies. Units: bytes."""
        for operand in self.operands:
            operand.begin(stage)

    def issue(self, share: int, shares: int) -> None:
        """Issue share number `share` of the copies of a stage, which are divided into `shares` equal shares."""
        count = len(self.each)
        for operand, number in self.each[count * share // shares : count * (share + 1) // shares]:
            operand.issue(number)

    def end(self) -> None:
        """Commit the copies of a stage as one cp.async group, and advance along K."""
        ptx.cp_async_commit_group()
        for operand in self.operands:
            operand.end()
