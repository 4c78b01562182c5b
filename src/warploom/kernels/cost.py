"""How long a plan takes on a GPU: a small model, and the tiles that it chooses among.

A CTA multiplies at the rate of the tensor cores, or waits for L2; all of them together wait for memory. What ends
a tile is paid where nothing hides it, and a wave that is not full costs as much as a full one. The constants were
fitted to 379 timings on an H200 that draws its full power (`tests/evidence/kernels_speed/h200.json`), off which the
model is by 6 % in the mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from warploom.diag import UsageError
from warploom.kernels.plan import SPAN, Plan, Tile, size_of
from warploom.kernels.problem import Problem


@dataclass(frozen=True, slots=True)
class Device:
    """What the model knows of a GPU. Units: clocks in GHz as the power allows them, bytes a clock, TB/s, clocks."""

    multiprocessors: int = 132
    clock: float = 1.45
    narrow_clock: float = 1.39  # with promoted sums, or tf32
    cache_bytes: float = 69.0
    memory: float = 3.96
    begin: float = 14.0  # clocks that an instruction of wgmma takes besides its products
    end: float = 910.0  # and a tile besides its products, before a column of D
    column: float = 1.63  # for each byte that a row of the tile has in D
    hidden: float = 0.5  # the part of it that consumers that alternate still pay
    cut: float = 10500.0  # what tiles cost that are cut along K
    launch: float = 2.1  # microseconds


H200 = Device()


@dataclass(frozen=True, slots=True)
class Share:
    """How a launch deals out its tiles: `ctas` in the grid, and `split` tiles that are cut along K."""

    ctas: int
    split: int
    tiles: int
    stages: int

    @property
    def even(self) -> bool:
        """Whether no tile is cut."""
        return self.split == 0


def shares(problem: Problem, plan: Plan, device: Device = H200) -> Iterator[Share]:
    """The ways to deal out the tiles of a problem."""
    tile = plan.tile
    rows = tile.rows * tile.cluster
    tiles = ceil(problem.m / rows) * ceil(problem.n / tile.columns) * problem.batch
    stages = ceil(problem.k / plan.depth)
    clusters = device.multiprocessors // tile.cluster
    yield Share(min(tiles, clusters) * tile.cluster, 0, tiles, stages)
    left = tiles % clusters
    # One CTA after the other is at another place in K where tiles are cut: without clusters they leave the L2 cache.
    if left and stages > 1 and (tile.cluster > 1 or tiles < clusters):
        yield Share(clusters * tile.cluster, tiles if tiles < clusters else left + clusters, tiles, stages)


def microseconds(problem: Problem, plan: Plan, share: Share, device: Device = H200) -> float:
    """How long a launch takes."""
    tile, size, out = plan.tile, size_of(plan.a), size_of(plan.d)
    products = 4 * (tile.columns / 2 + device.begin) * tile.sharers
    copies = (tile.rows + tile.columns / tile.cluster) * SPAN / device.cache_bytes
    stage = max(products, copies)
    end = device.end + device.column * tile.columns * out
    paid = end * device.hidden if tile.alternate else end
    clusters = share.ctas // tile.cluster
    waves = ceil(share.tiles / clusters)
    clocks = waves * paid + (end if tile.alternate else 0)
    clocks += (
        waves * share.stages * stage
        if share.even
        else share.tiles * share.stages / clusters * stage + device.cut
    )
    clock = device.narrow_clock if plan.promoted or plan.a == "tf32" else device.clock
    busy = clocks / (clock * 1e3)
    moved = size * (problem.m + problem.n) * problem.k + out * problem.m * problem.n
    carried = moved * problem.batch / (device.memory * 1e6)
    return (busy**4 + carried**4) ** 0.25 + device.launch


def tiles(plan: Plan) -> Iterator[Tile]:
    """Tiles that suit a plan's types, without one of its own."""
    step = 64 if plan.b_major == "n" else 16
    for columns in range(64, 257, step):
        yield Tile(128, columns, _stages(128, columns), 1)
        yield Tile(128, columns, _stages(128, columns), 2)
        yield Tile(64, columns, _stages(64, columns), 1, alternate=False)
        # Between blocks the tensor cores would wait for one consumer, if the other has to wait too.
        if not plan.blocks and (columns == 256 or columns <= 128):
            yield Tile(64, columns, _stages(64, columns, buffers=1), 2, 16, alternate=True, buffers=1)


def _stages(rows: int, columns: int, buffers: int = 2) -> int:
    """As many as fit beside the widest patches; with more than nine nothing is gained."""
    room = 227 * 1024 - 2048 - 2 * buffers * 64 * 128
    return min(9, room // ((rows + columns) * SPAN + 16))


def choose(problem: Problem, plan: Plan, device: Device = H200) -> tuple[Plan, Share]:
    """The plan with the tile, and the share, that the model takes to be the quickest."""
    best: tuple[float, Plan, Share] | None = None
    for tile in tiles(plan):
        try:
            tried = plan.with_tile(tile)
        except UsageError:
            continue
        for share in shares(problem, tried, device):
            time = microseconds(problem, tried, share, device)
            if best is None or time < best[0]:
                best = time, tried, share
    assert best is not None
    return best[1], best[2]
