"""Assignment of tiles to persistent clusters.

The schedule is stream-K. A stage is a step of a tile along K. The stages of the first `split` tiles are divided equally
among the clusters, without regard to the ends of tiles. The other tiles are distributed as a whole. If tiles are cut,
each cluster has at least one stage of the first tiles.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from warploom.author import Pointer, new, otherwise, special, u32, when, while_
from warploom.kernels.hopper.plan import Tile
from warploom.kernels.plan import position_in_plane, tile_position
from warploom.kernels.ptx import ptx


@dataclass(frozen=True, slots=True)
class Sizes:
    """Registers with the sizes of a matrix multiplication."""

    m: Any  # rows
    m_tiles: Any  # tile rows, counted in clusters
    n_tiles: Any  # tile columns, counted in clusters
    k_tiles: Any  # stages of a tile
    split: Any  # tiles that are cut along K
    tiles: Any  # tiles of all batches
    groups: Any


def cluster_place(rank: Any, shape: Tile) -> tuple[Any, Any]:
    """Return the indices of CTA `rank` along M and N in its cluster.

    CTAs that share a tile have the same indices.
    """
    if shape.cluster == 1 and shape.across == 1:
        return 0, 0
    of_m = rank & (shape.cluster - 1) if shape.ctas > shape.cluster else rank
    return of_m, rank >> (shape.cluster.bit_length() - 1) if shape.across > 1 else 0


def tile_corner(row: Any, column: Any, rank: Any, shape: Tile) -> tuple[Any, Any]:
    """Return the first row and column of the tile of CTA `rank` of a cluster.

    The cluster is at tile row `row` and tile column `column`, counted in clusters.
    """
    of_m, of_n = cluster_place(rank, shape)
    if shape.across > 1:
        column = column * shape.across + of_n
    return (row * shape.cluster + of_m) * shape.rows, column * shape.columns


class WorkItem(Protocol):
    """Stages `first` to `last` - 1 of a tile."""

    first: Any
    last: Any


class TileScheduler:
    """Work items of one cluster: whole tiles, and parts of tiles if tiles are `cut` along K.

    The current work item consists of the stages `first` to `last` - 1 of the tile with the number `tile`.
    """

    def __init__(self, sizes: Sizes, shape: Tile, cut: bool) -> None:
        self.sizes, self.shape, self.cut = sizes, shape, cut
        self.bottom = sizes.m  # row after the last row of D
        self.me, self.clusters = special("clusterid.x"), special("nclusterid.x")
        self.next_tile = new(u32, self.me)
        self.tile = new(u32)
        self.first: Any = 0
        self.last = sizes.k_tiles
        if cut:
            self.first, self.last = new(u32), new(u32)
            self.next_tile += sizes.split
            self.begin, self.end = self._run_begin(self.me), self._run_begin(self.me + 1)
            self.has_run = new("pred", self.end != self.begin)

    def _run_begin(self, cluster: Any) -> Any:
        """Return the first stage of a cluster. Stages are counted over all tiles that are cut along K."""
        return cluster * (self.sizes.split * self.sizes.k_tiles) // self.clusters

    def has_next(self) -> Any:
        """Return a predicate that is true if work items are left."""
        if not self.cut:
            return self.next_tile < self.sizes.tiles
        return ptx.setp(self.next_tile, self.sizes.tiles, self.has_run, CmpOp="lt", BoolOp="or", type=u32)

    def take(self) -> None:
        """Make the next work item the current one. Parts of cut tiles are the first items."""
        if not self.cut:
            self.tile.set(self.next_tile)
            self.next_tile += self.clusters
            return
        with when(self.has_run):
            self.tile.set((self.end - 1) // self.sizes.k_tiles)
            base = self.tile * self.sizes.k_tiles
            low = ptx.max(self.begin, base, type=u32)
            self.first.set(low - base)
            self.last.set(self.end - base)
            self.end.set(low)
            ptx.setp(self.end, self.begin, CmpOp="ne", type=u32, out=self.has_run)
        with otherwise():
            self.tile.set(self.next_tile)
            self.first.set(0)
            self.last.set(self.sizes.k_tiles)
            self.next_tile += self.clusters

    def prefetch_group(self) -> None:
        """Do nothing, because these tiles have no groups."""

    def owner(self, stage: Any) -> Any:
        """Return the cluster that multiplies a stage.

        Stages are counted over all tiles that are cut along K.
        """
        total = self.sizes.split * self.sizes.k_tiles
        return ((stage + 1) * self.clusters - 1) // total

    def origin(self, rank: Any, tile: Any = None) -> tuple[Any, Any, Any]:
        """Return the first row, the first column and the batch of a tile, for CTA `rank` of the cluster.

        Without `tile` it is the current tile.
        """
        shape, sizes = self.shape, self.sizes
        number = self.tile if tile is None else tile
        row, column, batch = tile_position(number, sizes.m_tiles, sizes.n_tiles, shape.group)
        return *tile_corner(row, column, rank, shape), batch


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
        down, left = tile_corner(row, column, rank, shape)
        return self.top + down, left, self.group


Scheduler = TileScheduler | GroupedTileScheduler
