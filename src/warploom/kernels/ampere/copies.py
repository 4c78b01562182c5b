"""The copies of a thread: its share of a tile of A or B, from global memory into a stage."""

# The plan chooses the words of instructions, which the stubs want as literals.
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.author import Register, new, ptx, s32, u32
from warploom.kernels.ampere.plan import BLOCK, CHUNK, Plan, mask
from warploom.kernels.hopper.plan import size_of

_LINE = 128  # bytes of a row of a block


@dataclass(frozen=True, slots=True)
class Source:
    """One operand: its address and the bytes from row to row, and of its `extent` of lines those of the tile."""

    matrix: Any
    stride: Any
    extent: Any
    first: Any
    lines: int
    k: Any


class AlongK:
    """Of an operand whose elements are neighbours along K: a stage has rows of `span` bytes, one for each line.

    In place of lines beyond the last comes the last once more, which no element of D is made of; what is beyond K
    is zero. `target` is the address of stage 0.
    """

    def __init__(self, plan: Plan, source: Source, target: Any, thread: Any) -> None:
        self.span = plan.tile.span
        chunks = self.span // CHUNK
        self.rows = plan.tile.threads // chunks  # that all threads copy at once
        self.count = source.lines // self.rows
        row, chunk = thread // chunks, thread % chunks
        self.target = target + row * self.span + (mask(row, self.span) ^ chunk) * CHUNK
        self.line, self.last, self.stride = source.first + row, source.extent - 1, source.stride
        self.place = source.matrix + ptx.mul_wide(chunk, CHUNK, type=u32)
        self.left = new(s32, source.k * size_of(plan.a) - chunk * CHUNK)  # bytes of K from here on

    def begin(self, stage: Any) -> None:
        """Turn to the next stage, at an offset in shared memory. Units: bytes."""
        self.here = self.target + stage
        self.size = ptx.max(ptx.min(self.left, CHUNK, type=s32), 0, type=s32)

    def issue(self, number: int) -> None:
        """Start one of the `count` copies."""
        line = ptx.min(self.line + number * self.rows, self.last, type=u32)
        source = ptx.mad_wide(line, self.stride, self.place, type=u32)
        _copy(self.here, number * self.rows * self.span, source, 0, self.size)

    def end(self) -> None:
        """Go on along K, behind the last copy of a stage."""
        self.place += self.span
        self.left -= self.span


class AcrossK:
    """Of an operand whose elements are neighbours along M or N: a stage has blocks of 64 of them, each with rows
    of 128 bytes, one for each k. What is beyond the lines and beyond K is zero.
    """

    def __init__(self, plan: Plan, source: Source, target: Any, thread: Any) -> None:
        chunks = _LINE // CHUNK
        self.depth = plan.depth
        self.rows = plan.tile.threads // chunks
        self.turns = plan.depth // self.rows
        self.count = source.lines // BLOCK * self.turns
        row, chunk = thread // chunks, thread % chunks
        self.target = target + row * _LINE + (mask(row, _LINE) ^ chunk) * CHUNK
        self.row, self.k, self.stride = new(u32, row), source.k, source.stride
        size = size_of(plan.a)
        begin = source.first + chunk * (CHUNK // size)
        self.place = source.matrix + ptx.mul_wide(begin, size, type=u32)
        self.sizes: list[Register] = []
        for block in range(source.lines // BLOCK):
            left = new(s32, (source.extent - (begin + block * BLOCK)) * size)
            self.sizes.append(ptx.max(ptx.min(left, CHUNK, type=s32), 0, type=s32))

    def begin(self, stage: Any) -> None:
        """Turn to the next stage, at an offset in shared memory. Units: bytes."""
        self.here = self.target + stage

    def issue(self, number: int) -> None:
        """Start one of the `count` copies."""
        block, turn = divmod(number, self.turns)
        row = self.row + turn * self.rows
        source = ptx.mad_wide(row, self.stride, self.place, type=u32)
        size = ptx.selp(self.sizes[block], 0, row < self.k, type=s32)
        offset = (block * self.depth + turn * self.rows) * _LINE
        _copy(self.here, offset, source, block * _LINE, size)

    def end(self) -> None:
        """Go on along K, behind the last copy of a stage."""
        self.row += self.depth


def _copy(target: Register, offset: int, source: Register, onward: int, size: Any) -> None:
    ptx.cp_async(
        target.at(offset, "shared"),
        source.at(onward, "global"),
        CHUNK,
        size,
        cop="cg",
        level_prefetch_size="L2::128B",
        shared_space="shared",
    )


class Copies:
    """All copies of a thread: of a stage first A, then B."""

    def __init__(self, *operands: AlongK | AcrossK) -> None:
        self.operands = operands
        self.each = [(operand, number) for operand in operands for number in range(operand.count)]

    def begin(self, stage: Any) -> None:
        """Turn to the next stage."""
        for operand in self.operands:
            operand.begin(stage)

    def issue(self, share: int, shares: int) -> None:
        """Start one of some equal shares of the copies."""
        count = len(self.each)
        for operand, number in self.each[count * share // shares : count * (share + 1) // shares]:
            operand.issue(number)

    def end(self) -> None:
        """Make the copies of a stage one group, and go on along K."""
        ptx.cp_async_commit_group()
        for operand in self.operands:
            operand.end()
