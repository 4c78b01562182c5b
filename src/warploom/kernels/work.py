"""Which tiles a cluster computes: whole ones by turns, and of the last ones an even share of their K.

Tiles below `split` are cut along K: their stages, laid end to end, are dealt out in equal runs. A run that begins
inside a tile ends it; who begins a tile leaves its sums in memory for the one who ends it. The first piece of a run
is taken first, so that its sums are there when they are asked for, and the piece that waits is taken last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warploom.author import new, otherwise, ptx, special, u32, when


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a launch, in registers, as the kernel's parameters give them."""

    m_tiles: Any  # rows of clusters
    n_tiles: Any
    k_tiles: Any
    split: Any  # tiles that are cut
    tiles: Any  # of all batches


class Work:
    """The pieces of work of the cluster that runs this: `tile`, from stage `first` to below `last` of its K."""

    def __init__(self, sizes: Sizes, group: int) -> None:
        self.sizes = sizes
        self.group = group
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

    def corner(self) -> tuple[Any, Any, Any]:
        """Row and column of the tile among clusters, and its batch."""
        return corner(self.tile, self.sizes.m_tiles, self.sizes.n_tiles, self.group)


def corner(tile: Any, m_tiles: Any, n_tiles: Any, group: int) -> tuple[Any, Any, Any]:
    """Row and column of a tile among all of its batch, and the batch: down `group` rows, then to the next column."""
    plane = m_tiles * n_tiles
    batch = tile // plane
    flat = tile - batch * plane
    across = n_tiles * group
    first = flat // across * group
    rest, height = flat % across, ptx.min(m_tiles - first, group, type=u32)
    return first + rest % height, rest // height, batch
