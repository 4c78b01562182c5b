"""Softmax of attention over blocks of keys, in the registers of one thread.

The softmax is that of "FlashAttention-3" (Shah et al., 2024): each block of keys may raise the maximum of a row, and
then the earlier sums of the row shrink.
"""

from collections.abc import Sequence
from typing import Any

from warploom.author import Register, f32, guarded, new, s32
from warploom.kernels.attention_tiles import TilePosition
from warploom.kernels.epilogue import pack
from warploom.kernels.ptx import ptx

LN_2 = 0.6931471805599453
MINUS_INFINITY = float("-inf")


class Softmax:
    """Softmax of a thread's scores.

    The thread has scores of row `row` of the tile and of the eighth row below. The scores are the registers of an
    accumulator: registers n with n & 2 belong to the second row. The first score has the column `column` of the block
    of keys. `scale` contains the factor log2(e).
    """

    def __init__(self, tile: TilePosition, row: Register, column: Register, scale: Any) -> None:
        self.tile, self.plan, self.scale = tile, tile.plan, scale
        self.rows, self.column = [row.view("s32"), (row + 8).view("s32")], column.view("s32")
        self.scores = [new(f32) for _ in range(self.plan.keys // 2)]
        self.weights = [new("b32") for _ in range(self.plan.keys * self.plan.size // 8)]
        self.top, self.total = ([new(f32), new(f32)] for _ in range(2))  # maximum, and this thread's sum of weights
        self.limits = [(new(s32), new(s32)) for _ in range(2)]  # first and end key of a row, minus `column`

    def start(self) -> None:
        """Start the rows of the current tile."""
        tile, plan = self.tile, self.plan
        for row, (first, end) in zip(self.rows, self.limits, strict=True):
            stop = tile.k_count
            if plan.right or plan.left:
                diagonal = tile.diagonal(row)
                if plan.right:
                    stop = ptx.min(stop, diagonal + tile.sizes.right + 1, type=s32)
                if plan.left:
                    first.set(diagonal - tile.sizes.left - self.column)
            end.set(stop - self.column)
        for each in self.total:
            each.set(0.0)
        for each in self.top:
            each.set(MINUS_INFINITY)

    def mask(self, block: Any) -> None:
        """Set the scores of all keys of block `block` to which a row does not attend to minus infinity."""
        start = block * self.plan.keys
        for (first, end), scores in zip(self.limits, self._of_rows(), strict=True):
            low, high = first - start if self.plan.left else None, end - start
            for number, each in enumerate(scores):
                column = number // 2 * 8 + number % 2
                inside = ptx.setp(high, column, CmpOp="gt", type=s32)
                if low is not None:
                    inside = ptx.setp(low, column, inside, CmpOp="le", BoolOp="and", type=s32)
                ptx.selp(each, MINUS_INFINITY, inside, type=f32, out=each)

    def update(self) -> list[Register]:
        """Replace the scores by weights. Return the factor by which the earlier sums of each row shrink."""
        factors: list[Register] = []
        for top, total, scores in zip(self.top, self.total, self._of_rows(), strict=True):
            most = self._maximum([*scores, top])
            shift = -(_finite(most) * self.scale)
            factor = self._exponential(top, shift)
            if self.plan.shift:
                shift = shift + float(self.plan.shift)
            for each in scores:
                self._exponential(each, shift, out=each)
            total.set(total * factor + _sum(scores))
            top.set(most)
            factors.append(factor)
        return factors

    def pack(self) -> None:
        """Convert the weights to fragments of A for the multiplication by V.

        A register has two 16-bit weights. It has four 8-bit weights of a row: two of 8 keys, and two of the next 8. The
        order of the keys is then that of `ByteValues`.
        """
        for number, each in enumerate(self.weights):
            if self.plan.size == 2:
                each.set(pack(self.plan.type, *self.scores[2 * number : 2 * number + 2]))
            else:
                first = number // 2 * 8 + number % 2 * 2
                pairs = [pack(self.plan.type, *self.scores[at : at + 2]) for at in (first, first + 4)]
                ptx.mov(pairs, type="b32", out=each)

    def totals(self) -> tuple[list[Register], list[Register]]:
        """Return the sum of the weights of each row, and the inverses of the sums.

        The inverse for a row without keys is 0.
        """
        totals = [_over_row(ptx.add, each) for each in self.total]
        return totals, [inverse(each) for each in totals]

    def logarithm(self, top: Register, total: Register) -> Register:
        """Return the base-2 logarithm of the sum of the exponentials of a row."""
        logarithm = ptx.lg2(total, approx=True, ftz=True, type=f32)
        if self.plan.shift:
            logarithm = logarithm - float(self.plan.shift)
        return ptx.fma(_finite(top), self.scale, logarithm, rnd="rn", type=f32)

    def store_logarithms(self, lse: Any, totals: Sequence[Register]) -> None:
        """Store the logarithm of the sum of the exponentials of each row.

        `totals` are the sums of the weights.
        """
        tile = self.tile
        for row, top, total in zip(self.rows, self.top, totals, strict=True):
            token = tile.token(row)
            head = tile.head_of(row, token)
            line = head if self.plan.packed else tile.batch * tile.sizes.heads + head
            value = self.logarithm(top, total) * LN_2
            index = ptx.mad_lo(line.view("s32"), tile.sizes.q_tokens, tile.q_first + token, type=s32)
            place = lse.element(index)
            with guarded((token < tile.q_count) & (self.column == 0)):
                ptx.st(place, value, type=f32)

    def _of_rows(self) -> list[list[Register]]:
        """Return the scores of each of the thread's two rows."""
        return [[each for n, each in enumerate(self.scores) if n >> 1 & 1 == row] for row in (0, 1)]

    def _exponential(self, score: Register, shift: Register, out: Register | None = None) -> Register:
        """Return 2^(scale score + shift)."""
        power = ptx.fma(score, self.scale, shift, rnd="rn", type=f32)
        return ptx.ex2(power, approx=True, ftz=True, type=f32, out=out)

    def _maximum(self, scores: Sequence[Register]) -> Register:
        """Return the maximum of the scores of the four threads that share a row."""
        found = list(scores)
        while len(found) > 1:
            pairs = zip(found[::2], found[1::2], strict=False)
            found = [ptx.max(a, b, type=f32) for a, b in pairs] + found[len(found) & ~1 :]
        return _over_row(ptx.max, found[0])


def inverse(total: Register) -> Register:
    """Return 1 / total, or 0 for a row that has attended to no key."""
    return ptx.selp(ptx.rcp(total, approx=True, ftz=True, type=f32), 0.0, total > 0.0, type=f32)


def _finite(top: Register) -> Register:
    """Return the maximum of a row, or 0 for a row that has attended to no key."""
    return ptx.selp(top, 0.0, top != MINUS_INFINITY, type=f32)


def _sum(values: Sequence[Register]) -> Register:
    parts = [new(f32, values[0]), new(f32, values[1])]
    for number, each in enumerate(values[2:]):
        parts[number % 2] += each
    return parts[0] + parts[1]


def _over_row(operation: Any, value: Register) -> Register:
    """Return the result of an operation on the values of the four threads that share a row."""
    for lanes in (1, 2):
        other = ptx.shfl_bfly(value.view("b32"), lanes, 31, -1).view("f32")
        value = operation(value, other, type=f32)
    return value
