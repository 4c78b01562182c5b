"""Factors of blocks: what the products of 128 elements of K are multiplied by before they are added to the sums.

A thread has two rows and some columns of a tile. It reads its factors from global memory, and those of the next block
while the tensor cores are busy.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from warploom.author import Register, f32, guarded, new, ptx, s32, u32, u64
from warploom.kernels.plan import SCALED, Plan


@dataclass(frozen=True, slots=True)
class Lines:
    """Where the factors of A's rows or of B's columns begin, and the bytes from one to the next: across (M or N), from
    block to block of K, and from batch to batch.
    """

    start: Any
    step: Any
    block: Any
    plane: Any

    def place(self, line: Any, block: Any, batch: Any) -> Register:
        """The address of one of them."""
        found = self.start
        for number, stride in ((line, self.step), (block, self.block), (batch, self.plane)):
            found = found + ptx.cvt(number, dtype="u64") * stride
        return found


class BlockFactors:
    """One thread's factors. `mine` counts the threads of its consumer."""

    def __init__(self, plan: Plan, of_rows: Lines, of_columns: Lines, m: Any, n: Any, mine: Any) -> None:
        self.plan, self.of_rows, self.of_columns, self.m, self.n = plan, of_rows, of_columns, m, n
        self.line = (mine >> 5) * 16 + ((mine & 31) >> 2)
        self.pair = (mine & 3) * 2
        width, extent = plan.blocks.columns, plan.tile.columns
        self.each = width == 1  # whether each of the thread's columns has a factor of its own
        self.grain = gcd(extent, SCALED)  # columns that share a factor wherever their tile begins
        touched = -(
            -(SCALED - self.grain + extent) // SCALED
        )  # blocks of columns that a tile may have a part of
        self.rows = [new(f32) for _ in range(2 if plan.blocks.rows else 0)]
        self.columns = [new(f32, 0.0) for _ in range({0: 0, 1: extent // 4, SCALED: touched}[width])]
        self.row_places = [new(u64) for _ in self.rows]
        self.column_places = [new(u64) for _ in (self.columns[:1] if self.each else self.columns)]
        self.first = new(u32)  # the tile's first column: among those of its block, or the thread's own of all
        self.current: list[list[Register]] = []  # for each block of columns: the factors of the thread's rows

    def start(self, row: Any, column: Any, batch: Any, stage: Any) -> None:
        """Read the first factors of a tile that begins at `row` and `column`, from a stage of K on."""
        block = stage // self.plan.promoted
        # Beyond the last row and block of columns stand the last ones' factors: what they make is not stored.
        for below, place in zip((0, 8), self.row_places, strict=False):
            line = ptx.min(row + (self.line + below), self.m - 1, type=u32)
            place.set(self.of_rows.place(line, block, batch))
        if self.each:
            self.first.set(column + self.pair)
            self.column_places[0].set(self.of_columns.place(self.first, block, batch))
        else:
            last = (self.n - 1) // SCALED
            for number, place in enumerate(self.column_places):
                line = ptx.min(column // SCALED + number, last, type=u32)
                place.set(self.of_columns.place(line, block, batch))
            self.first.set(column % SCALED)
        self._read()

    def take(self, more: Any) -> None:
        """Have the factors of a block ready, and read the next ones if there are `more`."""
        if self.each:
            return  # too many to have those of two blocks
        rows, columns = self.rows or [None], self.columns or [None]
        self.current = [[_product(row, column) for row in rows] for column in columns]
        self._onward(more)

    def add(self, sums: Sequence[Register], part: Sequence[Register], more: Any) -> None:
        """Add the sums of a block, multiplied, to those of all."""
        for first in range(0, self.plan.tile.columns, 8):
            if first % self.grain == 0 and not self.each:
                shared = self._shared(first)
            for number in range(4):
                below, across = divmod(number, 2)
                if self.each:
                    row = self.rows[below] if self.rows else None
                    factor = _product(row, self.columns[first // 4 + across])
                else:
                    factor = shared[below % len(shared)]
                total = sums[first // 2 + number]
                ptx.fma(part[first // 2 + number], factor, total, rnd="rn", type=f32, out=total)
        if self.each:
            self._onward(more)

    def _shared(self, first: int) -> list[Register]:
        """The factors that the columns from `first` on share, for the thread's rows."""
        # From here to there among the blocks that the tile touches, as it begins sooner or later in the first.
        low, high = first // SCALED, (SCALED - self.grain + first) // SCALED
        if low == high or len(self.current) == 1:
            return self.current[min(low, len(self.current) - 1)]
        later = ptx.setp(self.first, SCALED * high - first, CmpOp="ge", type=u32)
        return [
            ptx.selp(there, here, later, type=f32)
            for here, there in zip(self.current[low], self.current[high], strict=True)
        ]

    def _onward(self, more: Any) -> None:
        for places, lines in ((self.row_places, self.of_rows), (self.column_places, self.of_columns)):
            for place in places:
                with guarded(more):
                    ptx.add(place, lines.block, type=u64, out=place)
        self._read()

    def _read(self) -> None:
        places = [*zip(self.row_places, self.rows, strict=True)]
        if not self.each:
            places += zip(self.column_places, self.columns, strict=True)
        for place, factor in places:
            ptx.ld(place.at(0, "global"), type=f32, out=factor)
        if self.each:
            self._read_each()

    def _read_each(self) -> None:
        """Read a factor for each of the thread's columns, of every 8 two side by side; beyond the last it stays 0."""
        left = (self.n - self.first).view("s32")
        place, step = self.column_places[0], self.of_columns.step
        for number, factor in enumerate(self.columns):
            with guarded(ptx.setp(left, number // 2 * 8 + number % 2, CmpOp="gt", type=s32)):
                ptx.ld(place.at(0, "global"), type=f32, out=factor)
            place = place + (step * 7 if number % 2 else step)


def _product(row: Register | None, column: Register | None) -> Register:
    """The factor of a row and a column, of which one may have none."""
    if row is None or column is None:
        found = column if row is None else row
        assert found is not None
        return new(f32, found)
    return row * column
