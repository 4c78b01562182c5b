"""Sequences and blocks of the kernels for the gradients of attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.author import Register, guarded, new, s32, u32, while_
from warploom.kernels.hopper.backward_plan import BackwardPlan
from warploom.kernels.ptx import ptx

_NEVER = 1 << 30  # beyond every row


@dataclass(frozen=True, slots=True)
class Sizes:
    """Registers with the sizes of an attention problem.

    A line is a head of one sequence. A line has `row_blocks` blocks of rows. If the sequences are packed, a head has
    `row_blocks` blocks for all sequences: sequence s begins with block q_ends[s - 1] // rows + s. The blocks of keys
    are numbered likewise.
    """

    q_ends: Any  # end of each sequence of a packed Q
    k_ends: Any  # end of each sequence of a packed K, or the length of each sequence
    batch: Any
    q_tokens: Any
    k_tokens: Any
    heads: Any
    row_blocks: Any


class Sequence:
    """Sequence that contains a block of rows or of keys.

    The sequence has the index `index`, `q_count` rows from row `q_first` of Q on, and `k_count` keys from key `k_first`
    on. Its rows begin with block `row_block` of a head. The given block is the block `block` of the sequence.
    """

    def __init__(self, plan: BackwardPlan, sizes: Sizes, number: Register, index: Register, *, of_keys: bool) -> None:
        self.plan, self.sizes = plan, sizes
        self.block, self.index = new(s32, number.view("s32")), new(u32, index)
        self.q_first, self.k_first, self.row_block = new(s32, 0), new(s32, 0), new(s32, 0)
        self.q_count, self.k_count = new(s32, sizes.q_tokens), new(s32, sizes.k_tokens)
        if plan.packed:
            ends, size = (sizes.k_ends, plan.keys) if of_keys else (sizes.q_ends, plan.rows)
            self._search(ends, size)
            self._load_range(sizes.q_ends, self.q_first, self.q_count)
            self._load_range(sizes.k_ends, self.k_first, self.k_count)
            self.block -= self._first_block(self.k_first if of_keys else self.q_first, size)
            self.row_block.set(self._first_block(self.q_first, plan.rows))
        elif plan.lengths:
            ptx.ld(sizes.k_ends.element(self.index), type=s32, out=self.k_count)

    def _first_block(self, first: Register, size: int) -> Register:
        return first // size + self.index.view("s32")

    def _search(self, ends: Any, size: int) -> None:
        """Find the last sequence whose first block is not after the given block."""
        self.index.set(0)
        above = new(u32, self.sizes.batch)
        with while_(lambda: self.index + 1 < above):
            middle = (self.index + above) >> 1
            first = ptx.ld(ends.element(middle - 1), type=s32) // size + middle.view("s32")
            is_after = first > self.block
            with guarded(is_after):
                above.set(middle)
            with guarded(~is_after):
                self.index.set(middle)

    def _load_range(self, ends: Any, first: Register, count: Register) -> None:
        ptx.ld(ends.element(self.index), type=s32, out=count)
        place = ends.element(self.index - 1)
        with guarded(self.index > 0):
            ptx.ld(place, type=s32, out=first)
        count -= first

    def block_of(self, head: Register, row_block: Register | int) -> Register:
        """Return the number of a block of rows of the sequence in the workspace."""
        line = head if self.plan.packed else self.index * self.sizes.heads + head
        return line * self.sizes.row_blocks + (self.row_block + row_block).view("u32")


class Visits:
    """Blocks of rows that a block of keys visits: from `first` to below `end`.

    A block that begins at a row below `lower` or above `upper` needs a mask. The diagonal of row r is key r + `past`.
    """

    def __init__(self, plan: BackwardPlan, sequence: Sequence, left: Any, right: Any) -> None:
        self.plan, self.sequence, self.left, self.right = plan, sequence, left, right
        rows, keys = plan.rows, plan.keys
        self.past = sequence.k_count - sequence.q_count
        self.key = sequence.block * keys
        last = self.key + (keys - 1)
        self.first, self.end = new(s32, 0), new(s32, (sequence.q_count + (rows - 1)) // rows)
        self.lower, self.upper = new(s32, 0), _NEVER
        if plan.right:
            self.first.set(ptx.max(self.key - self.past - right, 0, type=s32) // rows)
            self.lower.set(last - self.past - right)
        if plan.left:
            oldest = last - self.past + left
            self.end.set(ptx.min(self.end, (ptx.max(oldest, -1, type=s32) + rows) // rows, type=s32))
            self.upper = self.key - self.past + left - (rows - 1)
        with guarded(last >= sequence.k_count):
            self.lower.set(_NEVER)
        with guarded(self.key >= sequence.k_count):
            self.end.set(0)
        self.count = ptx.max(self.end - self.first, 0, type=s32)

    def limits(self, key: Register) -> tuple[Register, Register | None]:
        """Return the first and the last row that attend to a key of the block."""
        first = key - self.past - self.right if self.plan.right else 0
        beyond = key >= self.sequence.k_count
        first = ptx.selp(_NEVER, first, beyond, type=s32)
        return first, key - self.past + self.left if self.plan.left else None

    def needs_mask(self, row: Register) -> Register:
        """Return True if the block that begins at `row` needs a mask."""
        low = row < self.lower
        return low | (row > self.upper) if self.plan.left else low

    def turn(self, row_block: Register) -> Register:
        """Return the number of CTAs that add to a block of dQ before this one: those with later keys."""
        last = self.sequence.k_count - 1
        if self.plan.right:
            diagonal = row_block * self.plan.rows + (self.plan.rows - 1) + self.past
            last = ptx.min(last, diagonal + self.right, type=s32)
        return last // self.plan.keys - self.sequence.block
