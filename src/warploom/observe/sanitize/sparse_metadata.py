# pyright: reportUnknownMemberType=false
"""Check of the metadata of sparse multiplications for undefined values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.events import Execute, Launch
from warploom.isa.model.multiplication import Metadata, Multiplication
from warploom.observe.sanitize.context import Context

Array = NDArray[Any]


class MetadataCheck:
    """Check of the metadata registers of sparse multiplications, in the lanes that contribute them.

    The emulator refuses illegal selectors before the run.
    """

    context: Context

    def __init__(self, launch: Launch) -> None:
        self.launch = launch

    def start(self, context: Context) -> None:
        """Start a wave of CTAs."""
        self.context = context

    def handler(self, pc: int) -> Callable[[Execute], None] | None:
        """Return the handler of an instruction, or None if the instruction has no metadata."""
        record: Multiplication | None = self.launch.instructions[pc].multiplication
        if record is None or record.metadata is None:
            return None
        metadata, by_warpgroup = record.metadata, record.unit == "warpgroup"
        return lambda event: self._check(event, metadata, by_warpgroup)

    def _check(self, event: Execute, metadata: Metadata, by_warpgroup: bool) -> None:
        batch = event.batch
        words = np.broadcast_to(batch.read(metadata.registers), (batch.count, 32))
        if by_warpgroup:
            groups = batch.warpgroups()
            words, warps = words[groups].reshape(-1, 128), batch.warp_index[groups]
        else:
            active = np.flatnonzero(batch.active().any(axis=1))
            words, warps = words[active], batch.warp_index[active, None]
        self._report(event.pc, metadata, words, warps)

    def _report(self, pc: int, metadata: Metadata, words: Array, warps: Array) -> None:
        """Report undefined metadata. Shapes: words (matrices, lanes), warps (matrices, warps of a matrix)."""
        faulty = metadata.map.undefined_lanes(words, ordered=metadata.ordered)
        if not faulty.any():
            return
        matrix, lane = (int(part[0]) for part in np.nonzero(faulty))
        lane = metadata.map.lanes[lane]
        word, defined = int(words[matrix, lane]), metadata.map.defined_nibbles(ordered=metadata.ordered)
        bit = next(bit for bit in range(0, 32, 4) if not defined[word >> bit & 15])
        expected = ", ".join(f"{value:#06b}" for value in np.flatnonzero(defined).tolist())
        warp = int(warps[matrix, lane // 32])
        message = (
            f"the metadata {word:#010x} of a sparse matrix have {word >> bit & 15:#06b} in bits {bit} to "
            f"{bit + 3}; expected {expected}; {self.context.describe(warp, lane % 32)}"
        )
        self.context.report.add("sanitize.sparse/metadata", pc, -1, message, count=int(faulty.sum()))
