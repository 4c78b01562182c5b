# pyright: reportUnknownMemberType=false
"""Check of tensor maps that the kernel changes. Copies read tensor maps through a proxy of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.emulator.address_space import GLOBAL_BASE
from warploom.emulator.events import Fence
from warploom.observe.sanitize.context import Context
from warploom.observe.sanitize.global_shadow import GlobalShadow

Array = NDArray[Any]
SIZE = 128


class TensorMaps:
    """Fences that order writes to tensor maps before copies, over all waves of CTAs."""

    def __init__(self, shadow: GlobalShadow) -> None:
        self.shadow = shadow
        self._now = 0
        self._released: dict[int, int] = {}  # time of the last release of each map
        self._acquired: dict[tuple[int, int], int] = {}  # time of the last acquisition of each map by each CTA

    def release(self, event: Fence) -> None:
        """Record a fence that releases the tensor maps at the addresses of all lanes."""
        self._now += 1
        for address in np.unique(self._addresses(event)).tolist():
            self._released[address] = self._now

    def acquire(self, event: Fence, cta_of: Array) -> None:
        """Record a fence that acquires the tensor maps at the addresses of active lanes."""
        self._now += 1
        addresses = self._addresses(event)
        for position, lane in zip(*np.nonzero(event.batch.active()), strict=True):
            cta = int(cta_of[event.batch.warp_index[position]])
            self._acquired[cta, int(addresses[position, lane])] = self._now

    @staticmethod
    def _addresses(event: Fence) -> Array:
        addresses = event.batch.addresses(getattr(event.operands, event.effect.address))
        return np.broadcast_to(addresses, (event.batch.count, 32))

    def use(self, context: Context, warps: Array, lanes: Array, address: int, pc: int) -> None:
        """Report copies through a tensor map that the kernel has written.

        A copy is legal if its CTA has acquired the map after the last release.
        """
        first = (address - GLOBAL_BASE) // 4
        records = self.shadow.arrays.records[first : first + SIZE // 4] if first >= 0 else np.zeros(1)
        if not records.any() and address not in self._released:
            return
        released = self._released.get(address, 0)
        for warp, lane in zip(warps.tolist(), lanes.tolist(), strict=True):
            if self._acquired.get((int(context.topology.cta_of[warp]), address), -1) <= released:
                message = (
                    f"this copy uses the tensor map at {address:#x}, which the kernel has written, and no "
                    f"acquiring fence for tensor maps is between the two; {context.describe(warp, lane)}"
                )
                context.report.add("sanitize.proxy/tensormap", pc, -1, message)
                return
