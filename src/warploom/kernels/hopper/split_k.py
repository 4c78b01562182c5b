"""Reduction of tiles that are cut along K, through partial sums in global memory.

A cluster stores the sums of its part of a tile. The cluster with the last part adds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warploom.author import Register, forever, guarded, new, special, u32, when, while_
from warploom.kernels.hopper.plan import Plan
from warploom.kernels.hopper.tile_scheduler import TileScheduler
from warploom.kernels.ptx import ptx

_QUAD = 16  # bytes that a thread stores at once


class PartialSums:
    """Partial sums of one consumer. Memory holds sums for each CTA, and a flag for each of its consumers."""

    def __init__(
        self, plan: Plan, scheduler: TileScheduler, partial: Any, flags: Any, number: Any, thread: Any
    ) -> None:
        self.plan, self.scheduler, self.partial, self.flags = plan, scheduler, partial, flags
        self.number, self.thread = number, thread
        self.leads = thread == 0
        self.rank = special("cluster_ctarank") if plan.tile.cluster > 1 else 0
        self.quads = plan.accumulators // 4

    def _slot(self, cluster: Any) -> tuple[Register, Register]:
        """Return the addresses of this thread's partial sums and of the flag that a cluster stores."""
        plan = self.plan
        # With pingpong, only the first work item of a run is completed by others, and the first consumer takes it.
        in_tile = 0 if plan.tile.pingpong else self.number
        consumer = (cluster * plan.tile.cluster + self.rank) * plan.tile.tile_consumers + in_tile
        start = self.partial + ptx.mul_wide(consumer, 128 * _QUAD * self.quads, type=u32)
        sums = start + ptx.mul_wide(self.thread, _QUAD, type=u32)
        return sums, self.flags + ptx.mul_wide(consumer, 4, type=u32)

    def store(self, accumulators: Sequence[Register]) -> None:
        """Store the sums of a tile that another cluster completes, and set the flag."""
        slot, flag = self._slot(self.scheduler.me)
        for quad in range(self.quads):
            part = list(accumulators[4 * quad : 4 * quad + 4])
            ptx.st(slot.at(quad * 128 * _QUAD, "global"), part, vec="v4", type=self.plan.register_type)
        ptx.fence(sem="acq_rel", scope="gpu")
        ptx.bar(self.number + 1, 128)
        with guarded(self.leads):
            ptx.st(flag.at(0, "global"), 1, sem="release", scope="gpu", type=u32)

    def add(self, accumulators: Sequence[Register]) -> None:
        """Add the sums of the clusters that computed earlier parts of the tile, and clear their flags."""
        scheduler = self.scheduler
        covered, cluster = new(u32, scheduler.begin), new(u32, scheduler.me)
        base = scheduler.tile * scheduler.sizes.k_tiles
        with while_(lambda: covered > base):
            cluster -= 1
            begin = scheduler.run_begin(cluster)
            with when(begin != covered):  # otherwise the run is empty
                slot, flag = self._slot(cluster)
                with when(self.leads):
                    with forever() as loop:
                        seen = ptx.ld(flag.at(0, "global"), sem="acquire", scope="gpu", type=u32)
                        loop.leave(seen != 0)
                    ptx.st(flag.at(0, "global"), 0, sem="relaxed", scope="gpu", type=u32)
                ptx.bar(self.number + 1, 128)
                for quad in range(self.quads):
                    where = slot.at(quad * 128 * _QUAD, "global")
                    parts = ptx.ld(where, sem="relaxed", scope="gpu", vec="v4", type=self.plan.register_type)
                    for total, part in zip(accumulators[4 * quad : 4 * quad + 4], parts, strict=True):
                        if self.plan.accumulator == "f16":
                            ptx.add(total, part, type="f16x2", out=total)
                        else:
                            total += part
            covered.set(begin)
