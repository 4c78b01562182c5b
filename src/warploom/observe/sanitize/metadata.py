# pyright: reportUnknownMemberType=false
"""Sparse multiplications: whether the metadata that they are given mean anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.isa.instructions.sparse import is_ordered
from warploom.layout import MetadataMap
from warploom.layout import metadata as metadata_map

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.observe.sanitize.watcher import Sanitizer

Array = NDArray[Any]


class Metadata:
    """Looks at the metadata of every sparse multiplication, in the lanes that contribute them.

    A selector that a form does not have never comes so far: it is refused before anything runs.
    """

    def __init__(self, sanitizer: Sanitizer) -> None:
        self.sanitizer = sanitizer
        self.machine = sanitizer.machine

    def sees(self, pc: int) -> Callable[[Batch, Any], None] | None:
        """What looks at an instruction; None where it has no metadata."""
        operands = self.machine.linked[pc].operands
        if getattr(operands, "e", None) is not None and hasattr(operands, "spvariant"):
            return self._of_warps
        return self._of_warpgroups if getattr(operands, "sp_meta", None) is not None else None

    def _of_warps(self, batch: Batch, operands: Any) -> None:
        words = np.broadcast_to(batch.read(operands.e), (batch.count, 32))
        here = np.flatnonzero(batch.active().any(axis=1))
        found = metadata_map("mma", operands.shape, operands.atype, operands.f)
        self._check(found, words[here], batch.warp_index[here, None])

    def _of_warpgroups(self, batch: Batch, operands: Any) -> None:
        groups = batch.warpgroups()
        words = np.broadcast_to(batch.read(operands.sp_meta), (batch.count, 32))[groups].reshape(-1, 128)
        found = metadata_map("wgmma", operands.shape, operands.atype, operands.sp_sel)
        self._check(found, words, batch.warp_index[groups])

    def _check(self, found: MetadataMap, words: Array, warps: Array) -> None:
        """Shapes: words (matrices, lanes), warps (matrices, warps of each)."""
        machine = self.machine
        ordered = is_ordered(machine.program.steps[machine.pc].binding.slots)
        faulty = found.undefined_lanes(words, ordered=ordered)
        if not faulty.any():
            return
        matrix, lane = (int(part[0]) for part in np.nonzero(faulty))
        lane = found.lanes[lane]
        word, defined = int(words[matrix, lane]), found.defined_nibbles(ordered=ordered)
        place = next(bit for bit in range(0, 32, 4) if not defined[word >> bit & 15])
        expected = ", ".join(f"{value:#06b}" for value in np.flatnonzero(defined).tolist())
        message = (
            f"the metadata {word:#010x} of a sparse matrix have {word >> place & 15:#06b} in bits {place} to "
            f"{place + 3}; expected {expected}; {machine.describe(int(warps[matrix, lane // 32]), lane % 32)}"
        )
        self.sanitizer.report.add(
            "sanitize.sparse/metadata", machine.pc, -1, message, count=int(faulty.sum())
        )
