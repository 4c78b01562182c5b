"""Assignment of tiles to persistent clusters, and exchange of partial sums.

The schedule is stream-K. A stage is a step of a tile along K. The stages of the first `split` tiles are divided equally
among the clusters, without regard to the ends of tiles. The other tiles are distributed as a whole. If the stages of a
cluster end inside a tile, the cluster stores partial sums in global memory, and the next cluster completes the tile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from warploom.author import Pointer, Register, forever, guarded, new, otherwise, special, u32, when, while_
from warploom.kernels.hopper.plan import Plan, Tile
from warploom.kernels.plan import position_in_plane, tile_position
from warploom.kernels.ptx import ptx


@dataclass(frozen=True, slots=True)
class Sizes:
    """Registers with the sizes of a matrix multiplication."""

    m: Any  # rows
    m_tiles: Any  # tile rows, counted in clusters
    n_tiles: Any
    k_tiles: Any  # stages of a tile
    split: Any  # tiles that are cut along K
    tiles: Any  # tiles of all batches
    groups: Any


class WorkItem(Protocol):
    """Stages `first` to `last` - 1 of a tile."""

    first: Any
    last: Any


class TileScheduler:
    """Work items of one cluster: whole tiles, and parts of tiles that are cut along K.

    The current work item consists of the stages `first` to `last` - 1 of the tile with the number `tile`.
    """

    def __init__(self, sizes: Sizes, shape: Tile) -> None:
        self.sizes = sizes
        self.shape = shape
        self.bottom = sizes.m  # row after the last row of D
        self.me, self.clusters = special("clusterid.x"), special("nclusterid.x")
        self.begin, self.end = self.run_begin(self.me), self.run_begin(self.me + 1)
        self.tile, self.first, self.last = new(u32), new(u32), new(u32)
        self.turn = new(u32, 0)
        self.starts_with_run = ptx.setp(self.end, self.begin, CmpOp="ne", type=u32)

    def run_begin(self, cluster: Any) -> Any:
        """Return the first stage of a cluster. Stages are counted over all tiles that are divided along K."""
        return cluster * (self.sizes.split * self.sizes.k_tiles) // self.clusters

    def has_next(self) -> Any:
        """Return a predicate that is true if work items are left."""
        mine = self.me + self.turn * self.clusters + self.sizes.split
        whole = ptx.setp(mine, self.sizes.tiles, CmpOp="lt", type=u32)
        return ptx.setp(self.end, self.begin, whole, CmpOp="ne", BoolOp="or", type=u32)

    def take(self) -> None:
        """Make the next work item the current one."""
        mine = self.me + self.turn * self.clusters + self.sizes.split
        whole = ptx.setp(mine, self.sizes.tiles, ~self.starts_with_run, CmpOp="lt", BoolOp="and", type=u32)
        with when(whole):
            self.tile.set(mine)
            self.first.set(0)
            self.last.set(self.sizes.k_tiles)
            self.turn += 1
        with otherwise():
            # Parts are taken from the last to the first, so that other clusters get partial sums early.
            self.tile.set((self.end - 1) // self.sizes.k_tiles)
            base = self.tile * self.sizes.k_tiles
            low = ptx.max(self.begin, base, type=u32)
            self.first.set(low - base)
            self.last.set(self.end - base)
            self.end.set(low)
        ptx.setp(self.turn, self.turn, CmpOp="ne", type=u32, out=self.starts_with_run)

    def prefetch_group(self) -> None:
        """Do nothing, because these tiles have no groups."""

    def origin(self, rank: Any) -> tuple[Any, Any, Any]:
        """Return the first row, the first column and the batch of the tile of CTA `rank` of the cluster."""
        shape, sizes = self.shape, self.sizes
        row, column, batch = tile_position(self.tile, sizes.m_tiles, sizes.n_tiles, shape.group)
        return (row * shape.cluster + rank) * shape.rows, column * shape.columns, batch


class GroupedTileScheduler:
    """Tiles of one cluster for groups of rows. The interface is that of `TileScheduler`.

    `ends` has the end row of each group. The current tile is tile number `tile` of group `group`. The group has the
    rows from `top` to below `bottom`.
    """

    def __init__(self, ends: Pointer, sizes: Sizes, shape: Tile) -> None:
        self.ends, self.sizes, self.shape = ends, sizes, shape
        self.first: Any = 0
        self.last = sizes.k_tiles
        self.clusters = special("nclusterid.x")
        self.tile, self.group, self.top, self.bottom = (new(u32) for _ in range(4))
        self.next_tile = new(u32, special("clusterid.x"))
        self.next_top, self.next_bottom, self.groups_seen = (new(u32, 0) for _ in range(3))
        self.tiles_before, self.tiles_seen = (new(u32, 0) for _ in range(2))  # before and after the last group
        self.prefetch_group()

    def prefetch_group(self) -> None:
        """Find the group of the next tile. Call this method after each `take`, before `has_next`."""

        def is_beyond() -> Any:
            more = self.groups_seen < self.sizes.groups
            return ptx.setp(self.next_tile, self.tiles_seen, more, CmpOp="ge", BoolOp="and", type=u32)

        with while_(is_beyond):
            self.next_top.set(self.next_bottom)
            # A group that ends before it begins is empty.
            end = ptx.min(self.ends[self.groups_seen], self.sizes.m, type=u32)
            ptx.max(end, self.next_top, type=u32, out=self.next_bottom)
            self.groups_seen += 1
            self.tiles_before.set(self.tiles_seen)
            self.tiles_seen += self._tile_rows(self.next_top, self.next_bottom) * self.sizes.n_tiles

    def _tile_rows(self, top: Any, bottom: Any) -> Any:
        height = self.shape.rows * self.shape.cluster
        shift = (height & -height).bit_length() - 1
        count = bottom - top + (height - 1) >> shift
        return count // (height >> shift) if height >> shift > 1 else count

    def has_next(self) -> Any:
        """Return a predicate that is true if tiles are left."""
        return self.next_tile < self.tiles_seen

    def take(self) -> None:
        """Make the next tile the current one."""
        self.tile.set(self.next_tile - self.tiles_before)
        self.group.set(self.groups_seen - 1)
        self.top.set(self.next_top)
        self.bottom.set(self.next_bottom)
        self.next_tile += self.clusters

    def origin(self, rank: Any) -> tuple[Any, Any, Any]:
        """Return the first row, the first column and the group of the tile of CTA `rank` of the cluster."""
        shape = self.shape
        rows = self._tile_rows(self.top, self.bottom)
        row, column = position_in_plane(self.tile, rows, self.sizes.n_tiles, shape.group)
        return self.top + (row * shape.cluster + rank) * shape.rows, column * shape.columns, self.group


Scheduler = TileScheduler | GroupedTileScheduler


# Tiles that are cut along K ---------------------------------------------------------------------------------


class PartialSums:
    """Partial sums in global memory, with a flag for each consumer of each CTA."""

    def __init__(
        self, plan: Plan, scheduler: TileScheduler, partial: Any, flags: Any, number: Any, thread: Any
    ) -> None:
        self.plan, self.scheduler, self.partial, self.flags = plan, scheduler, partial, flags
        self.number, self.thread = number, thread
        self.leads = thread == 0
        self.rank = special("cluster_ctarank") if plan.tile.cluster > 1 else 0
        self.width = 2 if plan.accumulators % 4 else 4  # registers that a thread stores at once
        self.vector = {"vec": f"v{self.width}", "type": plan.register_type}
        self.step = 128 * 4 * self.width  # bytes that the consumer stores at once

    def _slot(self, cluster: Any) -> tuple[Register, Register]:
        """Return the address of this thread's partial sums from a cluster, and the address of their flag."""
        plan = self.plan
        # With pingpong, only the first work item of a run is completed by others, and the first consumer takes it.
        in_tile = 0 if plan.tile.pingpong else self.number
        consumer = (cluster * plan.tile.cluster + self.rank) * plan.tile.tile_consumers + in_tile
        start = self.partial + ptx.mul_wide(consumer, 128 * 4 * plan.accumulators, type=u32)
        sums = start + ptx.mul_wide(self.thread, 4 * self.width, type=u32)
        return sums, self.flags + ptx.mul_wide(consumer, 4, type=u32)

    def _vectors(self, accumulators: Sequence[Register]) -> list[list[Register]]:
        """Return the registers in groups that a thread stores at once."""
        return [list(accumulators[at : at + self.width]) for at in range(0, len(accumulators), self.width)]

    def store(self, accumulators: Sequence[Register]) -> None:
        """Store the partial sums of a tile that another cluster completes, and set the flag."""
        slot, flag = self._slot(self.scheduler.me)
        for number, part in enumerate(self._vectors(accumulators)):
            ptx.st(slot.at(number * self.step, "global"), part, **self.vector)
        ptx.fence(sem="acq_rel", scope="gpu")
        ptx.bar(self.number + 1, 128)
        with guarded(self.leads):
            ptx.st(flag.at(0, "global"), 1, sem="release", scope="gpu", type=u32)

    def add(self, accumulators: Sequence[Register]) -> None:
        """Add the partial sums that other clusters stored for this tile, and clear their flags."""
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
                for number, totals in enumerate(self._vectors(accumulators)):
                    parts = ptx.ld(slot.at(number * self.step, "global"), sem="relaxed", scope="gpu", **self.vector)
                    for total, part in zip(totals, parts, strict=True):
                        if self.plan.accumulator == "f16":
                            ptx.add(total, part, type="f16x2", out=total)
                        else:
                            total += part
            covered.set(begin)
