"""Positions of the tiles of an attention kernel, and the keys to which a tile attends."""

from dataclasses import dataclass
from typing import Any

from warploom.author import Register, guarded, new, s32, u32
from warploom.kernels.attention_plan import AttentionShape
from warploom.kernels.ptx import ptx


@dataclass(frozen=True, slots=True)
class Sizes:
    """Registers with the sizes of an attention problem, and its addresses.

    `sharing` heads of Q share a head of K and V. A line is a head of one sequence, or all heads of Q that share a head
    of K if the plan packs heads. A tile is a block of rows of a line. The CTAs compute all tiles of `section` lines
    before those of the next lines, so that L2 can hold the keys and the values of these lines. A row attends to the
    keys from `left` before its diagonal to `right` after it.
    """

    q_ends: Any  # end of each sequence of a packed Q
    k_ends: Any  # end of each sequence of a packed K, or the length of each sequence
    q_tokens: Any
    k_tokens: Any
    heads: Any
    sharing: Any
    blocks: Any  # tiles of a line
    lines: Any
    section: Any
    left: Any
    right: Any


class TilePosition:
    """Position of the tile `number`.

    The tile begins at row `row` of head `head` of a sequence. The sequence has the index `batch`, `q_count` tokens from
    token `q_first` of Q on, and `k_count` keys from key `k_first` on. The tile attends to the blocks `first` to `last`
    of keys. The blocks from `lower` to below `upper` need no mask.
    """

    def __init__(self, plan: AttentionShape, sizes: Sizes) -> None:
        self.plan, self.sizes = plan, sizes
        self.number = new(u32)
        self.count = sizes.lines * sizes.blocks
        self.batch, self.head, self.head_kv = new(u32), new(u32), new(u32)
        self.q_first, self.k_first = new(s32, 0), new(s32, 0)
        self.q_count, self.k_count = new(s32, sizes.q_tokens), new(s32, sizes.k_tokens)
        self.row, self.past = new(s32), new(s32)
        self.first, self.last, self.lower, self.upper = new(s32, 0), new(s32), new(s32, 0), new(s32)

    def locate(self) -> None:
        """Compute the position, and the blocks of keys."""
        sizes, plan = self.sizes, self.plan
        before = self.number // (sizes.section * sizes.blocks) * sizes.section
        lines = ptx.min(sizes.section, sizes.lines - before, type=u32)
        inside = self.number - before * sizes.blocks
        block = inside // lines
        line = before + (inside - block * lines)
        if plan.sharing > 1:
            heads = sizes.heads // plan.sharing
            self.batch.set(line // heads)
            self.head_kv.set(line - self.batch * heads)
            self.head.set(self.head_kv * plan.sharing)
        else:
            self.batch.set(line // sizes.heads)
            self.head.set(line - self.batch * sizes.heads)
            self.head_kv.set(self.head // sizes.sharing)
        # The last rows attend to the most keys, so they come first.
        self.row.set(((sizes.blocks - 1 - block) * plan.rows).view("s32"))
        self._find_sequence()
        self.past.set(self.k_count - self.q_count)  # the diagonal of token 0
        start, newest, keys = self.diagonal(0), self.diagonal(plan.rows - 1), plan.keys
        end, full = self.k_count, self.k_count
        if plan.right:
            end = ptx.min(end, newest + sizes.right + 1, type=s32)
            full = ptx.min(full, start + sizes.right + 1, type=s32)
        # A tile without keys has one block, in which all keys are masked.
        self.last.set((ptx.max(end, 1, type=s32) - 1) // keys)
        self.upper.set(ptx.max(full, 0, type=s32) // keys)
        if plan.left:
            oldest = start - sizes.left
            self.first.set(ptx.min(ptx.max(oldest, 0, type=s32) // keys, self.last, type=s32))
            self.lower.set((ptx.max(newest - sizes.left, 0, type=s32) + (keys - 1)) // keys)

    def token(self, row: Any) -> Register:
        """Return the token of a row of the tile, counted in its sequence."""
        row = self.row + row if isinstance(row, Register) or row else self.row
        return row // self.plan.sharing if self.plan.sharing > 1 else row

    def head_of(self, row: Any, token: Register) -> Register:
        """Return the head of Q to which a row of the tile belongs. `token` is the token of the row."""
        if self.plan.sharing == 1:
            return self.head
        return self.head + (self.row + row - token * self.plan.sharing).view("u32")

    def diagonal(self, row: Any) -> Register:
        """Return the key on the diagonal of a row of the tile."""
        return self.token(row) + self.past

    def _find_sequence(self) -> None:
        """Find the tokens and the keys of the sequence, if sequences have different lengths."""
        exists = self.number < self.count
        follows = exists & (self.batch > 0)
        if self.plan.lengths:
            self._load(self.sizes.k_ends, self.batch, exists, self.k_count)
        if self.plan.packed:
            for ends, first, count in (
                (self.sizes.q_ends, self.q_first, self.q_count),
                (self.sizes.k_ends, self.k_first, self.k_count),
            ):
                first.set(0)
                self._load(ends, self.batch - 1, follows, first)
                self._load(ends, self.batch, exists, count)
                count -= first

    def _load(self, numbers: Any, index: Register, condition: Register, out: Register) -> None:
        place = numbers.element(index)
        with guarded(condition):
            ptx.ld(place, type=s32, out=out)
