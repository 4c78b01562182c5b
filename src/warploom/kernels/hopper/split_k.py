"""Sums of a tile that several clusters have a part in: left in global memory by those who begin it, added by the
one who ends it.
"""

# The plan chooses the words of instructions, which the stubs want as literals.
# pyright: reportArgumentType=false, reportCallIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warploom.author import Register, forever, guarded, new, ptx, special, u32, when, while_
from warploom.kernels.hopper.plan import Plan
from warploom.kernels.hopper.tile_scheduler import Work

_QUAD = 16  # bytes that a thread stores at once


class Exchange:
    """One consumer's side. A CTA has one place for the sums of a tile, and its consumers a flag each."""

    def __init__(self, plan: Plan, work: Work, partial: Any, flags: Any, number: Any, mine: Any) -> None:
        self.plan, self.work, self.partial, self.flags = plan, work, partial, flags
        self.number, self.mine = number, mine
        self.leads = mine == 0
        self.rank = special("cluster_ctarank") if plan.tile.cluster > 1 else 0

    @property
    def quads(self) -> int:
        """Copies of 16 bytes that a thread's sums take."""
        return self.plan.words // 4

    def _place(self, cluster: Any) -> tuple[Register, Register]:
        """Where the sums of a cluster's CTA of this rank are, this thread's part, and the flag."""
        plan = self.plan
        # Where consumers alternate, the first takes the first piece of a run, the one that is left to others.
        of_tile = 0 if plan.tile.alternate else self.number
        consumer = (cluster * plan.tile.cluster + self.rank) * plan.tile.sharers + of_tile
        start = self.partial + ptx.mul_wide(consumer, 128 * _QUAD * self.quads, type=u32)
        return start + ptx.mul_wide(self.mine, _QUAD, type=u32), self.flags + ptx.mul_wide(
            consumer, 4, type=u32
        )

    def leave(self, sums: Sequence[Register]) -> None:
        """Store the sums of a tile that another cluster ends, and say so."""
        place, flag = self._place(self.work.me)
        for quad in range(self.quads):
            part = list(sums[4 * quad : 4 * quad + 4])
            ptx.st(place.at(quad * 128 * _QUAD, "global"), part, vec="v4", type=self.plan.word)
        ptx.fence(sem="acq_rel", scope="gpu")
        ptx.bar(self.number + 1, 128)
        with guarded(self.leads):
            ptx.st(flag.at(0, "global"), 1, sem="release", scope="gpu", type=u32)

    def collect(self, sums: Sequence[Register]) -> None:
        """Add what those before left, from the nearest to the first; their flags are taken down again."""
        work = self.work
        covered, cluster = new(u32, work.begin), new(u32, work.me)
        base = work.tile * work.sizes.k_tiles
        with while_(lambda: covered > base):
            cluster -= 1
            begin = work.begin_of(cluster)
            with when(begin != covered):  # else its run is empty
                place, flag = self._place(cluster)
                with when(self.leads):
                    with forever() as turn:
                        seen = ptx.ld(flag.at(0, "global"), sem="acquire", scope="gpu", type=u32)
                        turn.leave(seen != 0)
                    ptx.st(flag.at(0, "global"), 0, sem="relaxed", scope="gpu", type=u32)
                ptx.bar(self.number + 1, 128)
                for quad in range(self.quads):
                    where = place.at(quad * 128 * _QUAD, "global")
                    parts = ptx.ld(where, sem="relaxed", scope="gpu", vec="v4", type=self.plan.word)
                    for total, part in zip(sums[4 * quad : 4 * quad + 4], parts, strict=True):
                        self._add(total, part)
            covered.set(begin)

    def _add(self, total: Register, part: Register) -> None:
        if self.plan.sums == "f16":
            ptx.add(total, part, type="f16x2", out=total)
        else:
            total += part
