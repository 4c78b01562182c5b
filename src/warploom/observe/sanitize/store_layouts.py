# pyright: reportUnknownMemberType=false
"""Check that tensor stores have the swizzle with which tensor copies wrote shared memory."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import SHARED_START
from warploom.layout import TensorMapFields, row_bytes, swizzle, swizzle_text
from warploom.layout.tile import box_rows
from warploom.observe.sanitize._tiles import Tiles, make_tiles
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.tile_agreement import are_rows_of_box
from warploom.observe.sanitize.written_layouts import OUTSIDE, WrittenLayouts

Array = NDArray[Any]


class StoreLayouts:
    """Check of tensor stores that read boxes of shared memory which tensor copies have written.

    The check judges boxes with the same contents once. The box of a store may have another shape than the box of the
    copy, because a kernel may reshape a tensor in shared memory. A store with another swizzle than the copy is wrong,
    because the swizzle permutes the chunks of each row.
    """

    def __init__(self, context: Context, written: WrittenLayouts) -> None:
        self.context = context
        self.written = written
        self._seen: set[tuple[TensorMapFields, int, int]] = set()

    def check(self, fields: TensorMapFields, warps: Array, lanes: Array, starts: Array, pc: int) -> None:
        """Report stores whose swizzle differs from the swizzle of the data.

        Lane lanes[i] of warps[i] stores a box at shared address starts[i], and `fields` describes the tensor map.
        Shapes: (copies,).
        """
        if fields.interleave:
            return
        origins = self.context.topology.cta_of[warps] * self.context.shared.stride
        hashes = self.written.hashes(origins, starts[None], _tiles(fields))
        for copy, value in enumerate(hashes[0].tolist()):
            if value not in (0, OUTSIDE) and (fields, pc, value) not in self._seen:
                self._seen.add((fields, pc, value))
                self._judge(fields, int(warps[copy]), int(lanes[copy]), int(starts[copy]), pc)

    def _judge(self, fields: TensorMapFields, warp: int, lane: int, start: int, pc: int) -> None:
        offsets, span = _chunks(fields), fields.swizzle_span
        cta = int(self.context.topology.cta_of[warp])
        chunks = (swizzle(start + offsets, span) - SHARED_START) >> 4
        contents = self.written.contents(cta, chunks.reshape(-1))
        tile = contents.at((np.arange(chunks.size).reshape(chunks.shape),))
        if (tile.tensor <= 0).any() or are_rows_of_box(tile):
            return
        copy = int(tile.copy[0, 0])
        wrote = self.written.fields[copy].swizzle_span
        if wrote != span:
            line = self.context.program.line_of(self.written.sites[copy])
            message = (
                f"the tensor map of this store has a swizzle of {span} bytes, but the data at {start:#x} are "
                f"{swizzle_text(wrote)}, as line {line} wrote them; {self.context.describe(warp, lane)}"
            )
            self.context.report.add("sanitize.copy/swizzle", pc, self.written.sites[copy], message)


@lru_cache(maxsize=64)
def _chunks(fields: TensorMapFields) -> Array:
    """Return the offsets of the chunks of a box before the swizzle. Shapes: (rows, chunks of a row)."""
    return box_rows(fields)[0][:, None] + np.arange(0, row_bytes(fields), 16)


@lru_cache(maxsize=64)
def _tiles(fields: TensorMapFields) -> Tiles:
    return make_tiles([(_chunks(fields), fields.swizzle_span, 0)])
