"""Metadata of a sparse A: copied from global memory into stages, and loaded into registers.

Shape in global memory, as `sparse.compress` returns them: (batch, stages of K, blocks of 64 rows, 128 threads, words).
"""

from __future__ import annotations

from typing import Any

from warploom.author import Register, RingState, Shared, u32
from warploom.kernels.hopper.plan import METADATA, Plan, metadata_slots
from warploom.kernels.ptx import ptx


class SparseMetadata:
    """Metadata at the address `source` in global memory, and their copies in the shared memory `stages`."""

    def __init__(self, plan: Plan, source: Any, stages: Shared, m: Any, k_tiles: Any) -> None:
        self.plan, self.source, self.m, self.k_tiles = plan, source, m, k_tiles
        self.start = stages.address()
        self.block = METADATA * plan.metadata_words  # bytes of 64 rows in a stage

    def copy(self, ring: RingState, row: Any, k_tile: Any, batch: Any) -> None:
        """Start the copies of the metadata of a stage, for the tile of A that starts at `row`.

        A tile may extend beyond the last row. The last block is then copied again, because zeros would be illegal
        metadata. Its products are discarded.
        """
        blocks = (self.m + 63) >> 6
        line = (batch * self.k_tiles + k_tile) * blocks
        target = self.start + ring.stage * self.plan.metadata_bytes
        for number in range(self.plan.tile.tile_consumers):
            block = line + ptx.min((row >> 6) + number, blocks - 1, type=u32)
            to = target.at(number * self.block, "shared::cluster")
            source = (self.source + ptx.mul_wide(block, self.block, type=u32)).at(0, "global")
            ptx.cp_async_bulk(to, source, self.block, ring.barrier("shared::cluster"), dst="shared::cluster")

    def load(self, ring: RingState, number: Any, thread: Any) -> list[tuple[Register, int]]:
        """Load the metadata of a thread of consumer `number`. Return a register and selector per instruction."""
        count = self.plan.metadata_words
        here = self.start + ring.stage * self.plan.metadata_bytes + number * self.block + thread * (4 * count)
        where = here.at(0, "shared::cta")
        words = [ptx.ld(where, type="b32")] if count == 1 else ptx.ld(where, vec="v2", type="b32")
        return [(words[word], selector) for word, selector in metadata_slots(self.plan.a)]
