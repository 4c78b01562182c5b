"""Block scales: factors of the sums over each 128 elements of K, applied before these sums are added."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, gcd
from typing import Any

from warploom.author import Register, f32, guarded, new, s32, u32, u64
from warploom.kernels.hopper.plan import SCALE_BLOCK, Plan
from warploom.kernels.ptx import ptx

_SHUFFLED = 64  # columns whose scales the lanes of a warp load together, two each


@dataclass(frozen=True, slots=True)
class ScaleArray:
    """Block scales of A or B in global memory.

    `start` is the address. `step`, `block` and `plane` are the byte distances of two lines (rows of A or columns of
    B), two blocks of K and two batches.
    """

    start: Any
    step: Any
    block: Any
    plane: Any

    def address(self, line: Any, block: Any, batch: Any) -> Register:
        """Return the address of the scale of row or column `line`, in a block of K and a batch."""
        found = self.start
        for number, stride in ((line, self.step), (block, self.block), (batch, self.plane)):
            found = found + ptx.cvt(number, dtype="u64") * stride
        return found


class BlockScaling:
    """Block scales in registers of one thread. `thread` is the thread's index in its warpgroup."""

    def __init__(
        self, plan: Plan, row_scales: ScaleArray, column_scales: ScaleArray, m: Any, n: Any, thread: Any
    ) -> None:
        self.plan, self.row_scales, self.column_scales, self.m, self.n = plan, row_scales, column_scales, m, n
        lane = thread & 31
        self.line = (thread >> 5) * 16 + (lane >> 2)
        # If each column has its own scale, a lane loads two of every 64 scales, and gets the others by shuffles.
        self.quarter, self.own = lane & 3, lane * 2
        width, extent = plan.block_scales.columns, plan.tile.columns
        self.per_column = width == 1
        self.grain = gcd(extent, SCALE_BLOCK)  # columns that share a scale wherever their tile starts
        blocks = ceil((SCALE_BLOCK - self.grain + extent) / SCALE_BLOCK)  # column blocks that a tile may overlap
        count = {0: 0, 1: 2 * ceil(extent / _SHUFFLED), SCALE_BLOCK: blocks}[width]
        self.rows = [new(f32) for _ in range(2 if plan.block_scales.rows else 0)]
        self.columns = [new(f32, 0.0) for _ in range(count)]
        self.row_addresses = [new(u64) for _ in self.rows]
        self.column_addresses = [new(u64) for _ in (self.columns[:1] if self.per_column else self.columns)]
        # First column of the thread. With shared scales, the tile's first column within its first block.
        self.first = new(u32)
        self.ready: list[list[Register]] = []

    def start(self, row: Any, column: Any, batch: Any, stage: Any) -> None:
        """Load the first scales of a tile at a row and column. `stage` is the first stage of K to multiply."""
        block = new(u32, stage) // self.plan.promotion_stages
        # Rows and columns beyond the last one use its scale. Their products are not stored.
        for below, address in zip((0, 8), self.row_addresses, strict=False):
            line = ptx.min(row + (self.line + below), self.m - 1, type=u32)
            address.set(self.row_scales.address(line, block, batch))
        if self.per_column:
            self.first.set(column + self.own)
            self.column_addresses[0].set(self.column_scales.address(self.first, block, batch))
        else:
            last = (self.n - 1) // SCALE_BLOCK
            for number, address in enumerate(self.column_addresses):
                line = ptx.min(column // SCALE_BLOCK + number, last, type=u32)
                address.set(self.column_scales.address(line, block, batch))
            self.first.set(column % SCALE_BLOCK)
        self._load()

    def prefetch(self, more: Any) -> None:
        """Select the loaded scales for `add`. If `more` is true, load the scales of the next block of K."""
        if self.per_column:
            self.ready = [[new(f32, each) for each in loaded] for loaded in (self.rows, self.columns)]
        else:
            rows, columns = self.rows or [None], self.columns or [None]
            self.ready = [[_product(row, column) for row in rows] for column in columns]
        for addresses, array in ((self.row_addresses, self.row_scales), (self.column_addresses, self.column_scales)):
            for address in addresses:
                with guarded(more):
                    ptx.add(address, array.block, type=u64, out=address)
        self._load()

    def add(self, sums: Sequence[Register], part: Sequence[Register]) -> None:
        """Multiply the sums of one block, `part`, by their scales. Add the products to `sums`."""
        scales: list[Register] = []
        for first in range(0, self.plan.tile.columns, 8):
            if self.per_column:
                scales = self._shuffled(first)
            elif first % self.grain == 0:
                scales = self._shared(first)
            for number in range(4):
                total = sums[first // 2 + number]
                ptx.fma(part[first // 2 + number], scales[number], total, rnd="rn", type=f32, out=total)

    def _shuffled(self, first: int) -> list[Register]:
        """Return the scales of four sums: two rows by two columns. `first` is the first of 8 columns."""
        rows, columns = self.ready
        turn, among = divmod(first, _SHUFFLED)
        here = [
            ptx.shfl_idx(columns[2 * turn + side], self.quarter | among // 2, 31, -1, out=new(f32)) for side in (0, 1)
        ]
        return [_product(row, column) for row in (rows or [None, None]) for column in here]

    def _shared(self, first: int) -> list[Register]:
        # The columns are in one of two neighbouring blocks, depending on where the tile starts in its first block.
        low, high = (min(at // SCALE_BLOCK, len(self.ready) - 1) for at in (first, SCALE_BLOCK - self.grain + first))
        scales = self.ready[low]
        if low != high:
            is_high = ptx.setp(self.first, SCALE_BLOCK * high - first, CmpOp="ge", type=u32)
            both = zip(self.ready[high], scales, strict=True)
            scales = [ptx.selp(above, below, is_high, type=f32) for above, below in both]
        return [scales[0], scales[0], scales[-1], scales[-1]]

    def _load(self) -> None:
        pairs = [*zip(self.row_addresses, self.rows, strict=True)]
        if not self.per_column:
            pairs += zip(self.column_addresses, self.columns, strict=True)
        for address, scale in pairs:
            ptx.ld(address.at(0, "global"), type=f32, out=scale)
        if not self.per_column:
            return
        left = (self.n - self.first).view("s32")
        step, start = self.column_scales.step, self.column_addresses[0]
        for number, scale in enumerate(self.columns):
            across = number // 2 * _SHUFFLED + number % 2
            address = start + step * across if across else start
            with guarded(ptx.setp(left, across, CmpOp="gt", type=s32)):
                ptx.ld(address.at(0, "global"), type=f32, out=scale)


def _product(row: Register | None, column: Register | None) -> Register:
    if row is None or column is None:
        found = column if row is None else row
        assert found is not None
        return new(f32, found)
    return row * column
