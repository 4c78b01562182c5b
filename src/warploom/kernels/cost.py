"""How long a plan takes on a GPU: a small model, and the tiles that it chooses among.

A CTA multiplies at the rate of the tensor cores, or waits for L2; all of them together wait for memory. What ends
a tile is paid where nothing hides it, and a wave that is not full costs as much as a full one. The constants were
fitted to 379 timings on an H200 that draws its full power (`tests/evidence/kernels_speed/h200.json`), off which the
model is by 6 % in the mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, prod

from warploom.diag import UsageError
from warploom.kernels.plan import METADATA, SPAN, STEP, Plan, Tile, size_of
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
_ENOUGH = 9  # stages: with more nothing is gained


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


def tiles_of(problem: Problem, plan: Plan) -> tuple[int, int]:
    """The tiles of a problem along M, counted by clusters, and along N."""
    tile = plan.tile
    return ceil(problem.m / (tile.rows * tile.cluster)), ceil(problem.n / tile.columns)


def shares(problem: Problem, plan: Plan, device: Device = H200) -> Iterator[Share]:
    """The ways to deal out the tiles of a problem."""
    tile = plan.tile
    tiles = prod(tiles_of(problem, plan)) * problem.batch
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
    # An instruction of a sparse A reads twice as much of B: shared memory gives it 128 bytes a clock, and is what it
    # waits for. A dense one reads less than that in the time of its products.
    read = (64 * STEP + tile.columns * SPAN / plan.steps) / 128 if plan.sparse else 0
    products = plan.steps * (max(tile.columns / 2, read) + device.begin) * tile.sharers
    stored = (plan.span_a + plan.metadata_words * METADATA / 64) / SPAN  # of a row of A, dense as it was
    copies = (tile.rows * stored + tile.columns / tile.cluster) * SPAN / device.cache_bytes
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
    moved = size * (problem.m * stored + problem.n) * problem.k + out * problem.m * problem.n
    carried = moved * problem.batch / (device.memory * 1e6)
    return (busy**4 + carried**4) ** 0.25 + device.launch


def tiles(plan: Plan) -> Iterator[Plan]:
    """The plan with each tile that suits its types, in as many stages as there is room for."""
    step = 64 if plan.b_major == "n" else 16
    for columns in range(64, 257, step):
        yield from _filled(plan, Tile(128, columns, 2, 1))
        yield from _filled(plan, Tile(128, columns, 2, 2))
        yield from _filled(plan, Tile(64, columns, 2, 1))
        if columns == 256 or columns <= 128:
            yield from _filled(plan, Tile(64, columns, 2, 2, 16, alternate=True, buffers=1))


def _filled(plan: Plan, tile: Tile) -> Iterator[Plan]:
    try:
        made = plan.with_tile(tile)
    except UsageError:
        return
    yield plan.with_tile(replace(tile, stages=min(_ENOUGH, made.most_stages)))


def choose(problem: Problem, plan: Plan, device: Device = H200) -> tuple[Plan, Share]:
    """The plan with the tile, and the share, that the model takes to be the quickest."""
    best: tuple[float, Plan, Share] | None = None
    for tried in tiles(plan):
        for share in shares(problem, tried, device):
            time = microseconds(problem, tried, share, device)
            if best is None or time < best[0]:
                best = time, tried, share
    assert best is not None
    return best[1], best[2]
