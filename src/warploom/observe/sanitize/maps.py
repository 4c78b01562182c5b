"""Tensor maps that the kernel changes: they are read through a proxy of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import GLOBAL_BASE

if TYPE_CHECKING:
    from warploom.emulator.batch import Batch
    from warploom.observe.sanitize.watcher import Sanitizer

Array = NDArray[Any]
SIZE = 128


class Maps:
    """Maps in global memory that were written, and fences that made the new bytes known to copies."""

    def __init__(self, sanitizer: Sanitizer) -> None:
        self.sanitizer = sanitizer
        self.emulator = sanitizer.emulator
        self._now = 0
        self._written: dict[int, int] = {}  # when a map was last written by an instruction for maps
        self._acquired: dict[tuple[int, int], int] = {}  # when a CTA last acquired a map

    def publish(self, batch: Batch, operands: Any) -> None:
        """Maps are copied to global memory, with a fence that releases them."""
        self._now += 1
        for address in np.unique(np.broadcast_to(batch.addresses(operands.dst), (batch.count, 32))).tolist():
            self._written[address] = self._now

    def acquire(self, batch: Batch, operands: Any) -> None:
        """Warps acquire maps."""
        self._now += 1
        where = np.broadcast_to(batch.addresses(operands.addr), (batch.count, 32))
        for position, lane in zip(*np.nonzero(batch.active()), strict=True):
            cta = int(self.emulator.topology.cta_of[batch.warp_index[position]])
            self._acquired[cta, int(where[position, lane])] = self._now

    def use(self, warps: Array, lanes: Array, address: int, pc: int) -> None:
        """Copies go through a map."""
        first = (address - GLOBAL_BASE) // 4
        records = self.sanitizer.arena.records[first : first + SIZE // 4] if first >= 0 else np.zeros(1)
        if not records.any() and address not in self._written:
            return
        written = self._written.get(address, 0)
        for warp, lane in zip(warps.tolist(), lanes.tolist(), strict=True):
            if self._acquired.get((int(self.emulator.topology.cta_of[warp]), address), -1) <= written:
                message = (
                    f"this copy goes through the tensor map at {address:#x}, which the kernel has written, and no "
                    f"acquiring fence for tensor maps lies between; {self.emulator.state.describe(warp, lane)}"
                )
                self.sanitizer.report.add("sanitize.proxy/tensormap", pc, -1, message)
                return
