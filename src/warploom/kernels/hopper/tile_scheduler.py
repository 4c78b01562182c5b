"""Which tiles a cluster computes: whole ones by turns, and of the last ones an even share of their K.

Tiles below `split` are cut along K: their stages, laid end to end, are dealt out in equal runs. A run that begins
inside a tile ends it; who begins a tile leaves its sums in memory for the one who ends it. The first piece of a run
is taken first, so that its sums are there when they are asked for, and the piece that waits is taken last.

Rows that go by groups are dealt out in whole tiles, each of one group: where the groups end is in memory of the GPU,
and every role walks along them for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.author import Pointer, new, otherwise, ptx, special, u32, when, while_
from warploom.kernels.hopper.plan import Tile


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a launch, in registers, as the kernel's parameters give them."""

    m: Any  # rows
    m_tiles: Any  # rows of clusters
    n_tiles: Any
    k_tiles: Any
    split: Any  # tiles that are cut
    tiles: Any  # of all batches
    groups: Any


class Work:
    """The pieces of work of the cluster that runs this: `tile`, from stage `first` to below `last` of its K."""

    def __init__(self, sizes: Sizes, shape: Tile) -> None:
        self.sizes = sizes
        self.shape = shape
        self.bottom = sizes.m  # the row below all
        self.me, self.clusters = special("clusterid.x"), special("nclusterid.x")
        self.begin, self.end = self.begin_of(self.me), self.begin_of(self.me + 1)
        self.tile, self.first, self.last = new(u32), new(u32), new(u32)
        self.turn = new(u32, 0)
        self.fresh = ptx.setp(self.end, self.begin, CmpOp="ne", type=u32)

    def begin_of(self, cluster: Any) -> Any:
        """The first stage of a cluster's run through the tiles that are cut."""
        return cluster * (self.sizes.split * self.sizes.k_tiles) // self.clusters

    def left(self) -> Any:
        """Whether there is more to do."""
        mine = self.me + self.turn * self.clusters + self.sizes.split
        whole = ptx.setp(mine, self.sizes.tiles, CmpOp="lt", type=u32)
        return ptx.setp(self.end, self.begin, whole, CmpOp="ne", BoolOp="or", type=u32)

    def take(self) -> None:
        """Choose the next piece."""
        mine = self.me + self.turn * self.clusters + self.sizes.split
        whole = ptx.setp(mine, self.sizes.tiles, ~self.fresh, CmpOp="lt", BoolOp="and", type=u32)
        with when(whole):
            self.tile.set(mine)
            self.first.set(0)
            self.last.set(self.sizes.k_tiles)
            self.turn += 1
        with otherwise():
            self.tile.set((self.end - 1) // self.sizes.k_tiles)
            base = self.tile * self.sizes.k_tiles
            low = ptx.max(self.begin, base, type=u32)
            self.first.set(low - base)
            self.last.set(self.end - base)
            self.end.set(low)
        ptx.setp(self.turn, self.turn, CmpOp="ne", type=u32, out=self.fresh)

    def walk(self) -> None:
        """Nothing: what comes next follows from what is known."""

    def corner(self, rank: Any) -> tuple[Any, Any, Any]:
        """The first row and column of the tile for a CTA of this rank in its cluster, and its batch."""
        shape, sizes = self.shape, self.sizes
        row, column, batch = corner(self.tile, sizes.m_tiles, sizes.n_tiles, shape.group)
        return (row * shape.cluster + rank) * shape.rows, column * shape.columns, batch


class Groups:
    """The tiles of the cluster that runs this, where rows go by groups: what `Work` is elsewhere.

    `ends` says where they end; a group that ends before it begins is empty, and none goes beyond row `m`. The tile
    that was taken is number `tile` of its group, which has the rows from `top` to above `bottom`. The walk along the
    groups is a tile ahead, so that it knows whether one is left.
    """

    def __init__(self, ends: Pointer, sizes: Sizes, shape: Tile) -> None:
        self.ends, self.sizes, self.shape = ends, sizes, shape
        self.first, self.last = 0, sizes.k_tiles
        self.clusters = special("nclusterid.x")
        self.tile, self.group, self.top, self.bottom = (new(u32) for _ in range(4))
        self.next_tile = new(u32, special("clusterid.x"))
        self.next_top, self.next_bottom, self.seen = (new(u32, 0) for _ in range(3))
        self.before, self.covered = (
            new(u32, 0),
            new(u32, 0),
        )  # tiles before the group of the walk, and with it
        self.walk()

    def walk(self) -> None:
        """Go on to the group that the next tile is of."""

        def beyond() -> Any:
            more = self.seen < self.sizes.groups
            return ptx.setp(self.next_tile, self.covered, more, CmpOp="ge", BoolOp="and", type=u32)

        with while_(beyond):
            self.next_top.set(self.next_bottom)
            end = ptx.min(self.ends[self.seen], self.sizes.m, type=u32)
            ptx.max(end, self.next_top, type=u32, out=self.next_bottom)
            self.seen += 1
            self.before.set(self.covered)
            self.covered += self._rows(self.next_top, self.next_bottom) * self.sizes.n_tiles

    def _rows(self, top: Any, bottom: Any) -> Any:
        """Rows of clusters that a group has."""
        height = self.shape.rows * self.shape.cluster
        shift = (height & -height).bit_length() - 1
        count = bottom - top + (height - 1) >> shift
        return count // (height >> shift) if height >> shift > 1 else count

    def left(self) -> Any:
        """Whether there is more to do. The walk has gone on since a tile was taken."""
        return self.next_tile < self.covered

    def take(self) -> None:
        """Choose the next tile. `walk` follows, before anything is asked of the one after it."""
        self.tile.set(self.next_tile - self.before)
        self.group.set(self.seen - 1)
        self.top.set(self.next_top)
        self.bottom.set(self.next_bottom)
        self.next_tile += self.clusters

    def corner(self, rank: Any) -> tuple[Any, Any, Any]:
        """The first row and column of the tile for a CTA of this rank in its cluster, and its group."""
        shape = self.shape
        rows = self._rows(self.top, self.bottom)
        row, column = within(self.tile, rows, self.sizes.n_tiles, shape.group)
        return self.top + (row * shape.cluster + rank) * shape.rows, column * shape.columns, self.group


def corner(tile: Any, m_tiles: Any, n_tiles: Any, group: int) -> tuple[Any, Any, Any]:
    """Row and column of a tile among all of its batch, and the batch."""
    plane = m_tiles * n_tiles
    batch = tile // plane
    return *within(tile - batch * plane, m_tiles, n_tiles, group), batch


def within(flat: Any, m_tiles: Any, n_tiles: Any, group: int) -> tuple[Any, Any]:
    """Row and column of a tile among `m_tiles` by `n_tiles`: down `group` rows, then to the next column."""
    across = n_tiles * group
    first = flat // across * group
    rest, height = flat % across, ptx.min(m_tiles - first, group, type=u32)
    return first + rest % height, rest // height
