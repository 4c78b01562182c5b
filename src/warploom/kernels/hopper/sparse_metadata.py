"""The metadata of a sparse A: copied from global memory into a stage, read from there into registers.

In global memory they stand as `compress` arranges them: (batch, stages of K, blocks of 64 rows, 128 threads, words).
"""

from __future__ import annotations

from typing import Any

from warploom.author import RingState, Register, Shared, ptx, u32
from warploom.kernels.hopper.plan import METADATA, Plan, metadata_places


class Metadata:
    """What one role does with them. They are at `source` in global memory; the stages have `held` for them."""

    def __init__(self, plan: Plan, source: Any, held: Shared, m: Any, k_tiles: Any) -> None:
        self.plan, self.source, self.m, self.k_tiles = plan, source, m, k_tiles
        self.start = held.address()
        self.block = METADATA * plan.metadata_words  # bytes of 64 rows in a stage

    def bring(self, place: RingState, row: Any, turn: Any, batch: Any) -> None:
        """Copy those of stage `turn` of K, for the tile of A that begins at `row`.

        Below the last rows the last block comes again: what is multiplied there is thrown away, but zeros mean
        nothing as metadata.
        """
        blocks = (self.m + 63) >> 6
        line = (batch * self.k_tiles + turn) * blocks
        target = self.start + place.stage * self.plan.metadata_bytes
        for number in range(self.plan.tile.sharers):
            block = line + ptx.min((row >> 6) + number, blocks - 1, type=u32)
            ptx.cp_async_bulk(
                target.at(number * self.block, "shared::cluster"),
                (self.source + ptx.mul_wide(block, self.block, type=u32)).at(0, "global"),
                self.block,
                place.barrier("shared::cluster"),
                dst="shared::cluster",
            )

    def read(self, place: RingState, number: Any, mine: Any) -> list[tuple[Register, int]]:
        """What thread `mine` gives to each instruction of a stage, for consumer `number` of the tile: its metadata and
        the sparsity selector.
        """
        count = self.plan.metadata_words
        here = self.start + place.stage * self.plan.metadata_bytes + number * self.block + mine * (4 * count)
        where = here.at(0, "shared::cta")
        words = [ptx.ld(where, type="b32")] if count == 1 else ptx.ld(where, vec="v2", type="b32")
        return [(words[word], selector) for word, selector in metadata_places(self.plan.a)]
