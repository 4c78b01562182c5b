"""Factors of blocks: what the products of 128 elements of K are multiplied by before they are added to the sums.

A thread has two rows and some columns of a tile. It reads its factors from global memory, and those of the next block
while the tensor cores are busy.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, gcd
from typing import Any

from warploom.author import Register, f32, guarded, new, ptx, s32, u32, u64
from warploom.kernels.hopper.plan import SCALED, Plan

_DEALT = 64  # columns of which each lane reads two


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
    """One thread's factors. `mine` counts the threads of its consumer.

    Where each column has one, the threads of a warp deal them out among them: of 64 columns a thread reads those of 2,
    and gets the others from the lanes that have them when they are needed.
    """

    def __init__(self, plan: Plan, of_rows: Lines, of_columns: Lines, m: Any, n: Any, mine: Any) -> None:
        self.plan, self.of_rows, self.of_columns, self.m, self.n = plan, of_rows, of_columns, m, n
        lane = mine & 31
        self.line = (mine >> 5) * 16 + (lane >> 2)
        self.quarter, self.own = lane & 3, lane * 2
        width, extent = plan.blocks.columns, plan.tile.columns
        self.each = width == 1
        self.grain = gcd(extent, SCALED)  # columns that share a factor wherever their tile begins
        touched = ceil((SCALED - self.grain + extent) / SCALED)  # blocks of columns that a tile has a part of
        count = {0: 0, 1: 2 * ceil(extent / _DEALT), SCALED: touched}[width]
        self.rows = [new(f32) for _ in range(2 if plan.blocks.rows else 0)]
        self.columns = [new(f32, 0.0) for _ in range(count)]
        self.row_places = [new(u64) for _ in self.rows]
        self.column_places = [new(u64) for _ in (self.columns[:1] if self.each else self.columns)]
        # Of the columns that the thread reads; else of the tile, among those of the first block that it touches.
        self.first = new(u32)
        self.ready: list[list[Register]] = []

    def start(self, row: Any, column: Any, batch: Any, stage: Any) -> None:
        """Read the first factors of a tile that begins at `row` and `column`, from a stage of K on."""
        block = stage // self.plan.promoted
        # Beyond the last row or column other numbers stand for factors: what they make is not stored.
        for below, place in zip((0, 8), self.row_places, strict=False):
            line = ptx.min(row + (self.line + below), self.m - 1, type=u32)
            place.set(self.of_rows.place(line, block, batch))
        if self.each:
            self.first.set(column + self.own)
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
            self.ready = [[new(f32, each) for each in held] for held in (self.rows, self.columns)]
        else:
            rows, columns = self.rows or [None], self.columns or [None]
            self.ready = [[_product(row, column) for row in rows] for column in columns]
        for places, lines in ((self.row_places, self.of_rows), (self.column_places, self.of_columns)):
            for place in places:
                with guarded(more):
                    ptx.add(place, lines.block, type=u64, out=place)
        self._read()

    def add(self, sums: Sequence[Register], part: Sequence[Register]) -> None:
        """Add the sums of a block, multiplied, to those of all."""
        factors: list[Register] = []
        for first in range(0, self.plan.tile.columns, 8):
            if self.each:
                factors = self._dealt(first)
            elif first % self.grain == 0:
                factors = self._shared(first)
            for number in range(4):
                total = sums[first // 2 + number]
                ptx.fma(part[first // 2 + number], factors[number], total, rnd="rn", type=f32, out=total)

    def _dealt(self, first: int) -> list[Register]:
        """The factors of the thread's four sums in 8 columns, of which each has its own."""
        rows, columns = self.ready
        turn, among = divmod(first, _DEALT)
        here = [
            ptx.shfl_idx(columns[2 * turn + side], self.quarter | among // 2, 31, -1, out=new(f32))
            for side in (0, 1)
        ]
        return [_product(row, column) for row in (rows or [None, None]) for column in here]

    def _shared(self, first: int) -> list[Register]:
        """The factors of the thread's four sums in each 8 of the columns that share one, from `first` on."""
        # In this block or that of those which the tile touches, as it begins sooner or later in the first.
        low, high = (min(at // SCALED, len(self.ready) - 1) for at in (first, SCALED - self.grain + first))
        made = self.ready[low]
        if low != high:
            later = ptx.setp(self.first, SCALED * high - first, CmpOp="ge", type=u32)
            both = zip(self.ready[high], made, strict=True)
            made = [ptx.selp(there, here, later, type=f32) for there, here in both]
        return [made[0], made[0], made[-1], made[-1]]

    def _read(self) -> None:
        places = [*zip(self.row_places, self.rows, strict=True)]
        if not self.each:
            places += zip(self.column_places, self.columns, strict=True)
        for place, factor in places:
            ptx.ld(place.at(0, "global"), type=f32, out=factor)
        if not self.each:
            return
        left = (self.n - self.first).view("s32")
        step, start = self.of_columns.step, self.column_places[0]
        for number, factor in enumerate(self.columns):
            across = number // 2 * _DEALT + number % 2
            place = start + step * across if across else start
            with guarded(ptx.setp(left, across, CmpOp="gt", type=s32)):
                ptx.ld(place.at(0, "global"), type=f32, out=factor)


def _product(row: Register | None, column: Register | None) -> Register:
    """The factor of a row and a column, of which one may have none."""
    if row is None or column is None:
        found = column if row is None else row
        assert found is not None
        return new(f32, found)
    return row * column
