"""Block scales: factors of the sum over each 128 elements of K, applied before these sums are added.

A thread has two rows and some columns of a tile. It loads its scales from global memory. It loads the scales of the
next block while the tensor cores multiply.
"""

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
    """Scales of A's rows or B's columns: address, and byte strides along M or N, K blocks and batches."""

    start: Any
    step: Any
    block: Any
    plane: Any

    def address(self, line: Any, block: Any, batch: Any) -> Register:
        """Return the address of the scale of a row or column `line` in a block of K and a batch."""
        found = self.start
        for number, stride in ((line, self.step), (block, self.block), (batch, self.plane)):
            found = found + ptx.cvt(number, dtype="u64") * stride
        return found


class BlockScaling:
    """Scales of one thread. `thread` is its index within its consumer warpgroup.

    If each column has its own scale, a lane loads two scales of every 64 columns. It gets the other scales from other
    lanes by shuffles.
    """

    def __init__(
        self, plan: Plan, row_scales: ScaleArray, column_scales: ScaleArray, m: Any, n: Any, thread: Any
    ) -> None:
        self.plan, self.row_scales, self.column_scales, self.m, self.n = plan, row_scales, column_scales, m, n
        lane = thread & 31
        self.line = (thread >> 5) * 16 + (lane >> 2)
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
        block = stage // self.plan.promotion_stages
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
        """Select the loaded scales for `add`. Then start to load the next block's scales if `more` is true."""
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
        """Multiply the sums `part` of one block by their scales, and add the products to `sums`."""
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
        """Return the scales of the thread's four sums in the 8 columns from `first`, one for each sum."""
        rows, columns = self.ready
        turn, among = divmod(first, _SHUFFLED)
        here = [
            ptx.shfl_idx(columns[2 * turn + side], self.quarter | among // 2, 31, -1, out=new(f32)) for side in (0, 1)
        ]
        return [_product(row, column) for row in (rows or [None, None]) for column in here]

    def _shared(self, first: int) -> list[Register]:
        """Return the scales of the thread's four sums in the 8 columns of the tile from `first` on.

        The scales also apply to the next groups of 8 columns, up to the next multiple of `grain`.
        """
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
