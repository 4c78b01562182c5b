"""Distribution of the tiles of an attention kernel to CTAs, and the keys to which a tile attends."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warploom.author import Location, Register, RingState, guarded, new, s32, special, u32, when, while_
from warploom.kernels.hopper.attention_plan import AttentionPlan
from warploom.kernels.ptx import ptx


@dataclass(frozen=True, slots=True)
class Sizes:
    """Registers with the sizes of an attention problem, and its addresses.

    `sharing` heads of Q share a head of K and V. A line is a head of one sequence. A tile is a block of rows of a line.
    The CTAs compute all tiles of `section` lines before those of the next lines, so that L2 can hold the keys and the
    values of these lines. A row attends to the keys from `left` before its diagonal to `right` after it.
    """

    counter: Any  # zero, which the CTAs count up to distribute the tiles
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


class Tiles:
    """Tiles of one CTA. The producer takes the tiles, and passes their numbers to the consumers with Q.

    The current tile begins at row `row` of head `head` of a sequence. The sequence has the index `batch`, `q_count`
    rows from row `q_first` of Q on, and `k_count` keys from key `k_first` on. The tile attends to the blocks `first` to
    `last` of keys. The blocks from `lower` to below `upper` need no mask.
    """

    def __init__(self, plan: AttentionPlan, ring: RingState, slots: Register, sizes: Sizes) -> None:
        self.plan, self.ring, self.slots, self.sizes = plan, ring, slots, sizes
        self.number, self.next = new(u32), new(u32, special("ctaid.x"))
        self.count = sizes.lines * sizes.blocks
        self.batch, self.head, self.head_kv = new(u32), new(u32), new(u32)
        self.q_first, self.k_first = new(s32, 0), new(s32, 0)
        self.q_count, self.k_count = new(s32, sizes.q_tokens), new(s32, sizes.k_tokens)
        self.row, self.past = new(s32), new(s32)
        self.first, self.last, self.lower, self.upper = new(s32, 0), new(s32), new(s32, 0), new(s32)

    def each(self, take: Callable[[], None]) -> Any:
        """Return a loop over the tiles. `take` makes the next tile the current one: `fetch` or `receive`."""

        def has_tile() -> Register:
            take()
            return self.number < self.count

        return while_(has_tile)

    def fetch(self) -> None:
        """Take the next tile of the grid that has rows."""
        self._fetch()
        if self.plan.packed:
            with while_(lambda: (self.number < self.count) & (self.row >= self.q_count)):
                self._fetch()

    def _fetch(self) -> None:
        self.number.set(self.next)
        with when(self.number < self.count):
            place = self.sizes.counter.element(0)
            taken = ptx.atom_add(place, 1, type=u32, sem="relaxed", scope="gpu")
            self.next.set(taken + special("nctaid.x"))
            # A CTA takes a number for each tile. The last one resets the counter for the next launch.
            with guarded(taken == self.count - 1):
                ptx.st(place, 0, type=u32)
        self._locate()

    def publish(self) -> None:
        """Write the number of the tile to the current stage of Q."""
        ptx.st(self._slot(), self.number, type=u32)

    def receive(self) -> None:
        """Wait for the current stage of Q, and read the number of its tile."""
        self.ring.wait_full()
        ptx.ld(self._slot(), type=u32, out=self.number)
        self._locate()

    def _slot(self) -> Location:
        return (self.slots + self.ring.stage * 4).at(0, "shared::cta")

    def _locate(self) -> None:
        """Compute the position of the current tile, and its keys."""
        sizes, plan = self.sizes, self.plan
        before = self.number // (sizes.section * sizes.blocks) * sizes.section
        lines = ptx.min(sizes.section, sizes.lines - before, type=u32)
        inside = self.number - before * sizes.blocks
        block = inside // lines
        line = before + (inside - block * lines)
        self.batch.set(line // sizes.heads)
        self.head.set(line - self.batch * sizes.heads)
        self.head_kv.set(self.head // sizes.sharing)
        # The last rows attend to the most keys, so they come first.
        self.row.set(((sizes.blocks - 1 - block) * plan.rows).view("s32"))
        self._find_sequence()
        self.past.set(self.k_count - self.q_count)  # the diagonal of row 0
        start, rows, keys = self.row + self.past, plan.rows, plan.keys
        end, full = self.k_count, self.k_count
        if plan.right:
            end = ptx.min(end, start + sizes.right + rows, type=s32)
            full = ptx.min(full, start + sizes.right + 1, type=s32)
        # A tile without keys has one block, in which all keys are masked.
        self.last.set((ptx.max(end, 1, type=s32) - 1) // keys)
        self.upper.set(ptx.max(full, 0, type=s32) // keys)
        if plan.left:
            oldest = start - sizes.left
            self.first.set(ptx.min(ptx.max(oldest, 0, type=s32) // keys, self.last, type=s32))
            self.lower.set((ptx.max(oldest + (rows - 1), 0, type=s32) + (keys - 1)) // keys)

    def _find_sequence(self) -> None:
        """Find the rows and the keys of the sequence, if sequences have different lengths."""
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
